//===- NaiveLoops.cpp - structured operations in memory become plain loops ----------------------------------------===//
//
// A parallel loop nest over the parallel loops of a linalg operation; the others run inside, in their order, with the
// results in variables meanwhile.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_NAIVELOOPS
#include "passes/Passes.h.inc"

namespace {

class PlainLoops {
public:
  PlainLoops(OpBuilder &builder, linalg::GenericOp op)
      : builder(builder), op(op), location(op.getLoc()), positions(op.getNumLoops()) {}

  LogicalResult build(StringRef label);

private:
  struct Bounds {
    SmallVector<Value> lowers, uppers, steps;
  };
  Bounds boundsOf(ArrayRef<Range> ranges, ArrayRef<unsigned> loops);
  SmallVector<Value> indicesOf(OpOperand &operand);
  SmallVector<Value> results(ArrayRef<Value> totals);
  void reduce(ArrayRef<Range> ranges, ArrayRef<unsigned> loops);
  void store(ValueRange values);

  OpBuilder &builder; ///< at the place that is being written
  linalg::GenericOp op;
  Location location;
  SmallVector<Value> positions; ///< of all loops
};

PlainLoops::Bounds PlainLoops::boundsOf(ArrayRef<Range> ranges, ArrayRef<unsigned> loops) {
  Bounds bounds;
  auto const value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(builder, location, size); };
  for (unsigned loop : loops) {
    bounds.lowers.push_back(value(ranges[loop].offset));
    bounds.uppers.push_back(value(ranges[loop].size));
    bounds.steps.push_back(value(ranges[loop].stride));
  }
  return bounds;
}

SmallVector<Value> PlainLoops::indicesOf(OpOperand &operand) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(affine::expandAffineExpr(builder, location, expr, positions, {}));
  return indices;
}

/// The body at the current positions; `totals`, where there is a reduction, hold the results so far.
SmallVector<Value> PlainLoops::results(ArrayRef<Value> totals) {
  Block &body = *op.getBody();
  IRMapping values;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument const argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (op.isDpsInit(&operand) && !totals.empty())
      values.map(argument, builder.create<memref::LoadOp>(
                               location, totals[operand.getOperandNumber() - op.getNumDpsInputs()], ValueRange()));
    else if (isa<MemRefType>(operand.get().getType()))
      values.map(argument, builder.create<memref::LoadOp>(location, operand.get(), indicesOf(operand)));
    else
      values.map(argument, operand.get());
  }
  for (Operation &inner : body.without_terminator())
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      values.map(index.getResult(), positions[index.getDim()]);
    else
      builder.clone(inner, values);
  return llvm::map_to_vector(body.getTerminator()->getOperands(), [&](Value v) { return values.lookupOrDefault(v); });
}

void PlainLoops::store(ValueRange values) {
  for (auto [value, output] : llvm::zip(values, op.getDpsInitsMutable()))
    builder.create<memref::StoreOp>(location, value, output.get(), indicesOf(output));
}

void PlainLoops::reduce(ArrayRef<Range> ranges, ArrayRef<unsigned> loops) {
  SmallVector<Value> totals, last;
  for (OpOperand &output : op.getDpsInitsMutable()) {
    Value const initial = builder.create<memref::LoadOp>(location, output.get(), indicesOf(output));
    totals.push_back(builder.create<memref::AllocaOp>(location, MemRefType::get({}, initial.getType())));
    builder.create<memref::StoreOp>(location, initial, totals.back(), ValueRange());
  }
  Bounds const bounds = boundsOf(ranges, loops);
  scf::buildLoopNest(builder, location, bounds.lowers, bounds.uppers, bounds.steps,
                     [&](OpBuilder &, Location, ValueRange at) {
                       for (auto [loop, position] : llvm::zip(loops, at))
                         positions[loop] = position;
                       for (auto [value, total] : llvm::zip(results(totals), totals))
                         builder.create<memref::StoreOp>(location, value, total, ValueRange());
                     });
  for (Value total : totals)
    last.push_back(builder.create<memref::LoadOp>(location, total, ValueRange()));
  store(last);
}

LogicalResult PlainLoops::build(StringRef label) {
  SmallVector<unsigned> parallel, reduced;
  op.getParallelDims(parallel);
  op.getReductionDims(reduced);
  for (OpOperand &output : op.getDpsInitsMutable())
    if (llvm::any_of(reduced, [&](unsigned loop) { return op.getMatchingIndexingMap(&output).isFunctionOfDim(loop); }))
      return op.emitError("writes its result in every step of a reduction");
  SmallVector<Range> const ranges = cast<linalg::LinalgOp>(*op).createLoopRanges(builder, location);
  Bounds bounds = boundsOf(ranges, parallel);
  if (parallel.empty()) { // a kernel of one iteration
    bounds.lowers = {builder.create<arith::ConstantIndexOp>(location, 0)};
    bounds.uppers = bounds.steps = {builder.create<arith::ConstantIndexOp>(location, 1)};
  }
  auto loop = builder.create<scf::ParallelOp>(location, bounds.lowers, bounds.uppers, bounds.steps);
  if (!label.empty())
    nest::setLabel(loop, label);
  for (auto [dim, position] : llvm::zip(parallel, loop.getInductionVars()))
    positions[dim] = position;
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  if (reduced.empty())
    store(results({}));
  else
    reduce(ranges, reduced);
  return success();
}

struct NaiveLoops : impl::NaiveLoopsBase<NaiveLoops> {
  void runOnOperation() override {
    bool const isNaive = getOperation()->hasAttr("nest.naive");
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> found;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isNaive || op->hasAttr("nest.in_order"))
        found.push_back(op);
    });
    for (linalg::LinalgOp op : found) {
      std::string const label = nest::labelOf(op).str(); // of one that goes away
      rewriter.setInsertionPoint(op);
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
        if (failed(made)) {
          op.emitError("has no loops; --schedule=naive does not serve it");
          return signalPassFailure();
        }
        generic = *made;
      }
      rewriter.setInsertionPoint(generic);
      if (failed(PlainLoops(rewriter, generic).build(label)))
        return signalPassFailure();
      rewriter.eraseOp(generic);
    }
  }
};

} // namespace
} // namespace ml2k
