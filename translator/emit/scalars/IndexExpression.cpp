//===- IndexExpression.cpp - affine index arithmetic as C++ -------------------------------------------------------===//

#include "translator/emit/scalars/Values.h"

#include "mlir/IR/BuiltinTypes.h"

#include <limits>

using namespace mlir;

namespace ml2k {

namespace {

/// The values that an expression can take; the ends are far away where nothing is known.
struct Interval {
  static constexpr int64_t far = std::numeric_limits<int32_t>::max();
  int64_t least = 0, most = far;
};

int64_t clamp(int64_t value) { return std::clamp(value, -Interval::far, Interval::far); }

Interval intervalOf(AffineExpr expr, IndexSpace const &space) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t const extent = space.extents[dim.getPosition()];
    return {0, ShapedType::isDynamic(extent) ? Interval::far : extent - 1};
  }
  if (isa<AffineSymbolExpr>(expr)) // sizes and loop indices
    return {};
  auto const node = cast<AffineBinaryOpExpr>(expr);
  Interval const a = intervalOf(node.getLHS(), space), b = intervalOf(node.getRHS(), space);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {clamp(a.least + b.least), clamp(a.most + b.most)};
  case AffineExprKind::Mul: {
    auto const ends = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
    return {clamp(std::min(ends)), clamp(std::max(ends))};
  }
  case AffineExprKind::Mod:
    return {0, b.most - 1};
  default:
    if (b.least == b.most && b.least > 0 && a.least >= 0)
      return {a.least / b.least, a.most == Interval::far ? a.most : a.most / b.least};
    return {a.least >= 0 && b.least > 0 ? 0 : -Interval::far, Interval::far};
  }
}

AffineExpr simplifyDivision(AffineExpr a, AffineExpr b, bool remainder, IndexSpace const &space) {
  Interval const range = intervalOf(a, space);
  auto const divisor = dyn_cast<AffineConstantExpr>(b);
  if (range.least == 0 && range.most == 0)
    return a;
  if (divisor && range.least >= 0 && range.most < divisor.getValue())
    return remainder ? a : getAffineConstantExpr(0, a.getContext());
  // Terms that are multiples of the divisor leave the sum: (n * 28 + q) / 28 is n + q / 28
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(a); divisor && sum && sum.getKind() == AffineExprKind::Add)
    for (auto [whole, rest] : {std::pair(sum.getLHS(), sum.getRHS()), std::pair(sum.getRHS(), sum.getLHS())})
      if (whole.isMultipleOf(divisor.getValue())) {
        AffineExpr const part = simplifyDivision(rest, b, remainder, space);
        return remainder ? part : whole.floorDiv(divisor.getValue()) + part;
      }
  return remainder ? a % b : a.floorDiv(b);
}

} // namespace

AffineExpr simplify(AffineExpr expr, IndexSpace const &space) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return space.extents[dim.getPosition()] == 1 ? getAffineConstantExpr(0, expr.getContext()) : expr;
  auto const node = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!node)
    return expr;
  AffineExpr const a = simplify(node.getLHS(), space), b = simplify(node.getRHS(), space);
  switch (expr.getKind()) {
  case AffineExprKind::FloorDiv:
    return simplifyDivision(a, b, false, space);
  case AffineExprKind::Mod:
    return simplifyDivision(a, b, true, space);
  default:
    return getAffineBinaryOpExpr(expr.getKind(), a, b);
  }
}

namespace {

struct Printer {
  IndexSpace const &space;

  Expression print(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return literal(constant.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return space.dims[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return space.symbols[symbol.getPosition()];
    auto const node = cast<AffineBinaryOpExpr>(expr);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return sum(node.getLHS(), node.getRHS());
    case AffineExprKind::Mul:
      return binary(print(node.getLHS()), "*", Rank::Multiply, print(node.getRHS()));
    case AffineExprKind::CeilDiv:
      return cpp::division("ceil_div", {print(node.getLHS()), print(node.getRHS())});
    default:
      return divide(node, expr.getKind() == AffineExprKind::Mod);
    }
  }

  /// `a - 3`, not `a + -3`; `9 - a`, not `-1 * a + 9`.
  Expression sum(AffineExpr a, AffineExpr b) {
    if (negated(a) && !negated(b))
      std::swap(a, b);
    if (AffineExpr const positive = negated(b))
      return binary(print(a), "-", Rank::Add, print(positive));
    return binary(print(a), "+", Rank::Add, print(b));
  }

  static AffineExpr negated(AffineExpr expr) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue() < 0 ? -expr : AffineExpr();
    auto const node = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!node || node.getKind() != AffineExprKind::Mul)
      return {};
    auto const factor = dyn_cast<AffineConstantExpr>(node.getRHS());
    return factor && factor.getValue() < 0 ? node.getLHS() * -factor.getValue() : AffineExpr();
  }

  Expression divide(AffineBinaryOpExpr node, bool remainder) {
    Expression const a = print(node.getLHS()), b = print(node.getRHS());
    if (intervalOf(node.getLHS(), space).least >= 0)
      return binary(a, remainder ? Raw("%") : Raw("/"), Rank::Multiply, b);
    return cpp::division(remainder ? Raw("floor_mod") : Raw("floor_div"), {a, b});
  }
};

} // namespace

Expression indexExpression(AffineExpr expr, IndexSpace const &space) {
  // A symbol may be a number: the only column of a column of indices
  SmallVector<AffineExpr> symbols;
  for (auto [number, symbol] : llvm::enumerate(space.symbols))
    symbols.push_back(symbol.constant() ? getAffineConstantExpr(*symbol.constant(), expr.getContext())
                                        : getAffineSymbolExpr(number, expr.getContext()));
  return Printer{space}.print(simplify(expr.replaceSymbols(symbols), space));
}

} // namespace ml2k
