//===- ExternalData.h - weights that lie in other files than the model ----------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_EXTERNALDATA_H
#define ML2K_FRONTEND_ONNX_IMPORTER_EXTERNALDATA_H

#include "translator/frontend/onnx/importer/Protos.h"

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ml2k::frontend {

/// The `bytes` bytes that a tensor keeps in another file: a regular one below `directory`, symbolic links resolved.
/// Throws Refusal.
std::string externalBytes(pb::TensorProto const &tensor, llvm::StringRef directory, size_t bytes);

/// The files that the tensors of a model name, whether they exist or not.
std::vector<std::string> externalFiles(pb::ModelProto const &model, llvm::StringRef directory);

} // namespace ml2k::frontend

#endif
