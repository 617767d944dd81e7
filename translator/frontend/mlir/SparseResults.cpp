//===- SparseResults.cpp - operations whose results are sparse ----------------------------------------------------===//
//
// A result has the positions and coordinates of an operand where the operation is zero wherever that stores nothing:
// such a result is an array of values. Any other one is assembled: entries are counted, placed and filled in, into
// arrays that the caller has. As for arguments, a dense argument stands for each sparse tensor until the kernels are
// made.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using ml2k::nest::Assembly;

namespace ml2k::mlir_import {
namespace {

using Encoding = sparse_tensor::SparseTensorEncodingAttr;

class Results {
public:
  Results(func::FuncOp entry, int64_t next) : entry(entry), next(next) {}

  LogicalResult take() {
    WalkResult const result = entry.walk([&](Operation *op) {
      if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, linalg::FillOp>(op) || op->getNumResults() != 1 ||
          !sparse_tensor::getSparseTensorEncoding(op->getResult(0).getType()))
        return WalkResult::advance();
      return WalkResult(takeResult(op));
    });
    if (result.wasInterrupted() || failed(chooseWalked(entry)))
      return failure();
    eraseUnused();
    Block &body = entry.getBody().front();
    entry.setType(
        FunctionType::get(entry.getContext(), body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
    return success();
  }

private:
  LogicalResult takeResult(Operation *op) {
    auto const storageOf = [&](Value value) { return storageOfStandIn(value); };
    if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op))
      return takeConversion(convert);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumDpsInits() != 1)
      return op->emitError("sparse results are those of linalg operations and sparse_tensor.convert");
    if (op->getBlock() != &entry.getBody().front())
      return op->emitError("a sparse result inside a loop is not supported");
    OpOperand &output = *linalgOp.getDpsInitOperand(0);
    if (!isEmptyTensor(output.get()))
      return op->emitError("the destination of a sparse result must be empty");
    if (std::optional<int64_t> const pattern = patternOf(linalgOp, storageOf))
      return standFor(linalgOp, pattern);
    std::optional<Assembly> const kind = assemblyOf(linalgOp, storageOf);
    if (!kind)
      return op->emitError("sparse result is not supported: it has neither the entries of an operand, nor is it the "
                           "sum, the product by elements or the product of two matrices in CSR or CSC");
    return assemble(linalgOp, *kind);
  }

  //===--- Entries of an operand ---===//

  LogicalResult standFor(linalg::LinalgOp op, std::optional<int64_t> pattern, Attribute assembly = {}) {
    for (Operation *user : op->getUsers())
      if (!isa<linalg::LinalgOp, tensor::DimOp, sparse_tensor::ConvertOp, func::ReturnOp>(user))
        return user->emitError("a sparse result can be read by linalg operations and sparse_tensor.convert only");
    OpOperand &output = *op.getDpsInitOperand(0);
    auto const type = cast<RankedTensorType>(output.get().getType());
    bool const isResult = isReturned(op->getResult(0));
    bool const hasArrays = isResult || assembly; // of the caller's
    Builder builder(entry.getContext());
    NamedAttrList attributes;
    int64_t const number = next++;
    StringAttr const name = nameOf(op->getResult(0), number);
    attributes.set("nest.name", name);
    attributes.set(sparseEncoding, type.getEncoding());
    attributes.set(sparseTensor, builder.getI64IntegerAttr(number));
    if (pattern)
      attributes.set(sparsePattern, builder.getI64IntegerAttr(*pattern));
    if (assembly)
      attributes.set(sparseAssembly, assembly);
    if (hasArrays && !isResult)
      attributes.set(sparseIntermediate, builder.getUnitAttr());
    if (hasArrays)
      addArrays(entry, entry.getNumArguments(), name.getValue(), type, number, /*valuesOnly=*/pattern.has_value());
    auto const dense = RankedTensorType::get(type.getShape(), type.getElementType());
    entry.insertArgument(entry.getNumArguments(), dense, attributes.getDictionary(entry.getContext()), op.getLoc());
    output.set(entry.getArguments().back());
    op->getResult(0).setType(dense);
    return success();
  }

  bool isReturned(Value value) const { return llvm::any_of(value.getUsers(), llvm::IsaPred<func::ReturnOp>); }

  StringAttr nameOf(Value value, int64_t number) {
    for (OpOperand &use : value.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        if (auto name = entry.getResultAttrOfType<StringAttr>(use.getOperandNumber(), "nest.name"))
          return name;
    auto const location = dyn_cast<NameLoc>(value.getLoc()); // `generic "scores"`
    StringRef const name = location ? location.getName().getValue().split('"').second.rtrim('"') : StringRef();
    return StringAttr::get(entry.getContext(), name.empty() ? "sparse" + std::to_string(number) : name.str());
  }

  //===--- Entries that are counted ---===//

  /// Also where it is not returned: for how many entries there is room is up to the caller, who reads their count.
  LogicalResult assemble(linalg::LinalgOp op, Assembly kind) {
    return standFor(op, std::nullopt, nest::AssemblyAttr::get(entry.getContext(), kind));
  }

  //===--- Conversions ---===//

  LogicalResult takeConversion(sparse_tensor::ConvertOp convert) {
    auto const type = cast<RankedTensorType>(convert.getDest().getType());
    auto const to = cast<Encoding>(type.getEncoding());
    std::optional<Assembly> const kind = conversionOf(storageOfStandIn(convert.getSource()), to);
    if (!kind)
      return convert.emitError(
          "conversion is not supported: from CSR to CSC and back, from coordinates in any order to both, and "
          "from dense matrices to CSR are");
    OpBuilder builder(convert);
    Value const empty = builder.create<tensor::EmptyOp>(
        convert.getLoc(), tensor::getMixedSizes(builder, convert.getLoc(), convert.getSource()), type.getElementType(),
        to);
    SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> const kinds(type.getRank(), utils::IteratorType::parallel);
    auto const copyValue = [](OpBuilder &inside, Location at, ValueRange values) {
      inside.create<linalg::YieldOp>(at, values[0]);
    };
    auto copy = builder.create<linalg::GenericOp>(convert.getLoc(), empty.getType(), convert.getSource(), empty, maps,
                                                  kinds, copyValue);
    copy->getResult(0).setLoc(convert.getDest().getLoc());
    convert.getDest().replaceAllUsesWith(copy.getResult(0));
    convert.erase();
    return assemble(copy, *kind);
  }

  //===--- What stands for tensors ---===//

  std::optional<Storage> storageOfStandIn(Value value) {
    BlockArgument const standIn = standInOf(entry, value);
    if (!standIn)
      return std::nullopt;
    auto const numberOf = [&](StringRef name) {
      return entry.getArgAttrOfType<IntegerAttr>(standIn.getArgNumber(), name);
    };
    IntegerAttr const pattern = numberOf(sparsePattern);
    return Storage{entry.getArgAttrOfType<Encoding>(standIn.getArgNumber(), sparseEncoding),
                   (pattern ? pattern : numberOf(sparseTensor)).getInt()};
  }

  /// Destinations that nothing is written to any more.
  void eraseUnused() {
    SmallVector<Operation *> unused;
    entry.walk([&](Operation *op) {
      if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, linalg::FillOp>(op) &&
          sparse_tensor::getSparseTensorEncoding(op->getResult(0).getType()))
        unused.push_back(op);
    });
    for (Operation *op : llvm::reverse(unused))
      if (op->use_empty())
        op->erase();
  }

  func::FuncOp entry;
  int64_t next;
};

} // namespace

LogicalResult takeSparseResults(func::FuncOp entry, int64_t next) {
  entry.getContext()->loadDialect<nest::NestDialect>(); // of the kinds of assembly
  return Results(entry, next).take();
}

} // namespace ml2k::mlir_import
