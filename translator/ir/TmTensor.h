//===- TmTensor.h - what torch-mlir has no operation of linalg for --------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_TMTENSOR_H
#define ML2K_IR_TMTENSOR_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "translator/ir/TmTensorDialect.h.inc"

#define GET_OP_CLASSES
#include "translator/ir/TmTensor.h.inc"

#endif
