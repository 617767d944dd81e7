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
#include "mlir/IR/Matchers.h"

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
    if (auto convert = dyn_cast<sparse_tensor::ConvertOp>(op))
      return takeConversion(convert);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || linalgOp.getNumDpsInits() != 1)
      return op->emitError("sparse results are those of linalg operations and sparse_tensor.convert");
    if (op->getBlock() != &entry.getBody().front())
      return op->emitError("a sparse result inside a loop is not supported");
    OpOperand &output = *linalgOp.getDpsInitOperand(0);
    if (!isEmpty(output.get()))
      return op->emitError("the destination of a sparse result must be empty");
    if (std::optional<int64_t> const pattern = patternOf(linalgOp))
      return standFor(linalgOp, pattern);
    std::optional<Assembly> const kind = assemblyOf(linalgOp);
    if (!kind)
      return op->emitError("sparse result is not supported: it has neither the entries of an operand, nor is it the "
                           "sum, the product by elements or the product of two matrices in CSR or CSC");
    return assemble(linalgOp, *kind);
  }

  static bool isEmpty(Value value) {
    Operation *made = value.getDefiningOp();
    if (auto fill = dyn_cast_or_null<linalg::FillOp>(made))
      return matchPattern(fill.value(), m_AnyZeroFloat()) || matchPattern(fill.value(), m_Zero());
    return isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(made);
  }

  //===--- Entries of an operand ---===//

  /// The tensor whose positions and coordinates the result has.
  std::optional<int64_t> patternOf(linalg::LinalgOp op) {
    OpOperand &output = *op.getDpsInitOperand(0);
    AffineMap const map = op.getMatchingIndexingMap(&output);
    auto const encoding = sparse_tensor::getSparseTensorEncoding(output.get().getType());
    BlockArgument const before = op.getMatchingBlockArgument(&output);
    Value const term = termOf(op, before);
    if (!term || !map.isProjectedPermutation() || map.getNumResults() != op.getNumParallelLoops())
      return std::nullopt;
    std::optional<int64_t> pattern;
    SmallVector<Value> stored;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument const standIn = standInOf(input->get());
      if (!standIn)
        continue;
      if (encodingOf(standIn) != encoding || op.getMatchingIndexingMap(input) != map ||
          (pattern && *pattern != sparsePatternOf(standIn)))
        return std::nullopt;
      pattern = sparsePatternOf(standIn);
      stored.push_back(op.getMatchingBlockArgument(input));
    }
    return pattern && (isStoredOnly(op) || vanishesAt(term, stored, /*asEntry=*/true)) ? pattern : std::nullopt;
  }

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

  std::optional<Assembly> assemblyOf(linalg::LinalgOp op) {
    OpOperand &output = *op.getDpsInitOperand(0);
    SmallVector<OpOperand *> const inputs = op.getDpsInputOperands();
    auto const encoding = sparse_tensor::getSparseTensorEncoding(output.get().getType());
    BlockArgument const before = op.getMatchingBlockArgument(&output);
    Value const term = termOf(op, before);
    bool const areSparse = llvm::all_of(inputs, [&](OpOperand *input) {
      return standInOf(input->get()) && encodingOf(standInOf(input->get())) == encoding;
    });
    if (!isByRows(encoding) || !areSparse || inputs.size() != 2 || !term || hasIndex(op))
      return std::nullopt;
    AffineMap const map = op.getMatchingIndexingMap(&output);
    SmallVector<Value> const values = {op.getMatchingBlockArgument(inputs[0]), op.getMatchingBlockArgument(inputs[1])};
    auto const zero = [&](ArrayRef<Value> zeros) { return vanishesAt(term, zeros); };
    if (op.getNumLoops() == 2 && op.getNumReductionLoops() == 0 && before.use_empty() &&
        llvm::all_of(inputs, [&](OpOperand *input) { return op.getMatchingIndexingMap(input) == map; })) {
      if (zero(values[0]) && zero(values[1]))
        return Assembly::Intersection;
      return zero(values) ? std::optional(Assembly::Union) : std::nullopt;
    }
    bool const multiplies = op.getNumLoops() == 3 && op.getNumReductionLoops() == 1 && !before.use_empty() &&
                            zero(values[0]) && zero(values[1]);
    return multiplies && isProduct(op) ? std::optional(Assembly::Product) : std::nullopt;
  }

  static bool hasIndex(linalg::LinalgOp op) { return !op.getBlock()->getOps<linalg::IndexOp>().empty(); }

  /// (i, k) * (k, j) -> (i, j)
  static bool isProduct(linalg::LinalgOp op) {
    auto const dims = [&](OpOperand *operand) {
      return llvm::map_to_vector(op.getMatchingIndexingMap(operand).getResults(), [](AffineExpr expr) {
        auto const dim = dyn_cast<AffineDimExpr>(expr);
        return dim ? int(dim.getPosition()) : -1;
      });
    };
    SmallVector<int> const a = dims(op.getDpsInputOperand(0)), b = dims(op.getDpsInputOperand(1)),
                           c = dims(op.getDpsInitOperand(0));
    return a.size() == 2 && b.size() == 2 && c.size() == 2 && a[0] == c[0] && a[1] == b[0] && b[1] == c[1];
  }

  /// Also where it is not returned: for how many entries there is room is up to the caller, who reads their count.
  LogicalResult assemble(linalg::LinalgOp op, Assembly kind) {
    return standFor(op, std::nullopt, nest::AssemblyAttr::get(entry.getContext(), kind));
  }

  //===--- Conversions ---===//

  LogicalResult takeConversion(sparse_tensor::ConvertOp convert) {
    auto const type = cast<RankedTensorType>(convert.getDest().getType());
    auto const to = cast<Encoding>(type.getEncoding());
    BlockArgument const standIn = standInOf(convert.getSource());
    std::optional<Assembly> const kind = conversionOf(standIn, to);
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

  std::optional<Assembly> conversionOf(BlockArgument standIn, Encoding to) {
    if (!to || !isByRows(to))
      return std::nullopt;
    if (!standIn)
      return (*levelsOf(to))[0].dim == 0 ? std::optional(Assembly::Nonzeros) : std::nullopt;
    Encoding const from = encodingOf(standIn);
    if (isByRows(from) && (*levelsOf(from))[0].dim != (*levelsOf(to))[0].dim)
      return Assembly::Transpose;
    return isTriplets(from) ? std::optional(Assembly::Triplets) : std::nullopt;
  }

  static bool isTriplets(Encoding encoding) {
    SmallVector<SparseLevel> const levels = *levelsOf(encoding, /*takesLoose=*/true);
    return levels.size() == 2 && levels[0].format == SparseLevel::Format::Repeated;
  }

  static bool isByRows(Encoding encoding) {
    std::optional<SmallVector<SparseLevel>> const levels = levelsOf(encoding);
    return levels && levels->size() == 2 && (*levels)[0].isDense() &&
           (*levels)[1].format == SparseLevel::Format::Compressed && (*levels)[0].part == SparseLevel::Part::Whole;
  }

  //===--- What stands for tensors ---===//

  Encoding encodingOf(BlockArgument standIn) {
    return entry.getArgAttrOfType<Encoding>(standIn.getArgNumber(), sparseEncoding);
  }

  int64_t sparsePatternOf(BlockArgument standIn) {
    unsigned const place = standIn.getArgNumber();
    auto const pattern = entry.getArgAttrOfType<IntegerAttr>(place, sparsePattern);
    return (pattern ? pattern : entry.getArgAttrOfType<IntegerAttr>(place, sparseTensor)).getInt();
  }

  BlockArgument standInOf(Value value) { return mlir_import::standInOf(entry, value); }

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
