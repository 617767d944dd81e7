//===- EarlyForms.cpp - types and constants that upstream's or our own steps would crash on -----------------------===//
//
// Constants written as sparse<...> become dense ones. Storage specifiers and complex numbers of integers, which
// nothing here lowers, are refused before the first step that takes them for something else. Deallocations go.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace {

/// A line of text must not become gigabytes.
constexpr int64_t mostElements = int64_t(1) << 24;

/// Null if the elements cannot be spelled out.
DenseElementsAttr spelledOut(SparseElementsAttr sparse) {
  ShapedType const type = sparse.getShapedType();
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    if (extent != 0 && count > mostElements / extent)
      return {};
    else
      count *= extent;
  SmallVector<int64_t> const indices(sparse.getIndices().getValues<int64_t>());
  int64_t const rank = type.getRank(), stored = sparse.getValues().getNumElements();
  if (int64_t(indices.size()) != stored * rank)
    return {};
  auto const placeOf = [&](int64_t entry) {
    int64_t place = 0;
    for (int64_t dim = 0; dim < rank; ++dim)
      place = place * type.getDimSize(dim) + indices[entry * rank + dim];
    return place;
  };
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    auto part = dyn_cast<FloatType>(complex.getElementType());
    if (!part)
      return {};
    APFloat const zero = APFloat::getZero(part.getFloatSemantics());
    SmallVector<std::complex<APFloat>> elements(count, {zero, zero});
    SmallVector<std::complex<APFloat>> const values(sparse.getValues().getValues<std::complex<APFloat>>());
    for (int64_t i = stored; i-- > 0;) // of equal indices the first one counts
      elements[placeOf(i)] = values[i];
    return DenseElementsAttr::get(type, elements);
  }
  auto const zero = dyn_cast_or_null<TypedAttr>(Builder(type.getContext()).getZeroAttr(type.getElementType()));
  if (!zero)
    return {};
  SmallVector<Attribute> elements(count, zero);
  SmallVector<Attribute> const values(sparse.getValues().getValues<Attribute>());
  for (int64_t i = stored; i-- > 0;)
    elements[placeOf(i)] = values[i];
  return DenseElementsAttr::get(type, elements);
}

LogicalResult spellOut(Operation *op) {
  for (NamedAttribute const attribute : SmallVector<NamedAttribute>(op->getAttrs())) {
    auto const sparse = dyn_cast<SparseElementsAttr>(attribute.getValue());
    if (!sparse)
      continue;
    DenseElementsAttr const dense = spelledOut(sparse);
    if (!dense)
      return op->emitError() << "a constant written as sparse<...> has at most " << mostElements
                             << " integers or floating-point numbers";
    op->setAttr(attribute.getName(), dense);
  }
  return success();
}

/// Why no step knows a type; empty if one may.
StringRef whyUnknown(Type type) {
  if (isa<sparse_tensor::StorageSpecifierType>(type))
    return "storage specifiers are not supported; translate the program before its sparse tensors are lowered";
  auto const complex = dyn_cast<ComplexType>(getElementTypeOrSelf(type));
  return complex && !isa<FloatType>(complex.getElementType()) ? "complex numbers of integers are not supported" : "";
}

} // namespace

LogicalResult ml2k::mlir_import::takeEarlyForms(ModuleOp module, func::FuncOp entry) {
  for (BlockArgument argument : entry.getArguments())
    if (StringRef const reason = whyUnknown(argument.getType()); !reason.empty())
      return entry.emitError() << "argument " << argument.getArgNumber() << ": " << reason;
  WalkResult const result = module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (StringRef const reason = whyUnknown(type); !reason.empty())
        return WalkResult(op->emitError() << "'" << op->getName() << "': " << reason);
    return WalkResult(spellOut(op));
  });
  // The caller's memory is the caller's, and other memory is planned
  entry.walk([](bufferization::DeallocTensorOp op) { op.erase(); });
  return failure(result.wasInterrupted());
}
