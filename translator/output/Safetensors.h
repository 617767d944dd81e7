//===- Safetensors.h - the weights sidecar --------------------------------------------------------------*- C++ -*-===//
//
// https://github.com/huggingface/safetensors: the length of the header as 8 little-endian bytes, the header in JSON,
// then the tensors. We write them in a fixed order and pad the header with spaces to a multiple of 8.
//
//===----------------------------------------------------------------------------------------------------------------===//

#ifndef ML2K_OUTPUT_SAFETENSORS_H
#define ML2K_OUTPUT_SAFETENSORS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ml2k {

struct SidecarTensor {
  std::string name; ///< the model's
  mlir::ElementsAttr value;
};

/// True for the element types that a sidecar can hold.
bool isSidecarType(mlir::Type type);

/// Bytes of one element in the file.
int64_t sidecarBytes(mlir::Type type);

/// The elements in row-major order, little-endian, one byte per i1; refers to the attribute's memory where it can, else
/// to `storage`.
llvm::ArrayRef<char> rawBytes(mlir::ElementsAttr value, std::vector<char> &storage);

/// The JSON header with its padding.
std::string sidecarHeader(llvm::ArrayRef<SidecarTensor> tensors);

/// The whole file.
void writeSidecar(llvm::raw_ostream &out, llvm::ArrayRef<SidecarTensor> tensors);

/// FNV-1a, as the printed loader computes it.
uint64_t fnv1a(llvm::StringRef text);

/// The size of the whole file in bytes.
uint64_t sidecarSize(llvm::ArrayRef<SidecarTensor> tensors);

/// The SHA-256 of the tensors' bytes in hexadecimal, for the banner.
std::string sidecarDigest(llvm::ArrayRef<SidecarTensor> tensors);

} // namespace ml2k

#endif
