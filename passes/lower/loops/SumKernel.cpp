//===- SumKernel.cpp - kernels of loops that join terms in an inner loop and store one element --------------------===//

#include "passes/lower/loops/SumKernel.h"

#include "passes/lower/loops/Dependence.h"
#include "translator/ir/AtomicUpdates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

bool SumKernel::readFrame() {
  if (kernel.getPolicy() == nest::Policy::Team || kernel.getOrdered() || !kernel.getInto().empty() ||
      nest::hasAtomicUpdates(kernel) || block.getNumArguments() == 0 ||
      llvm::any_of(kernel.getLowers(), [](Value lower) { return !isConstantIntValue(lower, 0); }))
    return false;
  for (Operation &op : block.without_terminator())
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !sum)
      sum = loop;
    else if (auto other = dyn_cast<memref::StoreOp>(op); other && !store)
      store = other;
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      extras.push_back(load);
    else if (!isPure(&op) || op.getNumRegions() != 0)
      return false;
  return sum && store && sum.getNumResults() == 1 && isConstantIntValue(sum.getLowerBound(), 0) &&
         isConstantIntValue(sum.getStep(), 1);
}

AffineMap SumKernel::mapOf(ValueRange positions) {
  MLIRContext *context = kernel->getContext();
  SmallVector<AffineExpr> exprs;
  for (Value position : positions) {
    auto const argument = dyn_cast<BlockArgument>(position);
    if (std::optional<int64_t> const number = getConstantIntValue(position))
      exprs.push_back(getAffineConstantExpr(*number, context));
    else if (argument && argument.getOwner() == &block)
      exprs.push_back(getAffineDimExpr(argument.getArgNumber(), context));
    else if (argument && argument == sum.getInductionVar())
      exprs.push_back(getAffineDimExpr(sumLoop(), context));
    else
      return {};
  }
  return AffineMap::get(sumLoop() + 1, 0, exprs, context);
}

/// Whether what the terms are made of, and all memory, is there without the kernel.
bool SumKernel::standsAlone() {
  auto const isOfKernel = [&](Value value) {
    return value.getDefiningOp() && value.getDefiningOp()->getBlock() == &block;
  };
  auto const usesKernel = [&](Operation &op) {
    if (isa<memref::LoadOp, memref::StoreOp>(op)) // positions are numbers or loops
      return isOfKernel(isa<memref::LoadOp>(op) ? cast<memref::LoadOp>(op).getMemref()
                                                : cast<memref::StoreOp>(op).getMemref());
    return op.getBlock() != &block && llvm::any_of(op.getOperands(), isOfKernel);
  };
  return llvm::none_of(*sum.getBody(), usesKernel) && llvm::none_of(block, usesKernel);
}

bool SumKernel::readRest(ArrayRef<memref::LoadOp> terms) {
  if (!standsAlone())
    return false;
  mapOfStore = mapOf(store.getIndices());
  Value const result = store.getMemref();
  if (!mapOfStore || !mapOfStore.isProjectedPermutation() || mapOfStore.getNumResults() != block.getNumArguments() ||
      !isInjective(result) ||
      llvm::any_of(terms, [&](memref::LoadOp load) { return mayAlias(result, load.getMemref()); }))
    return false;
  for (memref::LoadOp load : extras) {
    AffineMap const map = mapOf(load.getIndices());
    bool const isOwn = load.getMemref() == result && map == mapOfStore;
    if (!map || (mayAlias(load.getMemref(), result) && !isOwn))
      return false;
  }
  auto const isPosition = [&](Value value) { return llvm::is_contained(block.getArguments(), value); };
  for (Operation &op : block.without_terminator())
    if (!isa<memref::LoadOp, memref::StoreOp>(op) && llvm::any_of(op.getOperands(), isPosition))
      return false;
  return !isPosition(store.getValue());
}

/// What the entry calls a dimension of its argument.
static Attribute dimName(func::FuncOp entry, Value memref, unsigned dim) {
  auto const argument = dyn_cast<BlockArgument>(memref);
  if (!argument || argument.getOwner() != &entry.getBody().front())
    return {};
  auto const names = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nest.dims");
  return names ? names[dim] : Attribute();
}

/// Whether `end` is the product of these dimensions of `source`, in their order.
static bool isProductOf(Value end, Value source, ArrayRef<int64_t> dims) {
  if (dims.size() == 1)
    return isExtentOf(end, source, dims.front());
  auto product = end.getDefiningOp<arith::MulIOp>();
  return product && isExtentOf(product.getRhs(), source, dims.back()) &&
         isProductOf(product.getLhs(), source, dims.drop_back());
}

bool isExtentOf(Value end, Value memref, unsigned dim) {
  auto const type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(end, type.getDimSize(dim));
  if (auto buffer = memref.getDefiningOp<nest::BufferOp>())
    return buffer.getSizes()[type.getDynamicDimIndex(dim)] == end;
  auto size = end.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> const other = size ? size.getConstantIndex() : std::nullopt;
  if (other && size.getSource() == memref)
    return *other == dim;
  if (auto view = memref.getDefiningOp<memref::CollapseShapeOp>())
    return isProductOf(end, view.getSrc(), view.getReassociationIndices()[dim]);
  if (!other)
    return false;
  auto entry = size->getParentOfType<func::FuncOp>();
  Attribute const own = dimName(entry, memref, dim);
  return own && own == dimName(entry, size.getSource(), *other);
}

bool SumKernel::isWhole(Value memref, AffineMap map, unsigned loop) {
  return isExtentOf(upper(loop), memref, *map.getResultPosition(getAffineDimExpr(loop, map.getContext())));
}

/// `name` of the location `argument "name"`.
static StringRef nameOf(Value index) {
  auto const location = dyn_cast<NameLoc>(index.getLoc());
  StringRef name = location ? location.getName().getValue() : "";
  return name.consume_front("argument \"") ? name.drop_back() : "";
}

ArrayAttr SumKernel::namesOf(ArrayRef<unsigned> places) {
  Builder builder(kernel->getContext());
  SmallVector<Attribute> names(places.size());
  for (auto [loop, place] : llvm::enumerate(places))
    names[place] = builder.getStringAttr(nameOf(loop == sumLoop() ? sum.getInductionVar() : block.getArgument(loop)));
  return builder.getArrayAttr(names);
}

void SumKernel::writeEpilogue(RewriterBase &rewriter, Region &region, function_ref<Value(Value, Value)> total) {
  Block *epilogue = rewriter.createBlock(&region, {}, sum.getResult(0).getType(), sum.getLoc());
  IRMapping values;
  for (memref::LoadOp load : extras)
    values.map(load.getResult(), epilogue->addArgument(load.getType(), load.getLoc()));
  for (Operation &op : block.without_terminator())
    if (&op == sum) {
      values.map(sum.getResult(0), total(values.lookupOrDefault(sum.getInitArgs()[0]), epilogue->getArgument(0)));
    } else if (!isa<memref::LoadOp, memref::StoreOp>(op)) {
      rewriter.clone(op, values);
    }
  rewriter.create<nest::YieldOp>(kernel.getLoc(), values.lookupOrDefault(store.getValue()));
}

} // namespace ml2k
