//===- Indexing.cpp - operators whose positions are data ----------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Rows.h"

#include "translator/ir/NestScalars.h"

#include <limits>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// An index tensor's element as a position; negative ones count from the end. Where it does not matter what the result
/// is for those out of range.
static Value anyPosition(Scalars &s, Value index, Value extent) {
  Value const at = s.create<arith::IndexCastOp>(s.b.getIndexType(), index);
  Value const isNegative = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, at, s.index(0));
  return s.select(isNegative, s.create<arith::AddIOp>(at, extent), at);
}

/// The same where the element is read: an index out of range ends the program.
static Value position(Scalars &s, Value index, Value extent) {
  return s.create<nest::PositionOp>(s.b.getIndexType(), index, extent);
}

/// Constant indices are checked, and known not to be negative after this.
static bool checkIndices(Node &node, size_t at, int64_t extent) {
  if (!isa<IntegerType>(node.element(at)))
    node.refuse("indices are no integers");
  if (!node.numbers(at) || ShapedType::isDynamic(extent))
    return false;
  bool isNegative = false;
  for (int64_t index : integersOf(node.numbers(at))) {
    if (index < -extent || index >= extent)
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
  DenseElementsAttr const indices = node.numbers(1);
  int64_t const extent = node.shape(0)[axis];
  if (!indices || indices.getNumElements() != 1 || node.rank(1) > 1 || ShapedType::isDynamic(extent))
    return false;
  int64_t const index = integersOf(indices)[0];
  Value const row = node.b.slice(node.in(0), axis, index < 0 ? index + extent : index, 1);
  node.out(0, node.rank(1) == 0 ? node.b.squeeze(row, {axis}) : row);
  return true;
}

/// The position in a table of known indices as a sum: first + Σ steps[d] * d; none where they are no such sum.
static AffineExpr regularIndices(Node &node, int64_t extent, int64_t loops) {
  DenseElementsAttr const indices = node.numbers(1);
  if (!indices || indices.empty() || ShapedType::isDynamic(extent) || extent > std::numeric_limits<int32_t>::max())
    return {};
  llvm::SmallVector<int64_t> values = integersOf(indices);
  for (int64_t &value : values)
    value += value < 0 ? extent : 0;
  llvm::ArrayRef<int64_t> const shape = node.shape(1);
  Ints steps(shape.size(), 0), strides(shape.size(), 1);
  AffineExpr place = node.b.getAffineConstantExpr(values[0]);
  for (int64_t dim = int64_t(shape.size()) - 1, stride = 1; dim >= 0; stride *= shape[dim--]) {
    strides[dim] = stride;
    steps[dim] = shape[dim] == 1 ? 0 : values[stride] - values[0];
    place = place + node.b.getAffineDimExpr(loops + dim) * steps[dim];
  }
  for (auto [at, value] : llvm::enumerate(values)) {
    int64_t expected = values[0];
    for (size_t dim = 0; dim < shape.size(); ++dim)
      expected += int64_t(at) / strides[dim] % shape[dim] * steps[dim];
    if (value != expected)
      return {};
  }
  return place;
}

/// Known indices that count on: a slice, whose dimension has parts. Those of windows that overlap (torch's unfold) are
/// a sum of loops. Others are looked up.
static bool gatherRegular(Node &node, int64_t axis) {
  Build &b = node.b;
  Value const data = node.in(0);
  int64_t const rank = node.rank(0), indexRank = node.rank(1);
  AffineExpr const place = regularIndices(node, node.shape(0)[axis], axis);
  if (!place || indexRank == 0)
    return false;
  llvm::ArrayRef<int64_t> const table = node.shape(1);
  llvm::SmallVector<int64_t> const values = integersOf(node.numbers(1));
  int64_t const first = values[0] < 0 ? values[0] + node.shape(0)[axis] : values[0];
  bool const counts = llvm::all_of(llvm::enumerate(values),
                                   [&](auto value) { return value.value() == values[0] + int64_t(value.index()); });
  if (counts && first + int64_t(values.size()) <= node.shape(0)[axis]) {
    Value const part = b.slice(data, axis, first, int64_t(values.size()));
    std::vector<Extent> shape = b.extentsOf(part);
    shape.erase(shape.begin() + axis);
    for (int64_t dim = 0; dim < indexRank; ++dim)
      shape.insert(shape.begin() + axis + dim, Extent(table[dim]));
    node.out(0, b.reshapeTo(part, shape), node.dataType(0));
    return true;
  }
  if (indexRank == 1)
    return false;
  Sizes sizes = b.sizesOf(data);
  Sizes const inner = b.sizes(table);
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, inner.begin(), inner.end());
  llvm::SmallVector<AffineExpr> from;
  for (int64_t dim = 0; dim < rank; ++dim)
    from.push_back(dim == axis ? place : b.getAffineDimExpr(dim < axis ? dim : dim + indexRank - 1));
  node.out(0,
           b.map(data, AffineMap::get(sizes.size(), 0, from, b.getContext()), sizes, node.element(0),
                 [](Scalars &, ValueRange v) -> Value { return v[0]; }),
           node.dataType(0));
  return true;
}

static void importGather(Node &node) {
  Build &b = node.b;
  int64_t const axis = node.axisAttr("axis", 0, node.rank(0)), indexRank = node.rank(1);
  bool const isPlain = checkIndices(node, 1, node.shape(0)[axis]);
  if (gatherSlice(node, axis) || gatherRegular(node, axis))
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
  Value const result =
      b.map(indices, b.identityMap(rank), b.sizesOf(indices), node.element(0), [&](Scalars &s, ValueRange v) -> Value {
        llvm::SmallVector<Value> at;
        for (int64_t dim = 0; dim < rank; ++dim)
          at.push_back(dim == axis ? toPosition(s, v[0], extent, isPlain) : s.create<linalg::IndexOp>(dim));
        return s.convert(s.create<tensor::ExtractOp>(data, at), computeType(node.element(0)));
      });
  node.out(0, result, node.dataType(0));
}

/// Known indices into one dimension that are all the same, or count along a loop: x[0, :, 2] as exporters write it.
struct Counted {
  std::optional<int64_t> loop;
  int64_t first = 0;
};

/// Of column `i` of known indices; none if they are others.
static std::optional<Counted> countedIndices(Node &node, int64_t i, int64_t extent) {
  if (!node.numbers(1) || !isa<IntegerType>(node.element(1)) || ShapedType::isDynamic(extent))
    return std::nullopt;
  auto const values = integersOf(node.numbers(1));
  llvm::ArrayRef<int64_t> const rows = node.shape(1).drop_back();
  int64_t const count = node.shape(1).back(), first = values.empty() ? -1 : int64_t(values[i]);
  int64_t const from = first < 0 ? first + extent : first;
  if (from < 0 || from >= extent)
    return std::nullopt;
  auto const counts = [&](int64_t inner, int64_t size) { // along a loop with `inner` rows for each of its steps
    for (size_t row = 0; row * count < values.size(); ++row)
      if (values[row * count + i] != first + (size == 0 ? 0 : int64_t(row) / inner % size))
        return false;
    return size == 0 || (first >= 0 && first + size <= extent);
  };
  if (counts(1, 0))
    return Counted{std::nullopt, from};
  int64_t inner = 1;
  for (int64_t loop = int64_t(rows.size()) - 1; loop >= 0; inner *= rows[loop--])
    if (counts(inner, rows[loop]))
      return Counted{loop, first};
  return std::nullopt;
}

/// indices [.., k] name the first k dimensions of data after the batch dimensions.
static void importGatherND(Node &node) {
  Build &b = node.b;
  int64_t const batch = node.intAttr("batch_dims", 0), rank = node.rank(0), outer = node.rank(1) - 1;
  if (outer < batch || batch < 0)
    node.refuse("batch_dims " + Twine(batch) + " does not fit indices " + shapeText(node.shape(1)));
  int64_t const count = node.shape(1)[outer];
  if (ShapedType::isDynamic(count) || batch + count > rank)
    node.refuse("indices " + shapeText(node.shape(1)) + " do not fit data " + shapeText(node.shape(0)));
  Value const data = node.in(0), indices = node.in(1);
  Sizes const from = b.sizesOf(data);
  Sizes sizes = b.sizesOf(indices);
  sizes.pop_back();
  sizes.append(from.begin() + batch + count, from.end());
  llvm::SmallVector<Value> extents;
  for (int64_t i = 0; i < count; ++i)
    extents.push_back(extentValue(b, data, batch + i));
  Value const result = b.map({}, {}, sizes, node.element(0), [&](Scalars &s, ValueRange) -> Value {
    auto loop = [&](int64_t dim) { return s.create<linalg::IndexOp>(dim); };
    llvm::SmallVector<Value> row, at;
    for (int64_t dim = 0; dim < outer; ++dim)
      row.push_back(loop(dim));
    at.append(row.begin(), row.begin() + batch);
    for (int64_t i = 0; i < count; ++i) {
      if (auto const counted = countedIndices(node, i, node.shape(0)[batch + i])) {
        Value const first = s.index(counted->first);
        at.push_back(!counted->loop        ? first
                     : counted->first == 0 ? loop(*counted->loop)
                                           : s.create<arith::AddIOp>(loop(*counted->loop), first));
        continue;
      }
      row.push_back(s.index(i));
      at.push_back(position(s, s.create<tensor::ExtractOp>(indices, row), extents[i]));
      row.pop_back();
    }
    for (int64_t dim = outer; dim < static_cast<int64_t>(sizes.size()); ++dim)
      at.push_back(loop(dim));
    return s.convert(s.create<tensor::ExtractOp>(data, at), computeType(node.element(0)));
  });
  node.out(0, result, node.dataType(0));
}

//===--- Positions as results -------------------------------------------------------------------------------------===//

/// Where along the axis the largest (smallest) element is: among the equal ones the first (last).
Value argument(Build &b, Value x, int64_t axis, bool isMax, bool isLast, bool isUnsigned) {
  using Fold = Build::Fold;
  Value const best = b.reduce(x, {axis}, /*keepDims=*/true, isMax ? Fold::max : Fold::min, isUnsigned);
  Type const i64 = b.getI64Type();
  Value const candidates = b.elementwise({x, best}, i64, [&](Scalars &s, ValueRange v) {
    Value const here = s.create<arith::IndexCastOp>(i64, s.create<linalg::IndexOp>(axis));
    double const never = isLast ? -1 : static_cast<double>(maxElements);
    return s.select(s.compare(Compare::eq, v[0], v[1]), here, s.constant(i64, never));
  });
  return b.reduce(candidates, {axis}, /*keepDims=*/false, isLast ? Fold::max : Fold::min);
}

template <bool isMax> static void importArgument(Node &node) {
  int64_t const axis = node.axisAttr("axis", 0, node.rank(0));
  Value const at = argument(node.b, node.in(0), axis, isMax, node.intAttr("select_last_index", 0), node.isUnsigned());
  node.out(0, node.intAttr("keepdims", 1) ? node.b.unsqueeze(at, {axis}) : at, pb::TensorProto::INT64);
}

/// 1 at the first largest element, 0 elsewhere. Before opset 13 over everything from the axis on.
static void importHardmax(Node &node) {
  Build &b = node.b;
  node.needFloat(0);
  int64_t const rank = node.rank(0);
  int64_t axis = node.axisAttr("axis", node.opset < 13 ? 1 : -1, rank);
  Value x = node.in(0);
  if (node.opset < 13) {
    node.needStatic(0);
    int64_t rows = 1;
    for (int64_t extent : node.shape(0).take_front(axis))
      rows *= extent;
    x = b.reshape(x, {rows, node.elements(0) / std::max<int64_t>(rows, 1)});
    axis = 1;
  }
  Value const at = b.unsqueeze(argument(b, x, axis, /*isMax=*/true, /*isLast=*/false, node.isUnsigned()), {axis});
  Value const result = b.elementwise({at, x}, node.element(0), [&](Scalars &s, ValueRange v) {
    Value const here = s.create<arith::IndexCastOp>(v[0].getType(), s.create<linalg::IndexOp>(axis));
    Value const one = s.constantLike(v[1], 1), zero = s.constantLike(v[1], 0);
    return s.select(s.compare(Compare::eq, here, v[0]), one, zero);
  });
  node.out(0, b.reshape(result, node.shape(0)), node.dataType(0));
}

static void importOneHot(Node &node) {
  Build &b = node.b;
  auto const depth = static_cast<int64_t>(node.scalar(1, "depth"));
  int64_t const rank = node.rank(0) + 1, axis = node.axisAttr("axis", -1, rank);
  if (depth < 1)
    node.refuse("depth " + Twine(depth) + " is not positive");
  Value const values = node.in(2);
  Sizes sizes = b.sizesOf(node.in(0));
  sizes.insert(sizes.begin() + axis, b.getIndexAttr(depth));
  Ints read;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != axis)
      read.push_back(dim);
  Value const result =
      b.map(node.in(0), b.selectDims(rank, read), sizes, node.element(2), [&](Scalars &s, ValueRange v) {
        Value const index = s.convert(v[0], s.b.getI64Type());
        Value const at = anyPosition(s, index, s.index(depth));
        Value const here = s.create<linalg::IndexOp>(axis);
        Value const isHere = s.compare(Compare::eq, at, here);
        Value const which = s.select(isHere, s.index(1), s.index(0));
        Value const chosen = s.create<tensor::ExtractOp>(values, ValueRange(which));
        return s.convert(chosen, computeType(node.element(2)));
      });
  node.out(0, result, node.dataType(2));
}

/// The first sequence_lens[batch] steps in reverse order.
static void importReverseSequence(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0);
  int64_t const time = node.axisAttr("time_axis", 0, rank), batch = node.axisAttr("batch_axis", 1, rank);
  Value const data = node.in(0), steps = extentValue(b, data, time);
  node.out(0, b.map(node.in(1), b.selectDims(rank, {batch}), b.sizesOf(data), node.element(0),
                    [&](Scalars &s, ValueRange v) -> Value {
                      // A sequence has 0 to `steps` steps: what lies beyond is an index out of range
                      Value const places = s.create<arith::AddIOp>(steps, s.index(1));
                      Value const length = s.create<nest::PositionOp>(s.b.getIndexType(), v[0], places);
                      llvm::SmallVector<Value> at;
                      for (int64_t dim = 0; dim < rank; ++dim)
                        at.push_back(s.create<linalg::IndexOp>(dim));
                      Value const last = s.create<arith::SubIOp>(length, s.index(1));
                      Value const mirrored = s.create<arith::SubIOp>(last, at[time]);
                      at[time] = s.select(s.compare(Compare::lt, at[time], length), mirrored, at[time]);
                      return s.convert(s.create<tensor::ExtractOp>(data, at), computeType(node.element(0)));
                    }));
}

void registerIndexing(Registry &table) {
  table.add("Gather", {1, 11, 13}, importGather);
  table.add("GatherElements", {11, 13}, importGatherElements);
  table.add("GatherND", {11, 12, 13}, importGatherND);
  table.add("ArgMax", {1, 11, 12, 13}, importArgument<true>);
  table.add("ArgMin", {1, 11, 12, 13}, importArgument<false>);
  table.add("Hardmax", {1, 11, 13}, importHardmax);
  table.add("OneHot", {9, 11, 28}, importOneHot);
  table.add("ReverseSequence", {10, 28}, importReverseSequence);
}

} // namespace ml2k::frontend
