//===- ComputedWeights.cpp - weights that the model computes from others ------------------------------------------===//
//
// Part of FoldWeights. Convolutions with standardized weights normalize each row of them in the graph: mean, variance
// and division are nodes behind a constant. They are done here, so that what reads them has a constant. Work and size
// are those of the weights: nothing is computed that has more loop steps than the weights that it comes from have
// elements.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/canonicalize/ComputedWeights.h"
#include "passes/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace ml2k {
namespace {

using Doubles = std::vector<double>;

//===--- Scalar code ----------------------------------------------------------------------------------------------===//

using Compute = double (*)(double, double);

/// Null for operations that are not known here.
Compute computeOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Compute>(&op)
      .Case<arith::AddFOp>([](auto) { return +[](double a, double b) { return a + b; }; })
      .Case<arith::SubFOp>([](auto) { return +[](double a, double b) { return a - b; }; })
      .Case<arith::MulFOp>([](auto) { return +[](double a, double b) { return a * b; }; })
      .Case<arith::DivFOp>([](auto) { return +[](double a, double b) { return a / b; }; })
      .Case<math::SqrtOp>([](auto) { return +[](double a, double) { return std::sqrt(a); }; })
      .Case<math::RsqrtOp>([](auto) { return +[](double a, double) { return 1 / std::sqrt(a); }; })
      .Default([](auto) { return nullptr; });
}

/// The body of a generic, its values numbered: arguments, constants, results.
struct Code {
  struct Step {
    Compute compute;
    unsigned a, b;
  };
  Doubles constants;
  std::vector<Step> steps;
  unsigned result = 0;
};

std::optional<Code> codeOf(Block &body) {
  Code code;
  DenseMap<Value, unsigned> constants, numbers;
  unsigned const arguments = body.getNumArguments();
  for (BlockArgument argument : body.getArguments())
    numbers[argument] = argument.getArgNumber();
  for (Operation &op : body.without_terminator())
    for (Value operand : op.getOperands())
      if (APFloat number(0.);
          matchPattern(operand, m_ConstantFloat(&number)) && constants.try_emplace(operand, 0).second) {
        numbers[operand] = arguments + code.constants.size();
        code.constants.push_back(number.convertToDouble());
      }
  for (Operation &op : body.without_terminator()) {
    Compute const compute = computeOf(op);
    if (!compute || !llvm::all_of(op.getOperands(), [&](Value operand) { return numbers.contains(operand); }))
      return std::nullopt;
    code.steps.push_back({compute, numbers[op.getOperand(0)], numbers[op.getOperands().back()]});
    numbers[op.getResult(0)] = arguments + code.constants.size() + code.steps.size() - 1;
  }
  auto const found = numbers.find(body.getTerminator()->getOperand(0));
  if (found == numbers.end())
    return std::nullopt;
  code.result = found->second;
  return code;
}

//===--- Which operations -----------------------------------------------------------------------------------------===//

bool isReal(Type type) {
  auto const tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && (tensor.getElementType().isF32() || tensor.getElementType().isF64());
}

/// Loops, or position 0, in each dimension of an operand.
bool isPlain(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) {
    auto const constant = dyn_cast<AffineConstantExpr>(expr);
    return isa<AffineDimExpr>(expr) || (constant && constant.getValue() == 0);
  });
}

bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

class Computed {
public:
  /// All of them in `root`, in order.
  explicit Computed(Operation *root) {
    root->walk([&](Operation *op) {
      if (isComputed(op))
        values.insert(op->getResult(0));
    });
  }

  SmallVector<linalg::GenericOp> roots() const {
    SmallVector<linalg::GenericOp> found;
    for (Value value : values)
      if (auto generic = value.getDefiningOp<linalg::GenericOp>(); generic && isRead(value))
        found.push_back(generic);
    return found;
  }

  Doubles const &evaluate(Value value) {
    if (auto const found = known.find(value); found != known.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    if (auto weight = dyn_cast<nest::WeightOp>(op))
      return known[value] = constantDoubles(weight.getValue());
    if (isReshape(op)) {
      Doubles elements = evaluate(op->getOperand(0));
      return known[value] = std::move(elements);
    }
    Doubles elements = run(cast<linalg::GenericOp>(op));
    return known[value] = std::move(elements);
  }

  void forget() { known.clear(); }

private:
  llvm::SetVector<Value> values;
  llvm::MapVector<Value, Doubles> known; // keeps references only until the next one is added

  bool isConstant(Value value) const { return value.getDefiningOp<nest::WeightOp>() || values.contains(value); }

  /// By something that stays: directly or through reshapes.
  bool isRead(Value value) const {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (user->getNumResults() != 1 || !values.contains(user->getResult(0)))
        return true;
      return isReshape(user) && isRead(user->getResult(0));
    });
  }

  bool isComputed(Operation *op) const {
    if (isReshape(op))
      return isReal(op->getResult(0).getType()) && values.contains(op->getOperand(0));
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumDpsInits() != 1 || generic.getNumDpsInputs() == 0 ||
        !generic.hasPureTensorSemantics() || !llvm::all_of(op->getOperandTypes(), isReal) ||
        !isReal(op->getResult(0).getType()) ||
        !llvm::all_of(generic.getInputs(), [&](Value input) { return isConstant(input); }) ||
        !llvm::all_of(generic.getIndexingMapsArray(), isPlain))
      return false;
    Block &body = generic.getRegion().front();
    bool const isFolding = generic.getNumReductionLoops() != 0;
    if (body.getOperations().size() < 2 || (isFolding && !startOf(generic)) ||
        (!isFolding && !body.getArguments().back().use_empty()) || !codeOf(body))
      return false;
    int64_t elements = 0, steps = 1;
    for (Value input : generic.getInputs())
      elements = std::max(elements, cast<ShapedType>(input.getType()).getNumElements());
    for (int64_t extent : generic.getStaticLoopRanges())
      steps *= extent;
    return steps != 0 && steps <= elements;
  }

  static std::optional<double> startOf(linalg::GenericOp op) {
    auto const value = fillValue(op.getOutputs()[0]);
    auto const number = value ? dyn_cast<FloatAttr>(*value) : FloatAttr();
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  }

  /// Elementwise results are rounded as the model rounds them, sums once.
  Doubles run(linalg::GenericOp op) {
    SmallVector<Doubles> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(evaluate(input));
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    bool const isFolding = op.getNumReductionLoops() != 0, isSingle = type.getElementType().isF32();
    Doubles result(type.getNumElements(), isFolding ? *startOf(op) : 0.);
    Code const code = *codeOf(op.getRegion().front());
    SmallVector<SmallVector<int64_t>> strides;
    for (OpOperand &operand : op->getOpOperands())
      strides.push_back(stridesOf(op, operand));
    SmallVector<int64_t> const extents = op.getStaticLoopRanges();
    SmallVector<int64_t> position(extents.size(), 0), places(strides.size(), 0);
    unsigned const first = inputs.size() + 1 + code.constants.size();
    Doubles scalars(first + code.steps.size());
    llvm::copy(code.constants, scalars.begin() + int64_t(inputs.size()) + 1);
    do {
      for (auto const &[number, input] : llvm::enumerate(inputs))
        scalars[number] = input[places[number]];
      double &element = result[places.back()];
      scalars[inputs.size()] = element;
      for (auto const &[number, step] : llvm::enumerate(code.steps)) {
        double const value = step.compute(scalars[step.a], scalars[step.b]);
        scalars[first + number] = isSingle && !isFolding ? double(float(value)) : value;
      }
      element = scalars[code.result];
    } while (advance(extents, strides, position, places));
    if (isSingle)
      for (double &element : result)
        element = float(element);
    return result;
  }

  /// By how much the place of an operand's element moves with each loop.
  static SmallVector<int64_t> stridesOf(linalg::GenericOp op, OpOperand &operand) {
    AffineMap const map = op.getMatchingIndexingMap(&operand);
    ArrayRef<int64_t> const shape = cast<ShapedType>(operand.get().getType()).getShape();
    SmallVector<int64_t> strides(op.getNumLoops(), 0);
    int64_t stride = 1;
    for (int64_t d = map.getNumResults(); d-- > 0; stride *= shape[d])
      if (auto loop = dyn_cast<AffineDimExpr>(map.getResult(d)))
        strides[loop.getPosition()] += stride;
    return strides;
  }

  static bool advance(ArrayRef<int64_t> extents, ArrayRef<SmallVector<int64_t>> strides, SmallVector<int64_t> &position,
                      SmallVector<int64_t> &places) {
    auto const move = [&](int64_t loop, int64_t by) {
      for (auto [place, stride] : llvm::zip(places, strides))
        place += by * stride[loop];
    };
    for (int64_t d = extents.size(); d-- > 0;) {
      if (++position[d] < extents[d]) {
        move(d, 1);
        return true;
      }
      position[d] = 0;
      move(d, 1 - extents[d]);
    }
    return false;
  }
};

/// The largest weight that a value comes from: what is computed has its name.
nest::WeightOp originOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto weight = dyn_cast_or_null<nest::WeightOp>(op))
    return weight;
  nest::WeightOp largest;
  auto const sizeOf = [](nest::WeightOp weight) { return cast<ShapedType>(weight.getType()).getNumElements(); };
  auto generic = dyn_cast<linalg::GenericOp>(op);
  for (Value operand : generic ? ValueRange(generic.getInputs()) : op->getOperands().take_front(1))
    if (auto weight = originOf(operand); weight && (!largest || sizeOf(weight) > sizeOf(largest)))
      largest = weight;
  return largest;
}

} // namespace

void computeWeights(Operation *root) {
  Computed computed(root);
  SmallVector<std::pair<linalg::GenericOp, Value>> results;
  for (linalg::GenericOp op : computed.roots()) {
    OpBuilder builder(op);
    auto const type = cast<RankedTensorType>(op->getResult(0).getType());
    DenseElementsAttr const value = constantOf(type, computed.evaluate(op->getResult(0)));
    results.push_back({op, replacementWeight(builder, originOf(op->getResult(0)), value)});
    computed.forget();
  }
  for (auto [op, weight] : results)
    op->getResult(0).replaceAllUsesWith(weight);
}

} // namespace ml2k
