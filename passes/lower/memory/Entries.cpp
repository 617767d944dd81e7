//===- Entries.cpp - kernels that do little for each entry of a batch ---------------------------------------------===//

#include "passes/lower/memory/Entries.h"

#include "translator/ir/NestScalars.h"
#include "translator/ir/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

static constexpr int64_t fewestEntries = 16;
static constexpr int64_t mostSteps = 64; ///< of a kernel for an entry

static EntryCount countOf(OpFoldResult size) {
  auto value = dyn_cast<Value>(size);
  if (!value)
    return {cast<IntegerAttr>(cast<Attribute>(size)).getInt(), {}, {}};
  if (auto dim = value.getDefiningOp<memref::DimOp>(); dim && dim.getConstantIndex() == 0)
    return countOf(dim.getSource());
  return {ShapedType::kDynamic, {}, value};
}

/// The extent of the first dimension, from where the memory is made.
EntryCount countOf(Value memref) {
  for (int steps = 0; steps < 64; ++steps) {
    auto const type = cast<MemRefType>(memref.getType());
    if (type.getRank() == 0 || !type.isDynamicDim(0))
      return {type.getRank() == 0 ? 0 : type.getDimSize(0), {}, {}};
    if (auto argument = dyn_cast<BlockArgument>(memref)) {
      auto entry = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      StringRef const name = entry ? nameOfExtent(entry, argument, 0) : "";
      return {ShapedType::kDynamic, name, name.empty() ? memref : Value()};
    }
    Operation *const op = memref.getDefiningOp();
    Value size;
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      size = alloc.getDynamicSizes().front();
    else if (auto view = dyn_cast<memref::SubViewOp>(op))
      size = dyn_cast<Value>(view.getMixedSizes().front());
    if (auto dim = size ? size.getDefiningOp<memref::DimOp>() : memref::DimOp(); dim && dim.getConstantIndex() == 0)
      memref = dim.getSource();
    else if (size)
      return {ShapedType::kDynamic, {}, size};
    else if (isAlias(op))
      memref = op->getOperand(0);
    else
      return {ShapedType::kDynamic, {}, memref};
  }
  return {ShapedType::kDynamic, {}, memref};
}

/// Whether the entries of an alias are those of its source: whole matrices in another shape, or a part of each.
bool keepsEntries(Operation *alias) {
  auto const source = cast<MemRefType>(alias->getOperand(0).getType()),
             result = cast<MemRefType>(alias->getResult(0).getType());
  auto const isAlone = [](ReassociationIndices const &group, MemRefType type) {
    return llvm::all_of(ArrayRef(group).drop_front(), [&](int64_t dim) { return type.getDimSize(dim) == 1; });
  };
  if (source.getRank() == 0 || result.getRank() == 0)
    return false;
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(alias))
    return isAlone(collapse.getReassociationIndices().front(), source);
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(alias))
    return isAlone(expand.getReassociationIndices().front(), result);
  auto view = dyn_cast<memref::SubViewOp>(alias);
  return view && !view.getDroppedDims().test(0) && isConstantIntValue(view.getMixedOffsets().front(), 0) &&
         isConstantIntValue(view.getMixedStrides().front(), 1) &&
         countOf(view.getMixedSizes().front()) == countOf(view.getSource());
}

bool keepsEntries(Value memref) {
  for (Operation *op = memref.getDefiningOp(); op && isAlias(op); op = op->getOperand(0).getDefiningOp())
    if (!keepsEntries(op))
      return false;
  return true;
}

//===--- Kernels --------------------------------------------------------------------------------------------------===//

static bool isScalarWork(Operation &op) {
  return isPure(&op) && op.getNumRegions() == 0 && !isa<nest::PositionOp>(op) &&
         llvm::none_of(op.getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
}

/// Whether a row is made of passes that read and write at their own position, and of what stands between them.
static bool isOfPasses(nest::RowOp row) {
  auto const isPlain = [](Operation &op, Value position) {
    if (auto get = dyn_cast<nest::GetOp>(op))
      return !get.getPosition() || get.getPosition() == position;
    if (auto set = dyn_cast<nest::SetOp>(op))
      return set.getPosition() == position;
    return isScalarWork(op);
  };
  return llvm::all_of(row.getBody().front().without_terminator(), [&](Operation &op) {
    if (!isa<nest::FoldOp, nest::EachOp>(op))
      return isPlain(op, Value());
    Block &block = op.getRegion(0).front();
    return llvm::all_of(block.without_terminator(),
                        [&](Operation &inner) { return isPlain(inner, block.getArgument(0)); });
  });
}

/// The loops whose positions differ in the result: a reduction's terms and the steps along a row do not count.
static bool isOfResult(nest::Kernel kernel, unsigned loop, unsigned loops) {
  if (auto reduce = dyn_cast<nest::ReduceOp>(*kernel))
    return !llvm::is_contained(reduce.getReductionDims(), int64_t(loop));
  return !isa<nest::RowOp>(*kernel) || loop + 1 != loops;
}

/// Whether the kernel does a few dozen operations on floating-point numbers for each of many entries.
bool isOfEntries(nest::Kernel kernel) {
  if (!isa<nest::MapOp, nest::ReduceOp, nest::RowOp>(*kernel))
    return false;
  if (auto row = dyn_cast<nest::RowOp>(*kernel); row && !isOfPasses(row))
    return false;
  SmallVector<AffineMap> const maps = kernel.getMaps();
  auto const loops = kernel.getLoopExtents();
  if (loops.empty() || (isa<nest::RowOp>(*kernel) && loops.size() < 2) || !isOfResult(kernel, 0, loops.size()))
    return false;
  int64_t steps = 1;
  for (auto const &[number, loop] : llvm::enumerate(loops)) {
    int64_t const extent = loop.size();
    if (number == 0 ? !ShapedType::isDynamic(extent) && extent < fewestEntries
                    : ShapedType::isDynamic(extent) || extent > mostSteps || (steps *= extent) > mostSteps)
      return false;
  }
  AffineExpr const entry = getAffineDimExpr(0, kernel.getContext());
  unsigned const outputs = cast<DestinationStyleOpInterface>(*kernel).getNumDpsInits();
  for (auto [number, map] : llvm::enumerate(maps)) {
    auto const type = dyn_cast<MemRefType>(kernel->getOperand(number).getType());
    if (!type || !(type.getElementType().isF32() || type.getElementType().isF64()) ||
        !llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr, AffineConstantExpr>) ||
        llvm::is_contained(ArrayRef(map.getResults()).drop_front(map.getNumResults() != 0), entry))
      return false;
    if (number + outputs < maps.size())
      continue;
    for (auto const &[loop, extent] : llvm::enumerate(loops))
      if (extent.size() != 1 && isOfResult(kernel, loop, loops.size()) && !map.isFunctionOfDim(loop))
        return false;
    if (map.getNumResults() == 0 || map.getResult(0) != entry)
      return false;
  }
  for (Region &region : kernel->getRegions())
    if (!isa<nest::RowOp>(*kernel) && !llvm::all_of(region.front().without_terminator(), isScalarWork))
      return false;
  return true;
}

/// Whether a value is the product of two elements.
static bool isProduct(Value value) {
  auto const isElement = [](Value factor) { return isa<BlockArgument>(factor) || factor.getDefiningOp<nest::GetOp>(); };
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && isElement(product.getLhs()) && isElement(product.getRhs());
}

/// Sums of products for several elements of an entry, of two operands that each entry has.
bool isMatrixProduct(nest::Kernel kernel) {
  auto reduce = dyn_cast<nest::ReduceOp>(*kernel);
  auto row = dyn_cast<nest::RowOp>(*kernel);
  bool hasProduct =
      reduce && reduce.getCombiner() == nest::Combiner::Sum && isProduct(reduce.getTerm().front().back().getOperand(0));
  if (row)
    for (nest::FoldOp fold : row.getBody().getOps<nest::FoldOp>())
      hasProduct |= fold.getCombiner() == nest::Combiner::Sum && isProduct(fold.getBody().front().back().getOperand(0));
  if (!hasProduct)
    return false;
  unsigned const inputs = reduce ? reduce.getInputs().size() : row.getInputs().size() + row.getExtras().size();
  auto const maps = kernel.getMaps();
  auto const loops = kernel.getLoopExtents();
  bool const isOfElements = llvm::any_of(llvm::seq<unsigned>(1, loops.size()), [&](unsigned loop) {
    return loops[loop].size() != 1 && isOfResult(kernel, loop, loops.size());
  });
  return isOfElements && llvm::count_if(ArrayRef(maps).take_front(inputs), [](AffineMap map) {
                           return map.getNumResults() != 0 && map.isFunctionOfDim(0);
                         }) >= 2;
}

} // namespace ml2k
