//===- NestText.h - what the text forms of operations share ---------------------------------------------*- C++ -*-===//

#ifndef ML2K_IR_NESTTEXT_H
#define ML2K_IR_NESTTEXT_H

#include "mlir/IR/OpImplementation.h"

#include <optional>

namespace ml2k::nest {

/// A keyword of an enumeration, as in `range` or `sum`.
template <class Enum>
mlir::ParseResult parseKeyword(mlir::OpAsmParser &parser, std::optional<Enum> (*find)(llvm::StringRef), Enum &value) {
  llvm::StringRef keyword;
  llvm::SMLoc const place = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  if (std::optional<Enum> const found = find(keyword)) {
    value = *found;
    return mlir::success();
  }
  return parser.emitError(place) << "unknown keyword '" << keyword << "'";
}

} // namespace ml2k::nest

#endif
