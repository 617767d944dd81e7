//===- Constants.cpp - values of the model known at translation ---------------------------------------------------===//

#include "passes/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <cstring>

using namespace mlir;

/// Bytes of one element, or 0 where elements are not whole bytes.
static size_t elementBytes(Type type) {
  unsigned const bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
  return bits % 8 == 0 ? bits / 8 : 0;
}

static ArrayRef<char> rawBytes(ElementsAttr value) {
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.getRawData();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return blob->getData();
  return {};
}

std::vector<char> ml2k::constantBytes(ElementsAttr value) {
  size_t const size = elementBytes(value.getElementType());
  ArrayRef<char> const raw = rawBytes(value);
  size_t const count = value.getNumElements();
  if (size == 0 || raw.empty())
    return {};
  if (raw.size() == size * count)
    return {raw.begin(), raw.end()};
  std::vector<char> bytes(size * count);
  for (size_t i = 0; i < count; ++i)
    std::memcpy(bytes.data() + i * size, raw.data(), size);
  return bytes;
}

static DenseElementsAttr denseOf(RankedTensorType type, ArrayRef<char> bytes) {
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

DenseElementsAttr ml2k::permuted(ElementsAttr value, ArrayRef<int64_t> permutation) {
  auto const type = cast<RankedTensorType>(value.getShapedType());
  size_t const size = elementBytes(type.getElementType());
  std::vector<char> const from = constantBytes(value);
  std::vector<char> to(from.size());
  unsigned const rank = type.getRank();
  SmallVector<int64_t> strides(rank, 1), shape, steps;
  for (int d = int(rank) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * type.getDimSize(d + 1);
  for (int64_t d : permutation) {
    shape.push_back(type.getDimSize(d));
    steps.push_back(strides[d]);
  }
  SmallVector<int64_t> position(rank, 0);
  int64_t source = 0;
  for (size_t target = 0; target < to.size(); target += size) {
    std::memcpy(to.data() + target, from.data() + source * size, size);
    for (int d = int(rank) - 1; d >= 0; --d) {
      source += steps[d];
      if (++position[d] < shape[d])
        break;
      source -= steps[d] * shape[d];
      position[d] = 0;
    }
  }
  return denseOf(RankedTensorType::get(shape, type.getElementType()), to);
}

DenseElementsAttr ml2k::sliced(ElementsAttr value, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  ArrayRef<int64_t> const shape = value.getShapedType().getShape();
  return gathered(value, sizes, [&](ArrayRef<int64_t> position) {
    int64_t source = 0;
    for (auto [extent, offset, at] : llvm::zip(shape, offsets, position))
      source = source * extent + offset + at;
    return source;
  });
}

DenseElementsAttr ml2k::gathered(ElementsAttr value, ArrayRef<int64_t> shape,
                                 function_ref<std::optional<int64_t>(ArrayRef<int64_t>)> place) {
  auto const type = RankedTensorType::get(shape, value.getElementType());
  size_t const size = elementBytes(type.getElementType());
  std::vector<char> const from = constantBytes(value);
  std::vector<char> to(type.getNumElements() * size);
  SmallVector<int64_t> position(shape.size(), 0);
  for (size_t target = 0; target < to.size(); target += size) {
    if (std::optional<int64_t> const source = place(position))
      std::memcpy(to.data() + target, from.data() + *source * size, size);
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0 && ++position[d] == shape[d]; --d)
      position[d] = 0;
  }
  return denseOf(type, to);
}

DenseElementsAttr ml2k::reshaped(ElementsAttr value, ArrayRef<int64_t> shape) {
  auto const type = RankedTensorType::get(shape, value.getElementType());
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense.reshape(type);
  return denseOf(type, constantBytes(value));
}

std::vector<double> ml2k::constantDoubles(ElementsAttr value) {
  auto const type = cast<FloatType>(value.getElementType());
  DenseElementsAttr const dense = isa<DenseElementsAttr>(value)
                                      ? cast<DenseElementsAttr>(value)
                                      : denseOf(cast<RankedTensorType>(value.getShapedType()), constantBytes(value));
  std::vector<double> result;
  result.reserve(dense.getNumElements());
  if (type.isF32())
    for (float element : dense.getValues<float>())
      result.push_back(element);
  else
    for (APFloat element : dense.getValues<APFloat>()) {
      bool lossy = false;
      element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
      result.push_back(element.convertToDouble());
    }
  return result;
}

DenseElementsAttr ml2k::constantOf(RankedTensorType type, ArrayRef<double> values) {
  auto element = cast<FloatType>(type.getElementType());
  if (element.isF32()) {
    std::vector<float> const rounded(values.begin(), values.end());
    return DenseElementsAttr::get(type, ArrayRef<float>(rounded));
  }
  std::vector<APFloat> rounded;
  rounded.reserve(values.size());
  for (double value : values) {
    APFloat converted(value);
    bool lossy = false;
    converted.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
    rounded.push_back(converted);
  }
  return DenseElementsAttr::get(type, rounded);
}

ml2k::nest::WeightOp ml2k::weightBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto weight = dyn_cast<nest::WeightOp>(op))
      return weight;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return nullptr;
}

Value ml2k::replacementWeight(OpBuilder &builder, nest::WeightOp like, DenseElementsAttr value) {
  return builder.create<nest::WeightOp>(like.getLoc(), value.getType(), like.getNameAttr(), value,
                                        like.getPackingAttr());
}

std::optional<TypedAttr> ml2k::fillValue(Value tensor) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    TypedAttr scalar;
    if (matchPattern(fill.getInputs()[0], m_Constant(&scalar)))
      return scalar;
    return std::nullopt;
  }
  DenseElementsAttr splat;
  if (matchPattern(tensor, m_Constant(&splat)) && splat.isSplat())
    return cast<TypedAttr>(splat.getSplatValue<Attribute>());
  return std::nullopt;
}

bool ml2k::isZero(TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isZero();
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getValue().isZero();
  return false;
}
