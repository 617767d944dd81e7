//===- Schedule.cpp - a user's own schedule in the transform dialect ----------------------------------------------===//
//
// `transform.named_sequence @__transform_main`, of the input or of a file, runs on the program as it was written, by
// upstream's interpreter. It may transform the program and nothing else: sequences that print, name passes, or could
// run for hours are refused before the first of their operations is carried out.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Schedule.h"

#include "translator/frontend/mlir/MlirImport.h"
#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/SCF/TransformOps/SCFTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ml2k;

static StringRef const mainName = transform::TransformDialect::kTransformEntryPointSymbolName;
static StringRef const sequencesName = transform::TransformDialect::kWithNamedSequenceAttrName;

//===--- Where it stands ------------------------------------------------------------------------------------------===//

static bool isOfTransforms(Operation &op) { return isa_and_nonnull<transform::TransformDialect>(op.getDialect()); }

/// The program may stand in a module of its own, beside the one of its schedule.
static void unwrap(ModuleOp module) {
  if (!llvm::hasSingleElement(*module.getBody()))
    return;
  auto inner = dyn_cast<ModuleOp>(module.getBody()->front());
  if (!inner)
    return;
  module.getBody()->getOperations().splice(module.getBody()->end(), inner.getBody()->getOperations());
  inner.erase();
}

static LogicalResult takeOwn(ModuleOp module, ModuleOp schedule) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (!isOfTransforms(op))
      continue;
    if (!isa<transform::NamedSequenceOp>(op))
      return op.emitOpError() << "is not run; write the schedule as transform.named_sequence @" << mainName
                              << " in a module with the attribute " << sequencesName;
    op.moveBefore(schedule.getBody(), schedule.getBody()->end());
  }
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> ml2k::takeSchedule(ModuleOp module) {
  OwningOpRef<ModuleOp> schedule = ModuleOp::create(module.getLoc());
  if (failed(takeOwn(module, *schedule)))
    return failure();
  for (auto inner : llvm::make_early_inc_range(module.getOps<ModuleOp>()))
    if (inner->hasAttr(sequencesName)) {
      if (failed(takeOwn(inner, *schedule)))
        return failure();
      if (inner.getBody()->empty())
        inner.erase();
    }
  module->removeAttr(sequencesName);
  if (schedule->getBody()->empty())
    return OwningOpRef<ModuleOp>();
  unwrap(module);
  (*schedule)->setAttr(sequencesName, UnitAttr::get(module.getContext()));
  return schedule;
}

//===--- What may run ---------------------------------------------------------------------------------------------===//

static constexpr uint64_t mostSteps = 10000, largestFactor = 1024;

static std::string whyNotRun(Operation *op) {
  if (isa<transform::PrintOp>(op))
    return "a schedule prints nothing; --emit=imported shows the program after it";
  if (isa<transform::ApplyRegisteredPassOp>(op))
    return "a schedule runs no passes by name";
  uint64_t factor = 0;
  if (auto unroll = dyn_cast<transform::LoopUnrollOp>(op))
    factor = unroll.getFactor();
  if (auto unroll = dyn_cast<transform::LoopUnrollAndJamOp>(op))
    factor = unroll.getFactor();
  if (factor > largestFactor)
    return "the factor " + std::to_string(factor) + " is above " + std::to_string(largestFactor);
  return "";
}

namespace {
/// How many operations a sequence carries out with all that it includes: a sequence that includes another one twice,
/// thirty times in a row, is a short text.
class Steps {
public:
  uint64_t of(Operation *sequence) {
    auto const [known, isNew] = counted.try_emplace(sequence, mostSteps + 1); // while it is counted: it includes itself
    if (!isNew)
      return known->second;
    uint64_t steps = 0;
    sequence->walk([&](Operation *) { ++steps; });
    if (std::optional<SymbolTable::UseRange> const uses = SymbolTable::getSymbolUses(sequence))
      for (SymbolTable::SymbolUse const &use : *uses)
        if (Operation *const other = symbols.lookupNearestSymbolFrom(sequence->getParentOp(), use.getSymbolRef()))
          steps = std::min(steps + of(other), mostSteps + 1);
    return counted[sequence] = steps;
  }

private:
  SymbolTableCollection symbols;
  DenseMap<Operation *, uint64_t> counted;
};
} // namespace

/// Upstream's verifier takes what stands in a sequence for steps without a look.
static LogicalResult checkKinds(ModuleOp module) {
  WalkResult const result = module.walk([](Operation *op) {
    Operation *around = op->getParentOp();
    if (!around || !isOfTransforms(*around) || isOfTransforms(*op))
      return WalkResult::advance();
    op->emitOpError() << "is no step of a schedule";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ml2k::mlir_import::checkSequences(ModuleOp module) {
  if (failed(checkKinds(module)))
    return failure();
  Steps steps;
  WalkResult const result = module.walk([&](transform::NamedSequenceOp sequence) {
    if (steps.of(sequence) <= mostSteps)
      return WalkResult::advance();
    sequence.emitError() << "includes itself, or has more than " << mostSteps << " steps with all that it includes";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult checkSteps(ModuleOp schedule) {
  WalkResult const result = schedule.walk([](Operation *op) {
    std::string const reason = whyNotRun(op);
    return reason.empty() ? WalkResult::advance()
                          : (op->emitOpError() << "is refused: " << reason, WalkResult::interrupt());
  });
  return failure(result.wasInterrupted());
}

static transform::NamedSequenceOp findMain(ModuleOp schedule) {
  auto main = SymbolTable(schedule).lookup<transform::NamedSequenceOp>(mainName);
  if (!main)
    return schedule.emitError() << "has no transform.named_sequence @" << mainName, nullptr;
  if (main.isExternal() || main.getNumArguments() != 1 || main.getNumResults() != 0 ||
      !isa<transform::TransformHandleTypeInterface>(main.getArgumentTypes().front()))
    return main.emitOpError() << "has to take one handle, which becomes the program, and to return nothing", nullptr;
  return main;
}

OwningOpRef<ModuleOp> ml2k::readSchedule(ScheduleText const &text, MLIRContext &context) {
  OwningOpRef<ModuleOp> file = parseMlir(text.bytes, text.fileName, context);
  if (!file)
    return {};
  Location const location = file->getLoc();
  FailureOr<OwningOpRef<ModuleOp>> schedule = takeSchedule(*file);
  if (failed(schedule))
    return {};
  if (!*schedule)
    return emitError(location) << "is no schedule: there is no transform.named_sequence", nullptr;
  if (!file->getBody()->empty())
    return file->getBody()->front().emitError("a file of a schedule holds sequences of the transform dialect only"),
           nullptr;
  return std::move(*schedule);
}

//===--- Running --------------------------------------------------------------------------------------------------===//

/// Sequences can make operations of dialects that no input can have.
static LogicalResult checkLeft(ModuleOp module, transform::NamedSequenceOp main) {
  llvm::StringSet<> readable;
  for (StringRef name : module.getContext()->getAvailableDialects())
    readable.insert(name);
  WalkResult const result = module.walk([&](Operation *op) {
    bool const isReadable = readable.contains(op->getName().getDialectNamespace()) && !isOfTransforms(*op);
    if (isReadable)
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitError() << "becomes '" << op->getName() << "', which is not printed";
    error.attachNote(main.getLoc()) << "by this schedule";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ml2k::runSchedule(ModuleOp module, ModuleOp schedule) {
  transform::NamedSequenceOp main = findMain(schedule);
  if (!main || failed(checkSteps(schedule)))
    return failure();
  if (failed(transform::applyTransformNamedSequence(module, main, ModuleOp(), transform::TransformOptions())))
    return failure();
  return success(succeeded(verify(module)) && succeeded(checkLeft(module, main)));
}
