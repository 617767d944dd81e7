//===- Movement.cpp - operators that copy elements to other places ------------------------------------------------===//

#include "translator/frontend/onnx/LoopNest.h"
#include "translator/frontend/onnx/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

static void importTranspose(Node &node) {
  int64_t const rank = node.rank(0);
  Ints permutation = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (auto const given = node.intsAttr("perm")) {
    if (node.axes(*given, rank).size() != static_cast<size_t>(rank))
      node.refuse("perm has " + Twine(given->size()) + " axes, " + Twine(rank) + " are needed");
    for (auto [axis, value] : llvm::zip(permutation, *given))
      axis = node.axis(value, rank);
  }
  node.out(0, node.b.transpose(node.in(0), permutation));
}

static void importConcat(Node &node) {
  int64_t const rank = node.rank(0);
  int64_t const axis = node.axisAttr("axis", node.opset < 4 ? std::optional<int64_t>(1) : std::nullopt, rank);
  for (size_t at = 1; at < node.inputCount(); ++at) {
    node.needRank(at, rank, rank);
    for (auto [dim, extents] : llvm::enumerate(llvm::zip(node.shape(0), node.shape(at)))) {
      auto const [first, own] = extents;
      bool const isKnown = !ShapedType::isDynamic(first) && !ShapedType::isDynamic(own);
      if (static_cast<int64_t>(dim) != axis && isKnown && first != own)
        node.refuse("shapes " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(at)) +
                    " cannot be concatenated along axis " + Twine(axis));
    }
    if (node.dataType(at) != node.dataType(0))
      node.refuse("the inputs are of different types");
  }
  node.out(0, node.b.concat(node.allInputs(), axis));
}

//===--- Slices
//-----------------------------------------------------------------------------------------------------===//

static void slice(Node &node, IntsRef starts, IntsRef ends, IntsRef axes, IntsRef steps) {
  Build &b = node.b;
  Ints offsets(node.rank(0), 0), extents(node.shape(0)), strides(node.rank(0), 1);
  bool isReversed = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t const axis = node.axis(axes[i], node.rank(0)), extent = node.shape(0)[axis], step = steps[i];
    bool const isWhole = starts[i] == 0 && step == 1 && ends[i] >= maxElements;
    if (isWhole)
      continue;
    if (ShapedType::isDynamic(extent))
      node.refuse("axis " + Twine(axis) + " has no known extent; give it by --dim");
    if (step == 0)
      node.refuse("a step is 0");
    auto bounded = [&](int64_t value, int64_t low, int64_t high) {
      return std::clamp(value < 0 ? value + extent : value, low, high);
    };
    int64_t const first = step > 0 ? bounded(starts[i], 0, extent) : bounded(starts[i], 0, extent - 1);
    int64_t const last = step > 0 ? bounded(ends[i], 0, extent) : bounded(ends[i], -1, extent - 1);
    int64_t const span = step > 0 ? last - first : first - last, pace = std::abs(step);
    offsets[axis] = first;
    extents[axis] = std::max<int64_t>((span + pace - 1) / pace, 0);
    strides[axis] = step;
    isReversed |= step < 0 && extents[axis] > 1;
  }
  if (!isReversed) {
    for (int64_t &stride : strides)
      stride = std::max<int64_t>(stride, 1);
    return node.out(0, b.slice(node.in(0), offsets, extents, strides));
  }
  llvm::SmallVector<AffineExpr> read;
  for (auto [dim, offset, stride] : llvm::zip(llvm::seq<unsigned>(0, offsets.size()), offsets, strides))
    read.push_back(b.getAffineDimExpr(dim) * stride + offset);
  Sizes sizes = b.sizesOf(node.in(0));
  for (auto [size, extent] : llvm::zip(sizes, extents))
    if (!ShapedType::isDynamic(extent))
      size = b.getIndexAttr(extent);
  node.out(0, b.map(node.in(0), AffineMap::get(node.rank(0), 0, read, b.getContext()), sizes, node.element(0),
                    [](Scalars &, ValueRange v) { return v[0]; }));
}

//===--- Slices of bounds that are known at run time --------------------------------------------------------------===//

namespace {
/// Where a slice begins along an axis, and how many elements it takes: scalars of type i64.
struct Span {
  Value first, count;
};
} // namespace

/// Bounds beyond the extent are cut, negative ones count from the end.
static Span spanOf(Scalars &s, Value start, Value end, int64_t extent, int64_t step) {
  auto constant = [&](int64_t value) { return s.constant(s.b.getI64Type(), static_cast<double>(value)); };
  auto bounded = [&](Value value, int64_t low, int64_t high) {
    Value const fromEnd = s.add(value, constant(extent));
    Value const moved = s.select(s.compare(Compare::lt, value, constant(0)), fromEnd, value);
    return s.min(s.max(moved, constant(low)), constant(high));
  };
  Value const first = step > 0 ? bounded(start, 0, extent) : bounded(start, 0, extent - 1);
  Value const last = step > 0 ? bounded(end, 0, extent) : bounded(end, -1, extent - 1);
  Value const length = step > 0 ? s.sub(last, first) : s.sub(first, last), pace = constant(std::abs(step));
  Value const count = s.div(s.add(length, constant(std::abs(step) - 1)), pace);
  return {first, s.max(count, constant(0))};
}

/// The result has room for the longest slices; what counts is said beside it. Axes and steps have to be known.
static void sliceAtRunTime(Node &node) {
  Build &b = node.b;
  node.needStatic(0);
  for (size_t at : {1, 2})
    node.needRank(at, 1, 1);
  int64_t const bounds = node.shape(1)[0];
  if (bounds != node.shape(2)[0] || ShapedType::isDynamic(bounds))
    node.refuse("starts and ends differ in length");
  Ints const axes =
      node.has(3) ? node.axes(node.ints(3, "axes"), node.rank(0)) : llvm::to_vector(llvm::seq<int64_t>(0, bounds));
  Ints const steps = node.has(4) ? node.ints(4, "steps") : Ints(bounds, 1);
  if (static_cast<int64_t>(axes.size()) != bounds || static_cast<int64_t>(steps.size()) != bounds ||
      bounds > node.rank(0) || llvm::is_contained(steps, 0) || node.type(0).getNumElements() == 0)
    node.refuse("starts, ends, axes and steps do not fit each other or the input");
  Value const x = node.in(0), starts = node.in(1), ends = node.in(2);
  auto span = [&](Scalars &s, size_t i) {
    Value const place = s.index(static_cast<int64_t>(i));
    auto bound = [&](Value values) { return s.convert(s.create<tensor::ExtractOp>(values, place), s.b.getI64Type()); };
    return spanOf(s, bound(starts), bound(ends), node.shape(0)[axes[i]], steps[i]);
  };
  Ints most(node.shape(0));
  for (auto [axis, step] : llvm::zip(axes, steps))
    most[axis] = llvm::divideCeil(most[axis], std::abs(step));
  auto element = [&](Scalars &s, ValueRange) -> Value {
    Values at;
    for (int64_t dim = 0; dim < node.rank(0); ++dim)
      at.push_back(s.create<linalg::IndexOp>(dim));
    for (auto [i, axis] : llvm::enumerate(axes)) {
      Value const loop = s.create<arith::IndexCastOp>(s.b.getI64Type(), at[axis]);
      Value const pace = s.constantLike(loop, static_cast<double>(steps[i]));
      Value const place = s.add(span(s, i).first, s.mul(loop, pace));
      Value const last = s.constantLike(loop, static_cast<double>(node.shape(0)[axis] - 1)); // what does not count
      Value const inside = s.min(s.max(place, s.constantLike(loop, 0)), last);
      at[axis] = s.create<arith::IndexCastOp>(s.b.getIndexType(), inside);
    }
    return s.convert(s.create<tensor::ExtractOp>(x, at), computeType(node.element(0)));
  };
  node.out(0, b.map({}, {}, b.sizes(most), node.element(0), element), node.dataType(0));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Value const count = b.map({}, {}, {}, b.getI64Type(), [&](Scalars &s, ValueRange) { return span(s, i).count; });
    if (node.outputs[0])
      node.outputs[0]->counts.emplace_back(axis, count);
  }
}

static void importSlice(Node &node) {
  bool const isOld = node.opset < 10;
  if (!isOld && node.has(1) && node.has(2) && (!node.constant(1) || !node.constant(2)))
    return sliceAtRunTime(node);
  auto get = [&](StringRef name, size_t at) {
    return isOld ? node.intsAttr(name) : node.has(at) ? std::optional(node.ints(at, name)) : std::nullopt;
  };
  auto const starts = get("starts", 1), ends = get("ends", 2), axes = get("axes", 3);
  auto const steps = isOld ? std::nullopt : get("steps", 4);
  if (!starts || !ends)
    node.refuse("starts or ends are missing");
  Ints const ones(starts->size(), 1), all = llvm::to_vector(llvm::seq<int64_t>(0, starts->size()));
  Ints const along = axes.value_or(all), paces = steps.value_or(ones);
  if (ends->size() != starts->size() || along.size() != starts->size() || paces.size() != starts->size())
    node.refuse("starts, ends, axes and steps differ in length");
  slice(node, *starts, *ends, along, paces);
}

static void importSplit(Node &node) {
  int64_t const axis = node.axisAttr("axis", 0, node.rank(0)), extent = node.shape(0)[axis];
  if (ShapedType::isDynamic(extent))
    node.refuse("axis " + Twine(axis) + " has no known extent; give it by --dim");
  int64_t const count = node.outputCount();
  if (count == 0)
    node.refuse("it has no outputs");
  Ints const parts = node.intsAttrOrInput("split", 1).value_or([&] {
    int64_t const each = llvm::divideCeil(extent, count);
    Ints equal(count, each);
    equal.back() = extent - each * (count - 1);
    return equal;
  }());
  if (static_cast<int64_t>(parts.size()) != count || std::accumulate(parts.begin(), parts.end(), int64_t(0)) != extent)
    node.refuse("parts " + shapeText(parts) + " do not make up the extent " + Twine(extent));
  int64_t offset = 0;
  for (auto [at, part] : llvm::enumerate(parts)) {
    node.out(at, node.b.slice(node.in(0), axis, offset, part));
    offset += part;
  }
}

//===--- Padding
//----------------------------------------------------------------------------------------------------===//

/// The position in the input for one in the padded output: at the edge, mirrored at it, or around.
static Value padPosition(Scalars &s, Value position, int64_t low, int64_t extent, StringRef mode) {
  Value const zero = s.index(0), last = s.index(extent - 1);
  Value const moved = s.create<arith::SubIOp>(position, s.index(low));
  if (mode == "edge")
    return s.create<arith::MinSIOp>(s.create<arith::MaxSIOp>(moved, zero), last);
  if (mode == "wrap") {
    Value const length = s.index(extent);
    Value const rest = s.create<arith::RemSIOp>(moved, length);
    Value const isBelow = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, rest, zero);
    return s.select(isBelow, s.create<arith::AddIOp>(rest, length), rest);
  }
  Value const distance = s.create<arith::MaxSIOp>(moved, s.create<arith::SubIOp>(zero, moved));
  return s.create<arith::MinSIOp>(distance, s.create<arith::SubIOp>(s.index(2 * (extent - 1)), distance));
}

static Value padByCopy(Node &node, Value x, IntsRef low, IntsRef high, StringRef mode) {
  Build &b = node.b;
  node.needStatic(0);
  Ints shape;
  for (auto [extent, before, after] : llvm::zip(Build::shapeOf(x), low, high)) {
    if (mode == "reflect" && (before >= extent || after >= extent))
      node.refuse("mode reflect pads by more than the input has");
    shape.push_back(extent + before + after);
  }
  return b.map({}, {}, b.sizes(shape), node.element(0), [&](Scalars &s, ValueRange) -> Value {
    llvm::SmallVector<Value> position;
    for (auto [dim, extent] : llvm::enumerate(Build::shapeOf(x))) {
      Value const at = s.create<linalg::IndexOp>(static_cast<int64_t>(dim));
      position.push_back(low[dim] || high[dim] ? padPosition(s, at, low[dim], extent, mode) : at);
    }
    return s.convert(s.create<tensor::ExtractOp>(x, position), computeType(node.element(0)));
  });
}

/// The pads hold a value that is known at run time: everything is filled with it first.
static Value padWith(Build &b, Value x, IntsRef low, IntsRef high, Value value) {
  Sizes sizes;
  for (auto [extent, before, after] : llvm::zip(Build::shapeOf(x), low, high)) {
    if (ShapedType::isDynamic(extent))
      throw Refusal("a constant_value that depends on run-time data needs known extents; give them by --dim");
    sizes.push_back(b.getIndexAttr(extent + before + after));
  }
  Value const filled = b.broadcastTo(value, sizes);
  return b.create<tensor::InsertSliceOp>(x, filled, b.sizes(low), b.sizesOf(x), b.sizes(Ints(low.size(), 1)));
}

static void importPad(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0);
  bool const isOld = node.opset < 11;
  auto const given = isOld ? node.intsAttr(node.opset < 2 ? "paddings" : "pads") : node.ints(1, "pads");
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    axes = node.ints(3, "axes");
    for (int64_t &axis : axes)
      axis = node.axis(axis, rank);
  }
  if (!given || given->size() != 2 * axes.size())
    node.refuse("pads need two values per axis");
  Ints low(rank, 0), high(rank, 0), cutLow(rank, 0), extents(node.shape(0));
  bool isCut = false;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t const before = (*given)[i], after = (*given)[axes.size() + i];
    low[axis] = std::max<int64_t>(before, 0);
    high[axis] = std::max<int64_t>(after, 0);
    cutLow[axis] = std::max<int64_t>(-before, 0);
    int64_t const cut = cutLow[axis] + std::max<int64_t>(-after, 0);
    if (cut && (ShapedType::isDynamic(extents[axis]) || extents[axis] < cut))
      node.refuse("negative pads cut off more than there is");
    extents[axis] -= cut;
    isCut |= cut != 0;
  }
  Value const x = isCut ? b.slice(node.in(0), cutLow, extents, Ints(rank, 1)) : node.in(0);
  std::string const mode = node.stringAttr("mode", "constant");
  if (mode == "edge" || mode == "reflect" || mode == "wrap")
    return node.out(0, padByCopy(node, x, low, high, mode));
  if (mode != "constant")
    node.refuse("mode \"" + mode + "\" is unknown");
  if (isOld || !node.has(2))
    return node.out(0, b.pad(x, low, high, b.scalar(node.element(0), isOld ? node.floatAttr("value", 0.0) : 0)));
  DenseElementsAttr const value = node.constant(2);
  if (!value)
    return node.out(0, padWith(b, x, low, high, b.reshape(node.in(2), {})));
  if (value.getNumElements() != 1)
    node.refuse("constant_value has " + Twine(value.getNumElements()) + " elements, 1 is needed");
  Attribute const fill = *value.getValues<Attribute>().begin();
  node.out(0, b.pad(x, low, high, b.create<arith::ConstantOp>(cast<TypedAttr>(fill))));
}

//===--- Copies
//-----------------------------------------------------------------------------------------------------===//

static void importExpand(Node &node) {
  Ints target = node.shapeInput(1, "shape");
  Ints own(node.shape(0));
  size_t const rank = std::max(target.size(), own.size());
  target.insert(target.begin(), rank - target.size(), 1);
  own.insert(own.begin(), rank - own.size(), 1);
  Value const x = node.b.reshape(node.in(0), own);
  tensorType(target, node.element(0));
  Sizes sizes;
  for (auto [dim, extents] : llvm::enumerate(llvm::zip(own, target))) {
    auto const [from, to] = extents;
    bool const isKnown = !ShapedType::isDynamic(from) && !ShapedType::isDynamic(to);
    if (from != 1 && to != 1 && from != to && isKnown)
      node.refuse("shapes " + shapeText(own) + " and " + shapeText(target) + " do not broadcast");
    if (from == 1 && ShapedType::isDynamic(to))
      node.refuse("shape depends on a symbolic dimension; give it by --dim");
    sizes.push_back(from == 1 ? OpFoldResult(node.b.getIndexAttr(to)) : node.b.sizeOf(x, dim));
  }
  if (llvm::all_of(llvm::zip(own, target), [](auto pair) { return std::get<0>(pair) != 1 || std::get<1>(pair) == 1; }))
    return node.outReshaped(0, own);
  node.out(0, node.b.broadcastTo(x, sizes));
}

static void importTile(Node &node) {
  Build &b = node.b;
  node.needStatic(0);
  if (node.opset < 6)
    node.refuse("this version of the operator is not supported");
  Ints const repeats = node.ints(1, "repeats");
  if (repeats.size() != static_cast<size_t>(node.rank(0)))
    node.refuse("repeats need one value per axis");
  Ints split, result, read;
  for (auto [extent, repeat] : llvm::zip(node.shape(0), repeats)) {
    if (repeat < 0)
      node.refuse("repeats holds " + Twine(repeat));
    read.push_back(split.size() + 1);
    split.append({repeat, extent});
    result.push_back(repeat * extent);
  }
  tensorType(result, node.element(0));
  Value const copies = b.map(node.in(0), b.selectDims(split.size(), read), b.sizes(split), node.element(0),
                             [](Scalars &, ValueRange v) { return v[0]; });
  node.out(0, b.reshape(copies, result));
}

static void importTrilu(Node &node) {
  Build &b = node.b;
  node.needRank(0, 2, 16);
  int64_t const rank = node.rank(0);
  bool const isUpper = node.intAttr("upper", 1), isKnown = !node.has(1) || node.constant(1);
  int64_t const known = node.has(1) && isKnown ? static_cast<int64_t>(node.scalar(1, "k")) : 0;
  Values given{node.in(0)};
  if (!isKnown)
    given.push_back(b.reshape(node.in(1), {}));
  node.out(0, b.elementwise(given, [&](Scalars &s, ValueRange v) {
    Value const row = s.create<linalg::IndexOp>(rank - 2), column = s.create<linalg::IndexOp>(rank - 1);
    Value const shift = isKnown ? s.index(known) : s.create<arith::IndexCastOp>(s.b.getIndexType(), v[1]);
    Value const diagonal = s.create<arith::AddIOp>(row, shift);
    auto const how = isUpper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
    return s.select(s.create<arith::CmpIOp>(how, column, diagonal), v[0], s.constantLike(v[0], 0));
  }));
}

static void importDepthToSpace(Node &node) {
  node.needRank(0, 4, 4);
  node.needStatic(0);
  Build &b = node.b;
  int64_t const block = node.intAttr("blocksize");
  IntsRef const from = node.shape(0);
  if (block < 1 || from[1] % (block * block))
    node.refuse("blocks of " + Twine(block) + " do not fit input " + shapeText(from));
  int64_t const channels = from[1] / (block * block);
  bool const isCRD = node.stringAttr("mode", "DCR") == "CRD";
  Ints const split = isCRD ? Ints{from[0], channels, block, block, from[2], from[3]}
                           : Ints{from[0], block, block, channels, from[2], from[3]};
  Value x = b.reshape(node.in(0), split);
  x = b.transpose(x, isCRD ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2});
  node.out(0, b.reshape(x, {from[0], channels, from[2] * block, from[3] * block}));
}

static void importSpaceToDepth(Node &node) {
  node.needRank(0, 4, 4);
  node.needStatic(0);
  Build &b = node.b;
  int64_t const block = node.intAttr("blocksize");
  IntsRef const from = node.shape(0);
  if (block < 1 || from[2] % block || from[3] % block)
    node.refuse("blocks of " + Twine(block) + " do not fit input " + shapeText(from));
  int64_t const rows = from[2] / block, columns = from[3] / block;
  Value x = b.reshape(node.in(0), {from[0], from[1], rows, block, columns, block});
  x = b.transpose(x, {0, 3, 5, 1, 2, 4});
  node.out(0, b.reshape(x, {from[0], from[1] * block * block, rows, columns}));
}

void registerMovement(Registry &table) {
  table.add("Transpose", {1, 13, 21, 23, 24, 25}, importTranspose);
  table.add("Concat", {1, 4, 11, 13}, importConcat);
  table.add("Slice", {1, 10, 11, 13}, importSlice);
  table.add("Split", {2, 11, 13, 18}, importSplit);
  table.addUnsupported("Split", {1});
  table.add("Pad", {1, 2, 11, 13, 18, 19, 21, 23, 24, 25}, importPad);
  table.add("Expand", {8, 13}, importExpand);
  table.add("Tile", {6, 13}, importTile);
  table.addUnsupported("Tile", {1});
  table.add("Trilu", {14}, importTrilu);
  table.add("DepthToSpace", {1, 11, 13}, importDepthToSpace);
  table.add("SpaceToDepth", {1, 13}, importSpaceToDepth);
}

} // namespace ml2k::frontend
