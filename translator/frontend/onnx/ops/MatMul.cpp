//===- MatMul.cpp - products of matrices --------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Quantized.h"

using namespace mlir;

namespace ml2k::frontend {

static void checkInner(Node &node, int64_t left, int64_t right) {
  if (left != right && !ShapedType::isDynamic(left) && !ShapedType::isDynamic(right))
    node.refuse("shapes " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(1)) + " cannot be multiplied");
}

static void importMatMul(Node &node) {
  if (node.rank(0) == 0 || node.rank(1) == 0)
    node.refuse("scalars cannot be multiplied as matrices");
  if (node.dataType(0) != node.dataType(1))
    node.refuse("the inputs are of different types");
  checkInner(node, node.shape(0).back(), node.rank(1) == 1 ? node.shape(1)[0] : node.shape(1).drop_back().back());
  if (auto const integers = node.rank(1) == 2 && node.rank(0) > 1 ? integerFactors(node, 1) : std::nullopt) {
    Value const sum = node.b.matmulBroadcast(integers->left, integers->right);
    return node.out(0, scaledSum(node, sum, *integers, Build::rankOf(sum) - 1));
  }
  node.out(0, node.b.matmulBroadcast(node.in(0), node.in(1)));
}

/// alpha * A' * B' + beta * C
static void importGemm(Node &node) {
  node.needRank(0, 2, 2);
  node.needRank(1, 2, 2);
  bool const transA = node.intAttr("transA", 0), transB = node.intAttr("transB", 0);
  double const alpha = node.floatAttr("alpha", 1), beta = node.floatAttr("beta", 1);
  checkInner(node, node.shape(0)[transA ? 0 : 1], node.shape(1)[transB ? 1 : 0]);
  Build &b = node.b;
  auto const integers = integerFactors(node, transB ? 0 : 1);
  Value const a = integers ? integers->left : node.in(0), w = integers ? integers->right : node.in(1);
  Value const left = transA ? b.transpose(a, {1, 0}) : a, right = transB ? b.transpose(w, {1, 0}) : w;
  Value product = b.matmul(left, right);
  if (integers)
    product = scaledSum(node, product, *integers, 1);
  auto scaled = [](Scalars &s, Value x, double factor) {
    return factor == 1 ? x : s.mul(s.constantLike(x, factor), x);
  };
  bool const hasC = node.has(2) && beta != 0;
  if (hasC) {
    Value const c = node.in(2);
    Ints const shape = broadcastShape({product, c});
    if (IntsRef(shape) != Build::shapeOf(product))
      node.refuse("C of shape " + shapeText(node.shape(2)) + " does not broadcast to " +
                  shapeText(Build::shapeOf(product)));
    product = b.elementwise(
        {product, c}, [&](Scalars &s, ValueRange v) { return s.add(scaled(s, v[0], alpha), scaled(s, v[1], beta)); });
  } else if (alpha != 1) {
    product = b.elementwise(product, [&](Scalars &s, ValueRange v) { return scaled(s, v[0], alpha); });
  }
  node.out(0, product);
}

void registerMatMul(Registry &table) {
  table.add("MatMul", {1, 9, 13}, importMatMul);
  table.add("Gemm", {1, 6, 7, 9, 11, 13}, importGemm);
}

} // namespace ml2k::frontend
