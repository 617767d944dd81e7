//===- Frontend.cpp - the front end that an input needs -----------------------------------------------------------===//

#include "translator/tool/Frontend.h"

#include "translator/frontend/mlir/MlirImport.h"
#include "translator/frontend/onnx/importer/OnnxImport.h"
#include "translator/tool/Print.h"
#include "translator/tool/Supported.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"

using namespace ml2k;

/// ONNX has no place for a schedule: one runs on the operations that its nodes became.
static mlir::OwningOpRef<mlir::ModuleOp> scheduled(mlir::OwningOpRef<mlir::ModuleOp> module, ScheduleText const &text) {
  if (!module || text.bytes.empty())
    return module;
  auto const schedule = readSchedule(text, *module->getContext());
  if (!schedule || failed(runSchedule(*module, *schedule)))
    return {};
  mlir::WalkResult const result = module->walk([](mlir::scf::ForallOp loop) {
    loop.emitError("an ONNX model takes no scf.forall; tile_using_for gives loops of the host");
    return mlir::WalkResult::interrupt();
  });
  return result.wasInterrupted() ? nullptr : std::move(module);
}

/// Devices and forms inside kernels multiply floats faster, or nothing else.
static bool multipliesIntegers(ToolOptions const &options) {
  return options.target != "device" && !printsColumns(options);
}

mlir::OwningOpRef<mlir::ModuleOp> ml2k::importInput(Input const &input, ToolOptions const &options,
                                                    ScheduleText const &schedule, mlir::MLIRContext &context,
                                                    std::vector<std::string> &externalFiles) {
  if (input.kind == InputKind::Onnx)
    return scheduled(importOnnxBuffer(context, input.buffer->getBuffer(), input.fileName, input.directory,
                                      {options.dims, options.entry, options.operands, multipliesIntegers(options),
                                       /*loopsOverSteps=*/!printsColumns(options)},
                                      &externalFiles),
                     schedule);
  return importMlir(input.buffer->getBuffer(), {input.fileName, options.entry, options.dims, schedule}, context);
}

void ml2k::printSupportedOps(llvm::raw_ostream &out) {
  out << "MLIR dialects\n";
  printSupportedMlirOps(out);
  out << "\nONNX operators (since-versions)\n";
  for (SupportedOp const &op : supportedOnnxOps())
    out << (op.domain.empty() ? "" : op.domain + ".") << op.name << " "
        << llvm::join(llvm::map_range(op.versions, [](int version) { return std::to_string(version); }), " ") << "\n";
}
