//===- FusedPositions.cpp - positions of fused operations as plain arithmetic -------------------------------------===//
//
// Upstream's fusion puts the map of a reader into the body of what it read, as affine.apply: a part of a tensor whose
// halves change places is looked up at (i + 16) mod 32. Kernels have arithmetic.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/schedule/fuse/FusedPositions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace ml2k {
namespace {

struct PlainPosition : OpRewritePattern<affine::AffineApplyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(affine::AffineApplyOp op, PatternRewriter &rewriter) const override {
    if (!op->getParentOfType<linalg::GenericOp>())
      return failure();
    AffineMap const map = op.getAffineMap();
    SmallVector<Value> const operands(op.getMapOperands());
    AffineExpr const expr = map.getResult(0);
    bool const isPositive = llvm::all_of(operands, [](Value v) { return bool(v.getDefiningOp<linalg::IndexOp>()); });
    Value result = isPositive ? ofPositions(rewriter, op.getLoc(), expr, operands, map.getNumDims()) : Value();
    if (!result)
      result = affine::expandAffineExpr(rewriter, op.getLoc(), expr, ArrayRef(operands).take_front(map.getNumDims()),
                                        ArrayRef(operands).drop_front(map.getNumDims()));
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  /// Of what is never negative a remainder needs no correction of its sign; null where something may be.
  static Value ofPositions(OpBuilder &builder, Location at, AffineExpr expr, ArrayRef<Value> operands, unsigned dims) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return operands[dim.getPosition()];
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return operands[dims + symbol.getPosition()];
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return number.getValue() < 0 ? Value() : builder.create<arith::ConstantIndexOp>(at, number.getValue());
    auto const both = cast<AffineBinaryOpExpr>(expr);
    Value const a = ofPositions(builder, at, both.getLHS(), operands, dims);
    Value const b = a ? ofPositions(builder, at, both.getRHS(), operands, dims) : Value();
    if (!b)
      return {};
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      return builder.create<arith::AddIOp>(at, a, b);
    case AffineExprKind::Mul:
      return builder.create<arith::MulIOp>(at, a, b);
    case AffineExprKind::Mod:
      return builder.create<arith::RemSIOp>(at, a, b);
    case AffineExprKind::FloorDiv:
      return builder.create<arith::DivSIOp>(at, a, b);
    default:
      return {};
    }
  }
};

} // namespace

void populateFusedPositions(RewritePatternSet &patterns) { patterns.add<PlainPosition>(patterns.getContext()); }

} // namespace ml2k
