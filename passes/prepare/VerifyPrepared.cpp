//===- VerifyPrepared.cpp - the last check before printing --------------------------------------------------------===//

#include "passes/prepare/ChooseBlocks.h"
#include "translator/ir/Exchanges.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_VERIFYPREPARED
#include "passes/prepare/Passes.h.inc"

static LogicalResult checkArguments(func::FuncOp entry) {
  for (Type type : entry.getArgumentTypes())
    if ((isa<ShapedType>(type) && !isa<MemRefType>(type)) || !nest::isScalar(getElementTypeOrSelf(type)))
      return entry.emitError("argument of type ") << type << " cannot be printed";
  return success();
}

static LogicalResult checkForm(func::FuncOp entry) {
  if (!entry.getBody().hasOneBlock() || entry.getNumResults() != 0)
    return entry.emitError("is not in nest form: results are arguments, control flow is structured");
  for (StringRef decision : {"nest.placement", "nest.weights", "nest.launches"})
    if (!entry->hasAttr(decision))
      return entry.emitError() << "is not prepared: '" << decision << "' is not settled";
  return checkArguments(entry);
}

static LogicalResult checkBuffer(nest::BufferOp buffer) {
  auto const type = cast<MemRefType>(buffer.getType());
  if (!nest::isScalar(type.getElementType()))
    return buffer.emitError("elements of type ") << type.getElementType() << " cannot be printed";
  if (!buffer.getForm())
    return buffer.emitError("is not prepared: its form is not settled");
  if (*buffer.getForm() == nest::BufferForm::Image && type.isDynamicDim(3))
    return buffer.emitError("an image of a convolution requires a known number of channels");
  return success();
}

static LogicalResult checkWeight(nest::WeightOp weight) {
  auto const type = dyn_cast<MemRefType>(weight.getType());
  if (!type || !nest::isScalar(type.getElementType()))
    return weight.emitError("weight of type ") << weight.getType() << " cannot be printed";
  if (auto const packing = weight.getPacking(); packing && !packing->isSettled())
    return weight.emitError("is not prepared: its packing has no extents");
  return success();
}

/// A whole argument or buffer, or what another loop exchanges: none that is a view of a part.
static bool isWhole(Value memory) {
  if (auto buffer = memory.getDefiningOp<nest::BufferOp>())
    return *buffer.getForm() == nest::BufferForm::Tensor;
  if (memory.getDefiningOp())
    return exchangeOf(memory).loop != nullptr;
  return cast<MemRefType>(memory.getType()).getRank() <= nest::maxViewRank;
}

static LogicalResult checkLoop(Operation *loop) {
  for (Value init : initsOf(loop))
    if (isa<MemRefType>(init.getType()) && !isWhole(init))
      return loop->emitError("exchanges memory that is a part of something else; this has no printed form");
  return success();
}

/// A bias lies with weights that nobody else reads, and is read by nobody else.
template <class Kernel> static LogicalResult checkBias(Kernel kernel) {
  if (!kernel.getBias())
    return success();
  auto weight = kernel.getInputs()[1].template getDefiningOp<nest::WeightOp>();
  auto bias = kernel.getExtras()[*kernel.getBias()].template getDefiningOp<nest::WeightOp>();
  bool const isPacked = weight && weight.getPacking() && weight.getPacking()->isPanels();
  if (isPacked && weight->hasOneUse() && bias && !bias.getPacking() && bias->hasOneUse())
    return success();
  return kernel.emitError("has a bias, but not with weights in panels of its own");
}

static LogicalResult checkMember(Operation *op) {
  if (isa<nest::Kernel>(op) && !nest::scheduleOf(op))
    return op->emitError("is not prepared: 'nest.schedule' is not settled");
  if (isa<nest::Kernel>(op) && failed(checkMemory(op)))
    return failure();
  if (auto conv = dyn_cast<nest::ConvOp>(op))
    return checkBias(conv);
  if (auto contract = dyn_cast<nest::ContractOp>(op))
    return checkBias(contract);
  if (isa<scf::ForOp, scf::WhileOp>(op) && !op->getParentOfType<nest::Kernel>())
    return checkLoop(op);
  if (auto buffer = dyn_cast<nest::BufferOp>(op))
    return checkBuffer(buffer);
  if (auto weight = dyn_cast<nest::WeightOp>(op))
    return checkWeight(weight);
  return success();
}

/// The one public function with a body, null if there is another number of them.
static FailureOr<func::FuncOp> entryOf(ModuleOp module) {
  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal()) {
      if (entry)
        return function.emitError("the module has several entry functions");
      entry = function;
    }
  if (!entry)
    return module.emitError("the module has no entry function");
  return entry;
}

namespace {
struct VerifyPrepared : impl::VerifyPreparedBase<VerifyPrepared> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> entry = entryOf(getOperation());
    bool const isPrintable = succeeded(entry) && succeeded(checkForm(*entry)) &&
                             !entry->walk([](Operation *op) { return WalkResult(checkMember(op)); }).wasInterrupted();
    if (!isPrintable)
      signalPassFailure();
  }
};
} // namespace

} // namespace ml2k
