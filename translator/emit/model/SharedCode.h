//===- SharedCode.h - what several layers do alike is printed once --------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_MODEL_SHAREDCODE_H
#define ML2K_EMIT_MODEL_SHAREDCODE_H

#include "translator/emit/model/Program.h"

namespace ml2k {

/// What an epilogue does, for the name of a functor: `AddRelu`. Empty where no short name says it. `biased` is the sum
/// with the bias that the block of the kernel adds, or null.
std::string epilogueName(mlir::Block &epilogue, mlir::Value biased);

/// Replaces epilogues that at least three of the `layers` share by functors, which it returns: `Relu{}`,
/// `AddRelu{work.maxpool}`. Layers of equal shapes then are one instantiation of their block.
std::vector<cpp::Functor> shareEpilogues(Program &program, std::vector<cpp::Function> &layers);

/// Replaces the bodies of layers that differ in their memory only by calls of one function, which stands in front of
/// the first of them.
void shareBodies(Program &program, std::vector<cpp::Function> &layers);

} // namespace ml2k

#endif
