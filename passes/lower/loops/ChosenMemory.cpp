//===- ChosenMemory.cpp - memory that loops and branches of a kernel choose ---------------------------------------===//
//
// A time loop inside a kernel whose two arrays change places after each step carries their numbers:
//
//   double plates[2][64];                      what %a and %b were are two rows of one array
//   int a = 0, b = 1;
//   for (...) {
//     ... plates[b][i] = plates[a][i] ...
//     a and b change places
//   }
//
// Memory of the caller stays where it is: loads and stores decide by the number.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ml2k {
namespace {

/// A load or store that decides reads one of so many.
constexpr size_t mostChoices = 8;

bool isMemory(Value value) { return isa<MemRefType>(value.getType()); }

/// A cast changes nothing that a load or store asks for.
Value withoutCasts(Value memory) {
  while (auto cast = memory.getDefiningOp<memref::CastOp>())
    memory = cast.getSource();
  return memory;
}

/// All that a value may be, and the values that stand for one of them.
struct Choice {
  llvm::SetVector<Value> memory; // arrays, arguments, buffers
  SmallVector<Value> names;      // what the text calls these
  SmallVector<Value> chosen;     // values of loops and branches
  memref::AllocaOp together;     // holds all of `memory`, if they are arrays of one type
};

class Choices {
public:
  explicit Choices(nest::LoopKernelOp kernel) : kernel(kernel) {}

  LogicalResult run() {
    kernel.getBody().walk([&](Operation *op) { link(op); });
    if (classes.empty())
      return success();
    collect();
    for (auto &[leader, choice] : choices)
      if (failed(check(choice)))
        return failure();
    for (auto &[leader, choice] : choices)
      number(choice);
    return success();
  }

private:
  void joinAll(ArrayRef<Value> values) {
    for (Value value : values)
      classes.unionSets(values.front().getAsOpaquePointer(), value.getAsOpaquePointer());
  }

  void made(Value value) { madeHere.insert(value); }

  /// The same memory under several names.
  void link(Operation *op) {
    auto const each = [&](unsigned count, auto values) {
      for (unsigned i = 0; i < count; ++i)
        if (SmallVector<Value> const same = values(i); isMemory(same.front()))
          joinAll(same);
    };
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      each(loop.getNumResults(), [&](unsigned i) -> SmallVector<Value> {
        made(loop.getResult(i)), made(loop.getRegionIterArg(i));
        return {loop.getResult(i), loop.getInitArgs()[i], loop.getRegionIterArg(i), loop.getYieldedValues()[i]};
      });
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      each(loop.getInits().size(), [&](unsigned i) -> SmallVector<Value> {
        made(loop.getBeforeArguments()[i]);
        return {loop.getInits()[i], loop.getBeforeArguments()[i], loop.getYieldedValues()[i]};
      });
      each(loop.getNumResults(), [&](unsigned i) -> SmallVector<Value> {
        made(loop.getResult(i)), made(loop.getAfterArguments()[i]);
        return {loop.getResult(i), loop.getAfterArguments()[i], loop.getConditionOp().getArgs()[i]};
      });
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      each(branch.getNumResults(), [&](unsigned i) -> SmallVector<Value> {
        made(branch.getResult(i));
        return {branch.getResult(i), branch.thenYield()->getOperand(i), branch.elseYield()->getOperand(i)};
      });
    } else if (auto choice = dyn_cast<arith::SelectOp>(op); choice && isMemory(choice.getResult())) {
      made(choice.getResult());
      joinAll({choice.getResult(), choice.getTrueValue(), choice.getFalseValue()});
    }
  }

  static void addTo(Choice &choice, Value value, bool isChosen) {
    if (isChosen)
      choice.chosen.push_back(value);
    else {
      choice.memory.insert(withoutCasts(value));
      choice.names.push_back(value);
    }
  }

  /// In the order of the program.
  void collect() {
    auto const take = [&](Value value) {
      void *const key = value.getAsOpaquePointer();
      if (!isMemory(value) || classes.findLeader(key) == classes.member_end() || !seen.insert(value).second)
        return;
      addTo(choices[Value::getFromOpaquePointer(classes.getLeaderValue(key))], value, madeHere.contains(value));
    };
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      llvm::for_each(op->getOperands(), take);
      llvm::for_each(op->getResults(), take);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), take);
    });
  }

  static bool isLink(Operation *op) {
    return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp, arith::SelectOp>(op);
  }

  LogicalResult check(Choice &choice) {
    Operation *const where = choice.chosen.front().getDefiningOp()
                                 ? choice.chosen.front().getDefiningOp()
                                 : choice.chosen.front().getParentBlock()->getParentOp();
    if (choice.memory.size() > mostChoices)
      return where->emitError() << "at most " << mostChoices << " arrays may change places inside a kernel";
    for (Value chosen : choice.chosen)
      for (Operation *user : chosen.getUsers())
        if (isa<memref::LoadOp, memref::StoreOp>(user)) {
          for (Value memory : choice.memory)
            if (!isMadeBefore(memory, user))
              return user->emitError(
                  "memory that changes places inside a kernel has to be made in front of the loop or "
                  "branch that chooses it");
        } else if (!isLink(user))
          return user->emitError() << "'" << user->getName()
                                   << "': memory that changes places inside a kernel can only be loaded from and "
                                      "stored to there";
    return success();
  }

  bool isMadeBefore(Value memory, Operation *user) const {
    Operation *const made = memory.getDefiningOp();
    if (!made || !kernel->isProperAncestor(made))
      return true;
    Operation *const ancestor = made->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && made->isBeforeInBlock(ancestor);
  }

  static bool isPlainArray(Value memory) {
    auto array = memory.getDefiningOp<memref::AllocaOp>();
    return array && array->getDiscardableAttrs().empty() && array.getType().hasStaticShape() &&
           array.getType().getLayout().isIdentity() && llvm::all_of(memory.getUsers(), [](Operation *user) {
             return isa<memref::LoadOp, memref::StoreOp>(user) || isLink(user);
           });
  }

  /// One array for all, where the first one is made, if the others are made there or further inside.
  void putTogether(Choice &choice) {
    auto first = choice.memory.front().getDefiningOp<memref::AllocaOp>();
    for (Value memory : choice.memory)
      if (!isPlainArray(memory) || memory.getType() != choice.memory.front().getType())
        return;
    for (Value memory : choice.memory) // the first of a block
      if (auto array = memory.getDefiningOp<memref::AllocaOp>();
          array->getBlock() == first->getBlock() && array->isBeforeInBlock(first))
        first = array;
    for (Value memory : choice.memory)
      if (memory != first.getResult() && !isMadeBefore(first, memory.getDefiningOp()))
        return;
    SmallVector<int64_t> shape{int64_t(choice.memory.size())};
    llvm::append_range(shape, first.getType().getShape());
    OpBuilder builder(first);
    choice.together =
        builder.create<memref::AllocaOp>(first.getLoc(), MemRefType::get(shape, first.getType().getElementType()));
  }

  Value indexOf(OpBuilder &builder, Location loc, int64_t value) {
    return builder.create<arith::ConstantIndexOp>(loc, value);
  }

  void number(Choice &choice) {
    putTogether(choice);
    for (Value chosen : choice.chosen)
      chosen.setType(IndexType::get(kernel.getContext()));
    for (Value chosen : choice.chosen)
      for (Operation *user : llvm::to_vector(llvm::SetVector<Operation *>(chosen.user_begin(), chosen.user_end())))
        access(user, chosen, choice);
    OpBuilder constants = OpBuilder::atBlockBegin(&kernel.getBody().front());
    SmallVector<Value> numbers;
    for (auto [place, memory] : llvm::enumerate(choice.memory))
      numbers.push_back(indexOf(constants, memory.getLoc(), place));
    for (Value name : choice.names) {
      auto const place = llvm::find(choice.memory, withoutCasts(name)) - choice.memory.begin();
      for (OpOperand &use : llvm::make_early_inc_range(name.getUses()))
        if (isLink(use.getOwner()) && kernel->isProperAncestor(use.getOwner()))
          use.set(numbers[place]);
    }
    for (Value name : choice.names)
      if (auto cast = name.getDefiningOp<memref::CastOp>(); cast && cast->use_empty() && kernel->isProperAncestor(cast))
        cast->erase();
    if (choice.together)
      for (auto [memory, number] : llvm::zip_equal(choice.memory, numbers)) {
        for (Operation *user : llvm::to_vector(memory.getUsers()))
          access(user, number, choice, memory);
        memory.getDefiningOp()->erase();
      }
  }

  /// A load or store of the memory with this number; `memory` is the operand if that is not the number.
  void access(Operation *op, Value number, Choice &choice, Value memory = {}) {
    if (!memory)
      memory = number;
    OpBuilder builder(op);
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Value const value = loaded(builder, load, number, choice, 0);
      load.getResult().replaceAllUsesWith(value);
      load.erase();
    } else if (auto store = dyn_cast<memref::StoreOp>(op); store && store->getOperand(1) == memory) {
      stored(builder, store, number, choice, 0);
      store.erase();
    }
  }

  static SmallVector<Value> behind(Value number, ValueRange indices) {
    SmallVector<Value> all{number};
    llvm::append_range(all, indices);
    return all;
  }

  Value isIt(OpBuilder &builder, Location loc, Value number, size_t place) {
    return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, number, indexOf(builder, loc, place));
  }

  Value loaded(OpBuilder &builder, memref::LoadOp load, Value number, Choice &choice, size_t place) {
    Location const loc = load.getLoc();
    if (choice.together)
      return builder.create<memref::LoadOp>(loc, choice.together, behind(number, load.getIndices()));
    if (place + 1 == choice.memory.size())
      return builder.create<memref::LoadOp>(loc, choice.memory[place], load.getIndices());
    return builder
        .create<scf::IfOp>(
            loc, isIt(builder, loc, number, place),
            [&](OpBuilder &here, Location) {
              Value const value = here.create<memref::LoadOp>(loc, choice.memory[place], load.getIndices());
              here.create<scf::YieldOp>(loc, value);
            },
            [&](OpBuilder &here, Location) {
              here.create<scf::YieldOp>(loc, loaded(here, load, number, choice, place + 1));
            })
        .getResult(0);
  }

  void stored(OpBuilder &builder, memref::StoreOp store, Value number, Choice &choice, size_t place) {
    Location const loc = store.getLoc();
    if (choice.together)
      builder.create<memref::StoreOp>(loc, store.getValue(), choice.together, behind(number, store.getIndices()));
    else if (place + 1 == choice.memory.size())
      builder.create<memref::StoreOp>(loc, store.getValue(), choice.memory[place], store.getIndices());
    else
      builder.create<scf::IfOp>(
          loc, isIt(builder, loc, number, place),
          [&](OpBuilder &here, Location) {
            here.create<memref::StoreOp>(loc, store.getValue(), choice.memory[place], store.getIndices());
            here.create<scf::YieldOp>(loc);
          },
          [&](OpBuilder &here, Location) {
            stored(here, store, number, choice, place + 1);
            here.create<scf::YieldOp>(loc);
          });
  }

  nest::LoopKernelOp kernel;
  llvm::EquivalenceClasses<void *> classes;
  DenseSet<Value> madeHere, seen;
  llvm::MapVector<Value, Choice> choices;
};

} // namespace

LogicalResult numberMemory(nest::LoopKernelOp kernel) { return Choices(kernel).run(); }

} // namespace ml2k
