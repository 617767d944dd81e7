//===- Entry.cpp - from a module to the one function that is translated -------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

//===--- The entry ------------------------------------------------------------------------------------------------===//

static std::string listed(ArrayRef<func::FuncOp> functions) {
  return llvm::join(llvm::map_range(functions, [](func::FuncOp f) { return f.getName(); }), ", ");
}

func::FuncOp ml2k::mlir_import::selectEntry(ModuleOp module, std::string const &name) {
  SmallVector<func::FuncOp> candidates;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (function.getName() == name)
      return function;
    if (function.isPublic())
      candidates.push_back(function);
  }
  if (name.empty() && candidates.size() == 1)
    return candidates.front();
  InFlightDiagnostic error = module.emitError();
  if (candidates.empty() && name.empty())
    error << "has no public function to translate";
  else if (name.empty())
    error << "has several public functions; choose one with --entry: " << listed(candidates);
  else
    error << "has no function '" << name << "'; it has: " << listed(candidates);
  return {};
}

//===--- Calls and globals ----------------------------------------------------------------------------------------===//

/// An immutable ml_program.global with a value is a constant under another name.
static void foldGlobals(ModuleOp module) {
  SymbolTable symbols(module);
  module.walk([&](ml_program::GlobalLoadConstOp load) {
    auto global = symbols.lookup<ml_program::GlobalOp>(load.getGlobal().getLeafReference());
    auto const value = global ? dyn_cast_or_null<TypedAttr>(global.getValueAttr()) : TypedAttr();
    if (!value)
      return;
    OpBuilder builder(load);
    Location const named = NameLoc::get(builder.getStringAttr("const \"" + global.getSymName() + "\""), load.getLoc());
    load.replaceAllUsesWith(builder.create<arith::ConstantOp>(named, value).getResult());
    load.erase();
  });
  for (auto global : llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>()))
    if (SymbolTable::symbolKnownUseEmpty(global, module))
      global.erase();
}

/// A function of C that is declared and called. Its name and types are checked with the operation.
static LogicalResult callExtern(func::CallOp call, func::FuncOp callee) {
  for (auto [operand, type] : llvm::zip(call.getOperandTypes(), callee.getArgumentTypes()))
    if (isa<TensorType>(operand))
      return call.emitError("a function of C takes numbers and memrefs, not a ") << type;
  if (call.getNumResults() > 1)
    return call.emitError("a function of C returns one number or none");
  SmallVector<bool> writes;
  for (unsigned i = 0; i < callee.getNumArguments(); ++i)
    writes.push_back(bool(callee.getArgAttr(i, "nest.output")));
  OpBuilder builder(call);
  auto made =
      builder.create<ml2k::nest::CallOp>(call.getLoc(), call.getResultTypes(), callee.getName(), call.getOperands(),
                                         writes, callee->getAttrOfType<StringAttr>("nest.extern") == "device");
  if (failed(made.verify()))
    return failure();
  made->setDiscardableAttrs(call->getDiscardableAttrDictionary());
  call.replaceAllUsesWith(made->getResults());
  call.erase();
  return success();
}

static LogicalResult callExterns(ModuleOp module, func::FuncOp entry) {
  SymbolTable symbols(module);
  WalkResult const result = entry.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    bool const isExtern = callee && callee.isExternal() && callee->hasAttr("nest.extern");
    return WalkResult(isExtern ? callExtern(call, callee) : success());
  });
  return failure(result.wasInterrupted());
}

static LogicalResult refuseCalls(func::FuncOp entry) {
  WalkResult const result = entry.walk([&](CallOpInterface call) {
    call->emitError("call cannot be inlined: the function is recursive, or declared only, or called through a pointer");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ml2k::mlir_import::isolateEntry(ModuleOp module, func::FuncOp entry) {
  for (auto function : module.getOps<func::FuncOp>())
    function.setVisibility(function == entry ? SymbolTable::Visibility::Public : SymbolTable::Visibility::Private);
  if (!entry.getOps<func::CallOp>().empty() ||
      entry.walk([](CallOpInterface) { return WalkResult::interrupt(); }).wasInterrupted()) {
    PassManager inliner(module.getContext());
    inliner.addPass(createInlinerPass({}, [](OpPassManager &) {}));
    if (failed(inliner.run(module)))
      return failure();
  }
  if (failed(callExterns(module, entry)) || failed(refuseCalls(entry)))
    return failure();
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (function != entry)
      function.erase();
  foldGlobals(module);
  return success();
}

//===--- Symbolic dimensions --------------------------------------------------------------------------------------===//

namespace {
struct ArgumentDim {
  unsigned argument;
  int64_t dim;
};
} // namespace

static std::string argumentName(func::FuncOp entry, unsigned i) {
  return entry.getArgAttrOfType<StringAttr>(i, "nest.name").str();
}

static FailureOr<ArgumentDim> findDim(func::FuncOp entry, StringRef key) {
  auto const [argument, place] = key.rsplit('.');
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    if (argumentName(entry, i) != argument && ("arg" + Twine(i)).str() != argument)
      continue;
    auto const type = dyn_cast<ShapedType>(entry.getArgumentTypes()[i]);
    int64_t dim = 0;
    if (!type || !type.hasRank())
      return entry.emitError() << "--dim " << key << ": '" << argument << "' has no dimensions";
    if (place.empty() && type.getNumDynamicDims() == 1)
      dim = std::distance(type.getShape().begin(), llvm::find(type.getShape(), ShapedType::kDynamic));
    else if (place.getAsInteger(10, dim) || dim < 0 || dim >= type.getRank())
      return entry.emitError() << "--dim " << key << ": '" << argument << "' is a " << type
                               << "; name one of its dimensions, as in " << argument << ".0";
    return ArgumentDim{i, dim};
  }
  return entry.emitError() << "--dim " << key << ": no such argument; there are: "
                           << llvm::join(llvm::map_range(llvm::seq(entry.getNumArguments()),
                                                         [&](unsigned i) { return argumentName(entry, i); }),
                                         ", ");
}

static LogicalResult fixDim(func::FuncOp entry, StringRef key, int64_t extent) {
  FailureOr<ArgumentDim> const at = findDim(entry, key);
  if (failed(at))
    return failure();
  BlockArgument argument = entry.getArgument(at->argument);
  auto type = cast<ShapedType>(argument.getType());
  if (!type.isDynamicDim(at->dim))
    return type.getDimSize(at->dim) == extent
               ? success()
               : LogicalResult(entry.emitError()
                               << "--dim " << key << "=" << extent << ": the dimension is fixed in " << type);
  SmallVector<int64_t> shape(type.getShape());
  shape[at->dim] = extent;
  argument.setType(type.clone(shape));
  OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
  Operation *const cast = isa<TensorType>(type)
                              ? builder.create<tensor::CastOp>(entry.getLoc(), type, argument).getOperation()
                              : builder.create<memref::CastOp>(entry.getLoc(), type, argument).getOperation();
  argument.replaceAllUsesExcept(cast->getResult(0), cast);
  return success();
}

LogicalResult ml2k::mlir_import::narrowResults(func::FuncOp entry) {
  PassManager cleaner(entry.getContext(), func::FuncOp::getOperationName());
  cleaner.addPass(createCanonicalizerPass());
  if (failed(cleaner.run(entry)))
    return failure();
  Operation *const end = entry.getBody().back().getTerminator();
  for (OpOperand &operand : end->getOpOperands())
    if (auto cast = operand.get().getDefiningOp<tensor::CastOp>())
      if (tensor::preservesStaticInformation(cast.getType(), cast.getSource().getType()))
        operand.set(cast.getSource());
  entry.setType(FunctionType::get(entry.getContext(), entry.getBody().getArgumentTypes(), end->getOperandTypes()));
  return success();
}

LogicalResult ml2k::mlir_import::fixDims(func::FuncOp entry, std::map<std::string, int64_t> const &dims) {
  for (auto const &[key, extent] : dims)
    if (failed(fixDim(entry, key, extent)))
      return failure();
  entry.setType(FunctionType::get(entry.getContext(), entry.getBody().getArgumentTypes(), entry.getResultTypes()));
  return dims.empty() ? success() : narrowResults(entry);
}
