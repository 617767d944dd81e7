//===- Values.cpp - MLIR's scalar types and constants as C++ ------------------------------------------------------===//

#include "translator/emit/scalars/Values.h"

#include "translator/emit/cpp/Serializer.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ml2k {

//===--- Types ----------------------------------------------------------------------------------------------------===//

static cpp::Type number(Raw name, bool isFixedWidth = false) {
  cpp::Type type{Code(name)};
  type.isScalar = true;
  type.isFixedWidth = isFixedWidth;
  return type;
}

cpp::Type intType() { return number("int"); }

static cpp::Type integerType(IntegerType integer) {
  bool const isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return number("bool");
  case 8:
    return isUnsigned ? number("std::uint8_t", true) : number("std::int8_t", true);
  case 16:
    return isUnsigned ? number("std::uint16_t", true) : number("std::int16_t", true);
  case 32:
    return isUnsigned ? number("unsigned") : number("int");
  case 64:
    return isUnsigned ? number("std::uint64_t", true) : number("std::int64_t", true);
  default:
    return {};
  }
}

cpp::Type scalarType(Type type) {
  if (type.isF16())
    return number("Kokkos::Experimental::half_t");
  if (type.isBF16())
    return number("Kokkos::Experimental::bhalf_t");
  if (type.isF32())
    return number("float");
  if (type.isF64())
    return number("double");
  if (type.isIndex())
    return number("int");
  auto const integer = dyn_cast<IntegerType>(type);
  return integer ? integerType(integer) : cpp::Type();
}

cpp::Type unsignedScalarType(Type type) {
  if (type.isIndex())
    return number("unsigned");
  return integerType(IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(), IntegerType::Unsigned));
}

bool isStoredNarrow(Type type) { return type.isF16() || type.isBF16(); }

cpp::Type computedType(Type type) { return isStoredNarrow(type) ? number("float") : scalarType(type); }

std::string cppType(Type type) { return cpp::Serializer::text(scalarType(type).code); }
std::string unsignedType(Type type) { return cpp::Serializer::text(unsignedScalarType(type).code); }
std::string computeType(Type type) { return cpp::Serializer::text(computedType(type).code); }

Expression stored(Expression const &value, Type type) {
  if (isStoredNarrow(type))
    return value.halfForm().value_or(cpp::cast(scalarType(type).code, value));
  return value.unsignedForm().value_or(value);
}

//===--- Literals -------------------------------------------------------------------------------------------------===//

static Expression floatLiteral(llvm::APFloat const &value, Type type) {
  bool const isDouble = type.isF64();
  Code const cpp = isDouble ? Raw("double") : Raw("float");
  if (value.isNaN())
    return cpp::constant(Raw("Kokkos::Experimental::quiet_NaN_v<") + cpp + Raw(">"));
  if (value.isInfinity()) {
    Code const infinity = Raw("Kokkos::Experimental::infinity_v<") + cpp + Raw(">");
    return value.isNegative() ? cpp::constant(Raw("-") + infinity, Rank::Unary) : cpp::constant(infinity);
  }
  llvm::APFloat wide = value;
  bool lost = false;
  wide.convert(isDouble ? llvm::APFloat::IEEEdouble() : llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
               &lost);
  return isDouble ? cpp::doubleLiteral(wide.convertToDouble()) : cpp::floatLiteral(wide.convertToFloat());
}

static Expression integerLiteral(llvm::APInt const &value, Type type) {
  if (type.isInteger(1))
    return cpp::boolLiteral(!value.isZero());
  auto const integer = dyn_cast<IntegerType>(type);
  if (integer && integer.isUnsigned())
    return cpp::unsignedLiteral(value.getZExtValue());
  int64_t const number = value.getSExtValue();
  bool const isInt = type.isIndex() || type.isInteger(32);
  if (number == INT64_MAX)
    return cpp::constant(Raw("Kokkos::Experimental::finite_max_v<std::int64_t>"));
  if (number == INT64_MIN) // its magnitude is no literal
    return cpp::constant(Raw("Kokkos::Experimental::finite_min_v<std::int64_t>"));
  if (isInt && number == INT32_MAX)
    return cpp::constant(Raw("Kokkos::Experimental::finite_max_v<int>"));
  if (number == INT32_MIN)
    return cpp::constant(Raw("Kokkos::Experimental::finite_min_v<int>"));
  if (value.getSignificantBits() > 32)
    return cpp::constant(Raw("std::int64_t(") + Code(number) + Raw(")"));
  return literal(number);
}

Expression literal(TypedAttr value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return floatLiteral(real.getValue(), real.getType());
  return integerLiteral(mlir::cast<IntegerAttr>(value).getValue(), value.getType());
}

} // namespace ml2k
