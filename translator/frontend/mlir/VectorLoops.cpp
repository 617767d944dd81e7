//===- VectorLoops.cpp - vectors become loops over their elements -------------------------------------------------===//
//
// Walks through the program once, in its order. Vectors.h says what becomes of an operation; those that make an array
// element by element, and those that store, are in VectorOperations.cpp, loops and branches that carry vectors in
// VectorControl.cpp.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/frontend/mlir/VectorLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ml2k::mlir_import;

//===--- The walk -------------------------------------------------------------------------------------------------===//

void VectorLowering::consume(Operation *op) {
  for (Value operand : op->getOperands())
    vectors.consume(operand);
}

static bool mayWrite(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return !isMemoryEffectFree(op);
  return !effects.onlyHasEffect<MemoryEffects::Read>() && !isMemoryEffectFree(op);
}

/// What VectorControl.cpp made.
static bool isStandIn(Operation *op) { return isa<UnrealizedConversionCastOp>(op) && op->getNumOperands() == 0; }

static bool hasVectors(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isVector) || llvm::any_of(op->getResultTypes(), isVector);
}

/// Why the types of an operation have no elements that are known; empty if they have.
static StringRef whyNoElements(Operation *op) {
  auto const inner = [](Type type) {
    return isa<ShapedType>(type) && isVector(cast<ShapedType>(type).getElementType());
  };
  auto const scalable = [](Type type) { return isVector(type) && cast<VectorType>(type).isScalable(); };
  auto const either = [&](auto is) {
    return llvm::any_of(op->getOperandTypes(), is) || llvm::any_of(op->getResultTypes(), is);
  };
  if (either(scalable) || isa<vector::VectorScaleOp>(op))
    return "vectors of a length that the processor decides are not supported; give them a fixed length";
  if (either(inner))
    return "memory of vectors is not supported; make it memory of their elements and read it by vector.load";
  return "";
}

/// affine.vector_load and affine.vector_store say where in terms of an affine map.
template <class Op> static SmallVector<Value, 8> placeOfAffine(OpBuilder &at, Op op) {
  return *affine::expandAffineMap(at, op.getLoc(), op.getAffineMap(), op.getMapOperands());
}

LogicalResult VectorLowering::unmask(vector::MaskOp op) {
  Operation *const inner = op.getMaskableOp();
  Operation *const end = op.getMaskBlock()->getTerminator();
  if (op.getPassthru())
    return op.emitError("a vector.mask with a value for what is masked out is not supported; choose by arith.select");
  if (inner &&
      !isa<vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp, vector::OuterProductOp>(inner))
    return inner->emitError() << "'" << inner->getName() << "': this operation is not supported in a vector.mask";
  if (inner) { // with a mask of its own: no operand of the operation says that the mask is still to be read
    OpBuilder at(op);
    Value const mask = op.getMask();
    Location const loc = mask.getLoc();
    vectors.masks[inner] =
        vectors.isFree(mask) ? mask : standIn(at, mask.getType(), vectors.copied(at, mask, loc), loc);
    vectors.consume(mask);
    inner->moveBefore(op);
  }
  op->replaceAllUsesWith(end->getOperands());
  op.erase();
  return inner ? visit(inner) : success();
}

LogicalResult VectorLowering::visit(Operation *op) {
  if (StringRef const reason = whyNoElements(op); !reason.empty())
    return op->emitError() << "'" << op->getName() << "': " << reason;
  if (auto mask = dyn_cast<vector::MaskOp>(op))
    return unmask(mask);
  OpBuilder at(op);
  if (op->getNumRegions() != 0) {
    vectors.settleReads(at);
    return control(op);
  }
  if (isStandIn(op))
    return success();
  if (!hasVectors(op)) {
    if (mayWrite(op))
      vectors.settleReads(at);
    return success();
  }
  dead.push_back(op);
  return lower(at, op);
}

LogicalResult VectorLowering::lower(OpBuilder &at, Operation *op) {
  if (VectorElements::computes(op)) {
    if (op->getNumResults() != 1 || isVector(op->getResult(0).getType())) {
      vectors.define(at, op);
      return success();
    }
    op->getResult(0).replaceAllUsesWith(vectors.element(at, op->getResult(0), {}));
    consume(op);
    return success();
  }
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<vector::InsertOp, vector::InsertElementOp, vector::InsertStridedSliceOp, vector::ShuffleOp,
            vector::InterleaveOp, vector::FromElementsOp, vector::ScanOp, vector::ExpandLoadOp, arith::ConstantOp>(
          [&](auto known) {
            make(at, known);
            consume(op);
            return success();
          })
      .Case<vector::TransferWriteOp, vector::StoreOp, vector::MaskedStoreOp, vector::ScatterOp, vector::CompressStoreOp,
            vector::PrintOp>([&](auto known) {
        write(at, known);
        return success();
      })
      .Case([&](affine::AffineVectorLoadOp load) {
        auto made =
            at.create<vector::LoadOp>(load.getLoc(), load.getVectorType(), load.getMemRef(), placeOfAffine(at, load));
        load.getResult().replaceAllUsesWith(made.getResult());
        return visit(made);
      })
      .Case([&](affine::AffineVectorStoreOp store) {
        return visit(at.create<vector::StoreOp>(store.getLoc(), store.getValueToStore(), store.getMemRef(),
                                                placeOfAffine(at, store)));
      })
      .Default([](Operation *other) {
        return other->emitError() << "'" << other->getName() << "': this operation is not supported on vectors; "
                                  << "translate the program before it is vectorized";
      });
}

LogicalResult VectorLowering::block(Block &block) {
  if (llvm::any_of(block.getArgumentTypes(), isVector))
    return block.getParentOp()->emitError()
           << "'" << block.getParentOp()->getName() << "': vectors are not supported as values of this operation";
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (failed(visit(&op)))
      return failure();
  return success();
}

void VectorLowering::takeArguments() {
  Block &body = entry.getBody().front();
  OpBuilder at = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments())
    if (auto const type = dyn_cast<VectorType>(argument.getType())) {
      argument.replaceAllUsesWith(standIn(at, type, argument, argument.getLoc()));
      argument.setType(MemRefType::get(type.getShape(), type.getElementType()));
    }
}

void VectorLowering::takeResults() {
  Block &body = entry.getBody().front();
  Operation *const end = body.getTerminator();
  OpBuilder at(end);
  for (OpOperand &result : end->getOpOperands())
    if (auto const type = dyn_cast<VectorType>(result.get().getType())) {
      Location const loc = result.get().getLoc();
      Value const memory = at.create<memref::AllocOp>(loc, MemRefType::get(type.getShape(), type.getElementType()));
      vectors.store(at, result.get(), memory);
      vectors.consume(result.get());
      result.set(at.create<bufferization::ToTensorOp>(loc, memory, /*restrict=*/true));
    }
  entry.setType(FunctionType::get(entry.getContext(), body.getArgumentTypes(), end->getOperandTypes()));
}

LogicalResult VectorLowering::run() {
  if (!llvm::hasSingleElement(entry.getBody())) // refused later, with what to do
    return success();
  takeArguments();
  if (failed(block(entry.getBody().front())))
    return failure();
  takeResults();
  for (Operation *op : llvm::reverse(dead)) {
    op->dropAllUses();
    op->erase();
  }
  return success();
}

/// A transfer can have the mask itself.
static void unmaskTransfers(func::FuncOp entry) {
  SmallVector<vector::MaskOp> masks;
  entry.walk([&](vector::MaskOp mask) {
    if (isa_and_nonnull<VectorTransferOpInterface>(mask.getMaskableOp()) && !mask.getPassthru())
      masks.push_back(mask);
  });
  for (vector::MaskOp mask : masks) {
    Operation *const inner = mask.getMaskableOp();
    inner->moveBefore(mask);
    if (auto read = dyn_cast<vector::TransferReadOp>(inner))
      read.getMaskMutable().assign(mask.getMask());
    else
      cast<vector::TransferWriteOp>(inner).getMaskMutable().assign(mask.getMask());
    mask->replaceAllUsesWith(inner);
    mask.erase();
  }
}

LogicalResult ml2k::mlir_import::lowerVectors(ModuleOp module, func::FuncOp entry) {
  auto const isScalable = [](Type type) { return isVector(type) && cast<VectorType>(type).isScalable(); };
  if (llvm::any_of(entry.getArgumentTypes(), isScalable) || llvm::any_of(entry.getResultTypes(), isScalable))
    return success(); // refused later
  bool const isNeeded =
      entry.getBody()
          .walk([](Operation *op) { return hasVectors(op) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  if (!isNeeded)
    return success();
  entry.getContext()->loadDialect<scf::SCFDialect, vector::VectorDialect>();
  unmaskTransfers(entry);
  bool const writesTensors = entry.getBody()
                                 .walk([](vector::TransferWriteOp write) {
                                   return write->getNumResults() ? WalkResult::interrupt() : WalkResult::advance();
                                 })
                                 .wasInterrupted();
  if (writesTensors && failed(bufferizeWrites(module, entry)))
    return failure();
  return VectorLowering(entry).run();
}
