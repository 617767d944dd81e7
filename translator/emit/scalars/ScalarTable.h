//===- ScalarTable.h - what the parts of the table of scalar operations share --------------------------*- C++ -*-===//

#ifndef ML2K_EMIT_SCALARS_SCALARTABLE_H
#define ML2K_EMIT_SCALARS_SCALARTABLE_H

#include "translator/emit/scalars/Scalars.h"

#include "mlir/IR/Matchers.h"

namespace ml2k {

using Operands = llvm::ArrayRef<Expression>;
using Print = decltype(ScalarEntry::print);
using Table = std::map<std::string, ScalarEntry, std::less<>>;

inline mlir::Type operandType(mlir::Operation *op) { return op->getOperand(0).getType(); }
inline Code resultType(mlir::Operation *op) { return computedType(op->getResult(0).getType()).code; }

inline Expression asUnsigned(mlir::Type type, Expression const &a) {
  std::optional<int64_t> const number = a.kind() == cpp::Kind::Literal ? a->constant : std::nullopt;
  if (number && *number >= 0 && (type.isIndex() || type.isInteger(32)))
    return cpp::unsignedLiteral(*number);
  return a.unsignedForm().value_or(cpp::cast(unsignedScalarType(type).code, a));
}

inline bool isConstant(mlir::Value value) {
  mlir::Attribute constant;
  return mlir::matchPattern(value, mlir::m_Constant(&constant));
}

mlir::FailureOr<Expression> compareIntegers(mlir::Operation *op, Operands a, ScalarPrinter &printer);
mlir::FailureOr<Expression> compareFloats(mlir::Operation *op, Operands a, ScalarPrinter &printer);

/// Between types.
void addConversions(Table &table);

} // namespace ml2k

#endif
