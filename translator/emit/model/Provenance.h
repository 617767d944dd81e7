//===- Provenance.h - the comment in front of a layer -------------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_MODEL_PROVENANCE_H
#define ML2K_EMIT_MODEL_PROVENANCE_H

#include "translator/emit/Emit.h"

#include "mlir/IR/Location.h"

namespace ml2k {

/// `--- label: Op "node" + Op "node"`, the nodes of the model that something at `location` computes or parts of which
/// it computes, and `shapes`: lines that no formatter has to break.
std::vector<std::string> provenanceLines(llvm::StringRef label, mlir::Location location, llvm::StringRef shapes,
                                         LocationStyle style);

} // namespace ml2k

#endif
