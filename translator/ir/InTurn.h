//===- InTurn.h - matrix products that a device makes one after the other in one kernel -----------------*- C++ -*-===//

#ifndef ML2K_IR_INTURN_H
#define ML2K_IR_INTURN_H

#include "translator/ir/Nest.h"

namespace ml2k::nest {

/// The contractions that are one kernel with this one, itself the first of them: as many as its nest.in_turn says. None
/// where it stands alone.
llvm::SmallVector<ContractOp> productsInTurn(mlir::Operation *kernel);

} // namespace ml2k::nest

#endif
