//===- Check.cpp - the gate at the end of the MLIR import ---------------------------------------------------------===//
//
// What passes here has a way through the tool; what does not is refused with its line.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

static LogicalResult checkSignatureType(func::FuncOp entry, Type type, StringRef role, unsigned place) {
  Type const element = getElementTypeOrSelf(type);
  if (isa<UnrankedTensorType, UnrankedMemRefType>(type))
    return entry.emitError() << role << " " << place << " has no rank: " << type;
  if (!element.isIntOrIndexOrFloat())
    return entry.emitError() << role << " " << place << " has the unsupported element type " << element;
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && shaped.hasRank() && llvm::is_contained(shaped.getShape(), 0))
    return entry.emitError() << role << " " << place << " has no elements: " << type
                             << "; a dimension that may be empty is written ?";
  if (isa<VectorType>(type))
    return entry.emitError() << role << " " << place << " is a vector of a length that the processor decides: " << type;
  return success();
}

static LogicalResult checkSignature(func::FuncOp entry) {
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes()))
    if (failed(checkSignatureType(entry, type, "argument", i)))
      return failure();
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes()))
    if (failed(checkSignatureType(entry, type, "result", i)))
      return failure();
  return success();
}

/// Why an operation cannot be translated; empty if it can.
static std::string whyRefused(Operation *op) {
  Dialect const *dialect = op->getDialect();
  if (isa_and_nonnull<vector::VectorDialect>(dialect) && !isa<vector::PrintOp>(op))
    return "this form of the operation has no lowering to loops";
  if (isa_and_nonnull<tosa::TosaDialect>(dialect))
    return "this form of the operation has no lowering from TOSA to linalg";
  if (isa_and_nonnull<sparse_tensor::SparseTensorDialect>(dialect))
    return "sparse tensors can be read by linalg operations only; write loops over entries as linalg.generic";
  if (isa_and_nonnull<ml_program::MLProgramDialect>(dialect))
    return "only unused and constant globals are supported";
  if (isa_and_nonnull<gpu::GPUDialect, omp::OpenMPDialect>(dialect))
    return "supported are launches, and loops of a parallel region";
  auto const isVector = [](Type type) { return isa<VectorType>(getElementTypeOrSelf(type)) || isa<VectorType>(type); };
  if (!isOpTriviallyDead(op) &&
      (llvm::any_of(op->getResultTypes(), isVector) || llvm::any_of(op->getOperandTypes(), isVector)))
    return "vectors are not supported as values of this operation";
  if (isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>(op))
    return "branches are not supported; lift them to scf first (mlir-opt --lift-cf-to-scf)";
  return "";
}

/// The size of a dimension that there is not is undefined, and nothing upstream refuses it.
static LogicalResult checkDimension(ShapedDimOpInterface size) {
  auto const type = cast<ShapedType>(size.getShapedValue().getType());
  std::optional<int64_t> const dim = getConstantIntValue(size.getDimension());
  if (dim && type.hasRank() && (*dim < 0 || *dim >= type.getRank()))
    return size.emitError() << "asks for dimension " << *dim << " of " << Type(type);
  return success();
}

static LogicalResult checkOperation(Operation *op) {
  if (auto size = dyn_cast<ShapedDimOpInterface>(op); size && failed(checkDimension(size)))
    return failure();
  if (std::string const reason = whyRefused(op); !reason.empty())
    return op->emitError() << "'" << op->getName() << "': " << reason;
  for (Type type : op->getResultTypes())
    if (isa<UnrankedTensorType, UnrankedMemRefType>(type))
      return op->emitError() << "'" << op->getName() << "': result has no rank: " << type;
  return success();
}

LogicalResult ml2k::mlir_import::checkImported(func::FuncOp entry) {
  if (failed(checkSignature(entry)))
    return failure();
  WalkResult const result = entry.getBody().walk(
      [](Operation *op) { return failed(checkOperation(op)) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (result.wasInterrupted())
    return failure();
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitError("has several blocks; lift branches to scf first (mlir-opt --lift-cf-to-scf)");
  return success();
}

void ml2k::printSupportedMlirOps(llvm::raw_ostream &out) {
  out << "affine         all, with proved dependences\n"
         "arith          all on scalars and tensors\n"
         "bufferization  to_tensor, to_memref, alloc_tensor, materialize_in_destination\n"
         "cf             assert\n"
         "complex        scalars in loops and linalg, add to sqrt, pow, sin, cos, eq; pairs of reals in the printed "
         "code\n"
         "func           functions, calls that can be inlined\n"
         "gpu            launch, launch_func of a kernel in the module; barriers, workgroup memory, all_reduce\n"
         "linalg         named and generic operations\n"
         "math           all on scalars and tensors\n"
         "memref         contiguous memrefs, subviews, casts, loads, stores and atomic updates\n"
         "ml_program     constant globals\n"
         "omp            parallel, wsloop, loop_nest\n"
         "scf            for, forall, if, while, parallel, reduce\n"
         "sparse_tensor  arguments and results of linalg operations, conversions, concatenate, reshapes, unary, "
         "binary, "
         "select, and reduce on stored elements\n"
         "tensor         all that does not make sparse or unranked tensors\n"
         "tosa           what MLIR 19 lowers to linalg\n"
         "transform      named sequences: a schedule that runs before the tool's own\n"
         "vector         all on vectors of a fixed length: loops over their elements\n";
}
