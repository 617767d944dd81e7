//===- LowerForms.cpp - operations that other operations can say -------------------------------------------------===//
//
// Packed layouts become transposes, a loop that counts becomes scf.for, and a scalar result a tensor of rank 0. What is
// long lies beside: ScalarForms.cpp, TensorForms.cpp.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace {

struct LowerPack : OpRewritePattern<tensor::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnPack : OpRewritePattern<tensor::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::UnPackOp op, PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

} // namespace

/// Runs over functions that need it only: the driver also folds.
template <class... Ops>
static LogicalResult rewrite(func::FuncOp entry, llvm::function_ref<void(RewritePatternSet &)> addPatterns) {
  bool const isNeeded =
      entry.walk([](Operation *op) { return isa<Ops...>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
          .wasInterrupted();
  if (!isNeeded)
    return success();
  RewritePatternSet patterns(entry.getContext());
  addPatterns(patterns);
  return applyPatternsAndFoldGreedily(entry, std::move(patterns));
}

static bool hasTensors(func::FuncOp entry) {
  auto const isTensor = [](Type type) { return isa<TensorType>(type); };
  return llvm::any_of(entry.getArgumentTypes(), isTensor) || llvm::any_of(entry.getResultTypes(), isTensor);
}

static void scalarResultsToTensors(func::FuncOp entry) {
  if (!hasTensors(entry) || !llvm::hasSingleElement(entry.getBody()))
    return;
  Operation *const end = entry.getBody().front().getTerminator();
  OpBuilder builder(end);
  for (OpOperand &result : end->getOpOperands())
    if (Type const type = result.get().getType(); type.isIntOrIndexOrFloat() || isa<ComplexType>(type))
      result.set(
          builder.create<tensor::FromElementsOp>(result.get().getLoc(), RankedTensorType::get({}, type), result.get()));
  entry.setType(FunctionType::get(entry.getContext(), entry.getArgumentTypes(), end->getOperandTypes()));
}

/// Loops over integers of other types, also those that were a while, count in indices.
static void countInIndices(func::FuncOp entry) {
  entry.walk([](scf::ForOp loop) {
    BlockArgument const index = loop.getBody()->getArgument(0);
    Type const type = index.getType();
    if (type.isIndex())
      return;
    OpBuilder builder(loop);
    Type const wide = builder.getIndexType();
    for (unsigned place = 0; place < loop.getNumControlOperands(); ++place)
      loop->setOperand(place, builder.create<arith::IndexCastOp>(loop.getLoc(), wide, loop->getOperand(place)));
    loop.getBody()->getArgument(0).setType(wide);
    builder.setInsertionPointToStart(loop.getBody());
    auto narrow = builder.create<arith::IndexCastOp>(index.getLoc(), type, index);
    loop.getBody()->getArgument(0).replaceAllUsesExcept(narrow, narrow);
  });
}

LogicalResult ml2k::mlir_import::lowerForms(ModuleOp module, func::FuncOp entry) {
  if (failed(lowerVectors(module, entry))) // makes scalar operations
    return failure();
  scalarResultsToTensors(entry);
  lowerScalarForms(entry);
  lowerTensorForms(entry);
  if (failed(rewrite<tensor::PackOp, tensor::UnPackOp>(
          entry, [](RewritePatternSet &patterns) { patterns.add<LowerPack, LowerUnPack>(patterns.getContext()); })))
    return failure();
  if (failed(rewrite<scf::WhileOp>(entry, scf::populateUpliftWhileToForPatterns)))
    return failure();
  countInIndices(entry);
  return success();
}
