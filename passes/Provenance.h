//===- Provenance.h - which operations of the model a kernel comes from ---------------------------------*- C++ -*-===//
//
// The front ends give every operation a NameLoc `Conv "/layer1/conv1/Conv"`: operation, then the node's name in quotes.
// Passes that join operations fuse their locations in data-flow order; names of layers are read off here and nowhere
// else.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_PASSES_PROVENANCE_H
#define ML2K_PASSES_PROVENANCE_H

#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

#include <string>

namespace ml2k {

/// What a weight is called until the kernel that uses it has a label.
inline constexpr char const unnamedWeight[] = "?";

/// The NameLocs behind a location, in order, each once.
llvm::SmallVector<mlir::NameLoc> namesBehind(mlir::Location location);

/// The layer's dotted name for the first NameLoc of a location: `Conv "/layer1/layer1.0/conv1/Conv"` is
/// `layer1.0.conv1`; a NameLoc without quotes is taken as it is. Empty if there is none.
std::string nameFromLocation(mlir::Location location);

/// The model's operation of that NameLoc: `Conv`.
std::string operationFromLocation(mlir::Location location);

/// The locations of the given operations in this order, each NameLoc once.
mlir::Location fusedLocation(mlir::MLIRContext *context, llvm::ArrayRef<mlir::Location> locations);

} // namespace ml2k

#endif
