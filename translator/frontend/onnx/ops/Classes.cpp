//===- Classes.cpp - scores of classical models and the classes they stand for ------------------------------------===//

#include "translator/frontend/onnx/ops/Classes.h"
#include "translator/frontend/onnx/ops/Rows.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;

namespace ml2k::frontend {

//===--- Scores ---------------------------------------------------------------------------------------------------===//

/// A softmax in which scores of 0 keep none: exp(x - largest) otherwise, over the sum; 0.5 where that is 0.
static Value softmaxZero(Build &b, Value scores) {
  Value const largest = b.reduce(scores, {1}, /*keepDims=*/true, Build::Fold::max);
  Value const weights = b.elementwise({scores, largest}, [](Scalars &s, ValueRange v) {
    Value const isZero = s.compare(Compare::le, s.abs(v[0]), s.constantLike(v[0], 1e-7));
    return s.select(isZero, s.mul(v[0], s.exp(s.neg(v[1]))), s.exp(s.sub(v[0], v[1])));
  });
  Value const sum = b.reduce(weights, {1}, /*keepDims=*/true, Build::Fold::sum);
  return b.elementwise({weights, sum}, [](Scalars &s, ValueRange v) {
    Value const isZero = s.compare(Compare::eq, v[1], s.constantLike(v[1], 0));
    return s.select(isZero, s.constantLike(v[0], 0.5), s.div(v[0], v[1]));
  });
}

/// The normal distribution's quantile, as the specification's reference approximates the inverse of erf.
static Value quantile(Scalars &s, Value probability) {
  auto const number = [&](double value) { return s.constantLike(probability, value); };
  Value const x = s.sub(s.mul(probability, number(2)), number(1));
  Value const rest = s.mul(s.sub(number(1), x), s.add(number(1), x)), log = s.log(rest);
  Value const half = s.add(number(2 / (std::numbers::pi * 0.147)), s.mul(number(0.5), log));
  Value const square = s.sub(s.mul(half, half), s.mul(number(1 / 0.147), log));
  Value const size = s.sqrt(s.sub(s.sqrt(square), half));
  Value const isNegative = s.compare(Compare::lt, x, number(0)), isEnd = s.compare(Compare::eq, rest, number(0));
  Value const quantile = s.select(isNegative, s.neg(size), size);
  return s.mul(number(1.41421356), s.select(isEnd, number(0), quantile));
}

Value transformedScores(Node &node, Value scores, llvm::StringRef how) {
  Build &b = node.b;
  if (how == "NONE")
    return scores;
  if (how == "SOFTMAX")
    return softmax(b, scores, {1});
  if (how == "SOFTMAX_ZERO")
    return softmaxZero(b, scores);
  if (how == "LOGISTIC")
    return b.elementwise({scores}, [](Scalars &s, ValueRange v) { return s.sigmoid(v[0]); });
  if (how == "PROBIT")
    return b.elementwise({scores}, [](Scalars &s, ValueRange v) { return quantile(s, v[0]); });
  node.refuse("post_transform \"" + how + "\" is unknown");
}

Value bothScores(Build &b, Value score, bool complement) {
  Value const other = b.elementwise({score}, [&](Scalars &s, ValueRange v) {
    return complement ? s.sub(s.constantLike(v[0], 1), v[0]) : s.neg(v[0]);
  });
  return b.concat({other, score}, 1);
}

//===--- Classes --------------------------------------------------------------------------------------------------===//

Classes::Classes(Node &node, llvm::StringRef integers) {
  if (auto given = node.wideIntsAttr(integers))
    labels = *given;
  if (!labels.empty())
    return;
  auto const names = node.stringsAttr("classlabels_strings");
  if (!names.empty() && node.wants(0) && !node.proto.output(0).empty())
    node.refuse("its labels are strings; train with integer labels, or keep the scores only");
  for (size_t label = 0; label < names.size(); ++label)
    labels.push_back(static_cast<int64_t>(label));
}

static bool countsUp(IntsRef labels) {
  for (auto [position, label] : llvm::enumerate(labels))
    if (label != static_cast<int64_t>(position))
      return false;
  return true;
}

Value Classes::best(Node &node, Value scores) const {
  Build &b = node.b;
  std::optional<Part> part(std::in_place, b, "best");
  Value const at = argument(b, scores, 1, /*isMax=*/true, /*isLast=*/false, /*isUnsigned=*/false);
  if (countsUp(labels))
    return at;
  part.reset();
  part.emplace(b, "label");
  Value const table = node.table("labels", integersAttr(*b.getContext(), labels));
  return b.map({at}, {b.identityMap(1)}, b.sizesOf(at), b.getI64Type(), [&](Scalars &s, ValueRange v) {
    return s.create<tensor::ExtractOp>(table, ValueRange(s.create<arith::IndexCastOp>(s.b.getIndexType(), v[0])));
  });
}

Value Classes::above(Node &node, Value score, double bound, bool orEqual) const {
  Build &b = node.b;
  Part const part(b, "label");
  Value const row = b.squeeze(score, {1});
  return b.elementwise({row}, b.getI64Type(), [&](Scalars &s, ValueRange v) {
    auto const label = [&](int64_t value) { return s.create<arith::ConstantOp>(s.b.getI64IntegerAttr(value)); };
    Value const isAbove = s.compare(orEqual ? Compare::ge : Compare::gt, v[0], s.constantLike(v[0], bound));
    return s.select(isAbove, label(labels[1]), label(labels[0]));
  });
}

Value featureRows(Node &node) {
  Build &b = node.b;
  node.needRank(0, 1, 2);
  Value x = node.in(0);
  if (!isa<FloatType>(Build::elementOf(x)))
    x = b.elementwise(
        {x}, b.getF32Type(), [&](Scalars &s, ValueRange v) { return s.convert(v[0], b.getF32Type()); },
        node.isUnsigned());
  if (Build::rankOf(x) == 1)
    x = b.unsqueeze(x, {0});
  if (ShapedType::isDynamic(Build::shapeOf(x)[1]))
    node.refuse("the number of columns of its input is not known; give it by --dim");
  return x;
}

} // namespace ml2k::frontend
