//===- TmTensor.cpp - what torch-mlir has no operation of linalg for ----------------------------------------------===//

#include "translator/ir/TmTensor.h"

using namespace mlir;
using namespace ml2k;

#include "translator/ir/TmTensorDialect.cpp.inc"

#define GET_OP_CLASSES
#include "translator/ir/TmTensor.cpp.inc"

void tm_tensor::TmTensorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "translator/ir/TmTensor.cpp.inc"
      >();
}

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

static LogicalResult verifyCounts(Operation *op, ValueRange inputs, size_t least, size_t most, ValueRange outputs,
                                  size_t wanted) {
  if (inputs.size() < least || inputs.size() > most || (wanted ? outputs.size() != wanted : outputs.empty()))
    return op->emitOpError("has another number of operands");
  if (op->getResultTypes() != outputs.getTypes())
    return op->emitOpError("result types differ from the types of the outputs");
  return success();
}

static LogicalResult verifyDimension(Operation *op, int64_t dimension, Value row) {
  if (dimension < 0 || dimension >= tensorType(row).getRank())
    return op->emitOpError() << "has no dimension " << dimension;
  return success();
}

/// Arguments of these types, and one value of type `yielded`.
static LogicalResult verifyBody(Operation *op, Region &body, TypeRange arguments, Type yielded) {
  Block &block = body.front();
  auto yield = block.empty() ? tm_tensor::YieldOp() : dyn_cast<tm_tensor::YieldOp>(block.back());
  if (!yield || block.getArgumentTypes() != arguments || yield.getValues().size() != 1 ||
      yield.getValues()[0].getType() != yielded)
    return op->emitOpError("has a body of other types");
  return success();
}

static bool agree(int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); }

/// Shapes agree where both are known.
static bool agree(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  return a.size() == b.size() && llvm::all_of_zip(a, b, [](int64_t x, int64_t y) { return agree(x, y); });
}

LogicalResult tm_tensor::ScanOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 1, 1, getOutputs(), 2)) ||
      failed(verifyDimension(*this, getDimension(), getInputs()[0])))
    return failure();
  RankedTensorType const row = tensorType(getInputs()[0]);
  SmallVector<int64_t> others(row.getShape());
  others.erase(others.begin() + getDimension());
  if (tensorType(getOutputs()[0]) != row || tensorType(getOutputs()[1]).getElementType() != row.getElementType() ||
      !agree(tensorType(getOutputs()[1]).getShape(), others))
    return emitOpError("outputs do not fit the input");
  Type const element = row.getElementType();
  return verifyBody(*this, getBody(), {element, element}, element);
}

LogicalResult tm_tensor::SortOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 0, 0, getOutputs(), 0)) ||
      failed(verifyDimension(*this, getDimension(), getOutputs()[0])))
    return failure();
  SmallVector<Type> arguments;
  for (Value output : getOutputs()) {
    if (!agree(tensorType(output).getShape(), tensorType(getOutputs()[0]).getShape()))
      return emitOpError("outputs have different shapes");
    arguments.append(2, tensorType(output).getElementType());
  }
  return verifyBody(*this, getBody(), arguments, IntegerType::get(getContext(), 1));
}

LogicalResult tm_tensor::TopKOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 1, 2, getOutputs(), 2)) ||
      failed(verifyDimension(*this, getDimension(), getInputs()[0])))
    return failure();
  RankedTensorType const row = tensorType(getInputs()[0]), values = tensorType(getOutputs()[0]),
                         places = tensorType(getOutputs()[1]);
  SmallVector<int64_t> wanted(row.getShape());
  if (values.getRank() != row.getRank())
    return emitOpError("outputs do not fit the input");
  int64_t &count = wanted[getDimension()], kept = values.getDimSize(getDimension());
  if (!ShapedType::isDynamic(count) && !ShapedType::isDynamic(kept) && kept > count)
    return emitOpError("wants more elements than a row has");
  count = kept;
  if (values.getElementType() != row.getElementType() || !places.getElementType().isSignlessInteger() ||
      !agree(values.getShape(), wanted) || !agree(places.getShape(), wanted) ||
      (getInputs().size() == 2 && !agree(tensorType(getInputs()[1]).getShape(), row.getShape())))
    return emitOpError("outputs do not fit the input");
  return verifyBody(*this, getBody(), {row.getElementType(), row.getElementType()}, IntegerType::get(getContext(), 1));
}

LogicalResult tm_tensor::ScatterOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 2, 2, getOutputs(), 1)))
    return failure();
  RankedTensorType const updates = tensorType(getInputs()[0]), indices = tensorType(getInputs()[1]),
                         out = tensorType(getOutputs()[0]);
  if (indices.getRank() != 2 || !indices.getElementType().isSignlessInteger() || indices.isDynamicDim(1) ||
      updates.getRank() < 1 || updates.getElementType() != out.getElementType() ||
      !agree(updates.getShape().take_front(), indices.getShape().take_front()))
    return emitOpError("indices do not fit the updates");
  int64_t const depth = indices.getDimSize(1), rest = out.getRank() - depth;
  SmallVector<int64_t> sorted(getDimensionMap());
  llvm::sort(sorted);
  if (rest < 0 || updates.getRank() != 1 + rest || !llvm::equal(sorted, llvm::seq<int64_t>(0, depth)))
    return emitOpError("updates do not fit the output");
  return verifyBody(*this, getBody(), {updates.getElementType(), updates.getElementType()}, out.getElementType());
}

LogicalResult tm_tensor::AttentionOp::verify() {
  if (failed(verifyCounts(*this, getInputs(), 3, 4, getOutputs(), 1)))
    return failure();
  RankedTensorType const q = tensorType(getInputs()[0]), k = tensorType(getInputs()[1]), v = tensorType(getInputs()[2]);
  RankedTensorType const out = tensorType(getOutputs()[0]);
  Type const element = q.getElementType();
  if (!isa<FloatType>(element) || llvm::any_of(getOperandTypes(), [&](Type type) {
        return cast<RankedTensorType>(type).getElementType() != element;
      }))
    return emitOpError("is of numbers of different types");
  int64_t const rank = q.getRank();
  if (rank < 2 || k.getRank() != rank || v.getRank() != rank || out.getRank() != rank)
    return emitOpError("is of matrices of different ranks");
  auto const batch = [&](RankedTensorType type) { return type.getShape().drop_back(2); };
  auto const matrix = [](RankedTensorType type) { return type.getShape().take_back(2); };
  if (!agree(batch(q), batch(k)) || !agree(batch(q), batch(v)) || !agree(batch(q), batch(out)) ||
      !agree(matrix(q).back(), matrix(k).back()) || !agree(matrix(k).front(), matrix(v).front()) ||
      !agree(matrix(out), {matrix(q).front(), matrix(v).back()}))
    return emitOpError("is of matrices that do not fit each other");
  if (getInputs().size() == 4) {
    SmallVector<int64_t> scores(batch(q));
    scores.append({matrix(q).front(), matrix(k).front()});
    ArrayRef<int64_t> const mask = tensorType(getInputs()[3]).getShape();
    if (mask.size() > scores.size() || !agree(mask, ArrayRef(scores).take_back(mask.size())))
      return emitOpError("has a mask that does not fit the scores");
  }
  return success();
}
