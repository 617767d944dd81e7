//===- PoolMeans.cpp - sums divided by the number of their taps are means -----------------------------------------===//
//
// A mean that leaves out the padding divides by a product of one number for each direction, which depends on the
// position alone. Its arithmetic has many spellings, so it is computed at every position and compared.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/fuse/FusePools.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k {

int64_t PoolDirection::tapsInside(int64_t p) const {
  int64_t taps = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    int64_t const at = p * stride - pad + tap * dilation;
    taps += at >= 0 && at < inputs;
  }
  return taps;
}

Value divisorOf(Value value, Value sum) {
  auto division = value.getDefiningOp<arith::DivFOp>();
  auto number = division && division.getLhs() == sum ? division.getRhs().getDefiningOp<arith::SIToFPOp>() : nullptr;
  auto cast = number ? number.getIn().getDefiningOp<arith::IndexCastOp>() : nullptr;
  return cast ? cast.getIn() : Value();
}

namespace {

using DirectionOf = llvm::function_ref<std::optional<unsigned>(Operation *)>;

constexpr size_t mostOfCount = 32; ///< of a count

/// The operations of a number, operands first; none if there are too many, or if it comes from elsewhere.
std::optional<SmallVector<Operation *>> operationsOf(Value number) {
  llvm::SetVector<Operation *> found;
  SmallVector<Value> open{number};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    bool const isKnown = op && op->getNumRegions() == 0 &&
                         (op->getNumOperands() == 0 || op->getBlock() == number.getDefiningOp()->getBlock());
    if (!isKnown)
      return std::nullopt;
    if (found.insert(op))
      llvm::append_range(open, op->getOperands());
    if (found.size() > mostOfCount)
      return std::nullopt;
  }
  SmallVector<Operation *> ordered = found.takeVector();
  auto *computed = llvm::partition(ordered, [](Operation *op) { return op->getNumOperands() == 0; });
  std::sort(computed, ordered.end(), [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

std::optional<int64_t> valueOf(Operation *op, ArrayRef<int64_t> operands) {
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (operands.size() != 2)
    return std::nullopt;
  int64_t const a = operands[0], b = operands[1];
  int64_t result = 0;
  bool overflows = false;
  auto const known =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case<arith::AddIOp>([&](auto) { return overflows = __builtin_add_overflow(a, b, &result), true; })
          .Case<arith::SubIOp>([&](auto) { return overflows = __builtin_sub_overflow(a, b, &result), true; })
          .Case<arith::MulIOp>([&](auto) { return overflows = __builtin_mul_overflow(a, b, &result), true; })
          .Case<arith::MinSIOp>([&](auto) { return result = std::min(a, b), true; })
          .Case<arith::MaxSIOp>([&](auto) { return result = std::max(a, b), true; })
          .Case<arith::CeilDivSIOp>([&](auto) {
            if (b > 0) // for what is not negative, and for what is
              result = a > 0 ? (a - 1) / b + 1 : a / b;
            return b > 0;
          })
          .Default([](Operation *) { return false; });
  return known && !overflows ? std::optional(result) : std::nullopt;
}

/// A factor of the count: a constant, or a number of the position in one direction.
class Factor {
public:
  static std::optional<Factor> of(Value number, DirectionOf directionOf);

  std::optional<unsigned> direction;

  std::optional<int64_t> at(int64_t position) const {
    DenseMap<Operation *, int64_t> values;
    for (Operation *op : operations) {
      auto operands =
          llvm::map_to_vector(op->getOperands(), [&](Value operand) { return values.lookup(operand.getDefiningOp()); });
      std::optional<int64_t> const value = positions.contains(op) ? position : valueOf(op, operands);
      if (!value)
        return std::nullopt;
      values[op] = *value;
    }
    return values.lookup(operations.back());
  }

private:
  SmallVector<Operation *> operations; ///< the last one is the number
  llvm::SmallPtrSet<Operation *, 2> positions;
};

std::optional<Factor> Factor::of(Value number, DirectionOf directionOf) {
  auto const operations = operationsOf(number);
  if (!operations)
    return std::nullopt;
  Factor factor;
  factor.operations = *operations;
  for (Operation *op : *operations)
    if (std::optional<unsigned> const direction = directionOf(op)) {
      if (factor.direction && factor.direction != direction)
        return std::nullopt;
      factor.direction = direction;
      factor.positions.insert(op);
    }
  return factor;
}

/// Splits a product of up to `most` factors.
bool splitFactors(Value number, DirectionOf directionOf, size_t most, SmallVectorImpl<Factor> &factors) {
  SmallVector<Value> open{number};
  while (!open.empty()) {
    Value const next = open.pop_back_val();
    if (auto factor = Factor::of(next, directionOf)) {
      factors.push_back(std::move(*factor));
    } else if (auto product = next.getDefiningOp<arith::MulIOp>()) {
      llvm::append_range(open, product->getOperands());
    } else {
      return false;
    }
    if (factors.size() + open.size() > most)
      return false;
  }
  return true;
}

struct MeanOfTaps : OpRewritePattern<nest::WindowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nest::WindowOp op, PatternRewriter &rewriter) const override {
    auto const in = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
    if (!in || op.getCombiner() != nest::Combiner::Sum || op.getMean() || op.getPlanes() || in.isDynamicDim(1) ||
        in.isDynamicDim(2))
      return failure();
    auto const out = cast<RankedTensorType>(op->getResult(0).getType());
    SmallVector<PoolDirection> directions;
    for (int d : {0, 1})
      directions.push_back({out.getDimSize(1 + d), in.getDimSize(1 + d), op.getKernel()[d], op.getStrides()[d],
                            op.getDilations()[d], op.getPads()[d]});
    auto const directionOf = [](Operation *each) -> std::optional<unsigned> {
      auto index = dyn_cast<nest::IndexOp>(each);
      return index && (index.getDim() == 1 || index.getDim() == 2) ? std::optional<unsigned>(index.getDim() - 1)
                                                                   : std::nullopt;
    };
    Value const sum = op.getFinish().front().getArgument(0);
    for (Operation *user : sum.getUsers()) {
      bool const isOnly = sum.hasOneUse() && user->getNumResults() == 1 && user->hasOneUse();
      Value const count = isOnly ? divisorOf(user->getResult(0), sum) : Value();
      if (!count || !countsTapsInside(count, directions, directionOf))
        return failure();
      rewriter.modifyOpInPlace(op, [&] { op.setMeanAttr(nest::MeanAttr::get(op.getContext(), nest::Mean::Inside)); });
      rewriter.replaceOp(user, sum);
      return success();
    }
    return failure();
  }
};

} // namespace

bool countsTapsInside(Value count, ArrayRef<PoolDirection> directions, DirectionOf directionOf) {
  constexpr int64_t mostSteps = 1 << 14; // positions times taps
  SmallVector<Factor> factors;
  if (!splitFactors(count, directionOf, directions.size() + 1, factors))
    return false;
  int64_t constant = 1, taps = 1;
  SmallVector<Factor const *> own(directions.size(), nullptr);
  for (Factor const &factor : factors)
    if (!factor.direction) {
      auto const value = factor.at(0);
      if (!value || __builtin_mul_overflow(constant, *value, &constant))
        return false;
    } else if (std::exchange(own[*factor.direction], &factor)) {
      return false;
    }
  for (auto [direction, factor] : llvm::zip(directions, own)) {
    if (direction.outputs < 1 || direction.outputs > mostSteps / std::max<int64_t>(direction.kernel, 1))
      return false;
    if (!factor && __builtin_mul_overflow(taps, direction.tapsInside(0), &taps))
      return false;
    for (int64_t p = 0; p < direction.outputs; ++p) {
      int64_t const inside = direction.tapsInside(p);
      if (factor ? factor->at(p) != inside : inside != direction.tapsInside(0))
        return false;
    }
  }
  return taps == constant;
}

void populatePoolMeans(RewritePatternSet &patterns) { patterns.add<MeanOfTaps>(patterns.getContext()); }

} // namespace ml2k
