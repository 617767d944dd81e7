//===- VectorMachines.cpp - SVMRegressor, SVMClassifier -----------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Classes.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <numeric>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {
/// Support vectors and what compares rows with them.
class Machine {
public:
  Machine(Node &node, int64_t vectors, int64_t columns);
  /// [rows, vectors]
  Value kernels(Value x);
  /// [rows, results]: kernels times weights [vectors, results], plus the offsets.
  Value joined(Value kernels, ArrayRef<float> weights, ArrayRef<double> offsets);

private:
  Value squaredDistances(Value x);
  Value table(llvm::StringRef name, IntsRef shape, ArrayRef<float> values) {
    return node.table(name, DenseElementsAttr::get(RankedTensorType::get(shape, b.getF32Type()), values));
  }

  Node &node;
  Build &b;
  std::vector<float> supports;
  int64_t vectors, columns;
  std::string kind;
  double gamma, offset, degree;
};
} // namespace

Machine::Machine(Node &node, int64_t vectors, int64_t columns)
    : node(node), b(node.b), vectors(vectors), columns(columns), kind(node.stringAttr("kernel_type", "LINEAR")) {
  auto const given = node.numbersAttr("support_vectors").value_or(std::vector<double>());
  if (vectors < 1 || static_cast<int64_t>(given.size()) != vectors * columns)
    node.refuse(Twine(given.size()) + " numbers for " + Twine(vectors) + " support vectors of " + Twine(columns) +
                " columns");
  supports.assign(given.begin(), given.end());
  auto const numbers = node.numbersAttr("kernel_params").value_or(std::vector<double>());
  if (!numbers.empty() && numbers.size() != 3)
    node.refuse("kernel_params has " + Twine(numbers.size()) + " elements, 3 are needed");
  gamma = numbers.empty() ? 0 : numbers[0];
  offset = numbers.empty() ? 0 : numbers[1];
  degree = numbers.empty() ? 0 : static_cast<double>(static_cast<int64_t>(numbers[2]));
  if (kind != "LINEAR" && kind != "POLY" && kind != "RBF" && kind != "SIGMOID")
    node.refuse("kernel_type \"" + kind + "\" is unknown");
}

Value Machine::squaredDistances(Value x) {
  Value const vectorTable = table("support_vectors", {vectors, columns}, supports);
  return b.foldOver({x, vectorTable}, {b.selectDims(3, {0, 2}), b.selectDims(3, {1, 2})},
                    {b.sizeOf(x, 0), b.getIndexAttr(vectors)}, b.getF32Type(), Build::Fold::sum,
                    [](Scalars &s, ValueRange v) {
                      Value const difference = s.sub(v[0], v[1]);
                      return s.mul(difference, difference);
                    });
}

Value Machine::kernels(Value x) {
  Part const part(b, "kernels");
  auto const number = [](Scalars &s, Value like, double value) { return s.constantLike(like, value); };
  if (kind == "RBF")
    return b.elementwise({squaredDistances(x)},
                         [&](Scalars &s, ValueRange v) { return s.exp(s.mul(number(s, v[0], -gamma), v[0])); });
  std::vector<float> transposed(supports.size());
  for (int64_t vector = 0; vector < vectors; ++vector)
    for (int64_t column = 0; column < columns; ++column)
      transposed[column * vectors + vector] = supports[vector * columns + column];
  Value const products = b.matmul(x, table("support_vectors", {columns, vectors}, transposed));
  if (kind == "LINEAR")
    return products;
  return b.elementwise({products}, [&](Scalars &s, ValueRange v) -> Value {
    Value const scaled = s.add(s.mul(v[0], number(s, v[0], gamma)), number(s, v[0], offset));
    return kind == "SIGMOID" ? s.tanh(scaled) : s.create<math::PowFOp>(scaled, number(s, v[0], degree));
  });
}

Value Machine::joined(Value kernels, ArrayRef<float> weights, ArrayRef<double> offsets) {
  auto const results = static_cast<int64_t>(offsets.size());
  Value const y = b.matmul(kernels, table("coefficients", {vectors, results}, weights));
  if (results == 1)
    return b.elementwise({y}, [&](Scalars &s, ValueRange v) { return s.add(v[0], s.constantLike(v[0], offsets[0])); });
  std::vector<float> const added(offsets.begin(), offsets.end());
  return b.elementwise({y, table("rho", {results}, added)}, [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); });
}

//===--- SVMRegressor ---------------------------------------------------------------------------------------------===//

static void importVectorRegressor(Node &node) {
  Build &b = node.b;
  Value const x = b.elementwiseCast(featureRows(node), b.getF32Type());
  auto const given = node.numbersAttr("coefficients").value_or(std::vector<double>()),
             rho = node.numbersAttr("rho").value_or(std::vector<double>());
  int64_t const vectors = node.intAttr("n_supports", 0), columns = Build::shapeOf(x)[1];
  if (rho.size() != 1)
    node.refuse("rho has " + Twine(rho.size()) + " elements, 1 is needed");
  if (static_cast<int64_t>(given.size()) != (vectors > 0 ? vectors : columns))
    node.refuse(Twine(given.size()) + " coefficients for " + Twine(vectors > 0 ? vectors : columns));
  std::vector<float> const weights(given.begin(), given.end());
  Value y;
  if (vectors > 0) {
    Machine machine(node, vectors, columns);
    y = machine.joined(machine.kernels(x), weights, rho);
  } else {
    Value const table = node.table(
        "coefficients", DenseElementsAttr::get(RankedTensorType::get({columns, 1}, b.getF32Type()), ArrayRef(weights)));
    y = b.elementwise({b.matmul(x, table)},
                      [&](Scalars &s, ValueRange v) { return s.add(v[0], s.constantLike(v[0], rho[0])); });
  }
  if (node.intAttr("one_class", 0) != 0)
    y = b.elementwise({y}, [](Scalars &s, ValueRange v) {
      Value const isInside = s.compare(Compare::gt, v[0], s.constantLike(v[0], 0));
      return s.select(isInside, s.constantLike(v[0], 1), s.constantLike(v[0], -1));
    });
  node.out(0, transformedScores(node, y, node.stringAttr("post_transform", "NONE")), pb::TensorProto::FLOAT);
}

/// A weight for each vector and pair of classes: more of them than the model has numbers.
constexpr int64_t maxPairWeights = int64_t(1) << 26;

//===--- SVMClassifier --------------------------------------------------------------------------------------------===//

/// A column of weights for each pair of classes i < j: coefficients [classes - 1, vectors] have row j - 1 for the
/// vectors of i, row i for those of j.
static std::vector<float> pairWeights(ArrayRef<double> coefficients, IntsRef perClass, int64_t vectors) {
  auto const classes = static_cast<int64_t>(perClass.size()), pairs = classes * (classes - 1) / 2;
  std::vector<int64_t> first(classes + 1);
  std::partial_sum(perClass.begin(), perClass.end(), first.begin() + 1);
  std::vector<float> weights(vectors * pairs);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      for (int64_t vector = first[i]; vector < first[i + 1]; ++vector)
        weights[vector * pairs + pair] = static_cast<float>(coefficients[(j - 1) * vectors + vector]);
      for (int64_t vector = first[j]; vector < first[j + 1]; ++vector)
        weights[vector * pairs + pair] = static_cast<float>(coefficients[i * vectors + vector]);
    }
  return weights;
}

/// How many pairs each class wins, [rows, classes]: the first of a pair where the score is above 0, else the second.
static Value votes(Node &node, Value scores, int64_t classes) {
  Build &b = node.b;
  Part const part(b, "votes");
  int64_t const pairs = classes * (classes - 1) / 2;
  std::vector<int32_t> winners, losers;
  for (int32_t i = 0; i < classes; ++i)
    for (int32_t j = i + 1; j < classes; ++j) {
      winners.push_back(i);
      losers.push_back(j);
    }
  auto const table = [&](llvm::StringRef name, ArrayRef<int32_t> values) {
    return node.table(name, DenseElementsAttr::get(RankedTensorType::get({pairs}, b.getI32Type()), values));
  };
  AffineMap const ofPair = b.selectDims(3, {2});
  return b.foldOver({scores, table("firsts", winners), table("seconds", losers)},
                    {b.selectDims(3, {0, 2}), ofPair, ofPair}, {b.sizeOf(scores, 0), b.getIndexAttr(classes)},
                    b.getI32Type(), Build::Fold::sum, [](Scalars &s, ValueRange v) {
                      Value const wins = s.compare(Compare::gt, v[0], s.constantLike(v[0], 0));
                      Value const chosen = s.select(wins, v[1], v[2]);
                      Value const own = s.create<arith::IndexCastOp>(s.b.getI32Type(), s.create<linalg::IndexOp>(1));
                      return s.convert(s.compare(Compare::eq, chosen, own), s.b.getI32Type(), /*toUnsigned=*/true);
                    });
}

static void importVectorClassifier(Node &node) {
  Build &b = node.b;
  Value const x = b.elementwiseCast(featureRows(node), b.getF32Type());
  Classes const classes(node, "classlabels_ints");
  Ints const perClass = node.intsAttr("vectors_per_class").value_or(Ints());
  auto const coefficients = node.numbersAttr("coefficients").value_or(std::vector<double>()),
             rho = node.numbersAttr("rho").value_or(std::vector<double>());
  if (node.numbersAttr("prob_a") && !node.numbersAttr("prob_a")->empty())
    node.refuse("probabilities of a support vector machine are not supported; its scores are");
  int64_t const count = classes.count(), pairs = count * (count - 1) / 2;
  if (count < 2 || static_cast<int64_t>(perClass.size()) != count ||
      llvm::any_of(perClass, [](int64_t n) { return n < 0; }))
    node.refuse("it needs the support vectors of two classes or more");
  int64_t const vectors = std::accumulate(perClass.begin(), perClass.end(), int64_t(0));
  if (static_cast<int64_t>(coefficients.size()) != (count - 1) * vectors || static_cast<int64_t>(rho.size()) != pairs)
    node.refuse(Twine(coefficients.size()) + " coefficients and " + Twine(rho.size()) + " offsets for " +
                Twine(vectors) + " vectors of " + Twine(count) + " classes");
  if (vectors * pairs > maxPairWeights)
    node.refuse("weights of " + Twine(vectors) + " vectors for " + Twine(pairs) + " pairs of classes are too many");
  Machine machine(node, vectors, Build::shapeOf(x)[1]);
  Value const scores = machine.joined(machine.kernels(x), pairWeights(coefficients, perClass, vectors), rho);
  std::string const how = node.stringAttr("post_transform", "NONE");
  if (count == 2) {
    Classes swapped = classes; // the first class wins above 0
    std::swap(swapped.labels[0], swapped.labels[1]);
    node.out(0, swapped.above(node, scores, 0, /*orEqual=*/false), pb::TensorProto::INT64);
    return node.out(1, transformedScores(node, bothScores(b, scores, /*complement=*/false), how),
                    pb::TensorProto::FLOAT);
  }
  node.out(0, classes.best(node, votes(node, scores, count)), pb::TensorProto::INT64);
  node.out(1, transformedScores(node, scores, how), pb::TensorProto::FLOAT);
}

void registerVectorMachines(Registry &table) {
  table.add("SVMClassifier", {1}, importVectorClassifier, classicalDomain);
  table.add("SVMRegressor", {1}, importVectorRegressor, classicalDomain);
}

} // namespace ml2k::frontend
