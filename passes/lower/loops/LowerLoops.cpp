//===- LowerLoops.cpp - the passes from loops in upstream dialects to kernels -------------------------------------===//

#include "passes/Passes.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/LoopSteps.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_LOWERLOOPS
#include "passes/Passes.h.inc"

/// Loops, or accesses outside kernels: what only a loop program has.
static bool isLoopProgram(func::FuncOp entry) {
  bool found = entry.getNumResults() != 0;
  bool tensors = llvm::any_of(entry.getArgumentTypes(), [](Type type) { return isa<TensorType>(type); });
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    tensors |= llvm::any_of(op->getResultTypes(), [](Type type) { return isa<TensorType>(type); });
    if (isa<DestinationStyleOpInterface>(op) && isa<nest::NestDialect>(op->getDialect())) {
      found |= isa<nest::AssembleOp>(op);
      return WalkResult::skip();
    }
    found |=
        isa<scf::ParallelOp, affine::AffineForOp, affine::AffineParallelOp, memref::LoadOp, memref::StoreOp,
            memref::AtomicRMWOp, memref::GenericAtomicRMWOp, memref::CopyOp, memref::AllocOp, linalg::LinalgOp>(op);
    return WalkResult::advance();
  });
  return found && !tensors;
}

/// Upstream's affine dependence analysis takes different names for different memory.
static bool mayParallelizeAffine(func::FuncOp entry) {
  return !entry
              .walk([](Operation *op) {
                bool const views = isa<ViewLikeOpInterface>(op) && !op->use_empty();
                bool const carried =
                    isa<affine::AffineForOp, scf::ForOp, scf::WhileOp, scf::IfOp>(op) &&
                    llvm::any_of(op->getResultTypes(), [](Type type) { return isa<MemRefType>(type); });
                return views || carried ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// The extents of collapsed memory are products of those of its source, which are there before anything is made of
/// them.
static void foldCollapsedSizes(func::FuncOp entry) {
  DenseMap<Value, SmallVector<Value>> known;
  SmallVector<memref::CollapseShapeOp> views; // sources in front of what is made of them
  entry.walk([&](memref::CollapseShapeOp view) { views.push_back(view); });
  for (memref::CollapseShapeOp view : views) {
    OpBuilder builder(view->getContext());
    builder.setInsertionPointAfter(view);
    Location const location = view.getLoc();
    SmallVector<Value> sizes;
    for (ReassociationIndices const &group : view.getReassociationIndices()) {
      Value product;
      for (int64_t dim : group) {
        auto const source = known.find(view.getSrc());
        bool const isKnown = source != known.end();
        Value const size =
            isKnown ? source->second[dim] : builder.createOrFold<memref::DimOp>(location, view.getSrc(), dim);
        product = product ? builder.createOrFold<arith::MulIOp>(location, product, size) : size;
      }
      sizes.push_back(product ? product : builder.create<arith::ConstantIndexOp>(location, 1));
    }
    for (Operation *user : llvm::make_early_inc_range(view->getUsers()))
      if (auto size = dyn_cast<memref::DimOp>(user); size && size.getConstantIndex()) {
        size.replaceAllUsesWith(sizes[*size.getConstantIndex()]);
        size.erase();
      }
    known[view.getResult()] = std::move(sizes);
  }
}

namespace {
struct LowerLoops : impl::LowerLoopsBase<LowerLoops> {
  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (failed(lowerSparse(entry)))
      return signalPassFailure();
    if (!isLoopProgram(entry))
      return;
    foldCollapsedSizes(entry);
    lowerAtomics(entry);
    if (failed(lowerCopies(entry, /*onlyOfViews=*/true))) // inside kernels there are elements only
      return signalPassFailure();
    lowerReductions(entry);
    OpPassManager simplify(func::FuncOp::getOperationName());
    simplify.addPass(createConvertLinalgToParallelLoopsPass());
    simplify.addPass(memref::createFoldMemRefAliasOpsPass());
    simplify.addPass(createCanonicalizerPass());
    if (failed(runPipeline(simplify, entry)))
      return signalPassFailure();
    while (foldViews(entry)) // of views of views
      if (failed(runPipeline(simplify, entry)))
        return signalPassFailure();
    if (entry
            .walk([](Operation *op) {
              return failed(checkLoopSteps(op)) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return signalPassFailure();
    OpPassManager kernels(func::FuncOp::getOperationName());
    if (mayParallelizeAffine(entry))
      kernels.addPass(affine::createAffineParallelizePass());
    kernels.addPass(createLowerAffinePass());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    kernels.addPass(createParallelizeLoops());
    kernels.addPass(createLoopsToNest());
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
    if (failed(runPipeline(kernels, entry)))
      return signalPassFailure();
    checkExtents(entry);
    hoistLoads(entry);
    joinLoops(entry);
    raiseProducts(entry);
    raiseComplexProducts(entry);
    raiseColumnSums(entry);
  }
};
} // namespace
} // namespace ml2k
