//===- Counted.cpp - operators whose results have as many elements as run-time data decide ------------------------===//
//
// NonZero, Compress; Unique.cpp has Unique. A result has the most elements that there can be, and a count beside it.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/ops/Counted.h"

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// A count in memory, so that the device keeps it.
static Value zeroCount(Build &b) { return b.fill({}, b.scalar(b.getI64Type(), 0)); }

Value asI64(Build &b, Value index) { return b.create<arith::IndexCastOp>(b.getI64Type(), index); }

/// A loop over `count` positions of which some are kept: `keep` writes one into the results at its place among them.
/// The places are a running sum, whose end is the second result.
static Values select(Build &b, int64_t count, Value results, llvm::function_ref<Value(Value position)> isKept,
                     llvm::function_ref<Value(Value position, Value results, Value place)> keep) {
  Value const zero = b.create<arith::ConstantOp>(b.getI64IntegerAttr(0)), first = b.create<arith::ConstantIndexOp>(0),
              end = b.create<arith::ConstantIndexOp>(count), last = b.create<arith::ConstantIndexOp>(count - 1);
  Value const counter = count > 0 ? b.empty({}, b.getI64Type()) : zeroCount(b); // the last position writes it
  return loop(b, first, end, {results, counter, zero}, [&](Value position, ValueRange carried) -> Values {
    Value const kept = isKept(position);
    Value const written = when(b, kept, carried[0], [&] {
      Value const place = b.create<arith::IndexCastOp>(b.getIndexType(), carried[2]);
      return Values{keep(position, carried[0], place)};
    })[0];
    Value const next = b.create<arith::AddIOp>(carried[2], b.create<arith::ExtUIOp>(b.getI64Type(), kept));
    Value const isLast = b.create<arith::CmpIOp>(arith::CmpIPredicate::eq, position, last);
    Value const counted = when(b, isLast, carried[1],
                               [&] { return Values{b.create<tensor::InsertOp>(next, carried[1], ValueRange())}; })[0];
    return {written, counted, next};
  });
}

//===--- NonZero --------------------------------------------------------------------------------------------------===//

/// More than this are looked for at run time.
static constexpr int64_t mostKnown = 1 << 20;

/// Known at import: all there is.
static void outPositions(Node &node, DenseElementsAttr x) {
  IntsRef const shape = node.shape(0);
  std::vector<Ints> positions(shape.size());
  for (auto [at, element] : llvm::enumerate(x.getValues<Attribute>())) {
    auto const real = dyn_cast<FloatAttr>(element);
    if (real ? real.getValue().isZero() : cast<IntegerAttr>(element).getValue().isZero())
      continue;
    int64_t rest = static_cast<int64_t>(at);
    for (size_t dim = shape.size(); dim-- > 0; rest /= shape[dim])
      positions[dim].push_back(rest % shape[dim]);
  }
  Ints all;
  for (Ints const &along : positions)
    all.append(along);
  int64_t const count = positions.front().size();
  auto const type = tensorType({node.rank(0), count}, node.b.getI64Type());
  node.outConstant(0, DenseElementsAttr::get(type, ArrayRef<int64_t>(all)), pb::TensorProto::INT64);
}

/// Column k of the result is the position of the k-th element that is not 0, in row-major order.
static void importNonZero(Node &node) {
  Build &b = node.b;
  node.needRank(0, 1, 16);
  node.needStatic(0);
  if (DenseElementsAttr const known = node.constant(0); known && known.getNumElements() <= mostKnown)
    return outPositions(node, known);
  if (node.elements(0) == 0) {
    auto const none = DenseElementsAttr::get(tensorType({node.rank(0), 0}, b.getI64Type()), ArrayRef<int64_t>());
    return node.outConstant(0, none, pb::TensorProto::INT64);
  }
  Value const x = b.reshape(node.in(0), {node.elements(0)});
  IntsRef const shape = node.shape(0);
  auto const isKept = [&](Value position) {
    Scalars s(b, b.getLoc(), node.isUnsigned());
    Value const element = s.create<tensor::ExtractOp>(x, ValueRange(position));
    return s.compare(Compare::ne, element, s.constantLike(element, 0));
  };
  auto const keep = [&](Value position, Value positions, Value place) {
    int64_t inner = node.elements(0);
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      inner /= extent;
      Value index = position;
      if (inner != 1)
        index = b.create<arith::DivUIOp>(index, b.create<arith::ConstantIndexOp>(inner));
      if (dim != 0)
        index = b.create<arith::RemUIOp>(index, b.create<arith::ConstantIndexOp>(extent));
      Value const row = b.create<arith::ConstantIndexOp>(static_cast<int64_t>(dim));
      positions = b.create<tensor::InsertOp>(asI64(b, index), positions, ValueRange{row, place});
    }
    return positions;
  };
  Value const positions = b.empty(b.sizes({node.rank(0), node.elements(0)}), b.getI64Type());
  Values const done = select(b, node.elements(0), positions, isKept, keep);
  node.outCounted(0, done[0], pb::TensorProto::INT64, 1, done[1]);
}

//===--- Compress -------------------------------------------------------------------------------------------------===//

Value taken(Node &node, Value x, int64_t axis, Value positions) {
  Build &b = node.b;
  int64_t const rank = Build::rankOf(x);
  Sizes sizes = b.sizesOf(x);
  sizes[axis] = b.sizeOf(positions, 0);
  return b.map({positions}, {b.selectDims(rank, {axis})}, sizes, node.element(0), [&](Scalars &s, ValueRange v) {
    Values at;
    for (int64_t dim = 0; dim < rank; ++dim)
      at.push_back(s.create<linalg::IndexOp>(dim));
    at[axis] = s.create<arith::IndexCastOp>(s.b.getIndexType(), v[0]);
    return s.convert(s.create<tensor::ExtractOp>(x, at), computeType(node.element(0)));
  });
}

/// The slices along an axis of x, flat without the attribute.
static std::pair<Value, int64_t> compressed(Node &node) {
  if (!node.attribute("axis")) {
    node.needStatic(0);
    return {node.b.reshape(node.in(0), {node.elements(0)}), 0};
  }
  int64_t const axis = node.axisAttr("axis", std::nullopt, node.rank(0));
  if (ShapedType::isDynamic(node.shape(0)[axis]))
    node.needStatic(0);
  return {node.in(0), axis};
}

static void compressAtRunTime(Node &node) {
  Build &b = node.b;
  node.needRank(1, 1, 1);
  node.needStatic(0);
  node.needStatic(1);
  auto const [x, axis] = compressed(node);
  int64_t const extent = std::min(Build::shapeOf(x)[axis], node.shape(1)[0]);
  Value const condition = node.in(1);
  Value const positions = b.fill(b.sizes({extent}), b.scalar(b.getI64Type(), 0)); // what is not counted reads there
  auto const isKept = [&](Value position) { return b.create<tensor::ExtractOp>(condition, ValueRange(position)); };
  auto const keep = [&](Value position, Value kept, Value place) -> Value {
    return b.create<tensor::InsertOp>(asI64(b, position), kept, ValueRange(place));
  };
  Values const done = select(b, extent, positions, isKept, keep);
  node.outCounted(0, taken(node, x, axis, done[0]), node.dataType(0), axis, done[1]);
}

/// The slices along an axis, or the elements, for which the condition holds.
static void importCompress(Node &node) {
  Build &b = node.b;
  if (!node.constant(1))
    return compressAtRunTime(node);
  Ints const condition = node.ints(1, "condition");
  auto const [x, axis] = compressed(node);
  llvm::SmallVector<int64_t> kept;
  for (auto [at, holds] : llvm::enumerate(condition))
    if (holds)
      kept.push_back(at);
  if (!kept.empty() && kept.back() >= Build::shapeOf(x)[axis])
    node.refuse("condition holds at " + Twine(kept.back()) + ", beyond the extent " + Twine(Build::shapeOf(x)[axis]));
  if (kept.empty()) {
    Sizes sizes = b.sizesOf(x);
    sizes[axis] = b.getIndexAttr(0);
    return node.out(0, b.empty(sizes, node.element(0)));
  }
  if (kept.back() - kept.front() + 1 == static_cast<int64_t>(kept.size()))
    return node.out(0, b.slice(x, axis, kept.front(), kept.size()));
  node.out(0, taken(node, x, axis, node.table("position", integersAttr(*b.getContext(), kept))));
}

void registerCounted(Registry &table) {
  table.add("Compress", {9, 11, 28}, importCompress);
  table.add("NonZero", {9, 13}, importNonZero);
}

} // namespace ml2k::frontend
