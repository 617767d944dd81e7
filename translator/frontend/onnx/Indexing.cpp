//===- Indexing.cpp - operators whose positions are data ----------------------------------------------------*- C++ -*-===//

#include "translator/frontend/onnx/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// An index tensor's element as a position; negative ones count from the end.
static Value position(Scalars &s, Value index, Value extent) {
  Value const at = s.create<arith::IndexCastOp>(s.b.getIndexType(), index);
  Value const isNegative = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at, s.index(0));
  return s.select(isNegative, s.create<arith::AddIOp>(at, extent), at);
}

/// Constant indices are checked, and known not to be negative after this.
static bool checkIndices(Node &node, size_t at, int64_t extent) {
  if (!isa<IntegerType>(node.element(at)))
    node.refuse("indices are no integers");
  if (!node.constant(at))
    return false;
  bool isNegative = false;
  for (int64_t index : integersOf(node.constant(at))) {
    if (!ShapedType::isDynamic(extent) && (index < -extent || index >= extent))
      node.refuse("index " + Twine(index) + " is out of range for an extent of " + Twine(extent));
    isNegative |= index < 0;
  }
  return !isNegative;
}

static Value extentValue(Build &b, Value x, int64_t axis) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), b.sizeOf(x, axis));
}

static Value toPosition(Scalars &s, Value index, Value extent, bool isPlain) {
  return isPlain ? s.create<arith::IndexCastOp>(s.b.getIndexType(), index) : position(s, index, extent);
}

/// A single known index is a slice.
static bool gatherSlice(Node &node, int64_t axis) {
  DenseElementsAttr const indices = node.constant(1);
  int64_t const extent = node.shape(0)[axis];
  if (!indices || indices.getNumElements() != 1 || node.rank(1) > 1 || ShapedType::isDynamic(extent))
    return false;
  int64_t const index = integersOf(indices)[0];
  Value const row = node.b.slice(node.in(0), axis, index < 0 ? index + extent : index, 1);
  node.out(0, node.rank(1) == 0 ? node.b.squeeze(row, {axis}) : row);
  return true;
}

static void importGather(Node &node) {
  Build &b = node.b;
  int64_t const axis = node.axisAttr("axis", 0, node.rank(0)), indexRank = node.rank(1);
  bool const isPlain = checkIndices(node, 1, node.shape(0)[axis]);
  if (gatherSlice(node, axis))
    return;
  Value const data = node.in(0), indices = node.in(1), extent = extentValue(b, data, axis);
  Sizes sizes = b.sizesOf(data);
  Sizes const inner = b.sizesOf(indices);
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, inner.begin(), inner.end());
  Ints const read = llvm::to_vector(llvm::seq<int64_t>(axis, axis + indexRank));
  Value const result =
      b.map(indices, b.selectDims(sizes.size(), read), sizes, node.element(0), [&](Scalars &s, ValueRange v) -> Value {
        llvm::SmallVector<Value> at;
        for (int64_t dim = 0; dim < node.rank(0); ++dim)
          at.push_back(dim == axis ? toPosition(s, v[0], extent, isPlain)
                                   : s.create<linalg::IndexOp>(dim < axis ? dim : dim + indexRank - 1));
        return s.convert(s.create<tensor::ExtractOp>(data, at), computeType(node.element(0)));
      });
  node.out(0, result, node.dataType(0));
}

static void importGatherElements(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0), axis = node.axisAttr("axis", 0, rank);
  node.needRank(1, rank, rank);
  bool const isPlain = checkIndices(node, 1, node.shape(0)[axis]);
  Value const data = node.in(0), indices = node.in(1), extent = extentValue(b, data, axis);
  Value const result = b.map(indices, b.identityMap(rank), b.sizesOf(indices), node.element(0),
                             [&](Scalars &s, ValueRange v) -> Value {
                               llvm::SmallVector<Value> at;
                               for (int64_t dim = 0; dim < rank; ++dim)
                                 at.push_back(dim == axis ? toPosition(s, v[0], extent, isPlain)
                                                          : s.create<linalg::IndexOp>(dim));
                               return s.convert(s.create<tensor::ExtractOp>(data, at), computeType(node.element(0)));
                             });
  node.out(0, result, node.dataType(0));
}

void registerIndexing(Registry &table) {
  table.add("Gather", {1, 11, 13}, importGather);
  table.add("GatherElements", {11, 13}, importGatherElements);
}

} // namespace ml2k::frontend
