//===- LoopNames.h - what loops are called in the source ------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_LOOPNAMES_H
#define ML2K_IR_LOOPNAMES_H

#include "llvm/ADT/StringRef.h"

namespace ml2k::nest {

/// On a nest.contract that was loops: an array with the name of each loop in the source, empty where it has none.
inline constexpr llvm::StringLiteral loopNames = "nest.loop_names";

/// Of a parallel loop: the names of its reductions, where its location does not tell them apart.
inline constexpr llvm::StringLiteral reductionNames = "nest.reductions";

} // namespace ml2k::nest

#endif
