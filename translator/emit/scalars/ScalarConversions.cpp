//===- ScalarConversions.cpp - arith operations between types as C++ ----------------------------------------------===//

#include "translator/emit/scalars/ScalarClamp.h"
#include "translator/emit/scalars/ScalarTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APSInt.h"

#include <array>

using namespace mlir;

namespace ml2k {

static Print castTo() {
  return [](Operation *op, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
    Code const type = resultType(op);
    return type == computedType(operandType(op)).code ? a[0] : cpp::cast(type, a[0]);
  };
}

/// `n - 1` of `std::int64_t(n - 1)`: an index is an int, no digit is lost without the cast between.
static Expression withoutWidening(Operation *op, Expression const &a) {
  auto index = op->getOperand(0).getDefiningOp<arith::IndexCastOp>();
  bool const widens = index && index.getType().isInteger(64) && isa<FloatType>(op->getResult(0).getType());
  bool const isCast = a.kind() == cpp::Kind::Call && a->parts.size() == 2;
  return widens && isCast ? a->parts.back() : a;
}

/// A signed i1 that is set is -1.
static FailureOr<Expression> extendSigned(Operation *op, Operands a, ScalarPrinter &) {
  if (!operandType(op).isInteger(1))
    return cpp::cast(resultType(op), withoutWidening(op, a[0]));
  Type const type = op->getResult(0).getType();
  auto const number = [&](int64_t value) {
    return type.isInteger(64)      ? cpp::cast(resultType(op), literal(value)) // a literal is an int
           : !isa<FloatType>(type) ? literal(value)
           : type.isF64()          ? cpp::doubleLiteral(double(value))
                                   : cpp::floatLiteral(float(value));
  };
  return conditional(a[0], number(-1), number(0));
}

static FailureOr<Expression> extendUnsigned(Operation *op, Operands a, ScalarPrinter &) {
  Expression const operand = operandType(op).isInteger(1) ? a[0] : asUnsigned(operandType(op), a[0]);
  return cpp::cast(resultType(op), operand);
}

/// `position` of `std::int64_t(position)`, and what is computed unsigned, before it was made signed again.
static Expression withoutCast(Operation *op, Expression const &a) {
  Operation *const inner = op->getOperand(0).getDefiningOp();
  bool const isUnsigned = isa_and_nonnull<arith::ShRUIOp, arith::ShLIOp, arith::DivUIOp, arith::RemUIOp>(inner);
  bool const isWidened = isa_and_nonnull<arith::IndexCastOp>(inner) && inner->getOperand(0).getType().isIndex();
  bool const isCast = a.kind() == cpp::Kind::Call && a->parts.size() == 2;
  return isCast && (isUnsigned || isWidened) ? a->parts.back() : a;
}

static FailureOr<Expression> truncateInteger(Operation *op, Operands a, ScalarPrinter &) {
  if (op->getResult(0).getType().isInteger(1))
    return binary(binary(a[0], "&", Rank::BitAnd, literal(1)), "!=", Rank::Equality, literal(0));
  Expression const plain = withoutCast(op, a[0]);
  auto const position = op->getOperand(0).getDefiningOp<arith::IndexCastOp>();
  bool const isInt = position && plain != a[0] && op->getResult(0).getType().isInteger(32); // as an index is
  return isInt ? plain : cpp::cast(resultType(op), plain);
}

/// What a clamp to all that an integer of 8 or 16 bits can be is made of; none for any other number.
static std::optional<Expression> saturating(Operation *op, Expression const &a, bool isSigned) {
  unsigned const bits = op->getResult(0).getType().getIntOrFloatBitWidth();
  Operation *const clamp = op->getOperand(0).getDefiningOp(), *first = clamp ? firstOfClamp(clamp) : nullptr;
  bool const isCall = a.kind() == cpp::Kind::Call && a->parts.size() == 4;
  if (!first || !isCall || !operandType(op).isF32() || (bits != 8 && bits != 16))
    return std::nullopt;
  APSInt const bounds[] = {APSInt::getMinValue(bits, !isSigned), APSInt::getMaxValue(bits, !isSigned)};
  bool const isWhole = llvm::all_of(bounds, [&](APSInt const &bound) {
    return llvm::any_of(std::array{clamp, first}, [&](Operation *half) {
      FloatAttr own;
      return matchPattern(half->getOperand(1), m_Constant(&own)) &&
             own.getValueAsDouble() == double(bound.getExtValue());
    });
  });
  return isWhole ? std::optional(a->parts[1]) : std::nullopt;
}

static Expression toInteger(Operation *op, Expression const &a, Code const &type, bool isSigned) {
  std::optional<Expression> const x = saturating(op, a, isSigned);
  return x ? call(Raw("saturated<") + type + Raw(">"), {*x}, "saturated") : cpp::cast(type, a);
}

static FailureOr<Expression> toSigned(Operation *op, Operands a, ScalarPrinter &) {
  return toInteger(op, a[0], resultType(op), /*isSigned=*/true);
}

static FailureOr<Expression> toUnsigned(Operation *op, Operands a, ScalarPrinter &) {
  Expression const wanted =
      toInteger(op, a[0], unsignedScalarType(op->getResult(0).getType()).code, /*isSigned=*/false);
  return cpp::cast(resultType(op), wanted).withUnsignedForm(wanted);
}

static FailureOr<Expression> bitcast(Operation *op, Operands a, ScalarPrinter &) {
  Type const from = operandType(op), to = op->getResult(0).getType();
  if (isStoredNarrow(from) || isStoredNarrow(to))
    return unprintable(op, "the bits of f16 and bf16 are not those of what is computed");
  return from == to ? a[0] : call(Raw("Kokkos::bit_cast<") + scalarType(to).code + Raw(">"), a);
}

/// Values that were rounded to a narrow type in the same expression, and nothing since made new digits. What comes from
/// memory or is a kernel's sum does not count: on hosts it may have more digits.
static bool isExactIn(Type narrow, Value value) {
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    bool lost = false;
    APFloat rounded = constant.getValue();
    rounded.convert(cast<FloatType>(narrow).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return !lost;
  }
  Operation *const op = value.getDefiningOp();
  if (auto widened = dyn_cast_or_null<arith::ExtFOp>(op))
    return widened.getIn().getType() == narrow && widened.getIn().getDefiningOp<arith::TruncFOp>();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return isExactIn(narrow, select.getTrueValue()) && isExactIn(narrow, select.getFalseValue());
  return isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::NegFOp,
                         math::AbsFOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isExactIn(narrow, operand); });
}

/// Hosts keep such numbers in a float, so that storing does not round.
static FailureOr<Expression> roundNarrow(Operation *op, Operands a, ScalarPrinter &printer) {
  Type const to = op->getResult(0).getType();
  if (!isStoredNarrow(to))
    return castTo()(op, a, printer);
  if (operandType(op).isF32() && isExactIn(to, op->getOperand(0)))
    return a[0];
  Raw const name = to.isF16() ? Raw("round_to_half") : Raw("round_to_bfloat");
  return call(name, {operandType(op).isF64() ? cpp::cast(Raw("float"), a[0]) : a[0]}, name);
}

void addConversions(Table &table) {
  table["arith.extf"] = {{"wide"}, castTo()};
  table["arith.truncf"] = {{"narrow", "rounded"}, roundNarrow};
  table["arith.extsi"] = {{"wide"}, extendSigned};
  table["arith.extui"] = {{"wide"}, extendUnsigned};
  table["arith.trunci"] = {{"narrow"}, truncateInteger};
  table["arith.sitofp"] = {{"real"}, extendSigned};
  table["arith.uitofp"] = {{"real"}, extendUnsigned};
  table["arith.fptosi"] = {{"whole"}, toSigned};
  table["arith.fptoui"] = {{"whole"}, toUnsigned};
  table["arith.index_cast"] = {{"position"}, castTo()};
  table["nest.position"] = {{"row", "place"}, [](Operation *, Operands a, ScalarPrinter &) -> FailureOr<Expression> {
                              return cpp::checkedIndex(a);
                            }};
  table["arith.index_castui"] = {{"position"}, extendUnsigned};
  table["arith.bitcast"] = {{"bits"}, bitcast};
}

} // namespace ml2k
