//===- VerifyNest.cpp - the last check before printing ------------------------------------------------------------===//
//
// What passes here can be printed; everything else is refused at the place in the model that it came from.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/HostCode.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/ReadBack.h"
#include "translator/ir/ScalarCode.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_VERIFYNEST
#include "passes/Passes.h.inc"

namespace {

bool isScalar(Type type) { return type.isIntOrIndexOrFloat(); }

/// Index arithmetic on the host: sizes, offsets, conditions of loops.
bool isHostArithmetic(Operation *op) {
  return isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(), isScalar) && llvm::all_of(op->getOperandTypes(), isScalar);
}

LogicalResult refuseTensors(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (Type type : types)
    if (isa<TensorType, VectorType>(type))
      return op->emitError() << "'" << op->getName() << "' on " << type << " has no printed form";
  return success();
}

bool isCallersNumber(Value value) {
  auto const argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) && isScalar(value.getType());
}

/// Blocks of structured kernels use sizes and numbers of the host by name, explicit loops say themselves what they use.
LogicalResult checkOutside(Operation *op, Operation *kernel) {
  for (Value operand : op->getOperands()) {
    bool const isOwn = kernel->isAncestor(operand.getParentBlock()->getParentOp());
    if (!isOwn && !isa<MemRefType>(operand.getType()) && !operand.getType().isIndex() &&
        !operand.getDefiningOp<arith::ConstantOp>() && !isCallersNumber(operand))
      return kernel->emitError() << "takes a value of type " << operand.getType() << " that is no operand of it";
  }
  return success();
}

LogicalResult checkInside(Operation *kernel) {
  bool const inExplicitLoops = isa<nest::LoopKernelOp>(kernel);
  WalkResult const result = kernel->walk([&](Operation *op) {
    if (op == kernel)
      return WalkResult::advance();
    bool const isPrintable = succeeded(refuseTensors(op)) && succeeded(checkScalarCode(op, inExplicitLoops)) &&
                             (inExplicitLoops || succeeded(checkOutside(op, kernel)));
    return isPrintable ? WalkResult::advance() : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The channels of images stand in the types of the printed code.
LogicalResult checkImages(Operation *op) {
  if (!isa<nest::ConvOp, nest::WindowOp>(op))
    return success();
  auto kernel = cast<DestinationStyleOpInterface>(op);
  for (Value image : {kernel.getDpsInputs()[0], kernel.getDpsInits()[0]}) {
    auto const type = cast<MemRefType>(image.getType());
    if (type.isDynamicDim(3))
      return op->emitError() << "works on images of " << type << "; channels must be known: give them with --dim";
  }
  return success();
}

LogicalResult checkLabel(nest::Kernel kernel, StringSet<> &labels) {
  if (kernel.getLabel().empty())
    return kernel.emitError("kernel has no label");
  if (!labels.insert(kernel.getLabel()).second)
    return kernel.emitError() << "label \"" << kernel.getLabel() << "\" is used twice";
  return success();
}

LogicalResult checkStatement(Operation *op, StringSet<> &labels) {
  if (failed(refuseTensors(op)))
    return failure();
  if (auto kernel = dyn_cast<nest::Kernel>(op))
    return success(succeeded(checkLabel(kernel, labels)) && succeeded(checkImages(op)) && succeeded(checkInside(op)));
  bool const isLoop = isa<scf::ForOp, scf::WhileOp>(op);
  if ((isLoop || isa<scf::IfOp>(op)) && llvm::any_of(op->getResultTypes(), llvm::IsaPred<MemRefType>) &&
      !(isLoop && onlyExchanges(op)))
    return op->emitError("hands on memory that a run-time decision chooses; this has no printed form");
  if (isReadBack(op) || isHostNumber(op))
    return success();
  if (isa<memref::LoadOp>(op))
    return op->emitError("an element of a tensor decides on the host what is computed; this has no printed form");
  if (isa<nest::WeightOp, nest::BufferOp, memref::DimOp, cf::AssertOp, func::ReturnOp, scf::ForOp, scf::IfOp,
          scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op) ||
      isAlias(op) || isHostArithmetic(op) || isHostScalar(op))
    return success();
  return op->emitError() << "'" << op->getName() << "' has no printed form";
}

/// What the declaration of a function of C says.
std::string signatureOf(nest::CallOp callee) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [type, writes] : llvm::zip(callee.getArguments().getTypes(), callee.getWrites())) {
    auto const array = dyn_cast<MemRefType>(type);
    stream << (array ? array.getElementType() : type) << (array ? array.getRank() : 0) << writes << ",";
  }
  if (callee.getResult())
    stream << callee.getResult().getType();
  stream << callee.getOnDevice();
  return text;
}

/// A function has one declaration.
LogicalResult checkCallees(func::FuncOp entry) {
  llvm::StringMap<std::string> signatures;
  WalkResult const result = entry.walk([&](nest::CallOp callee) {
    auto const [known, isNew] = signatures.try_emplace(callee.getCallee(), signatureOf(callee));
    if (known->second == signatureOf(callee))
      return WalkResult::advance();
    callee.emitError() << callee.getCalleeAttr() << " is called with other types elsewhere";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

struct VerifyNest : impl::VerifyNestBase<VerifyNest> {
  void runOnOperation() override {
    StringSet<> labels;
    bool ok = true;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation())
        return WalkResult::advance();
      ok &= succeeded(checkStatement(op, labels));
      return isa<nest::Kernel>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    if (!ok || failed(checkCallees(getOperation())) || failed(checkHostCode(getOperation())))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
