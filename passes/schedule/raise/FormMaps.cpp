//===- FormMaps.cpp - what is elementwise becomes nest.map --------------------------------------------------------===//
//
// Parallel linalg.generic, fills, generated tensors and slices that cannot be views. Consumers come first, so
// that fills and constants that they read stand in their bodies.
//
//===--------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/KernelLoops.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORMMAPS
#include "passes/Passes.h.inc"

namespace {

/// A map with this many loops and a last one of this length is left as it is: it needs no reshaped operands.
constexpr unsigned enoughLoops = 2;
constexpr int64_t enoughLength = 16;

//===--- From linalg.generic --------------------------------------------------------------------------------------===//

/// A convolution reads some channels of the result where they lie: that stays an image.
bool isCutIntoImages(Value result) {
  return llvm::any_of(result.getUsers(), [](Operation *user) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    return slice && slice.getType().getRank() == 4 && llvm::any_of(slice->getUsers(), [&](Operation *reader) {
             return isa<nest::ConvOp, nest::WindowOp>(reader) && reader->getOperand(0) == slice.getResult();
           });
  });
}

class MapFormer {
public:
  MapFormer(RewriterBase &rewriter, linalg::GenericOp op) : rewriter(rewriter), op(op) {}

  LogicalResult form() {
    rewriter.setInsertionPoint(op);
    collect();
    if (failed(order()))
      return failure();
    loops->dropUnitLoops();
    loops->readThroughSlices();
    if (!llvm::any_of(op->getResults(), isCutIntoImages))
      loops->joinLoops(rewriter, op.getLoc(), enoughLoops, enoughLength);
    create();
    return success();
  }

private:
  void collect();
  LogicalResult order();
  void create();

  RewriterBase &rewriter;
  linalg::GenericOp op;
  std::optional<KernelLoops> loops;
  SmallVector<std::pair<Value, AffineMap>> inputs; ///< as the body reads them
};

void MapFormer::collect() {
  SmallVector<KernelLoop> all;
  for (int64_t extent : op.getStaticLoopRanges())
    all.push_back({extent});
  op.getBody()->walk([&](linalg::IndexOp index) { all[index.getDim()].pinned = true; });
  loops.emplace(op.getContext(), all);
  for (OpOperand &operand : op->getOpOperands()) {
    std::pair<Value, AffineMap> const input{operand.get(), op.getMatchingIndexingMap(&operand)};
    if (!reads(op, operand) || isUniform(operand.get()) || llvm::is_contained(inputs, input))
      continue;
    inputs.push_back(input);
    loops->inputs.push_back({input.first, input.second, nullptr});
  }
  for (OpResult result : op->getResults())
    loops->outputs.push_back({freshDestination(rewriter, op.getTiedOpOperand(result)->get()),
                              op.getIndexingMapMatchingResult(result), result});
}

/// Brings the loops into the order in which the output lies in memory.
LogicalResult MapFormer::order() {
  llvm::SetVector<unsigned> order;
  for (AffineExpr expr : loops->outputs.front().map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      order.insert(dim.getPosition());
  for (unsigned i = 0; i < loops->count(); ++i)
    if (order.insert(i) && loops->loop(i).extent != 1)
      return op.emitError("writes an element of its output more than once");
  loops->reorder(order.getArrayRef());
  return success();
}

void MapFormer::create() {
  Location const loc = op.getLoc();
  SmallVector<Value> const outputs = loops->outputValues();
  auto map = rewriter.create<nest::MapOp>(loc, ValueRange(outputs).getTypes(), "map", loops->inputValues(),
                                          ValueRange(), outputs, loops->maps(rewriter));
  {
    OpBuilder::InsertionGuard const guard(rewriter);
    Block &body = *rewriter.createBlock(&map.getBody());
    for (auto const &input : inputs)
      body.addArgument(cast<ShapedType>(input.first.getType()).getElementType(), loc);
    BodyCopier copier(
        rewriter, op,
        [&](BlockArgument argument) -> Value {
          OpOperand &operand = *op.getMatchingOpOperand(argument);
          if (Value uniform = uniformValue(rewriter, operand.get()))
            return uniform;
          std::pair<Value, AffineMap> const input{operand.get(), op.getMatchingIndexingMap(&operand)};
          return body.getArgument(llvm::find(inputs, input) - inputs.begin());
        },
        [&](int64_t loop) -> Value {
          if (auto place = loops->find(loop))
            return rewriter.create<nest::IndexOp>(loc, rewriter.getIndexType(), *place);
          return rewriter.create<arith::ConstantIndexOp>(loc, 0);
        });
    SmallVector<Value> values;
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      values.push_back(copier.copy(yielded(op, i)));
    rewriter.create<nest::YieldOp>(loc, values);
  }
  loops->replaceResults(rewriter, map.getResults());
  rewriter.eraseOp(op);
}

//===--- From tensor operations -----------------------------------------------------------------------------------===//

/// A tensor of the shape that an operation makes.
FailureOr<Value> emptyFor(RewriterBase &rewriter, Operation *op) {
  auto const type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.hasStaticShape())
    return rewriter.create<tensor::EmptyOp>(op->getLoc(), type.getShape(), type.getElementType()).getResult();
  ReifiedRankedShapedTypeDims sizes;
  if (failed(reifyResultShapes(rewriter, op, sizes)))
    return failure();
  return rewriter.create<tensor::EmptyOp>(op->getLoc(), sizes.front(), type.getElementType()).getResult();
}

/// A map of one output whose body is written over the positions of its dimensions.
LogicalResult formPositionMap(RewriterBase &rewriter, Operation *op, function_ref<Value(ValueRange)> element) {
  Location const loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  FailureOr<Value> const destination = emptyFor(rewriter, op);
  if (failed(destination))
    return op->emitError("the shape of the result is not known before it is computed");
  unsigned const rank = cast<ShapedType>(destination->getType()).getRank();
  auto const maps = rewriter.getAffineMapArrayAttr(rewriter.getMultiDimIdentityMap(rank));
  auto map =
      rewriter.create<nest::MapOp>(loc, destination->getType(), "map", ValueRange(), ValueRange(), *destination, maps);
  OpBuilder::InsertionGuard const guard(rewriter);
  rewriter.createBlock(&map.getBody());
  SmallVector<Value> positions;
  for (unsigned d = 0; d < rank; ++d)
    positions.push_back(rewriter.create<nest::IndexOp>(loc, rewriter.getIndexType(), d));
  rewriter.create<nest::YieldOp>(loc, element(positions));
  rewriter.replaceOp(op, map.getResults());
  return success();
}

LogicalResult formGenerate(RewriterBase &rewriter, tensor::GenerateOp generate) {
  return formPositionMap(rewriter, generate, [&](ValueRange positions) {
    Block &body = generate.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), positions);
    for (Operation &op : body.without_terminator())
      rewriter.clone(op, mapping);
    return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
  });
}

/// A constant that is one number everywhere and that somebody wants as memory: filled, it needs no file. Small ones are
/// data like others.
bool isLargeFill(Operation *op) {
  constexpr int64_t small = 1024;
  DenseElementsAttr value;
  return matchPattern(op, m_Constant(&value)) && value.isSplat() && value.getNumElements() > small;
}

LogicalResult formFill(RewriterBase &rewriter, Operation *op) {
  auto const value = cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
  return formPositionMap(rewriter, op, [&](ValueRange) -> Value {
    return rewriter.create<arith::ConstantOp>(op->getLoc(), cast<TypedAttr>(value.getSplatValue<Attribute>()));
  });
}

/// What a loop changes further keeps its shape, in which the loop names its elements.
bool startsLoop(linalg::FillOp fill) { return llvm::any_of(fill->getUsers(), llvm::IsaPred<scf::ForOp>); }

/// True if the slice is not one piece of memory.
bool hasGaps(tensor::ExtractSliceOp slice) {
  auto const source = slice.getSourceType();
  bool split = false; // some outer dimension has several positions
  for (auto [d, size] : llvm::enumerate(slice.getStaticSizes())) {
    if (slice.getStaticStrides()[d] != 1)
      return true;
    if (split && size != source.getDimSize(d))
      return true;
    split |= size != 1;
  }
  return false;
}

/// Kernels read through slices by themselves; what wants its operand in one piece gets a copy.
bool needsCopy(tensor::ExtractSliceOp slice) {
  if (!hasGaps(slice) || !slice.getType().hasStaticShape())
    return false;
  bool const strided = llvm::any_of(slice.getStaticStrides(), [](int64_t stride) { return stride != 1; });
  return strided || llvm::any_of(slice->getUsers(), [](Operation *user) {
           return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user) || user->hasTrait<OpTrait::IsTerminator>();
         });
}

void formSlice(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  Location const loc = slice.getLoc();
  rewriter.setInsertionPoint(slice);
  auto const type = slice.getType();
  AffineMap const identity = rewriter.getMultiDimIdentityMap(type.getRank());
  KernelLoops loops(slice.getContext(), llvm::map_to_vector(type.getShape(), [](int64_t e) { return KernelLoop{e}; }));
  loops.inputs.push_back({slice.getResult(), identity, nullptr});
  loops.outputs.push_back({*emptyFor(rewriter, slice), identity, slice.getResult()});
  loops.readThroughSlices();
  if (loops.inputs.front().value == slice.getResult()) // steps known at run time only
    return;
  loops.dropUnitLoops();
  loops.joinLoops(rewriter, loc, enoughLoops, enoughLength);
  SmallVector<Value> const outputs = loops.outputValues();
  auto map = rewriter.create<nest::MapOp>(loc, ValueRange(outputs).getTypes(), "map", loops.inputValues(), ValueRange(),
                                          outputs, loops.maps(rewriter));
  OpBuilder::InsertionGuard const guard(rewriter);
  Block *body = rewriter.createBlock(&map.getBody(), {}, {type.getElementType()}, {loc});
  rewriter.create<nest::YieldOp>(loc, ValueRange(body->getArgument(0)));
  rewriter.setInsertionPointAfter(map);
  loops.replaceResults(rewriter, map.getResults());
}

//===--- The pass -------------------------------------------------------------------------------------------------===//

struct FormMaps : impl::FormMapsBase<FormMaps> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    generalize(rewriter);
    SmallVector<Operation *> found;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      found.push_back(op);
      return isa<FunctionOpInterface, RegionBranchOpInterface>(op) ? WalkResult::advance() : WalkResult::skip();
    });
    for (Operation *op : llvm::reverse(found))
      if (isOpTriviallyDead(op))
        rewriter.eraseOp(op);
      else if (failed(form(rewriter, op)))
        return signalPassFailure();
    eraseDead(rewriter, getOperation());
  }

  /// Named elementwise operations, except fills, become generic.
  void generalize(RewriterBase &rewriter) {
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp, linalg::FillOp>(op) && op.getNumReductionLoops() == 0)
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
  }

  LogicalResult form(RewriterBase &rewriter, Operation *op) {
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      if (!fill.hasPureTensorSemantics())
        return success();
      if (startsLoop(fill))
        return formPositionMap(rewriter, op, [&](ValueRange) { return fill.getInputs()[0]; });
      rewriter.setInsertionPoint(fill);
      auto generic = linalg::generalizeNamedOp(rewriter, fill);
      return failed(generic) ? failure() : MapFormer(rewriter, *generic).form();
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && generic.getNumReductionLoops() == 0)
      return generic.hasPureTensorSemantics() ? MapFormer(rewriter, generic).form() : success();
    if (auto generate = dyn_cast<tensor::GenerateOp>(op))
      return formGenerate(rewriter, generate);
    if (auto splat = dyn_cast<tensor::SplatOp>(op))
      return formPositionMap(rewriter, op, [&](ValueRange) { return splat.getInput(); });
    if (isa<arith::ConstantOp>(op) && isLargeFill(op))
      return formFill(rewriter, op);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op); slice && needsCopy(slice))
      formSlice(rewriter, slice);
    return success();
  }
};
} // namespace
} // namespace ml2k
