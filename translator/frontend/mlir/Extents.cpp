//===- Extents.cpp - names for extents that are known at run time only --------------------------------------------===//
//
// Extents of different arguments may differ, so each has a name of its own, unless an operation of linalg needs them to
// be equal: those share the name of the first. Extents of a result take the name of the argument's extent that they
// come from. The printed forward() compares extents that share a name.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"

#include <map>
#include <set>

using namespace mlir;

namespace {

/// A dimension of an argument; or {-1, extent} for a number.
using Extent = std::pair<int64_t, int64_t>;

/// Which extents of arguments are those of values, and which ones operations need to be equal.
class Extents {
public:
  explicit Extents(func::FuncOp entry) : entry(entry) {}

  /// Operations under a condition need nothing: perhaps they do not run. Loops are taken to run.
  void relate(Block &block) {
    for (Operation &op : block) {
      if (isa<scf::ForOp, scf::WhileOp>(op))
        for (Region &region : op.getRegions())
          relate(region.front());
      else if (auto kernel = dyn_cast<linalg::LinalgOp>(op))
        relateOperands(kernel);
      else if (auto copy = dyn_cast<memref::CopyOp>(op))
        for (int64_t dim = 0; dim < cast<MemRefType>(copy.getSource().getType()).getRank(); ++dim)
          relate(source(copy.getSource(), dim), source(copy.getTarget(), dim));
    }
  }

  /// When all are related: the first argument's extent that is equal to this one.
  Extent first(Extent extent) const {
    auto const found = firsts.find(extent);
    return found == firsts.end() ? extent : found->second;
  }

  /// Whether another argument has the same extent.
  bool isShared(Extent extent) const { return sharing.contains(first(extent)); }

  /// The number that an extent has to be.
  std::optional<int64_t> number(Extent extent) const {
    auto const found = numbers.find(first(extent));
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }

  void finish() {
    for (auto leader = classes.begin(); leader != classes.end(); ++leader) {
      if (!leader->isLeader())
        continue;
      llvm::iterator_range const members(classes.member_begin(leader), classes.member_end());
      Extent least = *std::min_element(members.begin(), members.end(), [](Extent const &a, Extent const &b) {
        return std::pair(a.first < 0, a) < std::pair(b.first < 0, b); // numbers last
      });
      for (Extent const &extent : members) {
        firsts[extent] = least;
        if (extent != least && extent.first >= 0)
          sharing.insert(least);
        if (extent.first < 0)
          numbers[least] = extent.second;
      }
    }
  }

  /// The argument's extent, or the number, that a dimension has; nothing if it is computed.
  std::optional<Extent> source(Value value, int64_t dim) {
    auto const [found, isNew] = sources.try_emplace({value, dim});
    if (!isNew)
      return found->second;
    std::optional<Extent> const extent = traced(value, dim);
    return sources[{value, dim}] = extent;
  }

private:
  std::optional<Extent> traced(Value value, int64_t dim);

  using Classes = llvm::EquivalenceClasses<Extent>;

  void relate(std::optional<Extent> const &a, std::optional<Extent> const &b) {
    if (a && b && (a->first >= 0 || b->first >= 0))
      classes.unionSets(*a, *b);
  }

  void relateOperands(linalg::LinalgOp kernel) {
    SmallVector<std::optional<Extent>> loops(kernel.getNumLoops());
    for (OpOperand &operand : kernel->getOpOperands())
      for (auto [dim, expr] : llvm::enumerate(kernel.getMatchingIndexingMap(&operand).getResults()))
        if (auto loop = dyn_cast<AffineDimExpr>(expr))
          if (std::optional<Extent> const extent = source(operand.get(), dim)) {
            relate(loops[loop.getPosition()], extent);
            loops[loop.getPosition()] = extent;
          }
  }

  std::optional<Extent> ofArgument(BlockArgument argument, int64_t dim) {
    if (argument.getOwner() == &entry.getBody().front())
      return Extent(argument.getArgNumber(), dim);
    Operation *const around = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(around); loop && argument.getArgNumber() > 0)
      return source(loop.getInitArgs()[argument.getArgNumber() - 1], dim);
    auto loop = dyn_cast<scf::WhileOp>(around);
    if (!loop || !isa<TensorType>(argument.getType()))
      return std::nullopt;
    bool const isFirst = argument.getOwner() == loop.getBeforeBody();
    return source((isFirst ? loop.getInits() : loop.getConditionOp().getArgs())[argument.getArgNumber()], dim);
  }

  /// Of an operation that is given the sizes of what it makes.
  template <class Op> std::optional<Extent> ofSize(Op op, int64_t dim) {
    Operation *const size = op.getDynamicSizes()[op.getType().getDynamicDimIndex(dim)].getDefiningOp();
    if (auto asked = dyn_cast_or_null<tensor::DimOp>(size); asked && asked.getConstantIndex())
      return source(asked.getSource(), *asked.getConstantIndex());
    if (auto asked = dyn_cast_or_null<memref::DimOp>(size); asked && asked.getConstantIndex())
      return source(asked.getSource(), *asked.getConstantIndex());
    return std::nullopt;
  }

  func::FuncOp entry;
  Classes classes;
  std::map<Extent, Extent> firsts;
  std::set<Extent> sharing; ///< firsts of several arguments
  std::map<Extent, int64_t> numbers;
  DenseMap<std::pair<Value, int64_t>, std::optional<Extent>> sources; ///< of what was asked for
};

std::optional<Extent> Extents::traced(Value value, int64_t dim) {
  auto const type = cast<ShapedType>(value.getType());
  if (!type.isDynamicDim(dim))
    return Extent(-1, type.getDimSize(dim));
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofArgument(argument, dim);
  Operation *op = value.getDefiningOp();
  unsigned const number = cast<OpResult>(value).getResultNumber();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return ofSize(empty, dim);
  if (auto made = dyn_cast<memref::AllocOp>(op))
    return ofSize(made, dim);
  if (auto kernel = dyn_cast<DestinationStyleOpInterface>(op))
    return source(kernel.getTiedOpOperand(cast<OpResult>(value))->get(), dim);
  if (isa<tensor::CastOp, memref::CastOp>(op))
    return source(op->getOperand(0), dim);
  if (auto loop = dyn_cast<scf::ForOp>(op)) // that exchanges what it carries may give another one
    return isa<TensorType>(type) ? source(loop.getInitArgs()[number], dim) : std::nullopt;
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return isa<TensorType>(type) ? source(loop.getConditionOp().getArgs()[number], dim) : std::nullopt;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    std::optional<Extent> const yes = source(branch.thenYield().getOperand(number), dim);
    return yes == source(branch.elseYield().getOperand(number), dim) ? yes : std::nullopt;
  }
  return std::nullopt;
}

class ExtentNames {
public:
  explicit ExtentNames(func::FuncOp entry) : entry(entry), extents(entry) {
    extents.relate(entry.getBody().front());
    extents.finish();
  }

  void nameArguments() {
    for (BlockArgument argument : entry.getArguments())
      if (auto type = dyn_cast<ShapedType>(argument.getType());
          type && !type.hasStaticShape() && hasNames(argument, type))
        entry.setArgAttr(argument.getArgNumber(), "nest.dims", namesOf(argument, type));
  }

  void nameResults() {
    Operation *const end = entry.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.hasStaticShape())
        entry.setResultAttr(i, "nest.dims", namesOfResult(i, value, type));
  }

  /// Extents that have to be a number: forward() throws unless they are.
  void requireNumbers() {
    for (BlockArgument argument : entry.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
        for (int64_t dim = 0; dim < type.getRank(); ++dim)
          if (Extent const extent(argument.getArgNumber(), dim); type.isDynamicDim(dim))
            if (std::optional<int64_t> const number = extents.number(extent); number && extents.first(extent) == extent)
              requireNumber(argument, dim, *number);
  }

private:
  /// Extents of memory get names later; it may get other types before that.
  bool hasNames(BlockArgument argument, ShapedType type) {
    return isa<TensorType>(type) || llvm::any_of(llvm::seq(type.getRank()), [&](int64_t dim) {
             Extent const extent(argument.getArgNumber(), dim);
             return type.isDynamicDim(dim) && extents.isShared(extent);
           });
  }

  void requireNumber(BlockArgument argument, int64_t dim, int64_t number) {
    OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
    Location const location = entry.getLoc();
    Value const extent = builder.create<tensor::DimOp>(location, argument, dim);
    Value const wanted = builder.create<arith::ConstantIndexOp>(location, number);
    Value const holds = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq, extent, wanted);
    builder.create<cf::AssertOp>(location, holds,
                                 nameOf(Extent(argument.getArgNumber(), dim)) + " has to be " + std::to_string(number));
  }

  static std::string ownName(StringRef value, ShapedType type, int64_t dim) {
    return value.str() + "_size" + (type.getRank() > 1 ? "_" + std::to_string(dim) : "");
  }

  /// The first extent of the first tensor that has one is the batch.
  std::string nameOf(Extent extent) {
    auto const [argument, dim] = extents.first(extent);
    auto const type = cast<ShapedType>(entry.getArgumentTypes()[argument]);
    if (!batch && isa<TensorType>(type) && dim == 0)
      batch = {argument, dim};
    return batch == Extent(argument, dim)
               ? "batch"
               : ownName(entry.getArgAttrOfType<StringAttr>(argument, "nest.name"), type, dim);
  }

  ArrayAttr namesOf(BlockArgument argument, ShapedType type) {
    Builder builder(entry.getContext());
    SmallVector<Attribute> names;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Extent const extent(argument.getArgNumber(), dim);
      bool const isNamed = type.isDynamicDim(dim) && (isa<TensorType>(type) || extents.isShared(extent));
      names.push_back(builder.getStringAttr(isNamed ? nameOf(extent) : ""));
    }
    return builder.getArrayAttr(names);
  }

  ArrayAttr namesOfResult(unsigned result, Value value, RankedTensorType type) {
    Builder builder(entry.getContext());
    StringRef const name = entry.getResultAttrOfType<StringAttr>(result, "nest.name");
    SmallVector<Attribute> names;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      std::optional<Extent> const known = type.isDynamicDim(dim) ? extents.source(value, dim) : std::nullopt;
      bool const isOfArgument = known && extents.first(*known).first >= 0;
      names.push_back(builder.getStringAttr(!type.isDynamicDim(dim) ? ""
                                            : isOfArgument          ? nameOf(*known)
                                                                    : ownName(name, type, dim)));
    }
    return builder.getArrayAttr(names);
  }

  func::FuncOp entry;
  Extents extents;
  std::optional<Extent> batch;
};

} // namespace

void ml2k::mlir_import::nameExtents(func::FuncOp entry) {
  ExtentNames names(entry);
  names.nameArguments();
  names.nameResults();
  names.requireNumbers();
}
