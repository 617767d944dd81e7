//===- RowFolds.h - rows of which one reduction is all there is -----------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_ROWFOLDS_H
#define ML2K_IR_ROWFOLDS_H

#include "translator/ir/Nest.h"

namespace ml2k::nest {

/// The fold of a row that has no other pass, and whose terms need nothing that the row computes in front of it; else
/// null.
FoldOp onlyFoldOf(RowOp row);

} // namespace ml2k::nest

#endif
