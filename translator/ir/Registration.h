//===- Registration.h - every dialect the tool reads ----------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_REGISTRATION_H
#define ML2K_IR_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace ml2k {

/// Registers the dialects of the inputs and of the pipeline with the interfaces that the passes use.
void registerDialects(mlir::DialectRegistry &registry);

/// Part of registerDialects(): the transform dialect and what its operations need.
void registerTransforms(mlir::DialectRegistry &registry);

} // namespace ml2k

#endif
