//===- NestBufferize.cpp - nest kernels under upstream one-shot bufferization -------------------------------------===//

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ml2k::nest;

namespace {

/// A kernel reads its inputs and overwrites its outputs whatever they held; a recurrent one starts from what they hold.
template <class Kernel> struct KernelModel : DstBufferizableOpInterfaceExternalModel<KernelModel<Kernel>, Kernel> {
  /// The outputs are the last operands. DestinationStyleOpInterface makes an attribute whenever it is asked for them,
  /// which the analysis does for every pair of uses.
  static unsigned firstOutput(Operation *op) { return cast<Kernel>(op).getOutputs().getBeginOperandIndex(); }

  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, AnalysisState const &) const {
    return isa<RecurrentOp>(op) || operand.getOperandNumber() < firstOutput(op);
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand, AnalysisState const &) const {
    return operand.getOperandNumber() >= firstOutput(op);
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand, AnalysisState const &) const {
    unsigned const number = operand.getOperandNumber(), first = firstOutput(op);
    if (number < first)
      return {};
    return {{op->getOpResult(number - first), BufferRelation::Equivalent}};
  }

  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value, AnalysisState const &) const {
    unsigned const output = firstOutput(op) + cast<OpResult>(value).getResultNumber();
    return {{&op->getOpOperand(output), BufferRelation::Equivalent}};
  }

  /// A map whose input and output are addressed by the same map reads an element before it writes the same one.
  bool bufferizesToElementwiseAccess(Operation *, AnalysisState const &, ArrayRef<OpOperand *>) const { return false; }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, BufferizationOptions const &options) const {
    auto kernel = cast<DestinationStyleOpInterface>(op);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    SmallVector<Value> const outputs(ArrayRef<Value>(operands).take_back(kernel.getNumDpsInits()));
    OperationState state(op->getLoc(), op->getName(), operands, TypeRange{}, op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *lowered = rewriter.create(state);
    for (auto [to, from] : llvm::zip(lowered->getRegions(), op->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.begin());
    replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
};

/// A weight is memory that nobody writes.
struct WeightModel : BufferizableOpInterface::ExternalModel<WeightModel, WeightOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return false; }
  bool isWritable(Operation *, Value, AnalysisState const &) const { return false; }
  AliasingOpOperandList getAliasingOpOperands(Operation *, Value, AnalysisState const &) const { return {}; }

  FailureOr<BaseMemRefType> getBufferType(Operation *, Value value, BufferizationOptions const &,
                                          SmallVector<Value> &) const {
    auto type = cast<RankedTensorType>(value.getType());
    return BaseMemRefType(MemRefType::get(type.getShape(), type.getElementType()));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, BufferizationOptions const &) const {
    auto weight = cast<WeightOp>(op);
    auto type = cast<RankedTensorType>(weight.getType());
    replaceOpWithNewBufferizedOp<WeightOp>(rewriter, op, MemRefType::get(type.getShape(), type.getElementType()),
                                           weight.getNameAttr(), weight.getValueAttr(), weight.getPackingAttr());
    return success();
  }
};

/// Upstream's model loses the sizes of the result, which cannot be inferred where a group has several unknown ones.
struct ExpandModel : BufferizableOpInterface::ExternalModel<ExpandModel, tensor::ExpandShapeOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, AnalysisState const &) const { return false; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, AnalysisState const &) const { return false; }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &, AnalysisState const &) const {
    return {{op->getOpResult(0), BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, BufferizationOptions const &options) const {
    auto expand = cast<tensor::ExpandShapeOp>(op);
    FailureOr<Value> const buffer = getBuffer(rewriter, expand.getSrc(), options);
    if (failed(buffer))
      return failure();
    replaceOpWithNewBufferizedOp<memref::ExpandShapeOp>(
        rewriter, op, expand.getResultType().getShape(), *buffer, expand.getReassociationIndices(),
        getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), rewriter));
    return success();
  }
};

OpFoldResult sum(OpBuilder &builder, Location location, OpFoldResult a, OpFoldResult b) {
  auto const x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (x && y)
    return builder.getIndexAttr(*x + *y);
  Value const left = getValueOrCreateConstantIndexOp(builder, location, a);
  Value const right = getValueOrCreateConstantIndexOp(builder, location, b);
  return builder.create<arith::AddIOp>(location, left, right).getResult();
}

/// One buffer, and a copy of each input into its slice. As a chain of tensor.insert_slice, which is what upstream makes
/// of it, the analysis takes time with the third power of the number of inputs.
struct ConcatModel : BufferizableOpInterface::ExternalModel<ConcatModel, tensor::ConcatOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }
  bool bufferizesToMemoryRead(Operation *, OpOperand &, AnalysisState const &) const { return true; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, AnalysisState const &) const { return false; }
  AliasingValueList getAliasingValues(Operation *, OpOperand &, AnalysisState const &) const { return {}; }

  /// Where each input begins along the axis, and at last where they end.
  static SmallVector<OpFoldResult> offsetsOf(OpBuilder &builder, Location location, ValueRange inputs, unsigned axis) {
    SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(0)};
    for (Value input : inputs)
      offsets.push_back(sum(builder, location, offsets.back(), memref::getMixedSize(builder, location, input, axis)));
    return offsets;
  }

  static FailureOr<Value> allocate(tensor::ConcatOp concat, RewriterBase &rewriter, Value first, OpFoldResult end,
                                   BufferizationOptions const &options) {
    auto const type = cast<RankedTensorType>(concat.getResult().getType());
    SmallVector<OpFoldResult> extents = memref::getMixedSizes(rewriter, concat.getLoc(), first);
    extents[concat.getDim()] = end;
    SmallVector<Value> sizes;
    for (auto [extent, known] : llvm::zip(extents, type.getShape()))
      if (ShapedType::isDynamic(known))
        sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, concat.getLoc(), extent));
    return options.createAlloc(rewriter, concat.getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
                               sizes);
  }

  static LogicalResult copyInto(Value whole, Value input, OpFoldResult offset, unsigned axis, Location location,
                                RewriterBase &rewriter, BufferizationOptions const &options) {
    SmallVector<OpFoldResult> const sizes = memref::getMixedSizes(rewriter, location, input);
    SmallVector<OpFoldResult> const strides(sizes.size(), rewriter.getIndexAttr(1));
    SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
    offsets[axis] = offset;
    Value const slice = rewriter.create<memref::SubViewOp>(location, whole, offsets, sizes, strides);
    return options.createMemCpy(rewriter, location, input, slice);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, BufferizationOptions const &options) const {
    auto concat = cast<tensor::ConcatOp>(op);
    SmallVector<Value> inputs;
    for (Value input : concat.getInputs()) {
      FailureOr<Value> const buffer = getBuffer(rewriter, input, options);
      if (failed(buffer))
        return failure();
      inputs.push_back(*buffer);
    }
    unsigned const axis = concat.getDim();
    SmallVector<OpFoldResult> const offsets = offsetsOf(rewriter, op->getLoc(), inputs, axis);
    FailureOr<Value> const whole = allocate(concat, rewriter, inputs.front(), offsets.back(), options);
    if (failed(whole))
      return failure();
    for (auto [input, offset] : llvm::zip(inputs, offsets))
      if (failed(copyInto(*whole, input, offset, axis, op->getLoc(), rewriter, options)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, op, *whole);
    return success();
  }
};

} // namespace

void ml2k::nest::registerBufferizableOpInterfaceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NestDialect *) {
    MapOp::attachInterface<KernelModel<MapOp>>(*context);
    ReduceOp::attachInterface<KernelModel<ReduceOp>>(*context);
    ContractOp::attachInterface<KernelModel<ContractOp>>(*context);
    ConvOp::attachInterface<KernelModel<ConvOp>>(*context);
    WindowOp::attachInterface<KernelModel<WindowOp>>(*context);
    RowOp::attachInterface<KernelModel<RowOp>>(*context);
    RecurrentOp::attachInterface<KernelModel<RecurrentOp>>(*context);
    TopKOp::attachInterface<KernelModel<TopKOp>>(*context);
    SortOp::attachInterface<KernelModel<SortOp>>(*context);
    TreesOp::attachInterface<KernelModel<TreesOp>>(*context);
    AssembleOp::attachInterface<KernelModel<AssembleOp>>(*context);
    WeightOp::attachInterface<WeightModel>(*context);
  });
  // The first model stays: this has to be registered before upstream's
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExpandShapeOp::attachInterface<ExpandModel>(*context);
    tensor::ConcatOp::attachInterface<ConcatModel>(*context);
  });
}
