//===- LabelKernels.cpp - every kernel gets the name of its layer -------------------------------------------------===//
//
// The label is the dotted name of the operation that the kernel is about: the contraction or convolution itself,
// otherwise the last operation fused into it. Of several kernels of one operation each has the name of its part, which
// the front ends know (`attn.scores`) or its own kind tells (`conv.input`). Names that are taken get a short hash of
// their provenance, never a counter that a new layer would shift; a model without names gets the kind of kernel and its
// place among that kind.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/schedule/PartNames.h"
#include "translator/ir/Nest.h"
#include "translator/ir/Parts.h"
#include "translator/ir/UniqueNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_LABELKERNELS
#include "passes/Passes.h.inc"

namespace {

/// Kernels on memrefs come from nest text and have their labels.
bool isKernel(Operation *op) { return op->getNumResults() > 0 && isa<nest::Kernel, linalg::LinalgOp>(op); }

bool reduces(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return isa<nest::ReduceOp>(op) || (structured && structured.getNumReductionLoops() > 0);
}

bool isMethod(Operation *op) {
  return isa<nest::ConvOp, nest::ContractOp, nest::WindowOp, nest::RecurrentOp>(op) ||
         (isa<linalg::LinalgOp>(op) && reduces(op));
}

/// What a kernel is called in a model without names.
StringRef kindOf(Operation *op) {
  if (isa<nest::ConvOp>(op))
    return "conv";
  if (auto contract = dyn_cast<nest::ContractOp>(op))
    return contract.getInputs()[1].getDefiningOp<nest::WeightOp>() ? "linear" : "matmul";
  if (isa<nest::WindowOp>(op))
    return "pool";
  if (isa<nest::RowOp>(op))
    return "rows";
  if (isa<nest::RecurrentOp>(op))
    return "recurrent";
  return reduces(op) ? "reduce" : "map";
}

/// The location whose name the kernel takes. A kernel of parts of a node and of its last step, too, is the node.
Location nameGiver(Operation *op) {
  SmallVector<NameLoc> const names = namesBehind(op->getLoc());
  if (names.empty())
    return op->getLoc();
  NameLoc const giver = isMethod(op) ? names.front() : names.back();
  StringRef const whole = wholeOf(giver.getName());
  NameLoc const *const found = llvm::find_if(names, [&](NameLoc name) { return name.getName() == whole; });
  return found == names.end() ? giver : *found;
}

std::string shortHash(StringRef text) {
  std::string hash = llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true);
  hash.insert(0, 16 - hash.size(), '0');
  return hash.substr(0, 4);
}

std::string provenance(Operation *op) {
  std::string text;
  for (NameLoc name : namesBehind(op->getLoc()))
    text += name.getName().str() + ";";
  return text;
}

struct LabelKernels : impl::LabelKernelsBase<LabelKernels> {
  void runOnOperation() override {
    UniqueNames taken;
    llvm::StringMap<int> places;
    // The method of a layer has the first right to its name
    for (bool methods : {true, false})
      getOperation().walk([&](Operation *op) {
        if (isKernel(op) && isMethod(op) == methods)
          nest::setLabel(op, labelFor(op, taken, places));
      });
    nameWeights();
  }

  /// Weights that the model leaves unnamed are called after the kernel that uses them first.
  void nameWeights() {
    llvm::StringSet<> taken;
    llvm::StringMap<int> places;
    getOperation().walk([&](nest::WeightOp weight) {
      if (!isUnnamed(weight.getName()))
        weight.setName(freeName(weight.getName().str(), taken, places)); // two parts of one weight may meet in a name
    });
    getOperation().walk([&](Operation *op) {
      if (!isKernel(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (auto weight = weightOf(operand); weight && isUnnamed(weight.getName()))
          weight.setName(freeName(nest::labelOf(op).str() + "." + roleOf(operand).str(), taken, places));
    });
    getOperation().walk([&](nest::WeightOp weight) { // read at computed positions, or by no kernel
      if (isUnnamed(weight.getName()))
        weight.setName(freeName(readerOf(weight) + "constant", taken, places));
    });
  }

  /// `label.` of the kernel whose block reads the weight; empty if there is none.
  static std::string readerOf(nest::WeightOp weight) {
    for (Operation *user : weight->getUsers())
      for (; user; user = user->getParentOp())
        if (isKernel(user))
          return nest::labelOf(user).str() + ".";
    return "";
  }

  /// Equal biases without a name are one constant, until each lies with its own weights.
  static nest::WeightOp weightOf(OpOperand &operand) {
    auto weight = weightBehind(operand.get());
    if (!weight || weight->hasOneUse() || !isUnnamed(weight.getName()) || operand.get() != weight.getResult() ||
        !isBias(operand))
      return weight;
    OpBuilder builder(weight);
    auto own = cast<nest::WeightOp>(builder.clone(*weight));
    operand.set(own.getResult());
    return own;
  }

  /// The vector that an epilogue adds to a sum before anything else.
  static bool isBias(OpOperand &operand) {
    auto const isAdded = [&](auto kernel) {
      auto const added = kernel ? nest::addedToSum(kernel.getEpilogue()) : std::nullopt;
      return added && kernel.getExtras()[*added] == operand.get() &&
             cast<ShapedType>(operand.get().getType()).getRank() == 1;
    };
    return isAdded(dyn_cast<nest::ConvOp>(operand.getOwner())) ||
           isAdded(dyn_cast<nest::ContractOp>(operand.getOwner()));
  }

  /// Names that exporters make up for constants: none, a number, onnx::Conv_193.
  static bool isUnnamed(StringRef name) {
    auto const [prefix, rest] = name.split("::");
    return name == unnamedWeight || llvm::all_of(name, llvm::isDigit) ||
           (prefix == "onnx" && llvm::all_of(rest.rsplit('_').second, llvm::isDigit));
  }

  /// What a constant is to its layer: one operand is the weight, a vector beside that the bias.
  static StringRef roleOf(OpOperand &operand) {
    Operation *op = operand.getOwner();
    bool const isMethod = isa<nest::ConvOp, nest::ContractOp, nest::RecurrentOp>(op);
    auto recurrent = dyn_cast<nest::RecurrentOp>(op);
    unsigned const number = operand.getOperandNumber();
    if (isMethod && (recurrent ? number < recurrent.getNumDirections() : number == 1))
      return "weight";
    return isMethod && cast<ShapedType>(operand.get().getType()).getRank() == 1 ? "bias" : "constant";
  }

  /// `base`, `base2`, ...: `places` has the last number of each.
  static std::string freeName(std::string const &base, llvm::StringSet<> &taken, llvm::StringMap<int> &places) {
    int &place = places.insert({base, 1}).first->second;
    std::string name = base;
    while (!taken.insert(name).second)
      name = base + std::to_string(++place);
    return name;
  }

  /// The name of the one argument of the function that an operation reads; empty if there is none, or several.
  static std::string argumentOf(Operation *op) {
    std::string name;
    for (Value operand : op->getOperands()) {
      while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(operand.getDefiningOp()))
        operand = operand.getDefiningOp()->getOperand(0);
      auto const argument = dyn_cast<BlockArgument>(operand);
      auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
      if (!function)
        continue;
      auto const named = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nest.name");
      if (!named || (!name.empty() && named != name))
        return "";
      name = named.str();
    }
    return name;
  }

  static std::string labelFor(Operation *op, UniqueNames &taken, llvm::StringMap<int> &places) {
    std::string label = nameFromLocation(nameGiver(op));
    if (label.empty())
      label = kindOf(op).str() + std::to_string(++places[kindOf(op)]);
    std::string const layer = label;
    if (auto role = op->getAttrOfType<StringAttr>("nest.role")) // a part of the layer that bears the name
      label += "." + role.str();
    if (taken.take(label))
      return label;
    if (StringRef const part = partNameOf(op, layer); !part.empty() && taken.take((layer + "." + part).str()))
      return (layer + "." + part).str();
    if (std::string const operation = operationFromLocation(nameGiver(op)); !operation.empty())
      label += "." + operation; // attention's Softmax beside its MatMul
    if (std::string const argument = argumentOf(op); taken.isTaken(label) && !argument.empty())
      label = layer + "." + argument; // a variable's part of what is done to several
    if (taken.isTaken(label))
      label += "_" + shortHash(provenance(op) + label);
    return taken.unique(label, provenance(op));
  }
};

} // namespace
} // namespace ml2k
