//===- SettleFile.cpp - what the printed files hold as a whole ----------------------------------------------------===//

#include "passes/prepare/Prepare.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_SETTLEFILE
#include "passes/prepare/Passes.h.inc"

/// Weights of so many bytes are literals in the source.
static constexpr int64_t embeddedBytes = 1024;

static nest::WeightStorage storageOf(func::FuncOp entry) {
  int64_t weights = 0, bytes = 0;
  entry.walk([&](nest::WeightOp weight) {
    ++weights;
    bytes += bytesOf(weight.getType());
  });
  return weights > 0 && bytes <= embeddedBytes ? nest::WeightStorage::Embedded : nest::WeightStorage::File;
}

/// A kernel that may have a single work item: a sequential block, or one whose block takes neighbours at once.
static bool canBeSingle(nest::LoopKernelOp kernel) {
  using enum nest::KernelBlock;
  nest::ScheduleAttr const schedule = nest::scheduleOf(kernel);
  size_t const loops = kernel.getLowers().size();
  return loops == 0 || (schedule && (llvm::is_contained({ForStrips, ScanColumns, ReduceSpan}, schedule.getBlock()) ||
                                     (loops == 1 && schedule.getBlock() == ForGrid)));
}

/// Whether a loop of the host launches such kernels again and again.
static bool launchesSingleInLoop(func::FuncOp entry) {
  return entry
      .walk([](nest::LoopKernelOp kernel) {
        bool const isInLoop = kernel->getParentOfType<scf::ForOp>() || kernel->getParentOfType<scf::WhileOp>();
        return isInLoop && canBeSingle(kernel) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A launch takes microseconds, as does a small network; threads cannot share a work item.
static nest::Launches launchesOf(func::FuncOp entry) {
  if (isSmall(entry))
    return nest::Launches::Never;
  bool const mayBeSingle = isSmallAtOne(entry) || launchesSingleInLoop(entry);
  return mayBeSingle ? nest::Launches::Several : nest::Launches::Always;
}

namespace {
struct SettleFile : impl::SettleFileBase<SettleFile> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (llvm::is_contained({"auto", "embed", "file"}, weights))
      return success();
    return emitError(UnknownLoc::get(context)) << "weights is auto, embed or file, not '" << weights << "'";
  }

  void runOnOperation() override {
    func::FuncOp entry = getOperation();
    if (entry.isExternal())
      return;
    auto const storage = llvm::StringSwitch<nest::WeightStorage>(weights)
                             .Case("embed", nest::WeightStorage::Embedded)
                             .Case("file", nest::WeightStorage::File)
                             .Default(storageOf(entry));
    if (!entry->hasAttr("nest.weights"))
      entry->setAttr("nest.weights", nest::WeightStorageAttr::get(&getContext(), storage));
    if (!entry->hasAttr("nest.launches"))
      entry->setAttr("nest.launches", nest::LaunchesAttr::get(&getContext(), launchesOf(entry)));
  }
};
} // namespace

} // namespace ml2k
