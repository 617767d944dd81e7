//===- SchedulePass.cpp - a user's schedule as a pass of ml2kokkos-opt --------------------------------------------===//

#include "translator/tool/SchedulePass.h"

#include "translator/frontend/mlir/Schedule.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace ml2k;

namespace {

class RunSchedule : public PassWrapper<RunSchedule, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RunSchedule)

  RunSchedule() = default;
  RunSchedule(RunSchedule const &other) : PassWrapper(other) { file = other.file; }

  StringRef getArgument() const final { return "ml2k-run-schedule"; }
  StringRef getDescription() const final { return "run a schedule of the transform dialect and take it out"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<transform::TransformDialect>(); }

  void runOnOperation() final {
    FailureOr<OwningOpRef<ModuleOp>> schedule = takeSchedule(getOperation());
    if (succeeded(schedule) && !file.empty())
      schedule = readFile();
    if (failed(schedule) || (*schedule && failed(runSchedule(getOperation(), **schedule))))
      signalPassFailure();
  }

private:
  FailureOr<OwningOpRef<ModuleOp>> readFile() {
    auto const buffer = llvm::MemoryBuffer::getFile(file);
    if (!buffer)
      return getOperation().emitError() << file << ": cannot be read: " << buffer.getError().message();
    OwningOpRef<ModuleOp> schedule = readSchedule({file, (*buffer)->getBuffer()}, getContext());
    if (!schedule)
      return failure();
    return schedule;
  }

  Option<std::string> file{*this, "file", llvm::cl::desc("sequences that take the place of the module's own")};
};

} // namespace

void ml2k::registerSchedulePass() { PassRegistration<RunSchedule>(); }
