//===- SparseDense.cpp - sparse tensors that are computed as dense ones -------------------------------------------===//
//
// What has neither the entries of an operand nor a kernel that assembles it is made as a dense tensor: operations with
// such results, and reshapes and concatenations of sparse tensors. Where the program returns it, its entries are
// collected at the end; in between it stays dense. The elements are the same; that an entry is zero is not kept.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k::mlir_import {
namespace {

using Encoding = sparse_tensor::SparseTensorEncodingAttr;

RankedTensorType denseType(Value value) {
  auto const type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

bool isRearrangement(Operation *op) {
  return isa<tensor::ConcatOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp, tensor::PadOp,
             sparse_tensor::ConcatenateOp>(op);
}

/// A conversion of sparse elements to others; those of dense ones are no business of ours.
bool changesType(Operation *op) {
  auto convert = dyn_cast<sparse_tensor::ConvertOp>(op);
  return convert && isSparse(convert.getSource()) &&
         getElementTypeOrSelf(convert.getSource()) != getElementTypeOrSelf(convert.getResult());
}

class DenseForms {
public:
  explicit DenseForms(func::FuncOp entry) : entry(entry), body(entry.getBody().front()) {}

  LogicalResult make() {
    SmallVector<Operation *> found;
    for (Operation &op : body)
      if ((isRearrangement(&op) && llvm::any_of(op.getOperands(), isSparse)) ||
          (op.getNumResults() == 1 && isSparse(op.getResult(0))) || changesType(&op))
        found.push_back(&op);
    for (Operation *op : found)
      if (failed(make(op)))
        return failure();
    if (failed(collectReturned()))
      return failure();
    eraseUnused();
    return success();
  }

private:
  LogicalResult make(Operation *op) {
    if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, linalg::FillOp>(op))
      return success();
    if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op))
      return makeConversion(convert);
    if (isRearrangement(op))
      return makeRearrangement(op);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumDpsInits() != 1 || !linalgOp.hasPureTensorSemantics())
      return success();
    return makeOperation(linalgOp);
  }

  std::optional<Storage> storageOf(Value value) const {
    if (!isSparse(value))
      return std::nullopt;
    auto const pattern = patterns.find(value);
    int64_t const own = int64_t(reinterpret_cast<intptr_t>(value.getAsOpaquePointer()));
    return Storage{sparse_tensor::getSparseTensorEncoding(value.getType()),
                   pattern == patterns.end() ? own : pattern->second};
  }

  LogicalResult makeConversion(sparse_tensor::ConvertOp convert) {
    Type const to = getElementTypeOrSelf(convert.getResult());
    bool const isSame = to == getElementTypeOrSelf(convert.getSource());
    if (isSame &&
        conversionOf(storageOf(convert.getSource()), sparse_tensor::getSparseTensorEncoding(convert.getType())))
      return success();
    Value dense = asDense(convert, convert.getSource());
    if (!isSame)
      dense = converted(convert, dense, to);
    if (!isSparse(convert.getResult())) {
      OpBuilder builder(convert);
      if (dense.getType() != convert.getType())
        dense = builder.create<tensor::CastOp>(convert.getLoc(), convert.getType(), dense);
      convert.getResult().replaceAllUsesWith(dense);
      convert.erase();
      return success();
    }
    if (failed(replace(convert.getResult(), dense)))
      return failure();
    convert.erase();
    return success();
  }

  static Value converted(Operation *op, Value dense, Type to) {
    OpBuilder builder(op);
    Location const location = op->getLoc();
    int64_t const rank = cast<RankedTensorType>(dense.getType()).getRank();
    Value const empty = builder.create<tensor::EmptyOp>(location, tensor::getMixedSizes(builder, location, dense), to);
    SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> const kinds(rank, utils::IteratorType::parallel);
    auto const convert = [&](OpBuilder &inside, Location at, ValueRange values) {
      Value const number = convertScalarToDtype(inside, at, values[0], to, /*isUnsignedCast=*/false);
      inside.create<linalg::YieldOp>(at, number);
    };
    return builder.create<linalg::GenericOp>(location, empty.getType(), dense, empty, maps, kinds, convert)
        .getResult(0);
  }

  /// The elements of `value` as a dense tensor, in front of `op`.
  static Value asDense(Operation *op, Value value) {
    OpBuilder builder(op);
    return isSparse(value)
               ? densified(builder, op->getLoc(), value, tensor::getMixedSizes(builder, op->getLoc(), value))
               : value;
  }

  LogicalResult makeRearrangement(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(asDense(op, operand.get()));
    if (auto concat = dyn_cast<sparse_tensor::ConcatenateOp>(op)) {
      OpBuilder builder(op);
      Value const joined = builder.create<tensor::ConcatOp>(op->getLoc(), denseType(op->getResult(0)),
                                                            concat.getDimension(), op->getOperands());
      if (!isSparse(op->getResult(0)))
        op->getResult(0).replaceAllUsesWith(joined);
      else if (failed(replace(op->getResult(0), joined)))
        return failure();
      op->erase();
      return success();
    }
    return isSparse(op->getResult(0)) ? becomeDense(op->getResult(0)) : success();
  }

  LogicalResult makeOperation(linalg::LinalgOp op) {
    auto const storage = [this](Value value) { return storageOf(value); };
    if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
      op = readDestination(generic);
    OpOperand &output = *op.getDpsInitOperand(0);
    if (speaksOfEntries(op))
      return success();
    if (isEmptyTensor(output.get())) {
      if (std::optional<int64_t> const pattern = patternOf(op, storage)) {
        patterns[op->getResult(0)] = *pattern;
        return success();
      }
      if (assemblyOf(op, storage))
        return success();
    }
    output.set(isEmptyTensor(output.get()) ? emptyFor(op, output) : asDense(op, output.get()));
    op->setAttr(madeDense, UnitAttr::get(op.getContext()));
    return becomeDense(op->getResult(0));
  }

  /// A dense destination, of zeros where those are read.
  static Value emptyFor(linalg::LinalgOp op, OpOperand &output) {
    OpBuilder builder(op);
    Location const location = op.getLoc();
    Value const empty = builder.create<tensor::EmptyOp>(
        location, tensor::getMixedSizes(builder, location, output.get()), getElementTypeOrSelf(output.get()));
    if (op.getMatchingBlockArgument(&output).use_empty())
      return empty;
    Value const zero = zeroOf(builder, location, empty);
    return builder.create<linalg::FillOp>(location, zero, empty).getResult(0);
  }

  /// Elementwise work on a destination that has elements reads them as an input, and has entries like those.
  static linalg::GenericOp readDestination(linalg::GenericOp op) {
    OpOperand &output = *op.getDpsInitOperand(0);
    if (!isSparse(output.get()) || isEmptyTensor(output.get()) || op.getNumReductionLoops() != 0 ||
        op.getMatchingBlockArgument(&output).use_empty())
      return op;
    OpBuilder builder(op);
    SmallVector<Value> inputs(op.getInputs());
    inputs.push_back(output.get());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.push_back(maps.back());
    Value const empty = builder.create<tensor::EmptyOp>(
        op.getLoc(), tensor::getMixedSizes(builder, op.getLoc(), output.get()), getElementTypeOrSelf(output.get()),
        sparse_tensor::getSparseTensorEncoding(output.get().getType()));
    auto separate = builder.create<linalg::GenericOp>(op.getLoc(), op->getResultTypes(), inputs, empty, maps,
                                                      op.getIteratorTypesArray());
    separate.getRegion().takeBody(op.getRegion());
    separate.getBody()->addArgument(getElementTypeOrSelf(empty), op.getLoc());
    op->replaceAllUsesWith(separate);
    op->erase();
    return separate;
  }

  static Value zeroOf(OpBuilder &builder, Location location, Value tensor) {
    Type const element = getElementTypeOrSelf(tensor);
    if (auto const complex = dyn_cast<ComplexType>(element)) {
      Attribute const zero = builder.getZeroAttr(complex.getElementType());
      return builder.create<complex::ConstantOp>(location, complex, builder.getArrayAttr({zero, zero}));
    }
    return builder.create<arith::ConstantOp>(location, builder.getZeroAttr(element));
  }

  //===--- What reads it ---===//

  LogicalResult becomeDense(Value value) {
    Type const sparse = value.getType();
    value.setType(denseType(value));
    return checkReaders(value, sparse);
  }

  LogicalResult replace(Value sparse, Value dense) {
    Type const type = sparse.getType();
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : sparse.getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses)
      use->set(dense);
    return checkUses(type, uses);
  }

  LogicalResult checkReaders(Value dense, Type sparse) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : dense.getUses())
      uses.push_back(&use);
    return checkUses(sparse, uses);
  }

  LogicalResult checkUses(Type sparse, ArrayRef<OpOperand *> uses) {
    for (OpOperand *use : uses) {
      Operation *const user = use->getOwner();
      auto linalgOp = dyn_cast<linalg::LinalgOp>(user);
      if (user == body.getTerminator())
        returned.push_back({use->getOperandNumber(), cast<RankedTensorType>(sparse)});
      else if (linalgOp
                   ? speaksOfEntries(linalgOp)
                   : !isa<tensor::DimOp, tensor::ExtractOp, sparse_tensor::ConvertOp>(user) && !isRearrangement(user))
        return user->emitError("sparse operation is not supported: it reads entries of a tensor that is computed as a "
                               "dense one");
    }
    return success();
  }

  //===--- Results ---===//

  LogicalResult collectReturned() {
    Operation *const end = body.getTerminator();
    llvm::sort(returned, [](auto const &a, auto const &b) { return a.first < b.first; });
    llvm::BitVector gone(end->getNumOperands());
    for (auto const &[place, type] : returned) {
      auto const encoding = cast<Encoding>(type.getEncoding());
      Value const dense = end->getOperand(place);
      OpBuilder builder(end);
      if (conversionOf(std::nullopt, encoding)) { // a kernel for it
        end->setOperand(place, builder.create<sparse_tensor::ConvertOp>(dense.getLoc(), type, dense));
        continue;
      }
      if (!canCollect(encoding))
        return end->emitError() << "sparse result is not supported: stored as " << encoding;
      end->emitWarning() << "sparse result " << place
                         << " is computed as a dense tensor, which takes memory like one; its "
                         << "elements other than zero are collected";
      auto name = entry.getResultAttrOfType<StringAttr>(place, "nest.name");
      collectEntries(entry, dense, type, name ? name : builder.getStringAttr("result" + Twine(place)),
                     firstCollected + place);
      gone.set(place);
    }
    end->eraseOperands(gone);
    entry.eraseResults(gone);
    entry.setType(FunctionType::get(entry.getContext(), body.getArgumentTypes(), end->getOperandTypes()));
    return success();
  }

  /// Destinations that nothing is written to any more, and what asks for their extents.
  void eraseUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, linalg::FillOp>(op) && isSparse(op.getResult(0)) &&
          op.use_empty())
        op.erase();
  }

  static constexpr int64_t firstCollected = 1000000; ///< numbers that no other sparse tensor has

  func::FuncOp entry;
  Block &body;
  DenseMap<Value, int64_t> patterns; ///< of what has the entries of another one
  SmallVector<std::pair<unsigned, RankedTensorType>> returned;
};

} // namespace

LogicalResult makeDenseForms(func::FuncOp entry) {
  entry.getContext()
      ->loadDialect<nest::NestDialect, arith::ArithDialect, complex::ComplexDialect, tensor::TensorDialect,
                    linalg::LinalgDialect>();
  return DenseForms(entry).make();
}

} // namespace ml2k::mlir_import
