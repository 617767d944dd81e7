//===- Parts.h - parts of an operation of the model -----------------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_PARTS_H
#define ML2K_IR_PARTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace ml2k {

/// `Attention "/block/attn"` of any part of it.
inline llvm::StringRef wholeOf(llvm::StringRef operation) {
  size_t const end = operation.find("\" ", operation.find('"') + 1);
  return end == llvm::StringRef::npos ? operation : operation.take_front(end + 1);
}

/// Where a part of an operation comes from: `Attention "/block/attn" scores` of `Attention "/block/attn"`, by which its
/// kernels and buffers are called block.attn.scores; parts may have parts, `scores.sum`. An operation without a name
/// has none for its parts.
inline mlir::Location partOf(mlir::Location whole, llvm::StringRef part) {
  auto const name = mlir::dyn_cast<mlir::NameLoc>(whole);
  if (!name)
    return whole;
  llvm::StringRef const text = name.getName().getValue(), separator = wholeOf(text) == text ? " " : ".";
  return mlir::NameLoc::get(mlir::StringAttr::get(whole.getContext(), text + separator + part));
}

} // namespace ml2k

#endif
