//===- Slice.cpp - operators that take parts of a tensor: Slice, Split --------------------------------------------===//
//
// Bounds are known at import, sizes of the model's inputs (which forward() checks), or run-time data: then the result
// has room for the most there can be, and a count.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

//===--- Slices ---------------------------------------------------------------------------------------------------===//

namespace {
/// What a slice takes along an axis: `count` elements from `first` on, `step` apart.
struct Cut {
  Extent first, count;
  int64_t step = 1;
};
} // namespace

static Cut cutKnown(int64_t start, int64_t end, int64_t step, int64_t extent) {
  auto bounded = [&](int64_t value, int64_t low, int64_t high) {
    return std::clamp(value < 0 ? value + extent : value, low, high);
  };
  int64_t const first = step > 0 ? bounded(start, 0, extent) : bounded(start, 0, extent - 1);
  int64_t const last = step > 0 ? bounded(end, 0, extent) : bounded(end, -1, extent - 1);
  int64_t const span = step > 0 ? last - first : first - last, pace = std::abs(step);
  return {first, std::max<int64_t>((span + pace - 1) / pace, 0), step};
}

/// No extent is larger: what exporters write for "to the end".
constexpr int64_t beyondAll = std::numeric_limits<int32_t>::max();
/// tf2onnx writes this one.
constexpr int64_t beyondMost = 1000000000;

/// Where a bound lies among `extent` elements, not all of which are known. Bounds beyond the ends are not cut, they are
/// an error at run time, except for those that exporters write for the ends.
static Extent placeOf(Build &b, Extent const &bound, Extent const &extent) {
  auto const number = bound.number();
  if (number && std::abs(*number) >= beyondMost) {
    if (std::abs(*number) < beyondAll)
      b.extents.requireAtLeast(Extent(std::abs(*number)) - extent, 0);
    return *number < 0 ? Extent(0) : extent;
  }
  Extent const place = number && *number < 0 ? extent + bound : bound;
  b.extents.requireAtLeast(place, 0);
  b.extents.requireAtLeast(extent - place, 0);
  return place;
}

static Cut cutUnknown(Node &node, Extent const &start, Extent const &end, int64_t step, Extent const &extent) {
  Build &b = node.b;
  Extent const first = placeOf(b, start, extent), last = placeOf(b, end, extent);
  if (step > 0) {
    b.extents.requireAtLeast(last - first, 0);
    return {first, b.extents.quotient(last - first + (step - 1), step), step};
  }
  // Backwards from the last element, or from one that is known to be there, to the first
  if (end.number().value_or(0) > -beyondMost)
    node.refuse("a slice backwards that ends before the first element needs known extents; give them by --dim");
  Extent const from = start.number() && *start.number() >= beyondMost ? extent - 1 : first;
  b.extents.requireAtLeast(from, 0);
  return {from, b.extents.quotient(from - step, -step), step};
}

static Value sliceBackwards(Node &node, ArrayRef<Cut> cuts) {
  Build &b = node.b;
  std::vector<Extent> counts;
  llvm::SmallVector<Value> first;
  for (Cut const &cut : cuts) {
    counts.push_back(cut.count);
    first.push_back(cut.first.number() ? Value() : b.extents.value(cut.first));
  }
  Value const x = node.in(0);
  auto isKnown = [](Value value) { return !value; };
  if (llvm::all_of(first, isKnown)) {
    llvm::SmallVector<AffineExpr> read;
    for (auto [dim, cut] : llvm::enumerate(cuts))
      read.push_back(b.getAffineDimExpr(dim) * cut.step + *cut.first.number());
    return b.map(x, AffineMap::get(node.rank(0), 0, read, b.getContext()), b.sizesFor(counts), node.element(0),
                 [](Scalars &, ValueRange v) { return v[0]; });
  }
  return b.map({}, {}, b.sizesFor(counts), node.element(0), [&](Scalars &s, ValueRange) -> Value {
    llvm::SmallVector<Value> at;
    for (auto [dim, cut] : llvm::enumerate(cuts)) {
      Value const moved =
          s.create<arith::MulIOp>(s.create<linalg::IndexOp>(static_cast<int64_t>(dim)), s.index(cut.step));
      at.push_back(s.create<arith::AddIOp>(moved, first[dim] ? first[dim] : s.index(*cut.first.number())));
    }
    return s.convert(s.create<tensor::ExtractOp>(x, at), computeType(node.element(0)));
  });
}

static void slice(Node &node, ArrayRef<Extent> starts, ArrayRef<Extent> ends, IntsRef axes, IntsRef steps) {
  Build &b = node.b;
  std::vector<Extent> const extents = node.extents(0);
  llvm::SmallVector<Cut> cuts;
  for (Extent const &extent : extents)
    cuts.push_back({0, extent, 1});
  bool isReversed = false;
  for (auto [given, start, end, step] : llvm::zip(axes, starts, ends, steps)) {
    int64_t const axis = node.axis(given, node.rank(0));
    if (step == 0)
      node.refuse("a step is 0");
    Extent const &extent = extents[axis];
    cuts[axis] = start.number() && end.number() && extent.number()
                     ? cutKnown(*start.number(), *end.number(), step, *extent.number())
                     : cutUnknown(node, start, end, step, extent);
    isReversed |= step < 0 && cuts[axis].count.number().value_or(2) > 1;
  }
  if (isReversed)
    return node.out(0, sliceBackwards(node, cuts));
  std::vector<Extent> offsets, counts;
  Ints strides;
  for (Cut const &cut : cuts) {
    offsets.push_back(cut.first);
    counts.push_back(cut.count);
    strides.push_back(std::max<int64_t>(cut.step, 1));
  }
  node.out(0, b.sliceAt(node.in(0), offsets, counts, strides));
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
      bounds > node.rank(0) || llvm::is_contained(steps, 0) || node.elements(0) == 0)
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
  auto bounds = [&](StringRef name, size_t at) -> std::vector<Extent> {
    if (!isOld && node.has(at))
      return node.shapeInput(at, name);
    auto const given = isOld ? node.wideIntsAttr(name) : std::nullopt;
    if (!given)
      node.refuse("starts or ends are missing");
    return {given->begin(), given->end()};
  };
  auto const starts = bounds("starts", 1), ends = bounds("ends", 2);
  auto const axes = get("axes", 3), steps = isOld ? std::nullopt : get("steps", 4);
  Ints const ones(starts.size(), 1), all = llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
  Ints const along = axes.value_or(all), paces = steps.value_or(ones);
  if (ends.size() != starts.size() || along.size() != starts.size() || paces.size() != starts.size())
    node.refuse("starts, ends, axes and steps differ in length");
  slice(node, starts, ends, along, paces);
}

static void importSplit(Node &node) {
  int64_t const axis = node.axisAttr("axis", 0, node.rank(0)), extent = node.shape(0)[axis];
  int64_t const count = node.outputCount();
  bool const hasParts = node.intsAttr("split") || node.has(1);
  if (ShapedType::isDynamic(extent) && !hasParts)
    node.refuse("axis " + Twine(axis) + " has no known extent; give it by --dim");
  if (count == 0)
    node.refuse("it has no outputs");
  Ints const parts = node.intsAttrOrInput("split", 1).value_or([&] {
    int64_t const each = llvm::divideCeil(extent, count);
    Ints equal(count, each);
    equal.back() = extent - each * (count - 1);
    return equal;
  }());
  int64_t const total = std::accumulate(parts.begin(), parts.end(), int64_t(0));
  if (ShapedType::isDynamic(extent))
    node.b.extents.requireEqual(node.extents(0)[axis], total);
  if (static_cast<int64_t>(parts.size()) != count || (total != extent && !ShapedType::isDynamic(extent)))
    node.refuse("parts " + shapeText(parts) + " do not make up the extent " + Twine(extent));
  int64_t offset = 0;
  for (auto [at, part] : llvm::enumerate(parts)) {
    node.out(at, node.b.slice(node.in(0), axis, offset, part));
    offset += part;
  }
}

void registerSlice(Registry &table) {
  table.add("Slice", {1, 10, 11, 13}, importSlice);
  table.add("Split", {2, 11, 13, 18}, importSplit);
  table.addUnsupported("Split", {1});
}

} // namespace ml2k::frontend
