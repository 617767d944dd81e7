//===- ApartAccesses.h - whether neighbours along a loop are neighbours in memory -----------------------*- C++ -*-===//

#ifndef ML2K_PASSES_PREPARE_APARTACCESSES_H
#define ML2K_PASSES_PREPARE_APARTACCESSES_H

#include "translator/ir/Nest.h"

namespace ml2k {

/// Whether vectors along the only loop of a kernel would cost more than they save: each of their elements is read or
/// written by itself, and there is little to compute for it.
bool isApart(nest::LoopKernelOp kernel);

} // namespace ml2k

#endif
