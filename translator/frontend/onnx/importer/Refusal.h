//===- Refusal.h - how an import function says no -------------------------------------------------------*- C++ -*-===//

#ifndef ML2K_FRONTEND_ONNX_IMPORTER_REFUSAL_H
#define ML2K_FRONTEND_ONNX_IMPORTER_REFUSAL_H

#include "llvm/ADT/Twine.h"

#include <string>

namespace ml2k::frontend {

/// Thrown by an import function about its node and caught where nodes are walked, which reports it and goes on with the
/// next node. It never crosses a frame of LLVM.
struct Refusal {
  explicit Refusal(llvm::Twine const &message) : message(message.str()) {}
  std::string message;
};

} // namespace ml2k::frontend

#endif
