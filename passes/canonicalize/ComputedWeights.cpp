//===- ComputedWeights.cpp - weights that the model computes from others ------------------------------------------===//
//
// Part of FoldWeights. Convolutions with standardized weights normalize each row of them in the graph: mean, variance
// and division are nodes behind a constant; a selective scan computes -exp(a) of one. They are done here, so that what
// reads them has a constant. Work and size are those of the weights: no operation has more loop steps than its operands
// have elements, all of them together have a few for each element of the model's weights, and what is stored has as
// many elements as these at most.
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
#include <memory>

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
      .Case<arith::NegFOp>([](auto) { return +[](double a, double) { return -a; }; })
      .Case<math::AbsFOp>([](auto) { return +[](double a, double) { return std::fabs(a); }; })
      .Case<math::ExpOp>([](auto) { return +[](double a, double) { return std::exp(a); }; })
      .Case<math::ExpM1Op>([](auto) { return +[](double a, double) { return std::expm1(a); }; })
      .Case<math::LogOp>([](auto) { return +[](double a, double) { return std::log(a); }; })
      .Case<math::Log1pOp>([](auto) { return +[](double a, double) { return std::log1p(a); }; })
      .Case<math::TanhOp>([](auto) { return +[](double a, double) { return std::tanh(a); }; })
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
      if (auto weight = dyn_cast<nest::WeightOp>(op))
        storable += cast<ShapedType>(weight.getType()).getNumElements();
      else if (isComputed(op))
        values.insert(op->getResult(0));
    });
    steps = stepsOfElement * storable;
    for (Value value : llvm::reverse(values.getArrayRef()))
      for (Operation *user : value.getUsers())
        if (user->getNumResults() == 1 && values.contains(user->getResult(0)))
          read[value] |= isReshape(user) && read[user->getResult(0)];
        else
          read[value] = true;
    for (Value value : values)
      for (Value operand : value.getDefiningOp()->getOperands())
        if (values.contains(operand))
          ++waiting[operand];
  }

  /// Operations behind their operands: what others read becomes a weight.
  void replaceAll() {
    for (Value value : values) {
      Operation *op = value.getDefiningOp();
      if (isReshape(op))
        reshape(value, op->getOperand(0));
      else
        compute(cast<linalg::GenericOp>(op));
      for (Value operand : op->getOperands())
        if (auto const found = waiting.find(operand); found != waiting.end() && --found->second == 0)
          known.erase(operand);
    }
    for (auto [op, weight] : results)
      op->getResult(0).replaceAllUsesWith(weight);
  }

private:
  static constexpr int64_t stepsOfElement = 32;

  struct Elements {
    std::shared_ptr<Doubles const> values;
    nest::WeightOp origin; ///< the largest weight that they come from: what is computed has its name
  };

  llvm::SetVector<Value> values;
  DenseMap<Value, bool> read;       ///< by something that stays, directly or through reshapes
  DenseMap<Value, int64_t> waiting; ///< uses by operations that are not computed yet
  DenseMap<Value, Elements> known;
  int64_t storable = 0, steps = 0;
  SmallVector<std::pair<linalg::GenericOp, Value>> results;

  bool isConstant(Value value) const { return value.getDefiningOp<nest::WeightOp>() || values.contains(value); }

  std::optional<Elements> elementsOf(Value value) const {
    if (auto weight = value.getDefiningOp<nest::WeightOp>())
      return Elements{std::make_shared<Doubles const>(constantDoubles(weight.getValue())), weight};
    auto const found = known.find(value);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }

  void reshape(Value value, Value source) {
    if (std::optional<Elements> const elements = elementsOf(source))
      known[value] = *elements;
  }

  void compute(linalg::GenericOp op) {
    steps -= stepsOf(op);
    if (steps < 0)
      return;
    SmallVector<Elements> inputs;
    for (Value input : op.getInputs()) {
      std::optional<Elements> elements = elementsOf(input);
      if (!elements)
        return;
      inputs.push_back(std::move(*elements));
    }
    auto const sizeOf = [](nest::WeightOp weight) { return cast<ShapedType>(weight.getType()).getNumElements(); };
    nest::WeightOp origin = inputs.front().origin;
    for (Elements const &input : inputs)
      if (sizeOf(input.origin) > sizeOf(origin))
        origin = input.origin;
    Value const value = op->getResult(0);
    auto const elements = std::make_shared<Doubles const>(run(op, inputs));
    known[value] = {elements, origin};
    auto const type = cast<RankedTensorType>(value.getType());
    if (!read[value] || type.getNumElements() > storable)
      return;
    storable -= type.getNumElements();
    OpBuilder builder(op);
    results.push_back({op, replacementWeight(builder, origin, constantOf(type, *elements))});
  }

  static int64_t stepsOf(linalg::GenericOp op) {
    int64_t steps = 1;
    for (int64_t extent : op.getStaticLoopRanges())
      steps *= extent;
    return steps;
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
    int64_t elements = 0;
    for (Value input : generic.getInputs())
      elements = std::max(elements, cast<ShapedType>(input.getType()).getNumElements());
    int64_t const count = stepsOf(generic);
    return count != 0 && count <= elements;
  }

  static std::optional<double> startOf(linalg::GenericOp op) {
    auto const value = fillValue(op.getOutputs()[0]);
    auto const number = value ? dyn_cast<FloatAttr>(*value) : FloatAttr();
    return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
  }

  /// Elementwise results are rounded as the model rounds them, sums once.
  static Doubles run(linalg::GenericOp op, ArrayRef<Elements> inputs) {
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
        scalars[number] = (*input.values)[places[number]];
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

} // namespace

void computeWeights(Operation *root) { Computed(root).replaceAll(); }

} // namespace ml2k
