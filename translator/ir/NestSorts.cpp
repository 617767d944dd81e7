//===- NestSorts.cpp - what a printable nest.top_k and nest.sort must satisfy -------------------------------------===//

#include "translator/ir/NestVerify.h"
#include "translator/ir/SortRoom.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ml2k::nest;

static ShapedType shaped(Value value) { return cast<ShapedType>(value.getType()); }

/// An output has the input's shape but for the elements that are kept along the row.
static LogicalResult verifyKept(Operation *op, ShapedType in, ShapedType out, int64_t along) {
  if (out.getRank() != in.getRank() || out.isDynamicDim(along))
    return op->emitOpError("requires outputs of the input's rank and a known number of elements to keep");
  for (int64_t d = 0; d < in.getRank(); ++d) {
    bool const isKnown = !in.isDynamicDim(d) && !out.isDynamicDim(d);
    if (isKnown && (d == along ? out.getDimSize(d) > in.getDimSize(d) : out.getDimSize(d) != in.getDimSize(d)))
      return op->emitOpError() << "output extent " << out.getDimSize(d) << " for " << in.getDimSize(d) << " elements";
  }
  return success();
}

static LogicalResult verifyRows(Operation *op, ShapedType in, int64_t along) {
  bool const isDimension = along >= 0 && along < in.getRank();
  return isDimension ? success() : op->emitOpError() << "has no dimension " << along;
}

/// Elements and their positions.
static LogicalResult verifyElements(Operation *op, ShapedType in, ShapedType values, ShapedType positions,
                                    int64_t along) {
  if (values.getElementType() != in.getElementType() || !positions.getElementType().isInteger(64))
    return op->emitOpError("makes elements of the input's type and positions of i64");
  for (ShapedType out : {values, positions})
    if (failed(verifyKept(op, in, out, along)))
      return failure();
  if (values.getDimSize(along) != positions.getDimSize(along))
    return op->emitOpError("keeps as many elements as positions");
  return success();
}

/// The first elements of parts and their positions.
static LogicalResult verifyParts(TopKOp op) {
  ShapedType const values = shaped(op.getOutputs()[2]), positions = shaped(op.getOutputs()[3]);
  if (values.getElementType() != shaped(op.getInputs()[0]).getElementType() ||
      !positions.getElementType().isInteger(32))
    return op.emitOpError("requires room for elements of the input's type and for positions of i32");
  for (ShapedType room : {values, positions})
    if (room.getRank() != 2 || room.isDynamicDim(1) || room.getDimSize(1) % op.getCount() != 0 ||
        room.getDimSize(1) < op.getCount())
      return op.emitOpError("requires room for lists of parts: [rows, parts * k]");
  return success();
}

LogicalResult TopKOp::verify() {
  bool const hasParts = getOutputs().size() == 4;
  if (getInputs().size() != 1 || !getExtras().empty() || (getOutputs().size() != 2 && !hasParts))
    return emitOpError("takes one input, no extras and two outputs, or four");
  ShapedType const in = shaped(getInputs()[0]);
  if (failed(verifyRows(*this, in, getAlong())) ||
      failed(verifyElements(*this, in, shaped(getOutputs()[0]), shaped(getOutputs()[1]), getAlong())))
    return failure();
  if ((hasParts && failed(verifyParts(*this))) || failed(verifyResults(*this)))
    return failure();
  SmallVector<Value> const both(2, getInputs()[0]);
  return verifyBlock(*this, getBefore(), 0, both, {IntegerType::get(getContext(), 1)});
}

/// Positions of the slices of a matrix.
static LogicalResult verifySlices(SortOp op, ShapedType in) {
  ShapedType const positions = shaped(op.getOutputs()[0]);
  if (in.getRank() != 2 || op.getAlong() != 0 || in.isDynamicDim(0) || in.isDynamicDim(1))
    return op.emitOpError("sorts slices of a matrix along dimension 0, of known length");
  if (!positions.getElementType().isInteger(64) || positions.getRank() != 1 || positions.isDynamicDim(0) ||
      positions.getDimSize(0) > in.getDimSize(0))
    return op.emitOpError("makes positions of i64, at most one for each slice");
  return success();
}

LogicalResult SortOp::verify() {
  size_t const outputs = getSlices() ? 2 : 3;
  if (getInputs().size() != 1 || !getExtras().empty() || getOutputs().size() != outputs)
    return emitOpError() << "takes one input, no extras and " << outputs << " outputs";
  ShapedType const in = shaped(getInputs()[0]), room = shaped(getRoom());
  Type const element = in.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 64)
    return emitOpError() << "cannot sort " << element;
  if (failed(verifyRows(*this, in, getAlong())) ||
      failed(getSlices() ? verifySlices(*this, in)
                         : verifyElements(*this, in, shaped(getOutputs()[0]), shaped(getOutputs()[1]), getAlong())))
    return failure();
  int64_t const entries = getSlices() ? in.getDimSize(0) : in.hasStaticShape() ? in.getNumElements() : 0;
  if (room.getRank() != 1 || room.getElementType() != roomType(element, getSlices()) ||
      (room.hasStaticShape() && room.getDimSize(0) < entries * roomFor(element, getSlices())))
    return emitOpError() << "requires room for two entries of " << (getSlices() ? "i32" : "i64") << " for each element";
  return verifyResults(*this);
}

Value ml2k::nest::roomForSort(OpBuilder &builder, Location loc, Value input) {
  auto const type = cast<RankedTensorType>(input.getType());
  int64_t words = SortOp::roomFor(type.getElementType(), /*slices=*/false);
  Value size;
  for (auto [d, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      words *= extent;
      continue;
    }
    Value const own = builder.create<tensor::DimOp>(loc, input, d);
    size = size ? builder.create<arith::MulIOp>(loc, size, own).getResult() : own;
  }
  Type const word = SortOp::roomType(type.getElementType(), /*slices=*/false);
  if (!size)
    return builder.create<tensor::EmptyOp>(loc, ArrayRef<int64_t>{words}, word);
  Value const factor = builder.create<arith::ConstantIndexOp>(loc, words);
  Value const total = builder.create<arith::MulIOp>(loc, size, factor);
  return builder.create<tensor::EmptyOp>(loc, ArrayRef<int64_t>{ShapedType::kDynamic}, word, total);
}
