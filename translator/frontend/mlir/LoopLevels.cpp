//===- LoopLevels.cpp - what mapping attributes say about loops ---------------------------------------------------===//
//
// scf.forall on memrefs says what scf.parallel says. A loop that is mapped to blocks (`#gpu.block<x>`) becomes one over
// teams, whose threads share the loops inside.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/Teams.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

static bool isOverBlocks(std::optional<ArrayAttr> mapping) {
  return mapping && *mapping && llvm::any_of(*mapping, [](Attribute level) {
           auto const loop = dyn_cast<gpu::ParallelLoopDimMappingAttr>(level);
           return isa<gpu::GPUBlockMappingAttr>(level) || (loop && loop.getProcessor() <= gpu::Processor::BlockZ);
         });
}

static void markTeams(scf::ParallelOp loop) { loop->setAttr(ml2k::nest::teamLoop, UnitAttr::get(loop.getContext())); }

LogicalResult ml2k::mlir_import::lowerForalls(func::FuncOp entry) {
  SmallVector<scf::ForallOp> foralls;
  entry.walk([&](scf::ForallOp loop) { foralls.push_back(loop); });
  IRRewriter rewriter(entry.getContext());
  for (scf::ForallOp loop : foralls) {
    bool const hasTeams = isOverBlocks(loop.getMapping());
    scf::ParallelOp parallel;
    rewriter.setInsertionPoint(loop);
    if (failed(scf::forallToParallelLoop(rewriter, loop, &parallel)))
      return loop.emitError("a loop of this form is not supported");
    if (hasTeams)
      markTeams(parallel);
  }
  entry.walk([](scf::ParallelOp loop) {
    if (isOverBlocks(loop->getAttrOfType<ArrayAttr>("mapping")))
      markTeams(loop);
  });
  return success();
}
