//===- SortRoom.h - where nest.sort works --------------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_SORTROOM_H
#define ML2K_IR_SORTROOM_H

#include "mlir/IR/Builders.h"

namespace ml2k::nest {

/// The last output of a sort of the rows of a tensor: two entries for each element.
mlir::Value roomForSort(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value input);

} // namespace ml2k::nest

#endif
