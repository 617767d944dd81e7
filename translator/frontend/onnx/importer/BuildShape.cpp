//===- BuildShape.cpp - tensor operations that move data ----------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Build.h"
#include "translator/frontend/onnx/importer/Refusal.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

std::string shapeText(IntsRef shape) {
  std::string text = "[";
  for (int64_t extent : shape) {
    text += text.size() > 1 ? "," : "";
    text += ShapedType::isDynamic(extent) ? "?" : std::to_string(extent);
  }
  return text + "]";
}

namespace {

using ExtentsRef = ArrayRef<Extent>;

/// A reshape as a collapse to `shape` and an expansion of that: the finest groups of dimensions with equal products.
struct Regrouping {
  llvm::SmallVector<ReassociationIndices> collapse, expand;
  Ints shape, expandable; ///< `shape` as the expansion takes it
  bool isCollapse = false, isExpansion = false;

  void add(ExtentsRef from, ExtentsRef to, size_t fromBegin, size_t fromEnd, size_t toBegin, size_t toEnd);
};

} // namespace

static Extent productOf(ExtentsRef extents) {
  Extent product = 1;
  for (Extent const &extent : extents)
    product = product * extent;
  return product;
}

void Regrouping::add(ExtentsRef from, ExtentsRef to, size_t fromBegin, size_t fromEnd, size_t toBegin, size_t toEnd) {
  collapse.emplace_back(llvm::to_vector(llvm::seq<int64_t>(fromBegin, fromEnd)));
  expand.emplace_back(llvm::to_vector(llvm::seq<int64_t>(toBegin, toEnd)));
  shape.push_back(Extents::shaped(productOf(from.slice(fromBegin, fromEnd - fromBegin))));
  expandable.push_back(Extents::shaped(productOf(to.slice(toBegin, toEnd - toBegin))));
  isCollapse |= fromEnd - fromBegin > 1;
  isExpansion |= toEnd - toBegin > 1;
}

/// Whether more dimensions have to join `own` before `other` gets more; unknown sizes count as more than known ones.
static bool isPartOf(Extent const &own, Extent const &other) {
  if (own.number() && other.number())
    return *own.number() < *other.number();
  return own.number() || (!other.number() && other.dividedBy(own));
}

/// Both shapes have at least one dimension. Groups are closed from the left as soon as both sides hold equally many
/// elements; extents of 1 at the end join the last group.
static Regrouping regroup(ExtentsRef from, ExtentsRef to) {
  Regrouping groups;
  size_t fromBegin = 0, toBegin = 0;
  while (fromBegin < from.size() && toBegin < to.size()) {
    size_t fromEnd = fromBegin + 1, toEnd = toBegin + 1;
    Extent own = from[fromBegin], other = to[toBegin];
    while (!(own == other) && (fromEnd < from.size() || toEnd < to.size())) {
      if (toEnd == to.size() || (fromEnd < from.size() && isPartOf(own, other)))
        own = own * from[fromEnd++];
      else
        other = other * to[toEnd++];
    }
    bool const isLast = productOf(from.drop_front(fromEnd)) == 1 && productOf(to.drop_front(toEnd)) == 1 &&
                        (fromEnd == from.size() || toEnd == to.size());
    if (isLast)
      fromEnd = from.size(), toEnd = to.size();
    groups.add(from, to, fromBegin, fromEnd, toBegin, toEnd);
    fromBegin = fromEnd, toBegin = toEnd;
  }
  return groups;
}

static Ints shaped(ExtentsRef extents) {
  return llvm::map_to_vector<6>(extents, [](Extent const &extent) { return Extents::shaped(extent); });
}

/// What an unknown extent is: those of `from` in order, or what is left of all.
static std::vector<Extent> resolved(ExtentsRef from, IntsRef shape) {
  std::vector<Extent> unknown, result;
  llvm::copy_if(from, std::back_inserter(unknown), [](Extent const &extent) { return !extent.number(); });
  int64_t const left = llvm::count(shape, ShapedType::kDynamic);
  auto refuse = [&] {
    throw Refusal("a tensor of shape " + shapeText(shaped(from)) + " cannot be reshaped to " + shapeText(shape));
  };
  if (left == 1) {
    Extent known = 1;
    for (int64_t extent : shape)
      known = known * (ShapedType::isDynamic(extent) ? 1 : extent);
    auto const rest = productOf(from).dividedBy(known);
    if (!rest)
      refuse();
    unknown = {*rest};
  }
  if (static_cast<size_t>(left) != unknown.size() && left > 0)
    refuse();
  auto next = unknown.begin();
  for (int64_t extent : shape)
    result.push_back(ShapedType::isDynamic(extent) ? *next++ : Extent(extent));
  return result;
}

Value Build::reshape(Value x, IntsRef shape) {
  return shapeOf(x) == shape ? x : reshapeTo(x, resolved(extentsOf(x), shape));
}

Value Build::reshapeTo(Value x, ArrayRef<Extent> shape) {
  std::vector<Extent> const from = extentsOf(x);
  Ints const extentsFrom(shapeOf(x)), extentsTo = shaped(shape);
  if (ArrayRef(from) == shape)
    return x;
  Extent const all = productOf(from), wanted = productOf(shape);
  if ((all - wanted).number().value_or(0) != 0)
    throw Refusal("a tensor of shape " + shapeText(extentsFrom) + " cannot be reshaped to " + shapeText(extentsTo));
  extents.requireEqual(all, wanted);
  Type const element = elementOf(x);
  auto typed = [&](IntsRef extents) { return RankedTensorType::get(extents, element); };
  if (llvm::is_contained(extentsFrom, 0)) // no element: nothing to keep
    return empty(sizesFor(shape), element);
  if (from.empty() || shape.empty()) {
    auto const ones = typed(Ints(std::max(from.size(), shape.size()), 1));
    if (from.empty())
      x = create<tensor::ExpandShapeOp>(ones, x, ArrayRef<ReassociationIndices>());
    Type const type = typed(extentsTo);
    if (!from.empty())
      return create<tensor::CollapseShapeOp>(typed({}), casted(x, ones), ArrayRef<ReassociationIndices>());
    return casted(x, type);
  }
  Regrouping const groups = regroup(from, shape);
  if (groups.isCollapse)
    x = create<tensor::CollapseShapeOp>(typed(groups.shape), x, groups.collapse);
  x = casted(x, typed(groups.expandable));
  if (groups.isExpansion)
    x = create<tensor::ExpandShapeOp>(typed(extentsTo), x, groups.expand, sizesFor(shape));
  for (auto [dim, extent] : llvm::enumerate(shape))
    extents.note(x, dim, extent);
  return x;
}

Value Build::casted(Value x, Type type) {
  return x.getType() == type ? x : create<tensor::CastOp>(type, x).getResult();
}

Value Build::transpose(Value x, IntsRef permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size())))
    return x;
  Sizes sizes;
  for (int64_t dim : permutation)
    sizes.push_back(sizeOf(x, dim));
  return create<linalg::TransposeOp>(x, empty(sizes, elementOf(x)), permutation)->getResult(0);
}

Value Build::unsqueeze(Value x, IntsRef axes) {
  Ints shape;
  auto extents = shapeOf(x).begin();
  for (int64_t dim = 0, rank = rankOf(x) + axes.size(); dim < rank; ++dim)
    shape.push_back(llvm::is_contained(axes, dim) ? 1 : *extents++);
  return reshape(x, shape);
}

Value Build::squeeze(Value x, IntsRef axes) {
  Ints shape;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(x)))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      shape.push_back(extent);
    else if (extent != 1)
      throw Refusal("axis " + Twine(dim) + " of extent " + Twine(extent) + " cannot be squeezed");
  return reshape(x, shape);
}

Value Build::pad(Value x, IntsRef low, IntsRef high, Value scalar) {
  auto isZero = [](int64_t extent) { return extent == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  Ints shape;
  for (auto [extent, before, after] : llvm::zip(shapeOf(x), low, high))
    shape.push_back(ShapedType::isDynamic(extent) ? extent : extent + before + after);
  auto const type = RankedTensorType::get(shape, elementOf(x));
  return create<tensor::PadOp>(type, x, sizes(low), sizes(high), scalar);
}

Value Build::slice(Value x, IntsRef offsets, IntsRef counts, IntsRef strides) {
  std::vector<Extent> starts(offsets.begin(), offsets.end()), ends;
  for (auto [dim, count] : llvm::enumerate(counts))
    ends.push_back(ShapedType::isDynamic(count) ? extents.of(x, dim) : Extent(count));
  return sliceAt(x, starts, ends, strides);
}

Value Build::sliceAt(Value x, ArrayRef<Extent> offsets, ArrayRef<Extent> counts, IntsRef strides) {
  Value const part = create<tensor::ExtractSliceOp>(x, sizesFor(offsets), sizesFor(counts), sizes(strides));
  for (auto [dim, count] : llvm::enumerate(counts))
    extents.note(part, dim, count);
  return part;
}

Value Build::slice(Value x, int64_t axis, int64_t offset, int64_t extent) {
  Ints offsets(rankOf(x), 0), strides(rankOf(x), 1), extents(shapeOf(x));
  if (offset == 0 && extents[axis] == extent)
    return x;
  offsets[axis] = offset;
  extents[axis] = extent;
  return slice(x, offsets, extents, strides);
}

Value Build::concat(ArrayRef<Value> parts, int64_t axis) {
  for (Value part : parts.drop_front())
    for (int64_t dim = 0; dim < rankOf(part); ++dim)
      if (dim != axis)
        extents.requireEqual(extents.of(part, dim), extents.of(parts[0], dim));
  return parts.size() == 1 ? parts[0] : create<tensor::ConcatOp>(axis, ValueRange(parts)).getResult();
}

} // namespace ml2k::frontend
