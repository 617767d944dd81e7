//===- Callees.h - functions of C that the user links ---------------------------------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_SCALARS_CALLEES_H
#define ML2K_EMIT_SCALARS_CALLEES_H

#include "translator/emit/cpp/Serializer.h"
#include "translator/emit/scalars/Values.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ml2k {

/// `::name(arguments)`
Expression linkedCall(llvm::StringRef function, llvm::ArrayRef<Expression> arguments);

/// Their declarations, by name; none without any. Those of a host alone are named once more.
Json viewCallees(mlir::func::FuncOp entry);

} // namespace ml2k

#endif
