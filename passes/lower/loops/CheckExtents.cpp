//===- CheckExtents.cpp - run-time extents that the loops of a program need ---------------------------------------===//
//
// Where the positions of an access are sums and products of loop indices, sizes and numbers passed by value, the
// largest one is known at the entry: forward() throws unless the extent that it is an index of is larger, and unless
// the smallest one is at least 0. Loops are taken to run at least once. Accesses under a condition inside a kernel, and
// those at positions that data decide, say nothing about sizes.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/Polynomial.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k;

namespace {

using Value64 = std::optional<Polynomial>; ///< nothing: not known at the entry

/// What polynomials are over: an extent of an argument, a number passed by value, or the index of a loop.
struct Symbol {
  Value value;      ///< the memref of an extent, the number, the index
  int64_t dim = -1; ///< of an extent
  std::string name; ///< as messages call it
  bool isNatural = false;
};

/// A loop around an access.
struct Loop {
  unsigned index;
  Value64 lower, upper;
  bool isDense = true; ///< its step is 1
};

class Checker {
public:
  explicit Checker(func::FuncOp entry) : entry(entry) {}

  void run() {
    visitHost(entry.getBody().front());
    writeChecks(entry.getBody().front());
  }

private:
  //===--- Values ---===//

  unsigned symbolOf(Symbol symbol) {
    unsigned const next = symbols.size();
    unsigned const number = symbol.dim >= 0 ? extentSymbols.try_emplace(symbol.name, next).first->second
                                            : valueSymbols.try_emplace(symbol.value, next).first->second;
    if (number == next)
      symbols.push_back(std::move(symbol));
    return number;
  }

  std::string nameOf(BlockArgument argument, int64_t dim) {
    auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
    return cast<StringAttr>(names[dim]).str();
  }

  bool isOfEntry(Value value) {
    auto const argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &entry.getBody().front();
  }

  Value64 extent(Value memref, int64_t dim) {
    auto const type = cast<MemRefType>(memref.getType());
    if (!type.isDynamicDim(dim))
      return Polynomial(type.getDimSize(dim));
    if (isOfEntry(memref))
      return Polynomial::ofSymbol(symbolOf({memref, dim, nameOf(cast<BlockArgument>(memref), dim), true}));
    if (auto buffer = memref.getDefiningOp<nest::BufferOp>())
      return polynomial(buffer.getSizes()[type.getDynamicDimIndex(dim)]);
    if (auto cast = memref.getDefiningOp<memref::CastOp>())
      return extent(cast.getSource(), dim);
    return std::nullopt;
  }

  /// Narrow ones wrap, and one bit is no number.
  static bool isWide(Type type) { return type.isIndex() || (type.isInteger() && type.getIntOrFloatBitWidth() >= 32); }

  /// Values that many others lead to are nothing, too: those are no positions of loops.
  Value64 polynomial(Value value) {
    if (auto const found = known.find(value); found != known.end())
      return found->second;
    if (depth == 64)
      return std::nullopt;
    ++depth;
    Value64 const result = computed(value);
    --depth;
    return known[value] = result;
  }

  Value64 computed(Value value) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
      return Polynomial(constant.getSExtValue());
    if (auto const found = valueSymbols.find(value); found != valueSymbols.end())
      return Polynomial::ofSymbol(found->second);
    if (isOfEntry(value) && isWide(value.getType()))
      return Polynomial::ofSymbol(symbolOf({value, -1, nameOf(value)}));
    Operation *op = value.getDefiningOp();
    if (!op || !isWide(value.getType()) || (!value.getType().isIndex() && !isa<arith::IndexCastOp>(op)))
      return std::nullopt;
    auto const operand = [&](unsigned i) { return polynomial(op->getOperand(i)); };
    return TypeSwitch<Operation *, Value64>(op)
        .Case<arith::AddIOp>([&](auto) { return sum(operand(0), operand(1), 1); })
        .Case<arith::SubIOp>([&](auto) { return sum(operand(0), operand(1), -1); })
        .Case<arith::MulIOp>([&](auto) { return product(operand(0), operand(1)); })
        .Case<arith::IndexCastOp>([&](auto) { return operand(0); })
        .Case<memref::DimOp>([&](memref::DimOp dim) {
          return dim.getConstantIndex() ? extent(dim.getSource(), *dim.getConstantIndex()) : std::nullopt;
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::string nameOf(Value number) {
    unsigned const place = cast<BlockArgument>(number).getArgNumber();
    auto const name = entry.getArgAttrOfType<StringAttr>(place, "nest.name");
    return name ? name.str() : "argument " + std::to_string(place);
  }

  static Value64 sum(Value64 const &a, Value64 const &b, int64_t factor) {
    return a ? a->plus(b, factor) : std::nullopt;
  }
  static Value64 product(Value64 const &a, Value64 const &b) { return a ? a->times(b) : std::nullopt; }

  /// 1 where no value of the symbols makes it negative, -1 where none makes it positive, 0 where neither is known.
  int signOf(Polynomial const &value) const {
    bool isPositive = true, isNegative = true;
    for (auto const &[product, factor] : value.terms()) {
      if (llvm::any_of(product, [&](unsigned symbol) { return !symbols[symbol].isNatural; }))
        return 0;
      (factor > 0 ? isNegative : isPositive) = false;
    }
    return isPositive ? 1 : isNegative ? -1 : 0;
  }

  //===--- Loops ---===//

  void enter(Value index, Value lower, Value upper, Value step = {}) {
    Loop loop{symbolOf({index, -1, ""}), polynomial(lower), polynomial(upper)};
    loop.isDense = !step || matchPattern(step, m_One());
    bool const isNatural = loop.lower && signOf(*loop.lower) > 0;
    symbols[loop.index].isNatural = isNatural;
    // It runs, so that its upper bound is larger than its lower one
    if (isNatural && loop.upper && loop.upper->terms().size() == 1)
      if (Polynomial::Product const &end = loop.upper->terms().begin()->first; end.size() == 1)
        symbols[end.front()].isNatural = true;
    loops.push_back(std::move(loop));
  }

  /// The value at the position where it is largest, or smallest.
  Value64 extreme(Value64 value, bool largest) {
    for (Loop const &loop : llvm::reverse(loops)) {
      if (!value || !value->contains(loop.index))
        continue;
      Value64 const factor = value->factorOf(loop.index);
      int const sign = factor ? signOf(*factor) : 0;
      bool const isAtEnd = (sign > 0) == largest;
      bool const isKnown = sign != 0 && (!isAtEnd || loop.isDense) && &loop >= loops.data() + firstLoop;
      if (!isKnown)
        return std::nullopt;
      Value64 const at = isAtEnd ? sum(loop.upper, Polynomial(1), -1) : loop.lower;
      Value64 const rest = sum(value, product(factor, Polynomial::ofSymbol(loop.index)), -1);
      value = sum(rest, product(factor, at), 1);
    }
    return value;
  }

  void visitHost(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        enter(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        visitHost(*loop.getBody());
        loops.pop_back();
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (Region &region : branch->getRegions())
          if (!region.empty())
            visitBranch(region.front());
      } else if (auto kernel = dyn_cast<nest::LoopKernelOp>(op)) {
        visitKernel(kernel);
      } else if (auto assemble = dyn_cast<nest::AssembleOp>(op)) {
        visitAssembly(assemble);
      }
    }
  }

  /// Rows of the result are those of the operands; of a transpose and of triplets they are the caller's choice.
  void visitAssembly(nest::AssembleOp assemble) {
    Value const first = assemble.getInputs()[0], positions = assemble.getOutputs()[0];
    auto const known = assemble->getAttrOfType<IntegerAttr>(assembledRows);
    Value64 const count = known ? Value64(Polynomial(known.getInt() + 1)) : extent(positions, 0);
    if (known)
      requireSame(extent(positions, 0), count);
    atMostZero(sum(Polynomial(1), count, -1));
    nest::Assembly const kind = assemble.getKind();
    if (kind == nest::Assembly::Transpose || kind == nest::Assembly::Triplets)
      return;
    int64_t const more = kind == nest::Assembly::Nonzeros ? 1 : 0;
    requireSame(sum(extent(first, 0), Polynomial(more), 1), count);
    if (kind == nest::Assembly::Union || kind == nest::Assembly::Intersection)
      requireSame(extent(assemble.getInputs()[3], 0), count);
  }

  void requireSame(Value64 const &a, Value64 const &b) {
    atMostZero(sum(a, b, -1));
    atMostZero(sum(b, a, -1));
  }

  /// What only a branch needs is checked there.
  void visitBranch(Block &block) {
    std::map<Polynomial, int64_t> outside = std::move(needed);
    unsigned const first = std::exchange(firstLoop, loops.size());
    needed.clear();
    visitHost(block);
    for (auto const &[value, most] : outside)
      needed.erase(value);
    writeChecks(block);
    firstLoop = first;
    needed = std::move(outside);
  }

  void visitKernel(nest::LoopKernelOp kernel) {
    for (auto [index, lower, upper] :
         llvm::zip(kernel.getBody().getArguments(), kernel.getLowers(), kernel.getUppers()))
      enter(index, lower, upper);
    visitBody(kernel.getBody().front());
    loops.truncate(loops.size() - kernel.getLowers().size());
  }

  void visitBody(Block &block) {
    for (Operation &op : block) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        require(load.getMemref(), load.getIndices());
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        require(store.getMemref(), store.getIndices());
      else if (auto call = dyn_cast<nest::CallOp>(op)) {
        for (Value argument : call.getArguments())
          if (auto part = argument.getDefiningOp<memref::SubViewOp>())
            requirePart(part);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        enter(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        visitBody(*loop.getBody());
        loops.pop_back();
      } else if (auto loop = dyn_cast<scf::ParallelOp>(op)) { // of a team's threads
        for (auto [index, lower, upper] :
             llvm::zip(loop.getInductionVars(), loop.getLowerBound(), loop.getUpperBound()))
          enter(index, lower, upper);
        visitBody(*loop.getBody());
        loops.truncate(loops.size() - loop.getNumLoops());
      }
    }
  }

  //===--- Requirements ---===//

  /// The memory that a value may be: loops on the host may exchange what they carry.
  static SmallVector<Value> memoriesOf(Value memref) {
    auto const argument = dyn_cast<BlockArgument>(memref);
    auto loop =
        argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : memref.getDefiningOp<scf::ForOp>();
    if (!loop)
      return {memref};
    SmallVector<Value> memories;
    for (Value init : loop.getInitArgs())
      if (init.getType() == memref.getType())
        llvm::append_range(memories, memoriesOf(init));
    return memories;
  }

  void require(Value memref, ValueRange indices) {
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Value64 const position = polynomial(index);
      requireSpan(memref, dim, position, position);
    }
  }

  /// From the first to the last position of a dimension.
  void requireSpan(Value memref, int64_t dim, Value64 const &first, Value64 const &last) {
    atMostZero(sum(Polynomial(), extreme(first, false), -1));
    for (Value memory : memoriesOf(memref))
      atMostZero(sum(sum(extreme(last, true), Polynomial(1), 1), extent(memory, dim), -1));
  }

  Value64 polynomialOf(OpFoldResult value) {
    std::optional<int64_t> const constant = getConstantIntValue(value);
    return constant ? Value64(Polynomial(*constant)) : polynomial(cast<Value>(value));
  }

  void requirePart(memref::SubViewOp part) {
    for (int64_t dim = 0; dim < part.getSourceType().getRank(); ++dim) {
      Value64 const first = polynomialOf(part.getMixedOffsets()[dim]);
      Value64 const steps = sum(polynomialOf(part.getMixedSizes()[dim]), Polynomial(1), -1);
      requireSpan(part.getSource(), dim, first,
                  sum(first, product(steps, polynomialOf(part.getMixedStrides()[dim])), 1));
    }
  }

  /// `value` <= 0 has to hold. What never holds is a loop that never runs.
  void atMostZero(Value64 const &value) {
    if (!value || value->isConstant() || signOf(*value) < 0)
      return;
    int64_t const constant = value->constant();
    Value64 const variable = value->plus(Polynomial(constant), -1);
    if (!variable)
      return;
    auto const [found, isNew] = needed.try_emplace(*variable, constant);
    found->second = std::max(found->second, constant);
  }

  //===--- Checks ---===//

  /// The terms of one sign, as a value and in words.
  struct Side {
    Value value;
    std::string text;
  };

  void add(OpBuilder &builder, Side &side, Value term, std::string const &text) {
    side.value = side.value ? builder.create<arith::AddIOp>(entry.getLoc(), side.value, term).getResult() : term;
    side.text += (side.text.empty() ? "" : " + ") + text;
  }

  Value valueOf(OpBuilder &builder, Symbol const &symbol) {
    Location const location = entry.getLoc();
    if (symbol.dim >= 0)
      return builder.create<memref::DimOp>(location, symbol.value, symbol.dim);
    if (symbol.value.getType().isIndex())
      return symbol.value;
    return builder.create<arith::IndexCastOp>(location, builder.getIndexType(), symbol.value);
  }

  void addTerm(OpBuilder &builder, Side &side, Polynomial::Product const &product, int64_t factor) {
    Value value;
    std::string text;
    auto const times = [&](Value by, std::string const &name) {
      value = value ? builder.create<arith::MulIOp>(entry.getLoc(), value, by).getResult() : by;
      text += (text.empty() ? "" : " * ") + name;
    };
    if (factor != 1 || product.empty())
      times(builder.create<arith::ConstantIndexOp>(entry.getLoc(), factor), std::to_string(factor));
    for (unsigned symbol : product)
      times(valueOf(builder, symbols[symbol]), symbols[symbol].name);
    add(builder, side, value, text);
  }

  void writeChecks(Block &block) {
    OpBuilder builder = OpBuilder::atBlockBegin(&block);
    for (auto const &[value, constant] : needed) {
      Side less, more;
      for (auto const &[product, factor] : value.terms())
        addTerm(builder, factor > 0 ? less : more, product, std::abs(factor));
      if (constant != 0 || !less.value || !more.value)
        addTerm(builder, constant > 0 || (constant == 0 && !less.value) ? less : more, {}, std::abs(constant));
      if (!less.value || !more.value)
        addTerm(builder, less.value ? more : less, {}, 0);
      auto const predicate = arith::CmpIPredicate::sle;
      Value const holds = builder.create<arith::CmpIOp>(entry.getLoc(), predicate, less.value, more.value);
      bool const isNumber =
          value.terms().begin()->second > 0 && more.text.find_first_not_of("0123456789") == more.text.npos;
      std::string const text =
          isNumber ? less.text + " has to be at most " + more.text : more.text + " has to be at least " + less.text;
      builder.create<cf::AssertOp>(entry.getLoc(), holds, text);
    }
    needed.clear();
  }

  func::FuncOp entry;
  std::vector<Symbol> symbols;
  llvm::StringMap<unsigned> extentSymbols; ///< by name
  DenseMap<Value, unsigned> valueSymbols;
  DenseMap<Value, Value64> known; ///< values that were asked for
  unsigned depth = 0;
  SmallVector<Loop> loops;
  unsigned firstLoop = 0;               ///< of the innermost branch: what is outside has no index here
  std::map<Polynomial, int64_t> needed; ///< that this plus that is at most 0
};

} // namespace

void ml2k::checkExtents(func::FuncOp entry) { Checker(entry).run(); }
