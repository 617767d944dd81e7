// A pass of LLVM 19 that asks a learned policy by which factor to unroll each innermost loop:
//   opt-19 -load-pass-plugin=libadvise_unroll.so -passes='advise-unroll,loop-unroll'
//   clang-19 -O2 -fpass-plugin=libadvise_unroll.so
// The decision becomes metadata of the loop, which LLVM's own loop-unroll reads.
#include "unroll.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/ReleaseModeModelRunner.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
/// The features of make_model.py, in its order.
enum Feature { Depth, Blocks, Instructions, Loads, Stores, Calls, Branches, Trips, FeatureCount };

class AdviseUnroll : public PassInfoMixin<AdviseUnroll> {
public:
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    auto &loops = analyses.getResult<LoopAnalysis>(function);
    auto &evolution = analyses.getResult<ScalarEvolutionAnalysis>(function);
    auto &remarks = analyses.getResult<OptimizationRemarkEmitterAnalysis>(function);
    std::vector<TensorSpec> const features = {TensorSpec::createSpec<int64_t>("loop", {1, FeatureCount})};
    ReleaseModeModelRunner<unroll::Runner> policy(function.getContext(), features, "factor");
    for (Loop *loop : loops.getLoopsInPreorder())
      if (loop->isInnermost() && !isDecided(*loop)) {
        count(*loop, evolution, policy.getTensor<int64_t>(0));
        decide(*loop, 1u << policy.evaluate<int64_t>(), remarks);
      }
    return PreservedAnalyses::all(); // metadata is no change of the program
  }

private:
  /// By a pragma of the source.
  static bool isDecided(Loop const &loop) {
    for (char const *name : {"llvm.loop.unroll.disable", "llvm.loop.unroll.enable", "llvm.loop.unroll.full", "llvm.loop.unroll.count"})
      if (findStringMetadataForLoop(&loop, name))
        return true;
    return false;
  }

  static void count(Loop const &loop, ScalarEvolution &evolution, int64_t *features) {
    std::fill_n(features, FeatureCount, 0);
    features[Depth] = loop.getLoopDepth();
    features[Blocks] = loop.getNumBlocks();
    features[Trips] = evolution.getSmallConstantTripCount(&loop);
    for (BasicBlock const *block : loop.blocks())
      for (Instruction const &instruction : block->instructionsWithoutDebug()) {
        ++features[Instructions];
        features[Loads] += isa<LoadInst>(instruction);
        features[Stores] += isa<StoreInst>(instruction);
        features[Calls] += isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction);
        features[Branches] += instruction.isTerminator();
      }
  }

  static void decide(Loop &loop, unsigned factor, OptimizationRemarkEmitter &remarks) {
    if (factor == 1)
      addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable", 1);
    else
      addStringMetadataToLoop(&loop, "llvm.loop.unroll.count", factor);
    remarks.emit([&] {
      return OptimizationRemark("advise-unroll", "Factor", loop.getStartLoc(), loop.getHeader())
             << "unroll by " << ore::NV("Factor", factor);
    });
  }
};
} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "advise-unroll", "1", [](PassBuilder &builder) {
            builder.registerPipelineParsingCallback(
                [](StringRef name, FunctionPassManager &passes, ArrayRef<PassBuilder::PipelineElement>) {
                  return name == "advise-unroll" && (passes.addPass(AdviseUnroll()), true);
                });
            builder.registerVectorizerStartEPCallback(
                [](FunctionPassManager &passes, OptimizationLevel) { passes.addPass(AdviseUnroll()); });
          }};
}
