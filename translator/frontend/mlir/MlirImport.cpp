//===- MlirImport.cpp - the MLIR front end: reading and the order of its steps ------------------------------------===//

#include "translator/frontend/mlir/MlirImport.h"

#include "translator/frontend/mlir/CrashGuard.h"
#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/LoopSteps.h"
#include "translator/ir/Nest.h"
#include "translator/ir/Registration.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ml2k;

static Location locationOf(MLIRContext &context, llvm::MemoryBuffer const &source) {
  return FileLineColLoc::get(&context, source.getBufferIdentifier(), 1, 1);
}

static bool isPermutation(ArrayRef<int64_t> values) {
  auto sorted = llvm::to_vector(values);
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<int64_t>(0, sorted.size()));
}

static bool fitsItsType(tensor::ExpandShapeOp op) {
  ArrayRef<int64_t> const given = op.getStaticOutputShape(), type = op.getResultType().getShape();
  return given.size() == type.size() && llvm::all_of_zip(given, type, [](int64_t a, int64_t b) {
           return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
         });
}

/// Whether a slice has elements, as far as the text says which, that its tensor does not have.
template <class Slice, class TypeOf> static bool isOutside(Operation *op, TypeOf const &wholeOf) {
  auto slice = dyn_cast<Slice>(op);
  if (!slice || slice.getStaticOffsets().size() != size_t(wholeOf(slice).getRank()))
    return false;
  return llvm::any_of(
      llvm::zip(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides(), wholeOf(slice).getShape()),
      [](auto const &along) {
        auto const [offset, size, stride, extent] = along;
        int64_t last = 0;
        bool const isKnown = llvm::none_of(ArrayRef<int64_t>{offset, size, stride, extent}, ShapedType::isDynamic);
        return isKnown && size > 0 &&
               (offset < 0 || llvm::MulOverflow(size - 1, stride, last) || llvm::AddOverflow(last, offset, last) ||
                last < 0 || last >= extent);
      });
}

/// What the verifier of LLVM 19 trusts: it reads extents at the numbers of a permutation, and the first of the two
/// values that a reduction joins.
static LogicalResult checkBeforeVerifier(Block &block) {
  bool const isBroken =
      block
          .walk([](Operation *op) {
            if (auto transpose = dyn_cast<linalg::TransposeOp>(op);
                transpose && !isPermutation(transpose.getPermutation())) {
              op->emitOpError("permutation is not valid");
              return WalkResult::interrupt();
            }
            if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op); expand && !fitsItsType(expand)) {
              op->emitOpError("output shape does not fit the type of the result");
              return WalkResult::interrupt();
            }
            if (isOutside<tensor::ExtractSliceOp>(op, [](auto slice) { return slice.getSourceType(); }) ||
                isOutside<tensor::InsertSliceOp>(op, [](auto slice) { return slice.getDestType(); })) {
              op->emitOpError("runs out of the extents of its tensor");
              return WalkResult::interrupt();
            }
            if (failed(checkLoopSteps(op)))
              return WalkResult::interrupt();
            if (isa<scf::ReduceReturnOp>(op) && op->getBlock()->getNumArguments() == 0) {
              op->emitOpError("is in a block that has no values to join");
              return WalkResult::interrupt();
            }
            return WalkResult::advance();
          })
          .wasInterrupted();
  return failure(isBroken);
}

/// Parses into `block`. The text's names are known only to the parser's state, so they are taken here.
static LogicalResult parseInto(Block &block, llvm::SourceMgr const &sources, AsmParserState &text,
                               MLIRContext &context) {
  llvm::MemoryBuffer const &source = *sources.getMemoryBuffer(sources.getMainFileID());
  bool reported = false;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &message) {
    if (reported) // what follows is about the same operation
      return success();
    reported = mlir_import::reportForeignDialect(message, source);
    return success(reported);
  });
  ParserConfig const config(&context, /*verifyAfterParse=*/false);
  bool const isText = !isBytecode(source.getMemBufferRef());
  if (isText && (failed(mlir_import::refuseInnerDefinitions(source, context)) ||
                 failed(mlir_import::refuseBrokenLists(source, context))))
    return failure();
  LogicalResult parsed = failure();
  bool const isOver = mlir_import::survives([&] {
    parsed = isText ? parseAsmSourceFile(sources, &block, config, &text)
                    : readBytecodeFile(source.getMemBufferRef(), &block, config);
  });
  if (!isOver)
    return emitError(locationOf(context, source), "LLVM's reader of MLIR crashes on this file");
  if (failed(parsed))
    return failure();
  return checkBeforeVerifier(block);
}

/// A file holds either one module or its contents.
static OwningOpRef<ModuleOp> asModule(Block &block, Location location) {
  if (llvm::hasSingleElement(block.getOperations()))
    if (auto module = dyn_cast<ModuleOp>(block.front())) {
      module->remove();
      return module;
    }
  OwningOpRef<ModuleOp> module = ModuleOp::create(location);
  module->getBody()->getOperations().splice(module->getBody()->end(), block.getOperations());
  return module;
}

OwningOpRef<ModuleOp> ml2k::parseMlir(StringRef bytes, StringRef fileName, MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = llvm::MemoryBuffer::getMemBuffer(bytes, fileName);
  Location const start = locationOf(context, *buffer);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  AsmParserState text;
  Block block;
  if (failed(parseInto(block, sources, text, context)))
    return {};
  OwningOpRef<ModuleOp> module = asModule(block, start);
  if (failed(mlir_import::checkSequences(*module)) || failed(verify(*module)))
    return {};
  mlir_import::takeNamesFromText(*module, text);
  return module;
}

/// The module's own schedule, or the one that takes its place; null without either.
static FailureOr<OwningOpRef<ModuleOp>> scheduleOf(ModuleOp module, ScheduleText const &text) {
  FailureOr<OwningOpRef<ModuleOp>> schedule = takeSchedule(module);
  if (failed(schedule) || text.bytes.empty())
    return schedule;
  if (!(*schedule = readSchedule(text, *module.getContext())))
    return failure();
  return schedule;
}

/// The one function that is left, its calls inlined, after the schedule; null after an error.
static func::FuncOp scheduledEntry(ModuleOp module, MlirImportOptions const &options) {
  FailureOr<OwningOpRef<ModuleOp>> const schedule = scheduleOf(module, options.schedule);
  if (failed(schedule))
    return {};
  func::FuncOp entry = mlir_import::selectEntry(module, options.entry);
  if (!entry || failed(mlir_import::isolateEntry(module, entry)))
    return {};
  if (!*schedule)
    return entry;
  std::string const name = entry.getName().str();
  if (failed(runSchedule(module, **schedule)))
    return {};
  entry = mlir_import::selectEntry(module, name); // it may have outlined parts of it, or made another one of it
  if (!entry || failed(mlir_import::isolateEntry(module, entry)))
    return {};
  return entry;
}

OwningOpRef<ModuleOp> ml2k::importMlir(StringRef bytes, MlirImportOptions const &options, MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseMlir(bytes, options.fileName, context);
  if (!module)
    return {};
  // The steps below make operations of dialects that the text need not have
  context
      .loadDialect<arith::ArithDialect, bufferization::BufferizationDialect, linalg::LinalgDialect, math::MathDialect,
                   memref::MemRefDialect, nest::NestDialect, scf::SCFDialect, tensor::TensorDialect>();
  func::FuncOp entry = scheduledEntry(*module, options);
  if (!entry || failed(mlir_import::takeEarlyForms(*module, entry)) || failed(mlir_import::lowerTorchForms(entry)) ||
      failed(mlir_import::lowerLaunches(entry)))
    return {};
  mlir_import::nameSignature(entry);
  mlir_import::warnOfUnwritten(entry);
  if (failed(mlir_import::lowerForms(*module, entry)) || failed(mlir_import::lowerElementwise(entry)) ||
      failed(mlir_import::fixDims(entry, options.dims)) || failed(mlir_import::lowerToCoreDialects(*module, entry)) ||
      failed(mlir_import::checkImported(entry)))
    return {};
  if (!options.dims.empty() && failed(mlir_import::narrowResults(entry)))
    return {};
  mlir_import::nameExtents(entry);
  mlir_import::checkSliceExtents(entry);
  return module;
}
