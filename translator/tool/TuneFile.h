//===- TuneFile.h - what ml2kokkos-tune measured ------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_TUNEFILE_H
#define ML2K_TOOL_TUNEFILE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ml2k {

/// The entries of a tune file as the attribute nest.tune, which the passes take apart. An error for a file that is
/// none.
llvm::Expected<mlir::ArrayAttr> readTuneFile(std::string const &path, mlir::MLIRContext &context);

} // namespace ml2k

#endif
