//===- SparseSums.cpp - sums of sparse and dense terms, one term after the other ----------------------------------===//
//
// `a + b` of two sparse tensors, or of a sparse and a dense one, is neither zero where a is nor where b is. It becomes
// two operations, each over the elements of one of them, the second of which adds to what the first has written. So no
// kernel walks through two tensors at once.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k::mlir_import {
namespace {

class Sum {
public:
  Sum(RewriterBase &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), op(op), before(op.getRegionOutputArgs().front()) {}

  /// The second of two operations that take the place of this one, whose other is in front of it; null if it stays.
  linalg::GenericOp split(linalg::GenericOp &first) {
    Operation *const sum = sumOf();
    if (!sum)
      return {};
    Value left = sum->getOperand(0), right = sum->getOperand(1);
    SmallVector<OpOperand *> const ofLeft = inputsOf(left), ofRight = inputsOf(right);
    unsigned const sparseLeft = countSparse(ofLeft), sparseRight = countSparse(ofRight);
    bool const isShared =
        llvm::any_of(ofLeft, [&](OpOperand *o) { return llvm::is_contained(ofRight, o) && isSparse(o->get()); });
    if (sparseLeft + sparseRight == 0 || isShared)
      return {};
    if (bool const isDenseBehind = sparseLeft > 0 && sparseRight == 0; isDenseBehind && !isDifference(sum))
      std::swap(left, right); // one pass over all elements, which writes them
    rewriter.setInsertionPoint(op);
    Value const init = op.getDpsInitOperand(0)->get();
    first = part(left, init, join != nullptr, false);
    linalg::GenericOp second = part(right, first.getResult(0), true, isDifference(sum));
    rewriter.replaceOp(op, second.getResults());
    return second;
  }

private:
  static bool isDifference(Operation *sum) { return isa<arith::SubFOp, arith::SubIOp>(sum); }

  /// The addition or subtraction of two terms that the element is, or that is added to it.
  Operation *sumOf() {
    Value value = op.getBody()->getTerminator()->getOperand(0);
    if (!before.use_empty()) {
      join = value.getDefiningOp();
      if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(join) || !before.hasOneUse() ||
          *before.getUsers().begin() != join)
        return nullptr;
      value = join->getOperand(join->getOperand(0) == before ? 1 : 0);
    } else if (op.getNumReductionLoops() != 0) {
      return nullptr;
    }
    Operation *sum = value.getDefiningOp();
    return isa_and_nonnull<arith::AddFOp, arith::AddIOp, arith::SubFOp, arith::SubIOp>(sum) &&
                   sum->getBlock() == op.getBody()
               ? sum
               : nullptr;
  }

  /// What of the block `value` is computed from.
  llvm::SetVector<Operation *> sliceOf(Value value) {
    llvm::SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.inclusive = true;
    options.omitBlockArguments = true;
    options.filter = [&](Operation *inner) { return inner->getBlock() == op.getBody(); };
    if (Operation *last = value.getDefiningOp(); last && last->getBlock() == op.getBody())
      getBackwardSlice(last, &slice, options);
    return slice;
  }

  SmallVector<OpOperand *> inputsOf(Value value) {
    llvm::SmallDenseSet<Value> used = {value};
    for (Operation *inner : sliceOf(value))
      used.insert(inner->operand_begin(), inner->operand_end());
    SmallVector<OpOperand *> inputs;
    for (OpOperand *input : op.getDpsInputOperands())
      if (used.contains(op.getMatchingBlockArgument(input)))
        inputs.push_back(input);
    return inputs;
  }

  static unsigned countSparse(ArrayRef<OpOperand *> inputs) {
    return llvm::count_if(inputs, [](OpOperand *input) { return isSparse(input->get()); });
  }

  linalg::GenericOp part(Value value, Value init, bool adds, bool subtracts) {
    SmallVector<OpOperand *> const inputs = inputsOf(value);
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    for (OpOperand *input : inputs) {
      operands.push_back(input->get());
      maps.push_back(op.getMatchingIndexingMap(input));
    }
    maps.push_back(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
    return rewriter.create<linalg::GenericOp>(
        op.getLoc(), init.getType(), operands, init, maps, op.getIteratorTypesArray(),
        [&](OpBuilder &builder, Location location, ValueRange arguments) {
          IRMapping values;
          for (auto [input, argument] : llvm::zip(inputs, arguments)) {
            argument.setLoc(op.getMatchingBlockArgument(input).getLoc());
            values.map(op.getMatchingBlockArgument(input), argument);
          }
          for (Operation &inner : *op.getBody())
            if (sliceOf(value).contains(&inner))
              builder.clone(inner, values);
          Value result = values.lookupOrDefault(value);
          bool const isReal = isa<FloatType>(result.getType());
          Value const own = arguments.back();
          if (adds && subtracts && isReal)
            result = builder.create<arith::AddFOp>(location, own, builder.create<arith::NegFOp>(location, result));
          else if (adds && subtracts)
            result = builder.create<arith::AddIOp>(
                location, own,
                builder.create<arith::SubIOp>(
                    location, builder.create<arith::ConstantOp>(location, builder.getZeroAttr(result.getType())),
                    result));
          else if (adds && isReal)
            result = builder.create<arith::AddFOp>(location, own, result);
          else if (adds)
            result = builder.create<arith::AddIOp>(location, own, result);
          builder.create<linalg::YieldOp>(location, result);
        });
  }

  RewriterBase &rewriter;
  linalg::GenericOp op;
  BlockArgument before;
  Operation *join = nullptr; ///< adds the value to the element, if that is read
};

bool mayBeSum(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 && llvm::any_of(op.getDpsInputs(), isSparse) &&
         !isSparse(op.getDpsInits()[0]);
}

} // namespace

void splitSparseSums(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<linalg::GenericOp> work;
  SmallVector<linalg::LinalgOp> named;
  entry.walk([&](linalg::LinalgOp op) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()); generic && mayBeSum(op))
      work.push_back(generic);
    else if (mayBeSum(op) && op.getNumReductionLoops() == 0)
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (FailureOr<linalg::GenericOp> const generic = linalg::generalizeNamedOp(rewriter, op); succeeded(generic))
      work.push_back(*generic);
  }
  while (!work.empty()) {
    linalg::GenericOp first, op = work.pop_back_val();
    linalg::GenericOp second = Sum(rewriter, op).split(first);
    for (linalg::GenericOp part : {first, second})
      if (part && mayBeSum(part))
        work.push_back(part);
  }
}

} // namespace ml2k::mlir_import
