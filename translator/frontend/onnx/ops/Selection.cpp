//===- Selection.cpp - the largest elements, the middle of a tensor: TopK, CenterCropPad --------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

//===--- TopK -----------------------------------------------------------------------------------------------------===//

/// (d0, .., dn) -> the first n, with the last loop in place of `axis`.
static AffineMap alongLast(Build &b, int64_t rank, int64_t axis) {
  Ints read = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  read[axis] = rank;
  return b.selectDims(rank + 1, read);
}

/// Whether x comes before y wherever they stand. A NaN comes after all numbers.
static Value precedes(Scalars &s, Value x, Value y, bool isLargest) {
  if (!Scalars::isFloat(x))
    return s.compare(isLargest ? Compare::gt : Compare::lt, x, y);
  auto const unordered = isLargest ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT;
  return s.create<arith::AndIOp>(s.create<arith::CmpFOp>(unordered, x, y),
                                 s.create<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x));
}

/// How many elements along the axis come before each one: the place that it takes. Equal ones keep their order.
static Value places(Node &node, Value x, int64_t axis, bool isLargest) {
  Build &b = node.b;
  int64_t const rank = Build::rankOf(x);
  AffineMap const own = b.selectDims(rank + 1, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  auto isBefore = [&](Scalars &s, ValueRange v) -> Value {
    Value const isEarlier = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, s.create<linalg::IndexOp>(rank),
                                                    s.create<linalg::IndexOp>(axis));
    Value const stays = s.logicalNot(precedes(s, v[0], v[1], isLargest));
    Value const passes = precedes(s, v[1], v[0], isLargest);
    return s.convert(s.create<arith::SelectOp>(isEarlier, stays, passes), s.b.getI64Type());
  };
  return b.foldOver({x, x}, {own, alongLast(b, rank, axis)}, b.sizesOf(x), b.getI64Type(), Build::Fold::sum, isBefore,
                    node.isUnsigned());
}

/// k as a count: nothing below 0, no more than there are.
static Value countOf(Node &node, int64_t extent) {
  if (node.elements(1) != 1)
    node.refuse("k has shape " + shapeText(node.shape(1)) + ", 1 element is needed");
  return node.b.elementwise(node.b.reshape(node.in(1), {}), [&](Scalars &s, ValueRange v) {
    return s.min(s.max(v[0], s.constantLike(v[0], 0)), s.constantLike(v[0], static_cast<double>(extent)));
  });
}

static void importTopK(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0), axis = node.axisAttr("axis", -1, rank), extent = node.shape(0)[axis];
  bool const isKnown = node.opset < 10 || node.constant(1);
  if (!isKnown)
    node.needStatic(0);
  // Where k is known at run time only: all elements in order, of which k count
  Ints const given = node.opset < 10 ? Ints{node.intAttr("k")} : isKnown ? node.ints(1, "k") : Ints{extent};
  if (given.size() != 1 || given[0] < 0 || (!ShapedType::isDynamic(extent) && given[0] > extent))
    node.refuse("k of " + shapeText(given) + " does not fit the extent " + Twine(extent) + " of axis " + Twine(axis));
  if (ShapedType::isDynamic(extent))
    b.extents.requireAtLeast(node.extents(0)[axis], given[0]);
  Value const x = node.in(0), place = places(node, x, axis, node.intAttr("largest", 1));
  Sizes sizes = b.sizesOf(x);
  sizes[axis] = b.getIndexAttr(given[0]);
  Type const i64 = b.getI64Type();
  Value const indices = b.foldOver(
      {place}, {alongLast(b, rank, axis)}, sizes, i64, Build::Fold::sum, [&](Scalars &s, ValueRange v) -> Value {
        Value const wanted = s.create<arith::IndexCastOp>(i64, s.create<linalg::IndexOp>(axis));
        Value const at = s.create<arith::IndexCastOp>(i64, s.create<linalg::IndexOp>(rank));
        return s.select(s.compare(Compare::eq, v[0], wanted), at, s.constant(i64, 0));
      });
  Value const values =
      b.map({indices}, {b.identityMap(rank)}, sizes, node.element(0), [&](Scalars &s, ValueRange v) -> Value {
        llvm::SmallVector<Value> at;
        for (int64_t dim = 0; dim < rank; ++dim)
          at.push_back(s.create<linalg::IndexOp>(dim));
        at[axis] = s.create<arith::IndexCastOp>(s.b.getIndexType(), v[0]);
        return s.convert(s.create<tensor::ExtractOp>(x, at), computeType(node.element(0)));
      });
  if (isKnown) {
    node.out(0, values, node.dataType(0));
    node.out(1, indices, pb::TensorProto::INT64);
    return;
  }
  Value const count = countOf(node, extent);
  node.outCounted(0, values, node.dataType(0), axis, count);
  node.outCounted(1, indices, pb::TensorProto::INT64, axis, count);
}

//===--- CenterCropPad --------------------------------------------------------------------------------------------===//

/// Each axis is cut or padded with zeros on both sides until it has the extent that is asked for.
static void importCenterCropPad(Node &node) {
  Build &b = node.b;
  Ints const wanted = node.ints(1, "shape");
  Ints axes = node.intsAttr("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))));
  axes = node.axes(axes, node.rank(0));
  if (axes.size() != wanted.size())
    node.refuse("shape has " + Twine(wanted.size()) + " extents for " + Twine(axes.size()) + " axes");
  Ints extents(node.shape(0)), first(extents.size(), 0), low(extents.size(), 0), high(extents.size(), 0);
  for (auto [axis, extent] : llvm::zip(axes, wanted)) {
    int64_t const own = extents[axis];
    if (ShapedType::isDynamic(own))
      node.refuse("axis " + Twine(axis) + " of input " + shapeText(node.shape(0)) +
                  " is cut or padded; give its symbolic dimension by --dim");
    if (extent < 0)
      node.refuse("shape holds " + Twine(extent));
    first[axis] = std::max<int64_t>(own - extent, 0) / 2;
    low[axis] = std::max<int64_t>(extent - own, 0) / 2;
    high[axis] = std::max<int64_t>(extent - own, 0) - low[axis];
    extents[axis] = std::min(own, extent);
  }
  Value const part = b.slice(node.in(0), first, extents, Ints(extents.size(), 1));
  node.out(0, b.pad(part, low, high, b.scalar(node.element(0), 0)));
}

void registerSelection(Registry &table) {
  table.add("TopK", {1, 10, 11, 24}, importTopK);
  table.add("CenterCropPad", {18}, importCenterCropPad);
}

} // namespace ml2k::frontend
