//===- Attention.cpp - attention, rotary positions and caches of keys and values ----------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Rows.h"

#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

using Fold = Build::Fold;

static Value lengthOf(Build &b, Value x, int64_t axis) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), b.sizeOf(x, axis));
}

static Value loopPosition(Scalars &s, int64_t dim) { return s.create<linalg::IndexOp>(dim); }

static Value isLess(Scalars &s, Value a, Value b) { return s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b); }

static Value both(Scalars &s, Value a, Value b) { return a ? s.create<arith::AndIOp>(a, b) : b; }

/// An i64 of a tensor as an index.
static Value asIndex(Scalars &s, Value number) { return s.create<arith::IndexCastOp>(s.b.getIndexType(), number); }

static void needPositions(Node &node, size_t input) {
  if (node.dataType(input) != pb::TensorProto::INT64)
    node.refuse("input " + Twine(input) + " holds no positions");
}

//===--- Attention ------------------------------------------------------------------------------------------------===//

namespace {

/// softmax(scale * Q K^T + mask) V, all of them as [batch, head, position, width].
class Attention {
public:
  explicit Attention(Node &node) : node(node), b(node.b) {}
  void import();

private:
  enum Input { Q, K, V, Mask, PastKey, PastValue, Filled };

  Value inHeads(size_t input, StringRef count);
  Value withPast(Value now, size_t past);
  Value forAllHeads(Value x);
  void readMask();
  Value scores();
  Value masked(Value scores);
  Value allowed(Scalars &s, ValueRange v);
  Value probabilities(Value scores);
  bool mayBeEmpty() const { return mask || filled || left >= 0 || right >= 0; }

  Node &node;
  Build &b;
  Value q, k, v, mask, filled; ///< `filled`: how many keys of a batch count
  bool isBoolean = false;      ///< the mask
  int64_t heads = 0, left = -1, right = -1;
  bool isCausal = false;
};

} // namespace

/// [batch, position, heads * width] comes apart.
Value Attention::inHeads(size_t input, StringRef count) {
  if (node.rank(input) == 4)
    return node.in(input);
  int64_t const number = node.intAttr(count), width = node.shape(input)[2];
  if (number < 1 || ShapedType::isDynamic(width) || width % number)
    node.refuse(Twine(count) + " of " + Twine(number) + " do not fit input " + shapeText(node.shape(input)));
  std::vector<Extent> const all = node.extents(input);
  return b.transpose(b.reshapeTo(node.in(input), {all[0], all[1], number, width / number}), {0, 2, 1, 3});
}

Value Attention::withPast(Value now, size_t past) {
  if (!node.has(past))
    return now;
  node.needRank(past, 4, 4);
  if (node.element(past) != Build::elementOf(now))
    node.refuse("the cache is of another type");
  return b.concat({node.in(past), now}, 2);
}

/// Several heads of queries may share one of keys and values.
Value Attention::forAllHeads(Value x) {
  int64_t const shared = Build::shapeOf(x)[1];
  if (ShapedType::isDynamic(heads) || ShapedType::isDynamic(shared) || shared == 0 || heads % shared)
    node.refuse(Twine(heads) + " heads of queries cannot share " + Twine(shared) + " of keys or values");
  if (heads == shared)
    return x;
  std::vector<Extent> const all = b.extentsOf(x);
  Sizes const sizes = b.sizesFor({all[0], shared, heads / shared, all[2], all[3]});
  return b.reshapeTo(b.broadcastTo(b.unsqueeze(x, {2}), sizes), {all[0], heads, all[2], all[3]});
}

/// The mask as it broadcasts to the scores. Keys behind the last one of a shorter mask are left out.
void Attention::readMask() {
  if (!node.has(Mask))
    return;
  mask = node.in(Mask);
  isBoolean = node.dataType(Mask) == pb::TensorProto::BOOL;
  if (!isBoolean && node.element(Mask) != node.element(Q))
    node.refuse("the mask is of another type");
  node.needRank(Mask, 1, 4);
  int64_t const columns = Build::shapeOf(mask).back(), keys = Build::shapeOf(k)[2];
  if (!ShapedType::isDynamic(columns) && !ShapedType::isDynamic(keys) && columns < keys && columns != 1) {
    Ints low(Build::rankOf(mask), 0), high = low;
    high.back() = keys - columns;
    Scalars s(b, b.getLoc(), false);
    Type const element = Build::elementOf(mask);
    mask = b.pad(mask, low, high, isBoolean ? b.scalar(element, 0) : s.lowest(element));
  }
}

Value Attention::scores() {
  int64_t const width = Build::shapeOf(q).back();
  if (ShapedType::isDynamic(width) || Build::shapeOf(k).back() != width)
    node.refuse("queries " + shapeText(node.shape(Q)) + " and keys " + shapeText(node.shape(K)) +
                " are of different widths");
  double const scale = node.floatAttr("scale", 1 / std::sqrt(double(std::max<int64_t>(width, 1))));
  Value const scaled =
      b.elementwise(q, [&](Scalars &s, ValueRange v) { return s.mul(v[0], s.constantLike(v[0], scale)); });
  return b.matmulBroadcast(scaled, b.transpose(k, {0, 1, 3, 2}));
}

/// Whether a query sees a key, by where they stand; null if each sees all.
Value Attention::allowed(Scalars &s, ValueRange given) {
  Value const key = loopPosition(s, 3);
  Value count = filled ? asIndex(s, given.back()) : Value(), allowed = count ? isLess(s, key, count) : Value();
  if (!isCausal && left < 0 && right < 0)
    return allowed;
  Value place = loopPosition(s, 2); // among the keys
  if (node.has(PastKey))
    place = s.create<arith::AddIOp>(place, lengthOf(b, node.in(PastKey), 2));
  else if (filled)
    place = s.create<arith::AddIOp>(place, s.create<arith::SubIOp>(count, lengthOf(b, q, 2)));
  auto const shifted = [&](int64_t by) { return by ? s.create<arith::AddIOp>(place, s.index(by)) : place; };
  if (isCausal || right >= 0)
    allowed = both(s, allowed, isLess(s, key, shifted(isCausal ? 1 : right + 1)));
  if (left >= 0)
    allowed = both(s, allowed, isLess(s, shifted(-left - 1), key));
  return allowed;
}

Value Attention::masked(Value scores) {
  llvm::SmallVector<Value> inputs{scores};
  if (mask)
    inputs.push_back(mask);
  if (filled)
    inputs.push_back(filled);
  if (inputs.size() == 1 && !isCausal && left < 0 && right < 0)
    return scores;
  return b.elementwise(inputs, [&](Scalars &s, ValueRange given) {
    Value seen = allowed(s, given);
    if (mask && isBoolean)
      seen = both(s, seen, given[1]);
    Value const score = mask && !isBoolean ? s.add(given[0], given[1]) : given[0];
    return seen ? s.select(seen, score, s.lowest(score.getType())) : score;
  });
}

/// Their softmax. Queries that see no key get zeros: their largest score is minus infinity, their sum is zero; all
/// others have a sum of one or more.
Value Attention::probabilities(Value scores) {
  if (!mayBeEmpty())
    return softmax(b, scores, {3});
  Value const largest = b.reduce(scores, {3}, /*keepDims=*/true, Fold::max);
  Value const exponentials = b.elementwise({scores, largest}, [](Scalars &s, ValueRange v) {
    auto type = cast<FloatType>(v[1].getType());
    auto const least = llvm::APFloat::getLargest(type.getFloatSemantics(), /*Negative=*/true);
    return s.exp(s.sub(v[0], s.max(v[1], s.create<arith::ConstantOp>(FloatAttr::get(type, least)))));
  });
  Value const sum = b.reduce(exponentials, {3}, /*keepDims=*/true, Fold::sum);
  return b.elementwise({exponentials, sum},
                       [](Scalars &s, ValueRange v) { return s.div(v[0], s.max(v[1], s.constantLike(v[1], 1))); });
}

void Attention::import() {
  node.needFloat(Q);
  node.needRank(Q, 3, 4);
  for (size_t input : {K, V})
    node.needRank(input, node.rank(Q), node.rank(Q));
  if (node.element(K) != node.element(Q) || !isa<FloatType>(node.element(V)))
    node.refuse("queries, keys and values are of different types");
  if (node.has(PastKey) != node.has(PastValue))
    node.refuse("past_key and past_value are used together");
  if (node.has(Filled) && node.has(PastKey))
    node.refuse("nonpad_kv_seqlen and past_key exclude each other");
  auto const windowOf = [&](StringRef name) { // one that no sequence fills is none
    int64_t const size = node.intAttr(name, -1);
    return size < int64_t(1) << 30 ? size : -1;
  };
  left = windowOf("left_window_size"), right = windowOf("right_window_size");
  isCausal = node.intAttr("is_causal", 0);
  int64_t const wanted = node.intAttr("qk_matmul_output_mode", 0), precision = node.intAttr("softmax_precision", 0);
  if (wanted < 0 || wanted > 3)
    node.refuse("qk_matmul_output_mode " + Twine(wanted) + " is unknown");
  Type const exact = precision ? elementType(*b.getContext(), int32_t(precision)) : node.element(Q);
  if (!isa_and_nonnull<FloatType>(exact))
    node.refuse("softmax_precision " + Twine(precision) + " is no type of floating-point numbers");
  q = inHeads(Q, "q_num_heads"), k = inHeads(K, "kv_num_heads"), v = inHeads(V, "kv_num_heads");
  b.extents.requireEqual(b.extentsOf(q)[0], b.extentsOf(k)[0]);
  b.extents.requireEqual(b.extentsOf(q)[0], b.extentsOf(v)[0]);
  b.extents.requireEqual(b.extentsOf(k)[2], b.extentsOf(v)[2]);
  // What is equal is known for all where it is for one
  auto const known = [&](Value x, int64_t dim, ArrayRef<Value> others) {
    Ints shape(Build::shapeOf(x));
    for (Value other : others)
      if (ShapedType::isDynamic(shape[dim]))
        shape[dim] = Build::shapeOf(other)[dim];
    return b.casted(x, tensorType(shape, Build::elementOf(x)));
  };
  q = known(q, 0, {k, v}), k = known(k, 0, {q, v}), v = known(v, 0, {q, k});
  k = known(k, 2, {v}), v = known(v, 2, {k});
  k = withPast(k, PastKey);
  v = withPast(v, PastValue);
  node.out(1, k);
  node.out(2, v);
  std::vector<Extent> const queries = b.extentsOf(q), keys = b.extentsOf(k), values = b.extentsOf(v);
  b.extents.requireEqual(keys[2], values[2]);
  heads = Build::shapeOf(q)[1];
  k = forAllHeads(k);
  v = forAllHeads(v);
  readMask();
  if (node.has(Filled)) {
    node.needRank(Filled, 1, 1);
    needPositions(node, Filled);
    b.extents.requireEqual(queries[0], node.extents(Filled)[0]);
    filled = b.unsqueeze(node.in(Filled), {1, 2, 3});
  }
  auto const show = [&](int64_t mode, Value x) {
    if (mode == wanted && node.wants(3))
      node.out(3, b.elementwiseCast(x, node.element(Q)));
  };
  std::optional<Part> part(std::in_place, b, "scores");
  Value x = scores();
  show(0, x);
  if (double const cap = node.floatAttr("softcap", 0); cap > 0)
    x = b.elementwise(x, [&](Scalars &s, ValueRange v) {
      return s.mul(s.tanh(s.div(v[0], s.constantLike(v[0], cap))), s.constantLike(v[0], cap));
    });
  show(1, x);
  x = masked(x);
  show(2, x);
  part.reset();
  part.emplace(b, "softmax");
  x = probabilities(b.elementwiseCast(x, exact));
  show(3, x);
  part.reset();
  Value const y = b.matmulBroadcast(b.elementwiseCast(x, node.element(V)), v);
  if (node.rank(Q) == 4)
    return node.out(0, y);
  node.out(0, b.reshapeTo(b.transpose(y, {0, 2, 1, 3}), {queries[0], queries[2], Extent(heads) * values[3]}));
}

static void importAttention(Node &node) { Attention(node).import(); }

//===--- Positions by rotation ------------------------------------------------------------------------------------===//

/// Rows of a table [position, k], checked: [batch, sequence, k].
static Value rowsAt(Node &node, size_t table, size_t positions) {
  Build &b = node.b;
  node.needRank(table, 2, 2);
  node.needRank(positions, 2, 2);
  needPositions(node, positions);
  Value const data = node.in(table), extent = lengthOf(b, data, 0);
  Sizes sizes = b.sizesOf(node.in(positions));
  sizes.push_back(b.sizeOf(data, 1));
  return b.map(node.in(positions), b.selectDims(3, {0, 1}), sizes, node.element(table), [&](Scalars &s, ValueRange v) {
    Value const row = s.create<nest::PositionOp>(s.b.getIndexType(), v[0], extent);
    Value const found = s.create<tensor::ExtractOp>(data, ValueRange{row, loopPosition(s, 2)});
    return s.convert(found, computeType(node.element(table)));
  });
}

/// Pairs of elements of a head turn by an angle of their position: those half a head apart, or neighbours.
static void importRotaryEmbedding(Node &node) {
  node.needFloat(0);
  node.needRank(0, 3, 4);
  Build &b = node.b;
  std::vector<Extent> const all = node.extents(0);
  bool const isJoined = node.rank(0) == 3, isInterleaved = node.intAttr("interleaved", 0);
  int64_t const last = node.shape(0).back(), heads = isJoined ? node.intAttr("num_heads") : 1;
  if (ShapedType::isDynamic(last) || heads < 1 || last % heads)
    node.refuse(Twine(heads) + " heads do not fit input " + shapeText(node.shape(0)));
  int64_t const width = last / heads, given = node.intAttr("rotary_embedding_dim", 0), turned = given ? given : width;
  if (turned < 2 || turned % 2 || turned > width)
    node.refuse("of " + Twine(width) + " elements of a head, " + Twine(turned) + " cannot turn in pairs");
  Value const x = isJoined ? b.reshapeTo(node.in(0), {all[0], all[1], heads, width}) : node.in(0);
  auto const angles = [&](size_t input) {
    if (node.element(input) != node.element(0))
      node.refuse("the inputs are of different types");
    Value const table = node.has(3) ? rowsAt(node, input, 3) : node.in(input);
    if (Build::rankOf(table) != 3 || Build::shapeOf(table)[2] != turned / 2)
      node.refuse("angles of shape " + shapeText(node.shape(input)) + " are not those of " + Twine(turned / 2) +
                  " pairs");
    return b.unsqueeze(table, {isJoined ? 2 : 1});
  };
  Value const cosine = angles(1), sine = angles(2);
  Value front, back;
  if (isInterleaved) {
    std::vector<Extent> shape = b.extentsOf(x);
    shape.back() = turned / 2;
    shape.push_back(2);
    Value const pairs = b.reshapeTo(b.slice(x, 3, 0, turned), shape);
    front = b.squeeze(b.slice(pairs, 4, 0, 1), {4}), back = b.squeeze(b.slice(pairs, 4, 1, 1), {4});
  } else {
    front = b.slice(x, 3, 0, turned / 2), back = b.slice(x, 3, turned / 2, turned / 2);
  }
  Value const real = b.elementwise({front, back, cosine, sine}, [](Scalars &s, ValueRange v) {
    return s.sub(s.mul(v[0], v[2]), s.mul(v[1], v[3]));
  });
  Value const imaginary = b.elementwise({front, back, cosine, sine}, [](Scalars &s, ValueRange v) {
    return s.add(s.mul(v[1], v[2]), s.mul(v[0], v[3]));
  });
  llvm::SmallVector<Value> parts{real, imaginary};
  if (isInterleaved) {
    Value const pairs = b.concat({b.unsqueeze(real, {4}), b.unsqueeze(imaginary, {4})}, 4);
    std::vector<Extent> shape = b.extentsOf(x);
    shape.back() = turned;
    parts = {b.reshapeTo(pairs, shape)};
  }
  if (turned < width)
    parts.push_back(b.slice(x, 3, turned, width - turned));
  Value const result = parts.size() == 1 ? parts[0] : b.concat(parts, 3);
  node.out(0, isJoined ? b.reshapeTo(result, all) : result);
}

//===--- A cache --------------------------------------------------------------------------------------------------===//

/// `update` in place of some elements of the cache along an axis, from an index of each batch on.
static void importTensorScatter(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0), axis = node.axisAttr("axis", -2, rank);
  std::string const mode = node.stringAttr("mode", "linear");
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    node.refuse("axis " + Twine(axis) + " of mode \"" + mode + "\" is none of a sequence");
  node.needRank(1, rank, rank);
  if (node.dataType(1) != node.dataType(0))
    node.refuse("the inputs are of different types");
  for (auto [dim, extents] : llvm::enumerate(llvm::zip(node.extents(0), node.extents(1))))
    if (static_cast<int64_t>(dim) != axis)
      b.extents.requireEqual(std::get<0>(extents), std::get<1>(extents));
  Value const update = node.in(1);
  b.extents.requireAtLeast(node.extents(1)[axis], 1);
  Value const count = lengthOf(b, update, axis), all = lengthOf(b, node.in(0), axis);
  llvm::SmallVector<Value> inputs{node.in(0)};
  if (node.has(2)) {
    node.needRank(2, 1, 1);
    needPositions(node, 2);
    b.extents.requireEqual(node.extents(0)[0], node.extents(2)[0]);
    inputs.push_back(b.unsqueeze(node.in(2), llvm::to_vector(llvm::seq<int64_t>(1, rank))));
  }
  node.out(0, b.elementwise(inputs, [&](Scalars &s, ValueRange v) {
    Value at = loopPosition(s, axis);
    if (v.size() > 1)
      at = s.create<arith::SubIOp>(at, asIndex(s, v[1]));
    if (mode == "circular") {
      Value const rest = s.create<arith::RemSIOp>(at, all);
      at = s.select(isLess(s, rest, s.index(0)), s.create<arith::AddIOp>(rest, all), rest);
    }
    Value const isNew = both(s, isLess(s, s.index(-1), at), isLess(s, at, count));
    llvm::SmallVector<Value> place;
    for (int64_t dim = 0; dim < rank; ++dim)
      place.push_back(dim == axis ? s.select(isNew, at, s.index(0)) : loopPosition(s, dim));
    Value const found = s.convert(s.create<tensor::ExtractOp>(update, place), v[0].getType());
    return s.select(isNew, found, v[0]);
  }));
}

void registerAttention(Registry &table) {
  table.add("Attention", {23, 24, 25}, importAttention);
  table.add("RotaryEmbedding", {23}, importRotaryEmbedding);
  table.add("TensorScatter", {24}, importTensorScatter);
}

} // namespace ml2k::frontend
