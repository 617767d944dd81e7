//===- EpilogueName.cpp - what the functor of an epilogue is called -----------------------------------------------===//

#include "translator/emit/model/SharedCode.h"
#include "translator/emit/scalars/ScalarClamp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k {

static bool isNumber(Value value, double number) {
  FloatAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.getValueAsDouble() == number;
}

/// The word of one operation; empty if it has none.
static StringRef wordOf(Operation *op) {
  if (Operation *const first = firstOfClamp(op)) {
    bool const isLow = isa<arith::MaximumFOp>(first);
    Value const low = (isLow ? first : op)->getOperand(1), high = (isLow ? op : first)->getOperand(1);
    return isNumber(low, 0) && isNumber(high, 6) ? "Relu6" : "Clamp";
  }
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "Add"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "Subtract"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "Multiply"; })
      .Case<arith::DivFOp>([](auto) { return "Divide"; })
      .Case<arith::NegFOp>([](auto) { return "Negate"; })
      .Case<arith::CmpFOp>([](auto) { return "Compare"; })
      .Case<arith::SelectOp>([](auto) { return "Select"; })
      .Case<math::ExpOp>([](auto) { return "Exp"; })
      .Case<math::ErfOp>([](auto) { return "Erf"; })
      .Case<math::TanhOp>([](auto) { return "Tanh"; })
      .Case<arith::MaximumFOp>([](auto op) { return isNumber(op.getRhs(), 0) ? "Relu" : "Maximum"; })
      .Case<arith::MinimumFOp>([](auto) { return "Minimum"; })
      .Default([](auto) { return ""; });
}

/// What functions of one value are called, by their operations in alphabetical order: an exporter's order says nothing.
static StringRef functionName(std::vector<StringRef> words) {
  if (words.size() == 1)
    return words.front();
  llvm::sort(words);
  static std::pair<StringRef, StringRef> const functions[] = {
      {"AddDivideExpNegate", "Sigmoid"},        {"AddDivideExpMultiplyNegate", "Silu"},
      {"AddDivideErfMultiplyMultiply", "Gelu"}, {"AddErfMultiplyMultiplyMultiply", "Gelu"},
      {"AddClampMultiply", "HardSigmoid"},      {"AddClampMultiplyMultiply", "HardSwish"},
      {"CompareMultiplySelect", "LeakyRelu"}};
  std::string const all = llvm::join(words, "");
  for (auto const &[operations, name] : functions)
    if (operations == all)
      return name;
  return "";
}

std::string epilogueName(Block &epilogue, Value biased) {
  std::string name;
  std::vector<StringRef> run; // of operations without memory
  auto const isElement = [](Value operand) {
    auto const argument = dyn_cast<BlockArgument>(operand);
    return argument && argument.getArgNumber() > 0;
  };
  auto const endRun = [&] {
    StringRef const function = functionName(run);
    bool const isNamed = run.empty() || !function.empty();
    name += function;
    run.clear();
    return isNamed;
  };
  for (Operation &op : epilogue.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>() || isFirstOfClamp(&op) || (biased && op.getResult(0) == biased))
      continue;
    StringRef const word = op.getNumRegions() == 0 ? wordOf(&op) : "";
    if (word.empty())
      return "";
    if (!llvm::any_of(op.getOperands(), isElement)) {
      run.push_back(word);
      continue;
    }
    if (!endRun())
      return "";
    name += word;
  }
  return endRun() ? name : "";
}

} // namespace ml2k
