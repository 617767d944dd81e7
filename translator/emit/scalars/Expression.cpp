//===- Expression.cpp - C++ expressions as text with their binding strength ---------------------------------------===//

#include "translator/emit/scalars/Expression.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace mlir;

namespace ml2k {

bool Expression::isIdentifier() const {
  return llvm::all_of(text, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string asOperand(Expression const &operand, Rank loosest) {
  return operand.rank <= loosest ? operand.text : "(" + operand.text + ")";
}

/// Whether gcc or clang ask for parentheses around an operand of rank `inner` within an operator of rank `outer`.
static bool wantsParentheses(Rank outer, Rank inner) {
  bool const bits = outer == Rank::Shift || outer == Rank::BitAnd || outer == Rank::BitXor || outer == Rank::BitOr;
  if (bits)
    return inner > Rank::Unary && inner != outer;
  bool const comparisons = outer == Rank::Relation || outer == Rank::Equality;
  return (outer == Rank::Or && inner == Rank::And) ||
         (comparisons && (inner == Rank::Relation || inner == Rank::Equality));
}

Expression binary(Expression const &a, llvm::StringRef op, Rank rank, Expression const &b) {
  bool const associates = rank == Rank::And || rank == Rank::Or || rank == Rank::BitAnd || rank == Rank::BitOr;
  Rank const tighter = rank == Rank::Primary ? rank : Rank(int(rank) - 1);
  std::string const left = wantsParentheses(rank, a.rank) ? "(" + a.text + ")" : asOperand(a, rank);
  std::string const right =
      wantsParentheses(rank, b.rank) ? "(" + b.text + ")" : asOperand(b, associates ? rank : tighter);
  return {left + " " + op.str() + " " + right, rank, a.readsMemory || b.readsMemory};
}

Expression unary(llvm::StringRef op, Expression const &a) {
  bool const ambiguous = op == "-" && llvm::StringRef(a.text).starts_with("-");
  std::string const operand = ambiguous ? "(" + a.text + ")" : asOperand(a, Rank::Unary);
  return {op.str() + operand, Rank::Unary, a.readsMemory};
}

Expression call(llvm::StringRef function, llvm::ArrayRef<Expression> arguments) {
  bool const reads = llvm::any_of(arguments, [](Expression const &a) { return a.readsMemory; });
  auto const texts = llvm::map_range(arguments, [](Expression const &a) { return a.text; });
  return {function.str() + "(" + llvm::join(texts, ", ") + ")", Rank::Primary, reads};
}

Expression conditional(Expression const &condition, Expression const &yes, Expression const &no) {
  return {asOperand(condition, Rank::Or) + " ? " + asOperand(yes, Rank::Or) + " : " + asOperand(no, Rank::Conditional),
          Rank::Conditional, condition.readsMemory || yes.readsMemory || no.readsMemory};
}

Expression cast(llvm::StringRef type, Expression const &a) { return call(type, a); }

//===--- Types and literals ---------------------------------------------------------------------------------------===//

std::string cppType(Type type) {
  if (type.isF16())
    return "Kokkos::Experimental::half_t";
  if (type.isBF16())
    return "Kokkos::Experimental::bhalf_t";
  if (type.isF32())
    return "float";
  if (type.isF64())
    return "double";
  if (type.isIndex())
    return "int";
  auto const integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return "";
  bool const isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return "bool";
  case 8:
    return isUnsigned ? "std::uint8_t" : "std::int8_t";
  case 16:
    return isUnsigned ? "std::uint16_t" : "std::int16_t";
  case 32:
    return isUnsigned ? "unsigned" : "int";
  case 64:
    return isUnsigned ? "std::uint64_t" : "std::int64_t";
  default:
    return "";
  }
}

std::string unsignedType(Type type) {
  if (type.isIndex())
    return "unsigned";
  return cppType(IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(), IntegerType::Unsigned));
}

std::string storedText(Expression const &value, Type type) {
  if (isStoredNarrow(type))
    return value.asHalf.empty() ? cast(cppType(type), value).text : value.asHalf;
  return value.asUnsigned.empty() ? value.text : value.asUnsigned;
}

bool isStoredNarrow(Type type) { return type.isF16() || type.isBF16(); }

std::string computeType(Type type) { return isStoredNarrow(type) ? "float" : cppType(type); }

template <class Float> static std::string shortest(Float value) {
  char buffer[64];
  auto const end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += '.';
  return text;
}

static Expression floatLiteral(llvm::APFloat const &value, Type type) {
  bool const isDouble = type.isF64();
  std::string const cpp = isDouble ? "double" : "float";
  if (value.isNaN())
    return {"Kokkos::Experimental::quiet_NaN_v<" + cpp + ">"};
  if (value.isInfinity())
    return {(value.isNegative() ? "-" : "") + ("Kokkos::Experimental::infinity_v<" + cpp + ">"),
            value.isNegative() ? Rank::Unary : Rank::Primary};
  llvm::APFloat wide = value;
  bool lost = false;
  wide.convert(isDouble ? llvm::APFloat::IEEEdouble() : llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
               &lost);
  std::string text = isDouble ? shortest(wide.convertToDouble()) : shortest(wide.convertToFloat()) + "f";
  if (isDouble && text.back() == '.')
    text += '0';
  return {text, value.isNegative() ? Rank::Unary : Rank::Primary};
}

static Expression integerLiteral(llvm::APInt const &value, Type type) {
  if (type.isInteger(1))
    return {value.isZero() ? "false" : "true"};
  auto const integer = dyn_cast<IntegerType>(type);
  if (integer && integer.isUnsigned())
    return {std::to_string(value.getZExtValue()) + "u"};
  if (value.getSignificantBits() == 64 && value.isMinSignedValue()) // its magnitude is no literal
    return {"(-std::int64_t(9223372036854775807) - 1)"};
  if (value.getSignificantBits() > 32)
    return {"std::int64_t(" + std::to_string(value.getSExtValue()) + ")"};
  if (value.getSExtValue() == INT32_MIN)
    return {"(-2147483647 - 1)"};
  return literal(value.getSExtValue());
}

Expression literal(int64_t value) { return {std::to_string(value), value < 0 ? Rank::Unary : Rank::Primary}; }

Expression literal(TypedAttr value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return floatLiteral(real.getValue(), real.getType());
  return integerLiteral(mlir::cast<IntegerAttr>(value).getValue(), value.getType());
}

} // namespace ml2k
