//===- Dependence.cpp - a simple proof that the iterations of a loop are independent ------------------------------===//
//
// Subscripts are compared as linear forms. What the proof does not understand counts as a dependence.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"

#include "passes/lower/loops/BoundsProof.h"
#include "passes/lower/loops/DigitsProof.h"
#include "passes/lower/loops/LinearForms.h"
#include "passes/lower/loops/PairsProof.h"
#include "passes/lower/loops/ParityProof.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include <optional>

using namespace mlir;

namespace ml2k {

//===--- Memory ---------------------------------------------------------------------------------------------------===//

Value baseOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// The loop that carries a memref, with its place.
static Exchange carriedBy(Value memref) { return isa<BlockArgument>(memref) ? exchangeOf(memref) : Exchange(); }

/// A loop that only exchanges different memrefs never has one under two names.
static bool exchangesDistinct(Operation *loop) {
  llvm::SmallDenseSet<Value> yielded;
  SmallVector<Value> memrefs;
  for (auto [init, yield] : llvm::zip(initsOf(loop), yieldsOf(loop))) {
    if (!isa<MemRefType>(init.getType()))
      continue;
    if (carriedBy(yield).loop != loop || !yielded.insert(yield).second)
      return false;
    if (llvm::any_of(memrefs, [&](Value other) { return mayAlias(other, init); }))
      return false;
    memrefs.push_back(init);
  }
  return true;
}

static bool isOwnMemory(Value root) {
  Operation *op = root.getDefiningOp();
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp, nest::BufferOp, nest::WeightOp>(op);
}

static bool isEntryArgument(Value root) {
  auto const argument = dyn_cast<BlockArgument>(root);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Views of one memref that end where the other one begins in one of its dimensions: real and imaginary parts, halves.
static bool areSeparate(Value a, Value b) {
  auto first = a.getDefiningOp<memref::SubViewOp>(), second = b.getDefiningOp<memref::SubViewOp>();
  if (!first || !second || first.getSource() != second.getSource())
    return false;
  auto const isBelow = [](memref::SubViewOp low, memref::SubViewOp high, int64_t dim) {
    int64_t const offset = low.getStaticOffsets()[dim], size = low.getStaticSizes()[dim];
    int64_t const step = low.getStaticStrides()[dim], next = high.getStaticOffsets()[dim];
    bool const isKnown = llvm::none_of(ArrayRef{offset, size, step, next}, ShapedType::isDynamic);
    return isKnown && step > 0 && high.getStaticStrides()[dim] > 0 && offset + (size - 1) * step < next;
  };
  return llvm::any_of(llvm::seq(first.getSourceType().getRank()),
                      [&](int64_t dim) { return isBelow(first, second, dim) || isBelow(second, first, dim); });
}

bool mayAlias(Value a, Value b) {
  if (areSeparate(a, b))
    return false;
  a = baseOf(a);
  b = baseOf(b);
  if (a == b)
    return true;
  auto [loopA, placeA] = carriedBy(a);
  auto [loopB, placeB] = carriedBy(b);
  if (loopA && loopA == loopB)
    return !exchangesDistinct(loopA);
  if (loopB && !loopA)
    return mayAlias(b, a);
  if (loopA) // it is one of those that the loop exchanges
    return !exchangesDistinct(loopA) || llvm::any_of(initsOf(loopA), [&](Value init) {
      return isa<MemRefType>(init.getType()) && mayAlias(init, b);
    });
  bool const known = (isOwnMemory(a) || isEntryArgument(a)) && (isOwnMemory(b) || isEntryArgument(b));
  return !known;
}

std::string nameInLocation(Location location) {
  auto const named = dyn_cast<NameLoc>(location);
  return named ? named.getName().getValue().split('"').second.rtrim('"').str() : "";
}

std::string memrefName(Value memref) {
  Value const root = baseOf(memref);
  if (isEntryArgument(root)) {
    auto const argument = cast<BlockArgument>(root);
    auto entry = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto const name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name");
    return name ? name.str() : "arg" + std::to_string(argument.getArgNumber());
  }
  if (auto [loop, place] = carriedBy(root); loop)
    return memrefName(initsOf(loop)[place]);
  Operation *op = root.getDefiningOp();
  if (auto buffer = dyn_cast_or_null<nest::BufferOp>(op))
    return buffer.getName().str();
  std::string const name = op ? nameInLocation(op->getLoc()) : "";
  return name.empty() ? "buffer" : name;
}

//===--- Linear forms ---------------------------------------------------------------------------------------------===//

namespace {

struct Access {
  Operation *op;
  Value memref;
  SmallVector<Value> subscripts; ///< null where it may be any
  bool writes;
};

/// A subscript as the proof wants it: a * i + symbols + [low, high].
struct Subscript {
  int64_t slope = 0;
  llvm::SmallMapVector<Value, int64_t, 4> symbols;
  int64_t low = 0, high = 0;
};

} // namespace

/// The constant bounds of a loop index, inclusive.
static std::optional<std::pair<int64_t, int64_t>> rangeOf(Value index) {
  auto const argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<LoopLikeOpInterface>(argument.getOwner()->getParentOp()) : LoopLikeOpInterface();
  if (!loop)
    return std::nullopt;
  std::optional<SmallVector<Value>> const indices = loop.getLoopInductionVars();
  auto const lowers = loop.getLoopLowerBounds(), uppers = loop.getLoopUpperBounds();
  if (!indices || !lowers || !uppers)
    return std::nullopt;
  for (auto [own, lower, upper] : llvm::zip(*indices, *lowers, *uppers)) {
    std::optional<int64_t> const low = getConstantIntValue(lower), high = getConstantIntValue(upper);
    if (own == index && low && high && *low < *high)
      return std::pair(*low, *high - 1);
  }
  return std::nullopt;
}

/// Whether a value is the same in all iterations, be it computed in each of them.
static bool isInvariant(Value value, scf::ForOp loop, unsigned depth = 4) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && depth > 0 && isMemoryEffectFree(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand, loop, depth - 1); });
}

/// The subscript with respect to `loop`; nothing if it depends on values that the loop computes.
static std::optional<Subscript> subscriptOf(Value value, scf::ForOp loop) {
  Linear const form = linearForm(value);
  Subscript result;
  result.low = result.high = form.constant;
  for (auto [symbol, coefficient] : form.terms) {
    if (coefficient == 0)
      continue;
    if (symbol == loop.getInductionVar()) {
      result.slope = coefficient;
    } else if (isInvariant(symbol, loop)) {
      result.symbols[symbol] = coefficient;
    } else if (auto const range = rangeOf(symbol)) {
      int64_t const ends[] = {coefficient * range->first, coefficient * range->second};
      result.low += std::min(ends[0], ends[1]);
      result.high += std::max(ends[0], ends[1]);
    } else {
      return std::nullopt;
    }
  }
  return result;
}

static bool sameSymbols(Subscript const &a, Subscript const &b) {
  return a.symbols.size() == b.symbols.size() && llvm::all_of(a.symbols, [&](auto const &term) {
           auto const *found = b.symbols.find(term.first);
           return found != b.symbols.end() && found->second == term.second;
         });
}

/// a * i + x = a * i' + y with i, i' different needs |x - y| >= |a| * step.
static bool separates(Value a, Value b, scf::ForOp loop) {
  if (!a || !b)
    return false;
  std::optional<Subscript> const x = subscriptOf(a, loop), y = subscriptOf(b, loop);
  if (!x || !y || x->slope != y->slope || !sameSymbols(*x, *y))
    return false;
  int64_t const step = getConstantIntValue(loop.getStep()).value_or(1);
  int64_t distance = 0;
  if (step <= 0 || llvm::MulOverflow(std::abs(x->slope), step, distance))
    return false;
  int64_t const low = x->low - y->high, high = x->high - y->low;
  if (x->slope == 0) // of rows that differ
    return low > 0 || high < 0;
  if (low == high) // the only difference, which must not be a multiple of the distance
    return low == 0 || low % distance != 0;
  return -distance < low && high < distance;
}

//===--- The proof ------------------------------------------------------------------------------------------------===//

/// What a function of C gets: the memory and, where a part is one position wide, that.
static std::pair<Value, SmallVector<Value>> partOf(Value memref) {
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  auto part = memref.getDefiningOp<memref::SubViewOp>();
  if (!part)
    return {memref, SmallVector<Value>(cast<MemRefType>(memref.getType()).getRank())};
  SmallVector<Value> subscripts;
  for (auto [offset, size] : llvm::zip(part.getMixedOffsets(), part.getMixedSizes()))
    subscripts.push_back(getConstantIntValue(size) == 1 ? dyn_cast<Value>(offset) : Value());
  return {part.getSource(), subscripts};
}

/// Collects what the loop reads and writes outside its own memory; the operation that defeats this, if any.
static Operation *collectAccesses(scf::ForOp loop, SmallVectorImpl<Access> &accesses) {
  Operation *unknown = nullptr;
  loop.getBody()->walk([&](Operation *op) {
    auto const add = [&](Value memref, ValueRange subscripts, bool writes) {
      if (loop->isAncestor(baseOf(memref).getParentRegion()->getParentOp()))
        return; // made anew in each iteration
      accesses.push_back({op, memref, SmallVector<Value>(subscripts), writes});
    };
    if (auto load = dyn_cast<memref::LoadOp>(op))
      add(load.getMemref(), load.getIndices(), false);
    else if (auto store = dyn_cast<memref::StoreOp>(op))
      add(store.getMemref(), store.getIndices(), true);
    else if (auto call = dyn_cast<nest::CallOp>(op))
      for (auto [argument, writes] : llvm::zip(call.getArguments(), call.getWrites())) {
        if (!isa<MemRefType>(argument.getType()))
          continue;
        auto const [memref, subscripts] = partOf(argument);
        add(memref, subscripts, writes);
      }
    else if (!isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp, cf::AssertOp>(op) && !isMemoryEffectFree(op) &&
             !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !op->hasTrait<OpTrait::IsTerminator>())
      unknown = op;
  });
  return unknown;
}

static bool isWhole(Value memref) { return baseOf(memref) == memref || memref.getDefiningOp<memref::CastOp>(); }

bool isInjective(Value memref) {
  while (isa_and_nonnull<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::SubViewOp>(
      memref.getDefiningOp()))
    memref = memref.getDefiningOp()->getOperand(0);
  return baseOf(memref) == memref;
}

/// True if equal elements have equal subscripts in both, in all iterations: a view that an iteration makes may move.
static bool areComparable(Access const &a, Access const &b, scf::ForOp loop) {
  if (Value view = a.memref; view == b.memref)
    return isInjective(view) && !loop->isAncestor(view.getParentRegion()->getParentOp());
  return isWhole(a.memref) && isWhole(b.memref) && baseOf(a.memref) == baseOf(b.memref) &&
         a.subscripts.size() == b.subscripts.size();
}

/// `proofs`: how many may still be tried by parities and the bounds of loops, which takes longer.
static bool conflict(Access const &a, Access const &b, scf::ForOp loop, unsigned &proofs) {
  if (!(a.writes || b.writes) || !mayAlias(a.memref, b.memref))
    return false;
  if (!areComparable(a, b, loop))
    return true;
  if (llvm::any_of(llvm::zip(a.subscripts, b.subscripts),
                   [&](auto pair) { return separates(std::get<0>(pair), std::get<1>(pair), loop); }))
    return false;
  if (proofs == 0)
    return true;
  --proofs;
  PlaceOf const one{a.op, a.subscripts}, other{b.op, b.subscripts};
  return !differInParity(one, other, loop) && !neverMeetInOthers(one, other, loop) && !areOfOnePair(one, other, loop) &&
         !haveDifferentDigits(one, other, loop);
}

std::string dependenceOf(scf::ForOp loop, function_ref<bool(Operation *, Operation *)> mayMeet) {
  SmallVector<Access> accesses;
  if (Operation *unknown = collectAccesses(loop, accesses))
    return ("'" + unknown->getName().getStringRef() + "' may depend on order").str();
  unsigned proofs = 64;
  for (size_t i = 0; i < accesses.size(); ++i)
    for (size_t j = i; j < accesses.size(); ++j)
      if (conflict(accesses[i], accesses[j], loop, proofs) && !(mayMeet && mayMeet(accesses[i].op, accesses[j].op))) {
        bool const both = accesses[i].writes && accesses[j].writes;
        return "iterations may " + std::string(both ? "write the same" : "read what others write of") + " " +
               memrefName(accesses[i].memref);
      }
  return "";
}

bool mayRunApart(scf::ForOp loop, Operation *cut) {
  constexpr size_t most = 64; // accesses: each of one part is compared with each of the other
  SmallVector<Access> accesses;
  if (collectAccesses(loop, accesses) || accesses.size() > most)
    return false;
  auto const isFirst = [&](Access const &access) {
    return loop.getBody()->findAncestorOpInBlock(*access.op)->isBeforeInBlock(cut);
  };
  unsigned proofs = 64;
  auto const *rest = llvm::find_if_not(accesses, isFirst); // accesses are in order
  return llvm::all_of(ArrayRef(accesses.begin(), rest), [&](Access const &a) {
    return llvm::none_of(ArrayRef(rest, accesses.end()), [&](Access const &b) { return conflict(a, b, loop, proofs); });
  });
}

} // namespace ml2k
