//===- Input.h - the bytes of a model and what they are -------------------------------------------------*- C++ -*-===//

#ifndef ML2K_TOOL_INPUT_H
#define ML2K_TOOL_INPUT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace ml2k {

enum class InputKind { Onnx, Mlir };

struct Input {
  std::string path;      ///< as given; "<stdin>" for -
  std::string fileName;  ///< without its folder: all that printed code may show
  std::string directory; ///< where external data lies
  InputKind kind;
  std::unique_ptr<llvm::MemoryBuffer> buffer; ///< ends in a zero byte
};

/// Reads a file, or standard input for "-", and decides by extension and contents what it is.
llvm::Expected<Input> readInput(std::string const &path);

} // namespace ml2k

#endif
