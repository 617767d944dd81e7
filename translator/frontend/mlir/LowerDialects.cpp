//===- LowerDialects.cpp - TOSA, sparse tensors and memrefs to what the passes take -------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"
#include "translator/frontend/mlir/Steps.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

template <class Predicate> static bool anyOp(func::FuncOp entry, Predicate predicate) {
  return entry.walk([&](Operation *op) { return predicate(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

static bool anyType(func::FuncOp entry, function_ref<bool(Type)> predicate) {
  return llvm::any_of(entry.getArgumentTypes(), predicate) ||
         anyOp(entry, [&](Operation *op) { return llvm::any_of(op->getResultTypes(), predicate); });
}

//===--- Elementwise ----------------------------------------------------------------------------------------------===//

LogicalResult ml2k::mlir_import::lowerElementwise(func::FuncOp entry) {
  bool const isNeeded = anyOp(entry, [](Operation *op) {
    return OpTrait::hasElementwiseMappableTraits(op) &&
           llvm::any_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  });
  if (!isNeeded)
    return success();
  PassManager passes(entry.getContext(), func::FuncOp::getOperationName());
  passes.addPass(createConvertElementwiseToLinalgPass());
  return passes.run(entry);
}

//===--- TOSA -----------------------------------------------------------------------------------------------------===//

/// The order of MLIR's own tosa-to-linalg pipeline, without its validation of profiles.
static LogicalResult lowerTosa(func::FuncOp entry) {
  PassManager passes(entry.getContext(), func::FuncOp::getOperationName());
  passes.addPass(tosa::createTosaMakeBroadcastablePass());
  passes.addPass(tosa::createTosaInferShapesPass());
  passes.addPass(tosa::createTosaOptionalDecompositions());
  passes.addPass(tosa::createTosaToLinalgNamed());
  passes.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  passes.addPass(tosa::createTosaMakeBroadcastablePass());
  passes.addPass(tosa::createTosaToLinalg());
  passes.addPass(tosa::createTosaToArith(/*includeApplyRescale=*/true));
  passes.addPass(tosa::createTosaToTensor());
  passes.addPass(tosa::createTosaToSCF());
  passes.addPass(createCanonicalizerPass());
  return passes.run(entry);
}

//===--- Sparse tensors -------------------------------------------------------------------------------------------===//

static bool isSparseType(Type type) { return sparse_tensor::getSparseTensorEncoding(type) != nullptr; }

/// Loops over the stored elements, all sequential: upstream's parallel strategies do not look at what is written, so
/// which loop is parallel is left to our own proof.
static LogicalResult sparsify(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  passes.addPass(createPreSparsificationRewritePass());
  passes.addPass(createSparseReinterpretMapPass());
  SparsificationOptions const options(SparseParallelizationStrategy::kNone, /*enableRT=*/false);
  passes.addPass(createSparsificationPass(options));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  return passes.run(module);
}

namespace {

/// Replaces a sparse argument by the arrays that hold it, in the order of its levels: positions, coordinates, values.
class SparseArgument {
public:
  SparseArgument(func::FuncOp entry, unsigned place)
      : entry(entry), place(place), argument(entry.getArgument(place)),
        name(entry.getArgAttrOfType<StringAttr>(place, "nest.name").str()) {}

  LogicalResult replace() {
    if (failed(takeStoredOrder()))
      return failure();
    collectArrays();
    OpBuilder builder = OpBuilder::atBlockBegin(&entry.getBody().front());
    for (Operation *use : llvm::make_early_inc_range(argument.getUsers()))
      if (failed(replaceUse(use, builder)))
        return failure();
    entry.eraseArgument(place);
    return success();
  }

private:
  /// A matrix stored by columns is read as its transpose stored by rows.
  LogicalResult takeStoredOrder() {
    for (Operation *use : llvm::make_early_inc_range(argument.getUsers()))
      if (auto view = dyn_cast<sparse_tensor::ReinterpretMapOp>(use)) {
        if (!argument.hasOneUse())
          return use->emitError("sparse operation is not supported: its tensor is also read in another order");
        argument.setType(view.getDest().getType());
        view.getDest().replaceAllUsesWith(argument);
        view.erase();
        return success();
      }
    return success();
  }

  /// A new argument per array that the loops read.
  void collectArrays() {
    unsigned next = place + 1;
    int64_t const levels = cast<RankedTensorType>(argument.getType()).getRank();
    for (int64_t level = 0; level < levels; ++level) {
      add<sparse_tensor::ToPositionsOp>(level, "positions", next);
      add<sparse_tensor::ToCoordinatesOp>(level, "coordinates", next);
    }
    for (Operation *use : llvm::make_early_inc_range(argument.getUsers()))
      if (auto values = dyn_cast<sparse_tensor::ToValuesOp>(use))
        become(values, "values", next);
  }

  template <class Op> void add(int64_t level, StringRef array, unsigned &next) {
    for (Operation *use : llvm::make_early_inc_range(argument.getUsers())) {
      auto op = dyn_cast<Op>(use);
      if (!op || int64_t(op.getLevel()) != level)
        continue;
      if (std::is_same_v<Op, sparse_tensor::ToPositionsOp>)
        positions[level] = op->getResult(0);
      become(op, levelName(array, level), next);
    }
  }

  std::string levelName(StringRef array, int64_t level) const {
    auto const encoding = sparse_tensor::getSparseTensorEncoding(argument.getType());
    auto const compressed = llvm::count_if(
        encoding.getLvlTypes(), [](sparse_tensor::LevelType type) { return !sparse_tensor::isDenseLT(type); });
    return compressed > 1 ? (array + Twine(level)).str() : array.str();
  }

  void become(Operation *read, StringRef array, unsigned &next) {
    auto const attribute = StringAttr::get(entry.getContext(), name + "_" + array);
    entry.insertArgument(
        next, read->getResult(0).getType(),
        DictionaryAttr::get(entry.getContext(), {{StringAttr::get(entry.getContext(), "nest.name"), attribute}}),
        read->getLoc());
    BlockArgument const array_ = entry.getArgument(next++);
    for (auto &[level, value] : positions)
      if (value == read->getResult(0))
        value = array_;
    read->getResult(0).replaceAllUsesWith(array_);
    read->erase();
  }

  /// What is left are extents. A dense level above a compressed one has one position less than its array.
  LogicalResult replaceUse(Operation *use, OpBuilder &builder) {
    auto const level = levelOf(use);
    auto const type = cast<RankedTensorType>(argument.getType());
    if (!level)
      return use->emitError("sparse operation is not supported: sparse tensors can be read by linalg operations only");
    Value extent;
    if (!type.isDynamicDim(*level)) // levels are dimensions here: levelOf() checks it
      extent = builder.create<arith::ConstantIndexOp>(use->getLoc(), type.getDimSize(*level));
    else if (*level == 0 && positions.count(1)) {
      Value const zero = builder.create<arith::ConstantIndexOp>(use->getLoc(), 0);
      Value const one = builder.create<arith::ConstantIndexOp>(use->getLoc(), 1);
      Value const length = builder.create<memref::DimOp>(use->getLoc(), positions[1], zero);
      extent = builder.create<arith::SubIOp>(use->getLoc(), length, one);
    } else
      return use->emitError() << "extent " << *level << " of '" << name << "' is not known; give it with --dim " << name
                              << "." << *level << "=N";
    use->getResult(0).replaceAllUsesWith(extent);
    use->erase();
    return success();
  }

  std::optional<int64_t> levelOf(Operation *use) const {
    if (auto dim = dyn_cast<tensor::DimOp>(use))
      return dim.getConstantIndex();
    auto level = dyn_cast<sparse_tensor::LvlOp>(use);
    auto const encoding = sparse_tensor::getSparseTensorEncoding(argument.getType());
    if (level && encoding.isIdentity())
      return level.getConstantLvlIndex();
    return std::nullopt;
  }

  func::FuncOp entry;
  unsigned place;
  BlockArgument argument;
  std::string name;
  std::map<int64_t, Value> positions;
};

} // namespace

/// Its text is of arrays that the caller has.
static LogicalResult refusePrint(func::FuncOp entry) {
  WalkResult const result = entry.walk([](sparse_tensor::PrintOp op) {
    op.emitError(
        "prints how a tensor is stored, which is not supported; return the tensor: forward() fills its arrays");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Sparsification reads destinations where they were and writes them where bufferization puts them.
static void copyDestinations(func::FuncOp entry) {
  entry.walk([](linalg::LinalgOp op) {
    if (llvm::none_of(op->getOperandTypes(), isSparseType))
      return;
    OpBuilder builder(op);
    for (OpOperand &init : op.getDpsInitsMutable())
      if (auto const type = dyn_cast<RankedTensorType>(init.get().getType());
          type && !type.getEncoding() && !op.getMatchingBlockArgument(&init).use_empty())
        init.set(builder.create<bufferization::AllocTensorOp>(op.getLoc(), type, ValueRange(), init.get()));
  });
}

/// Upstream's sparsification crashes on some of them.
static LogicalResult refuseBlocks(func::FuncOp entry) {
  WalkResult const result = entry.walk([](linalg::LinalgOp op) {
    for (Type type : op->getOperandTypes())
      if (auto const encoding = sparse_tensor::getSparseTensorEncoding(type); encoding && !encoding.isPermutation()) {
        op->emitError("sparse operation is not supported: a tensor stored in blocks can only be the one sparse operand "
                      "of an operation that is zero where that is");
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A destination that is one number everywhere is filled, not copied from a constant.
static void fillDestinations(func::FuncOp entry) {
  entry.walk([](linalg::LinalgOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      SplatElementsAttr value;
      auto const type = dyn_cast<RankedTensorType>(init.get().getType());
      if (!type || type.getEncoding() || !type.getElementType().isIntOrFloat() ||
          !matchPattern(init.get(), m_Constant(&value)))
        continue;
      OpBuilder builder(op);
      Value const number = builder.create<arith::ConstantOp>(op.getLoc(), value.getSplatValue<TypedAttr>());
      Value const empty = builder.create<tensor::EmptyOp>(op.getLoc(), type.getShape(), type.getElementType());
      init.set(builder.create<linalg::FillOp>(op.getLoc(), number, empty).getResult(0));
    }
  });
}

static LogicalResult lowerSparse(ModuleOp module, func::FuncOp entry) {
  fillDestinations(entry);
  if (failed(refusePrint(entry)))
    return failure();
  for (Value returned : entry.getBody().front().getTerminator()->getOperands())
    if (isa<BlockArgument>(returned) && isSparseType(returned.getType()))
      return entry.emitError("a sparse argument cannot be a result; the caller has it");
  ml2k::mlir_import::spellOutEntries(entry);
  if (failed(ml2k::mlir_import::makeDenseForms(entry)))
    return failure();
  ml2k::mlir_import::splitSparseSums(entry);
  ml2k::mlir_import::densifyOthers(entry);
  if (failed(ml2k::mlir_import::takeSparseOperands(entry)))
    return failure();
  if (!anyType(entry, isSparseType))
    return success();
  if (failed(refuseBlocks(entry)))
    return failure();
  copyDestinations(entry);
  if (failed(sparsify(module)))
    return failure();
  for (unsigned i = entry.getNumArguments(); i-- > 0;)
    if (isSparseType(entry.getArgument(i).getType()) && failed(SparseArgument(entry, i).replace()))
      return failure();
  return success();
}

//===--- Tensors and memrefs in one function ----------------------------------------------------------------------===//

/// The argument whose place a returned tensor takes: through destinations of operations and what loops carry.
static BlockArgument destinationOf(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *const op = result.getOwner();
    if (auto kernel = dyn_cast<DestinationStyleOpInterface>(op))
      value = kernel.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      value = loop.getInitArgs()[result.getResultNumber()];
    else
      return {};
  }
  return cast<BlockArgument>(value);
}

/// Tensors are values: an argument keeps its elements, unless it is the destination of a result of a sparse program.
/// To be asked before the first rewrite, which may take a copy for its source.
static void protectArguments(func::FuncOp entry) {
  bool const isSparseProgram = anyType(entry, isSparseType);
  llvm::SmallPtrSet<Value, 4> updated;
  for (Value returned : entry.getBody().front().getTerminator()->getOperands())
    if (BlockArgument const argument = destinationOf(returned); argument && isSparseProgram)
      updated.insert(argument);
  StringRef const writable = bufferization::BufferizationDialect::kWritableAttrName;
  for (BlockArgument argument : entry.getArguments())
    if (isa<RankedTensorType>(argument.getType()) && !updated.contains(argument) &&
        !entry.getArgAttr(argument.getArgNumber(), writable))
      entry.setArgAttr(argument.getArgNumber(), writable, BoolAttr::get(entry.getContext(), false));
}

/// Dense tensors become memrefs. A returned argument is an argument that is read and written.
static LogicalResult bufferize(ModuleOp module, func::FuncOp entry) {
  // A tensor made from a memref is not written through another name: sparsification makes no others
  entry.walk([](bufferization::ToTensorOp op) { op.setRestrict(true); });
  ml2k::mlir_import::keepCarriedTensors(entry);
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
  PassManager passes(module.getContext());
  passes.addPass(bufferization::createOneShotBufferizePass(options));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(bufferization::createDropEquivalentBufferResultsPass());
  return passes.run(module);
}

LogicalResult ml2k::mlir_import::bufferizeWrites(ModuleOp module, func::FuncOp entry) {
  protectArguments(entry);
  if (failed(lowerElementwise(entry)) || failed(bufferize(module, entry)))
    return failure();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    entry.removeArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName);
  return success();
}

/// Whether an element of a tensor has a part in it.
static bool isOfElement(Value value) {
  Operation *op = value.getDefiningOp();
  return op &&
         (isa<tensor::ExtractOp>(op) || (op->getNumRegions() == 0 && llvm::any_of(op->getOperands(), isOfElement)));
}

/// Whether a loop takes slices whose extents differ from round to round, such as the tile at a border.
static bool variesInLoop(tensor::ExtractSliceOp slice) {
  auto loop = slice->getParentOfType<scf::ForOp>();
  return loop && llvm::any_of(slice.getSizes(), [&](Value size) { return !loop.isDefinedOutsideOfLoop(size); });
}

/// Whether data decide where a slice lies: kernels that are launched with it cannot know that.
static bool isPlacedByData(Operation *op) {
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op);
  return slice && isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
         llvm::any_of(slice.getOffsets(), isOfElement);
}

LogicalResult ml2k::mlir_import::lowerToCoreDialects(ModuleOp module, func::FuncOp entry) {
  bool const sharesTensors =
      anyOp(entry, [](Operation *op) { return isa<scf::ForallOp>(op) && op->getNumResults() != 0; });
  protectArguments(entry);
  if (anyOp(entry, [](Operation *op) { return isa_and_nonnull<tosa::TosaDialect>(op->getDialect()); }) &&
      failed(lowerTosa(entry)))
    return failure();
  if (anyType(entry, isSparseType) && failed(lowerSparse(module, entry)))
    return failure();
  bool const tensors = anyType(entry, [](Type type) { return isa<TensorType>(type); });
  bool const memrefs = anyType(entry, [](Type type) { return isa<BaseMemRefType>(type); });
  // Their kernels are those of loop programs, around which the host asks what to do, or how large a tile is
  bool const decides = anyOp(entry, [](Operation *op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op); slice && variesInLoop(slice))
      return true;
    if (isPlacedByData(op))
      return true;
    return (isa<scf::WhileOp>(op) && llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>)) ||
           (branch && llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
            isOfElement(branch.getCondition()));
  });
  bool const isComplex = anyType(entry, [](Type type) { return isa<ComplexType>(getElementTypeOrSelf(type)); });
  if (((tensors && (memrefs || isComplex)) || sharesTensors || decides) && failed(bufferize(module, entry)))
    return failure();
  if (isComplex && failed(splitComplex(module, entry)))
    return failure();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    entry.removeArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName);
  return lowerForalls(entry);
}
