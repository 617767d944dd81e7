//===- NarrowFactors.cpp - factors of integer products in 16 bits -------------------------------------------------===//
//
// A byte less its zero point has 9 bits, so that the factors of quantized products fit into 16. Hosts multiply those in
// pairs, which is why weights and what meets them are stored so, if a proof finds that no value is lost.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Constants.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

#include "llvm/ADT/MapVector.h"

#include <utility>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_NARROWFACTORS
#include "passes/Passes.h.inc"

namespace {

constexpr unsigned bits = 16;

/// What a scalar can be, as far as a few operations tell.
ConstantIntRanges rangeOf(Value value, unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  unsigned const width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  ConstantIntRanges result = ConstantIntRanges::maxRange(width);
  auto op = value.getDefiningOp<InferIntRangeInterface>();
  auto const isInteger = [](Value operand) { return operand.getType().isSignlessInteger(); };
  if (auto choice = value.getDefiningOp<scf::IfOp>(); choice && depth <= deepest) {
    unsigned const number = cast<OpResult>(value).getResultNumber();
    return rangeOf(choice.thenYield().getOperand(number), depth + 1)
        .rangeUnion(rangeOf(choice.elseYield().getOperand(number), depth + 1));
  }
  if (depth > deepest || !op || !llvm::all_of(op->getOperands(), isInteger))
    return result;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(rangeOf(operand, depth + 1));
  op.inferResultRanges(operands, [&](Value of, ConstantIntRanges const &range) {
    if (of == value)
      result = range;
  });
  return result;
}

bool fits(Value scalar) {
  ConstantIntRanges const range = rangeOf(scalar);
  return range.smin().isSignedIntN(bits) && range.smax().isSignedIntN(bits);
}

/// What a kernel stores as its output number `output`; nothing if that is read again.
SmallVector<OpOperand *> storedValues(Operation *kernel, unsigned output) {
  SmallVector<OpOperand *> stored;
  if (auto row = dyn_cast<nest::RowOp>(kernel)) {
    Block &body = row.getBody().front();
    unsigned const outputs = row.getOutputs().size();
    for (OpOperand &use : body.getArgument(body.getNumArguments() - outputs + output).getUses()) {
      auto set = dyn_cast<nest::SetOp>(use.getOwner());
      if (!set)
        return {};
      stored.push_back(&set.getValueMutable());
    }
    return stored;
  }
  Operation *yield = cast<nest::Kernel>(kernel).getStoringRegion().front().getTerminator();
  if (kernel->getNumResults() > 1)
    return {&yield->getOpOperand(output)};
  for (OpOperand &operand : yield->getOpOperands()) // a convolution may store several
    stored.push_back(&operand);
  return stored;
}

/// A tensor that a kernel makes, with what reads it and what it becomes by reshapes.
struct IntegerFactor {
  SmallVector<Value> shapes; ///< as it is made, then all other shapes
  SmallVector<OpOperand *> stored;
  SmallVector<BlockArgument> copied; ///< elements of other tensors, which are among the shapes
  SmallVector<BlockArgument> read;   ///< by other kernels, which widen it again
  SmallVector<Operation *> products;
  bool isNarrow = false;
};

Value beforeReshapes(Value value) {
  while (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

struct NarrowFactors : impl::NarrowFactorsBase<NarrowFactors> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (nest::WeightOp const weight = weightOf(op)) {
        weights[weight].push_back(op);
        factors[beforeReshapes(op->getOperand(0))].products.push_back(op);
      }
    });
    for (auto &[root, factor] : factors)
      factor.isNarrow = isNarrow(root, factor);
    keepWide();
    for (auto &[root, factor] : factors)
      if (factor.isNarrow)
        narrow(factor);
    for (auto const &[weight, products] : weights)
      if (factorOf(products.front()).isNarrow)
        narrow(cast<nest::WeightOp>(weight));
    weights.clear();
    factors.clear();
    copies.clear();
  }

private:
  /// The integers of 32 bits in panels that a product sums up in as many; null for other operations.
  static nest::WeightOp weightOf(Operation *op) {
    if (!isa<nest::ConvOp, nest::ContractOp>(op))
      return {};
    auto weight = op->getOperand(1).getDefiningOp<nest::WeightOp>();
    bool const isPacked = weight && weight.getPacking() && weight.getPacking()->isPanels();
    Region &epilogue = cast<nest::Kernel>(op).getStoringRegion();
    return isPacked && getElementTypeOrSelf(weight.getResult()).isInteger(32) &&
                   getElementTypeOrSelf(op->getOperand(0)).isInteger(32) &&
                   epilogue.getArgument(0).getType().isInteger(32)
               ? weight
               : nest::WeightOp();
  }

  IntegerFactor &factorOf(Operation *product) { return factors[beforeReshapes(product->getOperand(0))]; }

  /// Products with a factor that has to stay wide keep the other one, and so do the other products of that.
  void keepWide() {
    SmallVector<Operation *> wide;
    for (auto &[root, factor] : factors)
      if (!factor.isNarrow)
        llvm::append_range(wide, factor.products);
    for (auto const &[weight, products] : weights)
      if (!isNarrow(cast<nest::WeightOp>(weight), products))
        llvm::append_range(wide, products);
    DenseSet<Operation *> done; // weights: each brings its products once, as each factor does
    while (!wide.empty()) {
      Operation *const product = wide.pop_back_val();
      if (nest::WeightOp const weight = weightOf(product); done.insert(weight).second)
        llvm::append_range(wide, weights[weight]);
      if (IntegerFactor &factor = factorOf(product); std::exchange(factor.isNarrow, false))
        llvm::append_range(wide, factor.products);
    }
  }

  static bool isNarrow(nest::WeightOp weight, ArrayRef<Operation *> products) {
    auto const value = dyn_cast<DenseElementsAttr>(weight.getValue());
    return value && llvm::hasNItems(weight->getUses(), products.size()) &&
           llvm::all_of(value.getValues<APInt>(), [](APInt const &x) { return x.isSignedIntN(bits); });
  }

  /// What a kernel calls an element that it reads of an operand, and that it can widen; null for other kernels.
  static BlockArgument elementOf(OpOperand &use) {
    unsigned const operand = use.getOperandNumber();
    if (auto map = dyn_cast<nest::MapOp>(use.getOwner()))
      return operand < map.getInputs().size() ? map.getBody().getArgument(operand) : BlockArgument();
    if (!isa<nest::ConvOp, nest::ContractOp>(use.getOwner()) || operand < 2)
      return {};
    Region &epilogue = cast<nest::Kernel>(use.getOwner()).getStoringRegion();
    return operand - 1 < epilogue.getNumArguments() ? epilogue.getArgument(operand - 1) : BlockArgument();
  }

  /// Whether all that a kernel stores in a tensor fits, and others than products can read that.
  bool isNarrow(Value root, IntegerFactor &factor) {
    return areNarrow(root, nullptr, factor) && isStored(root, factor);
  }

  /// Whether all readers of a tensor can read it narrow, `copy` left out.
  static bool areNarrow(Value root, OpOperand *copy, IntegerFactor &factor) {
    size_t const first = factor.shapes.size();
    factor.shapes.push_back(root);
    for (size_t i = first; i < factor.shapes.size(); ++i)
      for (OpOperand &use : factor.shapes[i].getUses()) {
        Operation *user = use.getOwner();
        if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user))
          factor.shapes.push_back(user->getResult(0));
        else if (isa<tensor::DimOp>(user) || &use == copy || (!copy && use.getOperandNumber() == 0 && weightOf(user)))
          continue;
        else if (BlockArgument const element = elementOf(use))
          factor.read.push_back(element);
        else
          return false;
      }
    return true;
  }

  /// Whether what a kernel stores fits. A copy of another tensor fits if that does.
  bool isStored(Value root, IntegerFactor &factor) {
    Operation *const kernel = root.getDefiningOp();
    if (!isa_and_nonnull<nest::MapOp, nest::RowOp, nest::ReduceOp, nest::ContractOp, nest::ConvOp, nest::WindowOp>(
            kernel) ||
        !isa_and_nonnull<tensor::EmptyOp>(beforeReshapes(destination(root)->get()).getDefiningOp()))
      return false;
    SmallVector<OpOperand *> const stored = storedValues(kernel, cast<OpResult>(root).getResultNumber());
    if (stored.empty())
      return false;
    for (OpOperand *value : stored) {
      factor.stored.push_back(value);
      if (!fits(value->get()) && !isCopied(kernel, value->get(), factor))
        return false;
    }
    return true;
  }

  bool isCopied(Operation *kernel, Value value, IntegerFactor &factor) {
    auto map = dyn_cast<nest::MapOp>(kernel);
    auto const argument = dyn_cast<BlockArgument>(value);
    if (!map || !argument || argument.getOwner() != &map.getBody().front() || !argument.hasOneUse() ||
        argument.getArgNumber() >= map.getInputs().size())
      return false;
    OpOperand &copy = map.getInputsMutable()[argument.getArgNumber()];
    Value const root = beforeReshapes(copy.get());
    if (factors.count(root) || !copies.insert(root).second || factor.copied.size() > 2)
      return false; // what several factors are made of stays as it is
    factor.copied.push_back(argument);
    return areNarrow(root, &copy, factor) && isStored(root, factor);
  }

  static OpOperand *destination(Value root) {
    return cast<DestinationStyleOpInterface>(root.getDefiningOp()).getTiedOpOperand(cast<OpResult>(root));
  }

  static void narrow(IntegerFactor const &factor) {
    for (Value shape : factor.shapes) {
      auto type = cast<RankedTensorType>(shape.getType());
      Builder builder(shape.getContext());
      shape.setType(type.clone(builder.getIntegerType(bits)));
      if (isa<nest::Kernel>(shape.getDefiningOp()))
        narrowDestination(shape);
    }
    for (BlockArgument copied : factor.copied)
      copied.setType(IntegerType::get(copied.getContext(), bits));
    for (BlockArgument element : factor.read) {
      OpBuilder builder = OpBuilder::atBlockBegin(element.getOwner());
      element.setType(builder.getIntegerType(bits));
      auto const isConverted = [](OpOperand &use) { return isa<arith::SIToFPOp>(use.getOwner()); };
      if (llvm::all_of(element.getUses(), isConverted))
        continue;
      auto wide = builder.create<arith::ExtSIOp>(element.getLoc(), builder.getI32Type(), element);
      element.replaceUsesWithIf(wide, [&](OpOperand &use) { return use.getOwner() != wide && !isConverted(use); });
    }
    for (OpOperand *value : factor.stored) {
      if (value->get().getType().isInteger(bits))
        continue;
      OpBuilder builder(value->getOwner());
      value->set(
          builder.create<arith::TruncIOp>(value->getOwner()->getLoc(), builder.getIntegerType(bits), value->get()));
    }
  }

  /// The same destination for narrow elements.
  static Value narrowRoom(OpBuilder &builder, Value room) {
    auto type = cast<RankedTensorType>(room.getType());
    auto const narrow = cast<RankedTensorType>(type.clone(builder.getIntegerType(bits)));
    if (auto empty = room.getDefiningOp<tensor::EmptyOp>())
      return builder.create<tensor::EmptyOp>(empty.getLoc(), narrow, empty.getDynamicSizes());
    IRMapping mapping;
    mapping.map(room.getDefiningOp()->getOperand(0), narrowRoom(builder, room.getDefiningOp()->getOperand(0)));
    Operation *reshape = builder.clone(*room.getDefiningOp(), mapping);
    reshape->getResult(0).setType(narrow);
    return reshape->getResult(0);
  }

  static void narrowDestination(Value root) {
    OpBuilder builder(root.getDefiningOp());
    OpOperand *const init = destination(root);
    init->set(narrowRoom(builder, init->get()));
    if (auto row = dyn_cast<nest::RowOp>(root.getDefiningOp())) {
      Block &body = row.getBody().front();
      unsigned const argument =
          body.getNumArguments() - row.getOutputs().size() + cast<OpResult>(root).getResultNumber();
      body.getArgument(argument).setType(nest::RowType::get(root.getContext(), builder.getIntegerType(bits)));
    }
  }

  /// In bytes where they fit: pairs are made of them when they are loaded.
  static void narrow(nest::WeightOp weight) {
    auto const value = cast<DenseElementsAttr>(weight.getValue());
    auto const areBytes =
        llvm::all_of(value.getValues<APInt>(), [](APInt const &element) { return element.isSignedIntN(8); });
    Type const type = IntegerType::get(weight.getContext(), areBytes ? 8 : bits);
    DenseElementsAttr const narrow =
        value.mapValues(type, [&](APInt const &element) { return element.trunc(type.getIntOrFloatBitWidth()); });
    weight.setValueAttr(narrow);
    weight.getResult().setType(narrow.getType());
  }

  llvm::MapVector<Operation *, SmallVector<Operation *>> weights; ///< with the products that read them
  llvm::MapVector<Value, IntegerFactor> factors;
  DenseSet<Value> copies; ///< roots of tensors that a factor is a copy of
};

} // namespace
} // namespace ml2k
