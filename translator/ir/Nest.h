//===- Nest.h - the nest dialect ------------------------------------------------------------------------*- C++ -*-===//
//
// The small loop-nest IR between the passes and the printer. NestOps.td says what each operation means.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_IR_NEST_H
#define ML2K_IR_NEST_H

#include "translator/ir/LoopExtents.h"
#include "translator/ir/NestSchedule.h"
#include "translator/ir/Work.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ml2k::nest {

/// One of the directions that a nest.recurrent runs in.
struct Direction {
  mlir::Value weight;
  mlir::ValueRange extras, outputs;        ///< outputs: the state first
  llvm::SmallVector<mlir::AffineMap> maps; ///< of extras and outputs
  llvm::ArrayRef<mlir::Attribute> starts;  ///< of outputs; empty: they hold the first states
  mlir::Region *next;
};

} // namespace ml2k::nest

#include "translator/ir/KernelInterface.h.inc"
#include "translator/ir/NestDialect.h.inc"
#include "translator/ir/NestEnums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "translator/ir/NestTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "translator/ir/NestAttributes.h.inc"
#define GET_OP_CLASSES
#include "translator/ir/NestOps.h.inc"

namespace mlir {
class DialectRegistry;
}

namespace ml2k::nest {

/// The label of a kernel, or the one that an operation gives to the kernel it becomes; empty for others.
llvm::StringRef labelOf(mlir::Operation *op);
void setLabel(mlir::Operation *op, llvm::StringRef label);

/// What a kernel is printed as; null before that is settled.
ScheduleAttr scheduleOf(mlir::Operation *kernel);
void setSchedule(mlir::Operation *kernel, KernelBlock block, ScheduleParts const &parts = {});

/// The `iterators` of a contraction.
mlir::ArrayAttr rolesAttr(mlir::MLIRContext *context, llvm::ArrayRef<Role> roles);

/// The extra, by number, that an epilogue adds to its sum before anything else and reads nowhere else; none if there is
/// no such extra.
std::optional<unsigned> addedToSum(mlir::Region &epilogue);

/// The sum with the bias in the epilogue of a convolution or contraction that has one; null for other kernels.
mlir::Value biasedSum(mlir::Operation *kernel);

/// Whether the text lets the terms of a floating-point sum or product be joined in any order.
bool mayReassociate(mlir::Operation *op);

/// The combiner that an operation on two values is, and the operation of a combiner on two values.
std::optional<Combiner> combinerOf(mlir::Operation *op);

/// What joins two values in a reduction of scf.parallel; nothing if it is no single known operation.
std::optional<Combiner> combinerOf(mlir::Region &reduction);
mlir::Value join(mlir::OpBuilder &builder, mlir::Location location, Combiner combiner, mlir::Value a, mlir::Value b);

/// The types of elements that C++ has, at most 64 bits wide.
bool isScalar(mlir::Type type);

/// The operations that make the value of `store` from what was in its element, each for the next alone, the load first.
/// Empty where the value does not depend on that, or not so plainly.
llvm::SmallVector<mlir::Operation *> changeOf(mlir::memref::StoreOp store);

/// Makes the kernels bufferize in place of their destinations (upstream one-shot bufferization).
void registerBufferizableOpInterfaceModels(mlir::DialectRegistry &registry);

} // namespace ml2k::nest

#endif
