//===- LinearModels.cpp - LinearRegressor, LinearClassifier -------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Classes.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

/// x times coefficients [results, columns], plus intercepts, as floats.
static Value products(Node &node, Value x, int64_t results) {
  Build &b = node.b;
  int64_t const columns = Build::shapeOf(x)[1];
  auto const coefficients = node.numbersAttr("coefficients").value_or(std::vector<double>()),
             intercepts = node.numbersAttr("intercepts").value_or(std::vector<double>());
  if (results < 1 || static_cast<int64_t>(coefficients.size()) != results * columns)
    node.refuse(Twine(coefficients.size()) + " coefficients for " + Twine(columns) + " columns and " + Twine(results) +
                " results");
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != results)
    node.refuse(Twine(intercepts.size()) + " intercepts for " + Twine(results) + " results");
  std::vector<float> transposed(coefficients.size());
  for (int64_t result = 0; result < results; ++result)
    for (int64_t column = 0; column < columns; ++column)
      transposed[column * results + result] = static_cast<float>(coefficients[result * columns + column]);
  auto const table = [&](llvm::StringRef name, IntsRef shape, ArrayRef<float> values) {
    return node.table(name, DenseElementsAttr::get(RankedTensorType::get(shape, b.getF32Type()), values));
  };
  Value const y = b.matmul(b.elementwiseCast(x, b.getF32Type()), table("coefficients", {columns, results}, transposed));
  if (intercepts.empty())
    return y;
  std::vector<float> const added(intercepts.begin(), intercepts.end());
  return b.elementwise({y, table("intercepts", {results}, added)},
                       [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); });
}

static void importLinearRegressor(Node &node) {
  Value const y = products(node, featureRows(node), node.intAttr("targets", 1));
  node.out(0, transformedScores(node, y, node.stringAttr("post_transform", "NONE")), pb::TensorProto::FLOAT);
}

/// Two classes may share a row of coefficients: the score is that of the second one.
static void importLinearClassifier(Node &node) {
  Build &b = node.b;
  Value const x = featureRows(node);
  Classes const classes(node, "classlabels_ints");
  int64_t const columns = Build::shapeOf(x)[1];
  auto const coefficients = node.numbersAttr("coefficients").value_or(std::vector<double>());
  int64_t const rows = static_cast<int64_t>(coefficients.size()) / std::max<int64_t>(1, columns);
  std::string const how = node.stringAttr("post_transform", "NONE");
  if (classes.count() < 2 || (rows != classes.count() && !(rows == 1 && classes.count() == 2)))
    node.refuse(Twine(rows) + " rows of coefficients for " + Twine(classes.count()) + " classes");
  Value scores = products(node, x, rows);
  if (rows == 1)
    scores = bothScores(b, scores, /*complement=*/false);
  node.out(0, classes.best(node, scores), pb::TensorProto::INT64);
  node.out(1, transformedScores(node, scores, how), pb::TensorProto::FLOAT);
}

void registerLinearModels(Registry &table) {
  table.add("LinearClassifier", {1}, importLinearClassifier, classicalDomain);
  table.add("LinearRegressor", {1}, importLinearRegressor, classicalDomain);
}

} // namespace ml2k::frontend
