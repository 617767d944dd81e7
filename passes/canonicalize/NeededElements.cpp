//===- NeededElements.cpp - only what is read is computed, only what is not zero is multiplied -------------------===//

#include "passes/canonicalize/NeededElements.h"

#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/canonicalize/JoinedParts.h"
#include "passes/canonicalize/PartsOfJoined.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_JOINPARTS
#define GEN_PASS_DEF_NEEDEDELEMENTS
#include "passes/Passes.h.inc"

namespace {

struct NeededElements : impl::NeededElementsBase<NeededElements> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateReadParts(patterns);
    populateSkippedZeros(patterns);
    populatePartsOfJoined(patterns);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

struct JoinParts : impl::JoinPartsBase<JoinParts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateJoinedParts(patterns);
    populateSumOfComponents(patterns);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
