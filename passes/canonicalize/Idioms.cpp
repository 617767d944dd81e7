//===- Idioms.cpp - what has several spellings gets one -----------------------------------------------------------===//
//
// Only rewrites that keep every result, NaN and signed zero included, or that round no worse; erf's says what it costs.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/canonicalize/Broadcasts.h"
#include "passes/canonicalize/NestedReductions.h"
#include "passes/canonicalize/PartsOfJoined.h"
#include "passes/canonicalize/Positions.h"
#include "passes/canonicalize/ProductOperands.h"
#include "passes/canonicalize/SelectedColumns.h"
#include "passes/canonicalize/SpreadImages.h"
#include "passes/canonicalize/SwappedHalves.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_IDIOMS
#include "passes/Passes.h.inc"

namespace {

std::optional<APFloat> constantFloat(Value value) {
  APFloat number(0.);
  if (matchPattern(value, m_ConstantFloat(&number)))
    return number;
  return std::nullopt;
}

/// select(x > c, x, c) is the maximum. An unordered comparison lets NaN through as maximumf does; with a constant c
/// that is no NaN and not -0 both agree in every bit.
struct SelectToMaximum : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
    if (!compare || compare.getLhs() != op.getTrueValue() || compare.getRhs() != op.getFalseValue())
      return failure();
    auto const bound = constantFloat(op.getFalseValue());
    if (!bound || bound->isNaN() || (bound->isZero() && bound->isNegative()))
      return failure();
    using P = arith::CmpFPredicate;
    P const predicate = compare.getPredicate();
    if (predicate == P::UGT || predicate == P::UGE)
      rewriter.replaceOpWithNewOp<arith::MaximumFOp>(op, op.getTrueValue(), op.getFalseValue());
    else if ((predicate == P::ULT || predicate == P::ULE) && !bound->isZero())
      rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, op.getTrueValue(), op.getFalseValue());
    else
      return failure();
    return success();
  }
};

/// select(a > b, a, b) of integers is their maximum.
struct SelectToExtreme : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || !op.getType().isIntOrIndex() || op.getType().isInteger(1))
      return failure();
    Value const a = compare.getLhs(), b = compare.getRhs();
    bool const takesLeft = op.getTrueValue() == a && op.getFalseValue() == b;
    if (!takesLeft && (op.getTrueValue() != b || op.getFalseValue() != a))
      return failure();
    using P = arith::CmpIPredicate;
    P const predicate = takesLeft ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
    DictionaryAttr const names = op->getDiscardableAttrDictionary();
    Operation *extreme = nullptr;
    if (predicate == P::sgt || predicate == P::sge)
      extreme = rewriter.replaceOpWithNewOp<arith::MaxSIOp>(op, a, b);
    else if (predicate == P::slt || predicate == P::sle)
      extreme = rewriter.replaceOpWithNewOp<arith::MinSIOp>(op, a, b);
    else if (predicate == P::ugt || predicate == P::uge)
      extreme = rewriter.replaceOpWithNewOp<arith::MaxUIOp>(op, a, b);
    else if (predicate == P::ult || predicate == P::ule)
      extreme = rewriter.replaceOpWithNewOp<arith::MinUIOp>(op, a, b);
    else
      return failure();
    extreme->setDiscardableAttrs(names);
    return success();
  }
};

/// Constants stand second, as a person writes them.
template <class Op> struct ConstantLast : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!constantFloat(op.getLhs()) || constantFloat(op.getRhs()))
      return failure();
    rewriter.replaceOpWithNewOp<Op>(op, op.getRhs(), op.getLhs());
    return success();
  }
};

/// x to the power of 1, 2 or 3 is a product. One half stays a power: a square root differs from it at -inf and -0.
template <class Op> struct PowerToProduct : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    std::optional<double> exponent;
    APInt whole;
    if (matchPattern(op.getRhs(), m_ConstantInt(&whole)))
      exponent = double(whole.getSExtValue());
    else if (auto number = constantFloat(op.getRhs()))
      exponent = number->convertToDouble();
    Value const x = op.getLhs();
    if (exponent == 1.)
      rewriter.replaceOp(op, x);
    else if (exponent == 2.)
      rewriter.replaceOpWithNewOp<arith::MulFOp>(op, x, x);
    else if (exponent == 3.)
      rewriter.replaceOpWithNewOp<arith::MulFOp>(op, rewriter.create<arith::MulFOp>(op.getLoc(), x, x), x);
    else
      return failure();
    return success();
  }
};

/// 1 / sqrt(x) is rsqrt(x), both are within a rounding.
struct ReciprocalRoot : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    auto const numerator = constantFloat(op.getLhs());
    auto root = op.getRhs().getDefiningOp<math::SqrtOp>();
    if (!numerator || !numerator->isExactlyValue(1.) || !root)
      return failure();
    rewriter.replaceOpWithNewOp<math::RsqrtOp>(op, root.getOperand());
    return success();
  }
};

/// erf(x / c) is erf(x * (1 / c)), as gelu is defined: a multiplication takes a fifth of a division's time. The
/// argument is rounded once more, and erf never has a larger relative error than its argument.
struct ErfOfQuotient : OpRewritePattern<math::ErfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ErfOp op, PatternRewriter &rewriter) const override {
    auto division = op.getOperand().getDefiningOp<arith::DivFOp>();
    auto const divisor = division ? constantFloat(division.getRhs()) : std::nullopt;
    if (!divisor || !divisor->isNormal() || !(op.getType().isF32() || op.getType().isF64()))
      return failure();
    APFloat inverse(divisor->getSemantics(), 1);
    inverse.divide(*divisor, APFloat::rmNearestTiesToEven);
    if (!inverse.isNormal())
      return failure();
    Value const factor = rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getFloatAttr(op.getType(), inverse));
    Value const argument = rewriter.create<arith::MulFOp>(division.getLoc(), division.getLhs(), factor);
    rewriter.replaceOpWithNewOp<math::ErfOp>(op, argument);
    return success();
  }
};

/// The argument of 1 / (exp(-x) + 1).
Value argumentOfSigmoid(Value value) {
  auto quotient = value.getDefiningOp<arith::DivFOp>();
  auto const one = quotient ? constantFloat(quotient.getLhs()) : std::nullopt;
  auto sum = quotient ? quotient.getRhs().getDefiningOp<arith::AddFOp>() : nullptr;
  auto const other = sum ? constantFloat(sum.getRhs()) : std::nullopt;
  auto exp = sum ? sum.getLhs().getDefiningOp<math::ExpOp>() : nullptr;
  auto negated = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : nullptr;
  if (!one || !one->isExactlyValue(1.) || !other || !other->isExactlyValue(1.) || !negated)
    return {};
  return negated.getOperand();
}

/// sigmoid(x) > c is x > log(c / (1 - c)), of one half x > 0: decisions need no exponential, and one half is exact.
struct SigmoidThreshold : OpRewritePattern<arith::CmpFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::CmpFOp op, PatternRewriter &rewriter) const override {
    using P = arith::CmpFPredicate;
    Value const argument = argumentOfSigmoid(op.getLhs());
    auto const threshold = constantFloat(op.getRhs());
    bool const isOrder =
        llvm::is_contained({P::OGT, P::OGE, P::OLT, P::OLE, P::UGT, P::UGE, P::ULT, P::ULE}, op.getPredicate());
    Type const type = op.getLhs().getType();
    if (!argument || !threshold || !isOrder || !(type.isF32() || type.isF64()))
      return failure();
    double const c = threshold->convertToDouble();
    if (!(c > 0 && c < 1))
      return failure();
    Value const bound =
        rewriter.create<arith::ConstantOp>(op.getLoc(), rewriter.getFloatAttr(type, std::log(c / (1 - c))));
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, op.getPredicate(), argument, bound);
    return success();
  }
};

/// Whether `value` is log(1 + e^x) as max(x, 0) + log1p(exp(-|x|)).
bool isSoftplusOf(Value value, Value x) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return false;
  auto const isMaximum = [&](Value part) {
    auto maximum = part.getDefiningOp<arith::MaximumFOp>();
    auto const zero = maximum ? constantFloat(maximum.getRhs()) : std::nullopt;
    return zero && zero->isZero() && maximum.getLhs() == x;
  };
  auto const isRest = [&](Value part) {
    auto log = part.getDefiningOp<math::Log1pOp>();
    auto exp = log ? log.getOperand().getDefiningOp<math::ExpOp>() : math::ExpOp();
    auto negated = exp ? exp.getOperand().getDefiningOp<arith::NegFOp>() : arith::NegFOp();
    auto magnitude = negated ? negated.getOperand().getDefiningOp<math::AbsFOp>() : math::AbsFOp();
    return magnitude && magnitude.getOperand() == x;
  };
  return (isMaximum(sum.getLhs()) && isRest(sum.getRhs())) || (isMaximum(sum.getRhs()) && isRest(sum.getLhs()));
}

/// select(x > 20, x, softplus(x)), as PyTorch exports it, is softplus(x): from 17 on, in double from 37 on, log1p(e^-x)
/// is less than half of the last bit of x.
struct SoftplusOfLarge : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    using P = arith::CmpFPredicate;
    auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
    Value const x = op.getTrueValue();
    auto const least = compare && compare.getLhs() == x ? constantFloat(compare.getRhs()) : std::nullopt;
    if (!least || !llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, compare.getPredicate()))
      return failure();
    double const exact = x.getType().isF32() ? 17 : 37;
    if (!(x.getType().isF32() || x.getType().isF64()) || !(least->convertToDouble() >= exact) ||
        !isSoftplusOf(op.getFalseValue(), x))
      return failure();
    rewriter.replaceOp(op, op.getFalseValue());
    return success();
  }
};

/// A float that is a whole number: rounded, and moved by a whole constant, after which zero has no sign.
bool isWhole(Value value) {
  auto moved = value.getDefiningOp<arith::AddFOp>();
  std::optional<APFloat> const by = moved ? constantFloat(moved.getRhs()) : std::nullopt;
  return by && by->isInteger() && !by->isNegZero() && moved.getLhs().getDefiningOp<math::RoundEvenOp>();
}

/// Whether `value` is a whole float clamped to what an integer of so many bits holds.
bool isClampedTo(Value value, unsigned bits, bool isSigned) {
  auto below = value.getDefiningOp<arith::MinimumFOp>();
  auto above = below ? below.getLhs().getDefiningOp<arith::MaximumFOp>() : nullptr;
  std::optional<APFloat> const low = above ? constantFloat(above.getRhs()) : std::nullopt;
  std::optional<APFloat> const high = above ? constantFloat(below.getRhs()) : std::nullopt;
  double const least = isSigned ? -std::ldexp(1., int(bits) - 1) : 0;
  double const most = std::ldexp(1., int(bits) - isSigned) - 1;
  return low && high && low->isInteger() && high->isInteger() && low->convertToDouble() >= least &&
         high->convertToDouble() <= most && isWhole(above.getLhs());
}

/// What is rounded and clamped to what 16 bits hold need not become an integer on its way to a float:
/// float(wide(narrow(x)) - zero) is x - zero. Networks that compute in floats what is meant for bytes are full of
/// those.
struct RequantizedAsFloat : OpRewritePattern<arith::SIToFPOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SIToFPOp op, PatternRewriter &rewriter) const override {
    Value wide = op.getIn();
    APInt zero(32, 0);
    if (auto difference = wide.getDefiningOp<arith::SubIOp>();
        difference && matchPattern(difference.getRhs(), m_ConstantInt(&zero)))
      wide = difference.getLhs();
    Operation *const extension = wide.getDefiningOp();
    if (!isa_and_present<arith::ExtUIOp, arith::ExtSIOp>(extension) || !wide.getType().isInteger(32) ||
        zero.getSignificantBits() > 17 || !op.getType().isF32())
      return failure();
    bool const isSigned = isa<arith::ExtSIOp>(extension);
    Operation *const narrow = extension->getOperand(0).getDefiningOp();
    unsigned const bits = extension->getOperand(0).getType().getIntOrFloatBitWidth();
    if (!narrow || !(isSigned ? isa<arith::FPToSIOp>(narrow) : isa<arith::FPToUIOp>(narrow)) || bits > 16 ||
        narrow->getOperand(0).getType() != op.getType() || !isClampedTo(narrow->getOperand(0), bits, isSigned))
      return failure();
    Value const x = narrow->getOperand(0);
    if (zero.isZero()) {
      rewriter.replaceOp(op, x);
      return success();
    }
    Value const moved = rewriter.create<arith::ConstantOp>(
        op.getLoc(), rewriter.getF32FloatAttr(static_cast<float>(zero.getSExtValue())));
    rewriter.replaceOpWithNewOp<arith::SubFOp>(op, x, moved);
    return success();
  }
};

/// The only position of a dimension with one element is 0, whatever was computed for it.
struct OnlyPosition : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp op, PatternRewriter &rewriter) const override {
    SmallVector<unsigned> computed;
    for (auto [dim, index] : llvm::enumerate(op.getIndices()))
      if (op.getTensor().getType().getDimSize(dim) == 1 && !matchPattern(index, m_Constant()))
        computed.push_back(dim);
    if (computed.empty())
      return failure();
    Value const zero = rewriter.create<arith::ConstantIndexOp>(op.getLoc(), 0);
    rewriter.modifyOpInPlace(op, [&] {
      for (unsigned dim : computed)
        op.getIndicesMutable()[dim].set(zero);
    });
    return success();
  }
};

struct Idioms : impl::IdiomsBase<Idioms> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SelectToMaximum, SelectToExtreme, ConstantLast<arith::AddFOp>, ConstantLast<arith::MulFOp>,
                 ConstantLast<arith::MaximumFOp>, ConstantLast<arith::MinimumFOp>, PowerToProduct<math::PowFOp>,
                 PowerToProduct<math::FPowIOp>, ReciprocalRoot, ErfOfQuotient, SigmoidThreshold, SoftplusOfLarge,
                 RequantizedAsFloat, OnlyPosition>(&getContext());
    populateSwappedHalves(patterns);
    populateSpreadImages(patterns);
    populateBroadcasts(patterns);
    populateNestedReductions(patterns);
    populatePartsOfJoined(patterns);
    populatePositions(patterns);
    populateProductOperands(patterns);
    populateSelectedColumns(patterns);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
