//===- Selection.cpp - elements chosen by their order or by a mask ------------------------------------------------===//

#include "translator/frontend/onnx/Registry.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

//===--- TopK
//-------------------------------------------------------------------------------------------------------===//

/// (d0, .., dn) -> the first n, with the last loop in place of `axis`.
static AffineMap alongLast(Build &b, int64_t rank, int64_t axis) {
  Ints read = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  read[axis] = rank;
  return b.selectDims(rank + 1, read);
}

/// How many elements along the axis come before each one: the place that it takes. Equal ones keep their order.
static Value places(Node &node, Value x, int64_t axis, bool isLargest) {
  Build &b = node.b;
  int64_t const rank = Build::rankOf(x);
  AffineMap const own = b.selectDims(rank + 1, llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  auto isBefore = [&](Scalars &s, ValueRange v) -> Value {
    Value const wins = s.compare(isLargest ? Compare::gt : Compare::lt, v[1], v[0]);
    Value const isEqual = s.compare(Compare::eq, v[1], v[0]);
    Value const isEarlier = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, s.create<linalg::IndexOp>(rank),
                                                    s.create<linalg::IndexOp>(axis));
    Value const tie = s.create<arith::AndIOp>(isEqual, isEarlier);
    return s.convert(s.create<arith::OrIOp>(wins, tie), s.b.getI64Type());
  };
  return b.foldOver({x, x}, {own, alongLast(b, rank, axis)}, b.sizesOf(x), b.getI64Type(), Build::Fold::sum, isBefore,
                    node.isUnsigned());
}

static void importTopK(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0), axis = node.axisAttr("axis", -1, rank), extent = node.shape(0)[axis];
  Ints const given = node.opset < 10 ? Ints{node.intAttr("k")} : node.ints(1, "k");
  if (given.size() != 1 || given[0] < 0 || (!ShapedType::isDynamic(extent) && given[0] > extent))
    node.refuse("k of " + shapeText(given) + " does not fit the extent " + Twine(extent) + " of axis " + Twine(axis));
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
  node.out(0, values, node.dataType(0));
  node.out(1, indices, pb::TensorProto::INT64);
}

//===--- Compress
//---------------------------------------------------------------------------------------------------===//

/// The slices along an axis, or the elements, for which the condition holds.
static void importCompress(Node &node) {
  Build &b = node.b;
  Ints const condition = node.ints(1, "condition");
  bool const isFlat = !node.attribute("axis");
  int64_t const axis = isFlat ? 0 : node.axisAttr("axis", std::nullopt, node.rank(0));
  node.needStatic(0);
  Value const x = isFlat ? b.reshape(node.in(0), {node.type(0).getNumElements()}) : node.in(0);
  llvm::SmallVector<int64_t> kept;
  for (auto [at, holds] : llvm::enumerate(condition))
    if (holds)
      kept.push_back(at);
  if (!kept.empty() && kept.back() >= Build::shapeOf(x)[axis])
    node.refuse("condition holds at " + Twine(kept.back()) + ", beyond the extent " + Twine(Build::shapeOf(x)[axis]));
  Ints shape(Build::shapeOf(x));
  shape[axis] = kept.size();
  if (kept.empty())
    return node.out(0, b.empty(b.sizes(shape), node.element(0)));
  if (kept.size() == 1)
    return node.out(0, b.slice(x, axis, kept[0], 1));
  Value const positions = node.table("position", integersAttr(*b.getContext(), kept));
  node.out(0, b.map({positions}, {b.selectDims(shape.size(), {axis})}, b.sizes(shape), node.element(0),
                    [&](Scalars &s, ValueRange v) -> Value {
                      llvm::SmallVector<Value> at;
                      for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim)
                        at.push_back(s.create<linalg::IndexOp>(dim));
                      at[axis] = s.create<arith::IndexCastOp>(s.b.getIndexType(), v[0]);
                      return s.convert(s.create<tensor::ExtractOp>(x, at), computeType(node.element(0)));
                    }));
}

void registerSelection(Registry &table) {
  table.add("TopK", {1, 10, 11, 24}, importTopK);
  table.add("Compress", {9, 11}, importCompress);
}

} // namespace ml2k::frontend
