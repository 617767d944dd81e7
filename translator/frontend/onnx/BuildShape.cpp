//===- BuildShape.cpp - tensor operations that move data ----------------------------------------------------------===//

#include "translator/frontend/onnx/Build.h"
#include "translator/frontend/onnx/Refusal.h"

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

/// A reshape as a collapse to `shape` and an expansion of that: the finest groups of dimensions with equal products.
struct Regrouping {
  llvm::SmallVector<ReassociationIndices> collapse, expand;
  Ints shape;
  bool isCollapse = false, isExpansion = false;

  void add(IntsRef from, size_t fromBegin, size_t fromEnd, size_t toBegin, size_t toEnd);
};

} // namespace

static int64_t productOf(IntsRef extents) {
  int64_t product = 1;
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent))
      return extent;
    product *= extent;
  }
  return product;
}

void Regrouping::add(IntsRef from, size_t fromBegin, size_t fromEnd, size_t toBegin, size_t toEnd) {
  collapse.emplace_back(llvm::to_vector(llvm::seq<int64_t>(fromBegin, fromEnd)));
  expand.emplace_back(llvm::to_vector(llvm::seq<int64_t>(toBegin, toEnd)));
  shape.push_back(productOf(from.slice(fromBegin, fromEnd - fromBegin)));
  isCollapse |= fromEnd - fromBegin > 1;
  isExpansion |= toEnd - toBegin > 1;
}

static bool sameProducts(IntsRef l, IntsRef r) {
  auto statics = [](IntsRef extents) {
    int64_t product = 1;
    for (int64_t extent : extents)
      product *= ShapedType::isDynamic(extent) ? 1 : extent;
    return product;
  };
  return llvm::count(l, ShapedType::kDynamic) == llvm::count(r, ShapedType::kDynamic) && statics(l) == statics(r);
}

/// Both shapes have at least one dimension. Groups are closed from the left as soon as both sides hold equally many
/// elements; extents of 1 at the end join the last group.
static Regrouping regroup(IntsRef from, IntsRef to) {
  Regrouping groups;
  size_t fromBegin = 0, toBegin = 0;
  while (fromBegin < from.size() && toBegin < to.size()) {
    size_t fromEnd = fromBegin + 1, toEnd = toBegin + 1;
    auto own = [&] { return from.slice(fromBegin, fromEnd - fromBegin); };
    auto other = [&] { return to.slice(toBegin, toEnd - toBegin); };
    auto isClosed = [&] {
      return sameProducts(own(), other()) && sameProducts(from.drop_front(fromEnd), to.drop_front(toEnd));
    };
    while (!isClosed() && (fromEnd < from.size() || toEnd < to.size())) {
      // An unknown extent is the negative kDynamic; it counts as more than any known one
      auto const l = static_cast<uint64_t>(productOf(own())), r = static_cast<uint64_t>(productOf(other()));
      bool const widenFrom = toEnd == to.size() || (fromEnd < from.size() && l < r);
      ++(widenFrom ? fromEnd : toEnd);
    }
    bool const isLast = productOf(from.drop_front(fromEnd)) == 1 && productOf(to.drop_front(toEnd)) == 1 &&
                        (fromEnd == from.size() || toEnd == to.size());
    if (isLast)
      fromEnd = from.size(), toEnd = to.size();
    groups.add(from, fromBegin, fromEnd, toBegin, toEnd);
    fromBegin = fromEnd, toBegin = toEnd;
  }
  return groups;
}

Value Build::reshape(Value x, IntsRef shape) {
  IntsRef const from = shapeOf(x);
  if (from == shape)
    return x;
  Type const element = elementOf(x);
  int64_t const unknown = llvm::count(from, ShapedType::kDynamic);
  int64_t const left = llvm::count(shape, ShapedType::kDynamic);
  bool const fits = unknown == 0 ? sameProducts(from, shape) : left > 0 && left <= unknown;
  if (!fits || (unknown > 1 && left > 1 && !sameProducts(from, shape)))
    throw Refusal("a tensor of shape " + shapeText(from) + " cannot be reshaped to " + shapeText(shape));
  if (llvm::is_contained(from, 0)) // no element: nothing to keep
    return empty(sizes(shape), element);
  if (from.empty() || shape.empty()) {
    llvm::SmallVector<ReassociationIndices> const none;
    auto const type = RankedTensorType::get(shape, element);
    return from.empty() ? create<tensor::ExpandShapeOp>(type, x, none).getResult()
                        : create<tensor::CollapseShapeOp>(type, x, none).getResult();
  }
  Regrouping const groups = regroup(from, shape);
  if (groups.isCollapse)
    x = create<tensor::CollapseShapeOp>(RankedTensorType::get(groups.shape, element), x, groups.collapse);
  if (groups.isExpansion)
    x = create<tensor::ExpandShapeOp>(RankedTensorType::get(shape, element), x, groups.expand);
  return x;
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

Value Build::slice(Value x, IntsRef offsets, IntsRef extents, IntsRef strides) {
  Sizes const from = sizesOf(x);
  Sizes counts;
  for (auto [size, extent] : llvm::zip(from, extents))
    counts.push_back(ShapedType::isDynamic(extent) ? size : OpFoldResult(getIndexAttr(extent)));
  return create<tensor::ExtractSliceOp>(x, sizes(offsets), counts, sizes(strides));
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
  return parts.size() == 1 ? parts[0] : create<tensor::ConcatOp>(axis, ValueRange(parts)).getResult();
}

} // namespace ml2k::frontend
