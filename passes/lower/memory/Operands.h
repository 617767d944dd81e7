//===- Operands.h - what the printed blocks can address -------------------------------------------------*- C++ -*-===//

#ifndef ML2K_PASSES_LOWER_MEMORY_OPERANDS_H
#define ML2K_PASSES_LOWER_MEMORY_OPERANDS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <array>

namespace ml2k {

/// The input or the output of a convolution or window: an image N H W C, channels of one, or contiguous memory.
bool isImageOperand(mlir::OpOperand &operand);

/// The input or the output of a contraction with packed weights: contiguous memory.
bool isMatrixOperand(mlir::OpOperand &operand);

/// Zeros that an operand wants around its image: [rows, columns, planes, depth], the last two of volumes.
std::array<int64_t, 4> borderFor(mlir::OpOperand &operand);

} // namespace ml2k

#endif
