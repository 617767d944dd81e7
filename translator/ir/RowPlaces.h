//===- RowPlaces.h - indices of a contraction's epilogue that are the same for a whole row --------------*- C++ -*-===//

#ifndef ML2K_IR_ROWPLACES_H
#define ML2K_IR_ROWPLACES_H

#include "translator/ir/Nest.h"
#include "translator/ir/NestScalars.h"

namespace ml2k::nest {

/// The positions in an epilogue that depend on the row of a result alone, and what computes them. A check of an index
/// is a branch that keeps compilers from vectors along the columns: the block looks these up once for a row.
struct RowPlaces {
  llvm::SmallVector<PositionOp> positions; ///< in the order of the block
  llvm::SetVector<mlir::Operation *> own;  ///< the positions and what nothing but them uses
};
RowPlaces rowPlacesOf(ContractOp contract);

} // namespace ml2k::nest

#endif
