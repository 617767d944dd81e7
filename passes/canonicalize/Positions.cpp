//===- Positions.cpp - arithmetic on the positions of loops -------------------------------------------------------===//

#include "passes/canonicalize/Positions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Larger constants and products of positions are left alone: below, no sum of a few of them leaves 64 bits.
constexpr int64_t largest = int64_t(1) << 40;
bool isLarge(int64_t number) { return number < -largest || number > largest; }

/// How much of an expression is read for one of its operations.
constexpr unsigned largestExpression = 64;

/// What is known of an integer: its bounds, and where it is one, the sum of multiples of positions and a constant.
struct Known {
  Known(int64_t least, int64_t most) : least(least), most(most) {}

  int64_t least, most;
  bool isLinear = false;
  SmallVector<int64_t, 4> factors; // one for each loop, of a linear integer
  int64_t constant = 0;

  bool isConstant() const { return least == most; }
};

/// Reads integers of a linalg.generic's body.
class Reader {
public:
  explicit Reader(linalg::GenericOp op) : extents(op.getStaticLoopRanges()) {}

  std::optional<Known> read(Value value);
  /// factorOfA * a + factorOfB * b.
  std::optional<Known> combined(Known const &a, int64_t factorOfA, Known const &b, int64_t factorOfB) const;

private:
  Known constantOf(int64_t number) const;
  std::optional<Known> bounded(Known known) const;
  std::optional<Known> positionOf(linalg::IndexOp op) const;
  std::optional<Known> productOf(arith::MulIOp op);
  std::optional<Known> partOf(Operation *division);
  template <class Op> std::optional<Known> extremeOf(Op op, bool isLeast);

  SmallVector<int64_t> extents;
  unsigned visited = 0;
};

Known Reader::constantOf(int64_t number) const {
  Known known(number, number);
  known.isLinear = true;
  known.factors.assign(extents.size(), 0);
  known.constant = number;
  return known;
}

/// The bounds of a linear integer, from those of its positions.
std::optional<Known> Reader::bounded(Known known) const {
  if (known.isLinear) {
    known.least = known.most = known.constant;
    for (auto [factor, extent] : llvm::zip(known.factors, extents)) {
      int64_t end = 0;
      if (factor != 0 && (llvm::MulOverflow(factor, extent - 1, end) || isLarge(end)))
        return std::nullopt;
      (factor < 0 ? known.least : known.most) += end;
    }
  }
  if (isLarge(known.least) || isLarge(known.most))
    return std::nullopt;
  return known;
}

std::optional<Known> Reader::combined(Known const &a, int64_t factorOfA, Known const &b, int64_t factorOfB) const {
  Known sum(0, 0);
  for (auto [part, factor] : {std::pair(&a, factorOfA), std::pair(&b, factorOfB)}) {
    int64_t ends[2];
    if (llvm::MulOverflow(part->least, factor, ends[0]) || llvm::MulOverflow(part->most, factor, ends[1]) ||
        isLarge(ends[0]) || isLarge(ends[1]))
      return std::nullopt;
    sum.least += std::min(ends[0], ends[1]);
    sum.most += std::max(ends[0], ends[1]);
  }
  sum.isLinear = a.isLinear && b.isLinear;
  if (sum.isLinear) {
    sum.constant = factorOfA * a.constant + factorOfB * b.constant;
    for (auto [factorA, factorB] : llvm::zip(a.factors, b.factors))
      sum.factors.push_back(factorOfA * factorA + factorOfB * factorB);
  }
  return bounded(sum);
}

std::optional<Known> Reader::positionOf(linalg::IndexOp op) const {
  int64_t const extent = extents[op.getDim()];
  if (ShapedType::isDynamic(extent) || extent < 1)
    return std::nullopt;
  Known known = constantOf(0);
  known.factors[op.getDim()] = extent == 1 ? 0 : 1;
  return bounded(known);
}

std::optional<Known> Reader::productOf(arith::MulIOp op) {
  std::optional<Known> const a = read(op.getLhs()), b = read(op.getRhs());
  if (!a || !b)
    return std::nullopt;
  if (b->isConstant())
    return combined(*a, b->least, constantOf(0), 0);
  if (a->isConstant())
    return combined(*b, a->least, constantOf(0), 0);
  int64_t ends[4];
  bool const overflows = llvm::MulOverflow(a->least, b->least, ends[0]) ||
                         llvm::MulOverflow(a->least, b->most, ends[1]) ||
                         llvm::MulOverflow(a->most, b->least, ends[2]) || llvm::MulOverflow(a->most, b->most, ends[3]);
  if (overflows)
    return std::nullopt;
  return bounded(Known(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)));
}

/// A quotient or remainder of what is not negative, by a positive constant.
std::optional<Known> Reader::partOf(Operation *division) {
  std::optional<Known> const a = read(division->getOperand(0)), b = read(division->getOperand(1));
  if (!a || !b || a->least < 0 || !b->isConstant() || b->least <= 0)
    return std::nullopt;
  int64_t const divisor = b->least;
  if (!isa<arith::RemSIOp>(division))
    return Known(a->least / divisor, a->most / divisor);
  return a->most < divisor ? a : Known(0, divisor - 1);
}

/// The smaller or the larger of two integers: one of them, if it is that at every position.
template <class Op> std::optional<Known> Reader::extremeOf(Op op, bool isLeast) {
  std::optional<Known> const a = read(op.getLhs()), b = read(op.getRhs());
  if (!a || !b)
    return std::nullopt;
  if (std::optional<Known> const difference = combined(*a, 1, *b, -1)) {
    if (difference->most <= 0)
      return isLeast ? a : b;
    if (difference->least >= 0)
      return isLeast ? b : a;
  }
  if (isLeast)
    return Known(std::min(a->least, b->least), std::min(a->most, b->most));
  return Known(std::max(a->least, b->least), std::max(a->most, b->most));
}

std::optional<Known> Reader::read(Value value) {
  if (++visited > largestExpression)
    return std::nullopt;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSignificantBits() <= 40 ? std::optional(constantOf(number.getSExtValue())) : std::nullopt;
  std::optional<Known> known;
  if (auto position = value.getDefiningOp<linalg::IndexOp>()) {
    known = positionOf(position);
  } else if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
    known = read(cast.getIn());
  } else if (auto number = value.getDefiningOp<arith::ExtUIOp>(); number && number.getIn().getType().isInteger(1)) {
    known = Known(0, 1);
  } else if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    known = productOf(product);
  } else if (auto least = value.getDefiningOp<arith::MinSIOp>()) {
    known = extremeOf(least, true);
  } else if (auto most = value.getDefiningOp<arith::MaxSIOp>()) {
    known = extremeOf(most, false);
  } else if (Operation *const op = value.getDefiningOp(); isa_and_present<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Known> const a = read(op->getOperand(0)), b = read(op->getOperand(1));
    known = a && b ? combined(*a, 1, *b, isa<arith::AddIOp>(op) ? 1 : -1) : std::nullopt;
  } else if (isa_and_present<arith::DivSIOp, arith::FloorDivSIOp, arith::RemSIOp>(op)) {
    known = partOf(op);
  }
  // A narrower integer would have wrapped around.
  unsigned const bits = value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
  if (known && bits < 64 && (known->least < llvm::minIntN(bits) || known->most > llvm::maxIntN(bits)))
    return std::nullopt;
  return known;
}

/// What is known of a result or an operand of an operation in a linalg.generic.
std::optional<Known> knownOf(Operation *op, Value value) {
  Type const type = value.getType();
  auto generic = dyn_cast<linalg::GenericOp>(op->getParentOp());
  bool const isRead = type.isIndex() || type.isInteger(32) || type.isInteger(64);
  return generic && isRead ? Reader(generic).read(value) : std::nullopt;
}

/// Of the first operand and the second.
std::optional<Known> differenceOf(Operation *op) {
  std::optional<Known> const a = knownOf(op, op->getOperand(0)), b = knownOf(op, op->getOperand(1));
  return a && b ? Reader(cast<linalg::GenericOp>(op->getParentOp())).combined(*a, 1, *b, -1) : std::nullopt;
}

/// Arithmetic only: a position by itself, of a loop of one step, too, tells other passes what is done (the one best of
/// sorted rows is found as any number of them).
template <class Op> struct ConstantPosition : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    std::optional<Known> const known = knownOf(op, op.getResult());
    if (!known || !known->isConstant())
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getIntegerAttr(op.getType(), known->least));
    return success();
  }
};

template <class Op> struct DecidedExtreme : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    std::optional<Known> const difference = differenceOf(op);
    if (!difference || (difference->most > 0 && difference->least < 0))
      return failure();
    bool const isLeftLess = difference->most <= 0;
    rewriter.replaceOp(op, isLeftLess == std::is_same_v<Op, arith::MinSIOp> ? op.getLhs() : op.getRhs());
    return success();
  }
};

/// What is not negative is divided as integers are.
struct FlooredPosition : OpRewritePattern<arith::FloorDivSIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::FloorDivSIOp op, PatternRewriter &rewriter) const override {
    if (!knownOf(op, op.getResult()))
      return failure();
    rewriter.replaceOpWithNewOp<arith::DivSIOp>(op, op.getLhs(), op.getRhs());
    return success();
  }
};

/// The remainder of what is smaller than the divisor.
struct WholeRemainder : OpRewritePattern<arith::RemSIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::RemSIOp op, PatternRewriter &rewriter) const override {
    std::optional<Known> const known = knownOf(op, op.getResult()), a = knownOf(op, op.getLhs());
    if (!known || !a || known->least != a->least || known->most != a->most)
      return failure();
    rewriter.replaceOp(op, op.getLhs());
    return success();
  }
};

/// A comparison with the same answer at every position.
struct DecidedComparison : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::CmpIOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> const answer = answerOf(op);
    if (!answer)
      return failure();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, rewriter.getBoolAttr(*answer));
    return success();
  }

private:
  static std::optional<bool> answerOf(arith::CmpIOp op) {
    std::optional<Known> const difference = differenceOf(op);
    if (!difference)
      return std::nullopt;
    auto const decided = [](bool isAlways, bool isNever) {
      return isAlways || isNever ? std::optional(isAlways) : std::nullopt;
    };
    int64_t const least = difference->least, most = difference->most;
    using P = arith::CmpIPredicate;
    switch (op.getPredicate()) {
    case P::slt:
      return decided(most < 0, least >= 0);
    case P::sle:
      return decided(most <= 0, least > 0);
    case P::sgt:
      return decided(least > 0, most <= 0);
    case P::sge:
      return decided(least >= 0, most < 0);
    case P::eq:
      return decided(least == 0 && most == 0, most < 0 || least > 0);
    case P::ne:
      return decided(most < 0 || least > 0, least == 0 && most == 0);
    default:
      return std::nullopt; // unsigned
    }
  }
};

template <class Op> struct ExactSum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    using Flags = arith::IntegerOverflowFlags;
    Flags const flags = op.getOverflowFlags();
    bool const isExact = op.getType().isIndex() || arith::bitEnumContainsAny(flags, Flags::nsw);
    if (isExact || !knownOf(op, op.getResult()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setOverflowFlags(flags | Flags::nsw); });
    return success();
  }
};

} // namespace

void populatePositions(RewritePatternSet &patterns) {
  patterns.add<ConstantPosition<arith::AddIOp>, ConstantPosition<arith::SubIOp>, ConstantPosition<arith::MulIOp>,
               ConstantPosition<arith::MinSIOp>, ConstantPosition<arith::MaxSIOp>, ConstantPosition<arith::DivSIOp>,
               ConstantPosition<arith::RemSIOp>, FlooredPosition, WholeRemainder, DecidedComparison,
               DecidedExtreme<arith::MinSIOp>, DecidedExtreme<arith::MaxSIOp>, ExactSum<arith::AddIOp>,
               ExactSum<arith::SubIOp>, ExactSum<arith::MulIOp>>(patterns.getContext());
}

} // namespace ml2k
