//===- Reduction.cpp - Reduce* ------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"

using namespace mlir;

namespace ml2k::frontend {

using Fold = Build::Fold;

namespace {
/// fold(term(x)), then finish.
struct Reduction {
  Fold fold = Fold::sum;
  Value (*term)(Scalars &, Value) = nullptr;
  Value (*finish)(Scalars &, Value) = nullptr;
};
} // namespace

static Value square(Scalars &s, Value x) { return s.mul(x, x); }
static Value absolute(Scalars &s, Value x) { return s.abs(x); }
static Value logarithm(Scalars &s, Value x) { return s.log(x); }
static Value root(Scalars &s, Value x) {
  if (Scalars::isFloat(x))
    return s.sqrt(x);
  return s.convert(s.sqrt(s.convert(x, s.b.getF64Type())), x.getType(), s.isUnsigned);
}

/// The axes of a node; all of them if none is given, nothing if that means to do nothing.
static std::optional<Ints> reducedAxes(Node &node) {
  std::optional<Ints> const given = node.intsAttrOrInput("axes", 1);
  if (given && !given->empty())
    return node.axes(*given, node.rank(0));
  if (node.intAttr("noop_with_empty_axes", 0))
    return std::nullopt;
  return llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
}

static Value withDims(Node &node, Value reduced, IntsRef axes) {
  return node.intAttr("keepdims", 1) ? node.b.unsqueeze(reduced, axes) : reduced;
}

static void reduce(Node &node, Reduction const &reduction) {
  auto const axes = reducedAxes(node);
  Value x = node.in(0);
  auto term = [&](Scalars &s, ValueRange v) { return reduction.term ? reduction.term(s, v[0]) : v[0]; };
  auto finish = [&](Scalars &s, ValueRange v) { return reduction.finish(s, v[0]); };
  Value result = axes ? node.b.reduce(x, *axes, /*keepDims=*/false, reduction.fold, node.isUnsigned(), term)
                      : node.b.elementwise(x, term, node.isUnsigned());
  if (reduction.finish)
    result = node.b.elementwise(result, finish, node.isUnsigned());
  node.out(0, axes ? withDims(node, result, *axes) : result);
}

/// log(sum(exp(x))) about the largest element, so that nothing overflows.
static void importReduceLogSumExp(Node &node) {
  node.needFloat(0);
  Ints const axes = reducedAxes(node).value_or(Ints());
  Build &b = node.b;
  Value const x = node.in(0), largest = b.reduce(x, axes, /*keepDims=*/false, Fold::max);
  Value const exponentials =
      b.elementwise({x, b.unsqueeze(largest, axes)}, [](Scalars &s, ValueRange v) { return s.exp(s.sub(v[0], v[1])); });
  Value const sum = b.reduce(exponentials, axes, /*keepDims=*/false, Fold::sum);
  Value const result = b.elementwise({sum, largest}, [](Scalars &s, ValueRange v) { return s.add(s.log(v[0]), v[1]); });
  node.out(0, withDims(node, result, axes));
}

static void importReduceMean(Node &node) {
  auto const axes = reducedAxes(node);
  if (!axes)
    return node.out(0, node.in(0));
  node.out(0, withDims(node, node.b.mean(node.in(0), *axes, node.isUnsigned()), *axes));
}

static ImportFunction reduceWith(Reduction reduction) {
  return [=](Node &node) { reduce(node, reduction); };
}

void registerReduction(Registry &table) {
  table.add("ReduceSum", {1, 11, 13}, reduceWith({Fold::sum}));
  table.add("ReduceProd", {1, 11, 13, 18}, reduceWith({Fold::product}));
  table.add("ReduceMax", {1, 11, 12, 13, 18, 20}, reduceWith({Fold::max}));
  table.add("ReduceMin", {1, 11, 12, 13, 18, 20}, reduceWith({Fold::min}));
  table.add("ReduceL1", {1, 11, 13, 18}, reduceWith({Fold::sum, absolute}));
  table.add("ReduceL2", {1, 11, 13, 18}, reduceWith({Fold::sum, square, root}));
  table.add("ReduceSumSquare", {1, 11, 13, 18}, reduceWith({Fold::sum, square}));
  table.add("ReduceLogSum", {1, 11, 13, 18, 28}, reduceWith({Fold::sum, nullptr, logarithm}));
  table.add("ReduceLogSumExp", {1, 11, 13, 18, 28}, importReduceLogSumExp);
  table.add("ReduceMean", {1, 11, 13, 18}, importReduceMean);
}

} // namespace ml2k::frontend
