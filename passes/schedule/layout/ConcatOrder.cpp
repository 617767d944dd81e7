//===- ConcatOrder.cpp - concatenations lie in the order of their operands and readers ----------------------------===//

#include "passes/schedule/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
namespace {

linalg::TransposeOp turnedBy(Value value) { return value.getDefiningOp<linalg::TransposeOp>(); }

/// Concatenation of operands that all lie in one order.
struct ConcatThrough : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op, PatternRewriter &rewriter) const override {
    auto leading = turnedBy(op.getInputs().front());
    auto const lies = [&](Value input) {
      auto transpose = turnedBy(input);
      return transpose && transpose.getPermutation() == leading.getPermutation();
    };
    if (!leading || !llvm::all_of(op.getInputs(), lies))
      return failure();
    SmallVector<int64_t> const permutation(leading.getPermutation());
    SmallVector<Value> const inputs =
        llvm::map_to_vector(op.getInputs(), [](Value input) -> Value { return turnedBy(input).getInput(); });
    Value const joined = rewriter.create<tensor::ConcatOp>(op.getLoc(), permutation[op.getDim()], inputs);
    rewriter.replaceOp(op, transposed(rewriter, op.getLoc(), joined, permutation));
    return success();
  }
};

/// A concatenation that is read in one other order only, in which an operand lies already, is made in that order: the
/// state of a recurrent convolution lies channels last and joins an image that does not.
struct ConcatInOrder : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op, PatternRewriter &rewriter) const override {
    auto concat = op.getInput().getDefiningOp<tensor::ConcatOp>();
    SmallVector<int64_t> const permutation(op.getPermutation());
    auto const reads = [&](Operation *user) {
      auto transpose = dyn_cast<linalg::TransposeOp>(user);
      return transpose && llvm::equal(transpose.getPermutation(), permutation);
    };
    auto const lies = [&](Value input) {
      auto transpose = turnedBy(input);
      return transpose && llvm::equal(transpose.getPermutation(), inverse(permutation));
    };
    if (!concat || !llvm::all_of(concat->getUsers(), reads) || llvm::none_of(concat.getInputs(), lies))
      return failure();
    rewriter.setInsertionPoint(concat);
    // Cancelled at once: of operands that are all transposed ConcatThrough makes what there was
    SmallVector<Value> const inputs = llvm::map_to_vector(concat.getInputs(), [&](Value input) -> Value {
      return lies(input) ? turnedBy(input).getInput() : transposed(rewriter, concat.getLoc(), input, permutation);
    });
    int64_t const dim = llvm::find(permutation, int64_t(concat.getDim())) - permutation.begin();
    Value const joined = rewriter.create<tensor::ConcatOp>(concat.getLoc(), dim, inputs);
    for (Operation *user : llvm::make_early_inc_range(concat->getUsers()))
      rewriter.replaceOp(user, joined);
    return success();
  }
};

} // namespace

void populateConcatOrder(RewritePatternSet &patterns) {
  patterns.add<ConcatThrough, ConcatInOrder>(patterns.getContext());
}

} // namespace ml2k
