//===- LibraryCalls.cpp - kernels that KokkosKernels has an operation for -----------------------------------------===//

#include "translator/ir/LibraryCalls.h"

#include "translator/ir/Sizes.h"
#include "translator/ir/StoredRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace ml2k::nest {

StringRef libraryFunction(KernelBlock block) {
  return block == KernelBlock::LibraryGemm   ? "KokkosBlas::gemm"
         : block == KernelBlock::LibraryGemv ? "KokkosBlas::gemv"
         : block == KernelBlock::LibrarySpmv ? "KokkosSparse::spmv"
                                             : "";
}

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()); }

//===--- Dense products -------------------------------------------------------------------------------------------===//

namespace {

/// The loops of a contraction, or of a sum of products along rows, by role; those of extent 1 do not count.
struct Product {
  Operation *op;
  SmallVector<Value> operands; ///< the factors, then the result
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> extents;
  SmallVector<unsigned> batch, m, n, k;
  Type sum;

  bool isFloat() const {
    Type const type = getElementTypeOrSelf(operands.back().getType());
    return (type.isF32() || type.isF64()) && sum == type &&
           llvm::all_of(operands, [&](Value operand) { return getElementTypeOrSelf(operand.getType()) == type; });
  }

  /// The matrix of an operand, whose rows and columns are those of op(A); none if it does not lie so.
  std::optional<BlasMatrix> matrixOf(unsigned number, ArrayRef<unsigned> rows, ArrayRef<unsigned> columns) const {
    SmallVector<unsigned> found;
    for (AffineExpr expr : maps[number].getResults()) {
      auto const dim = dyn_cast<AffineDimExpr>(expr);
      if (dim && extents[dim.getPosition()] != 1)
        found.push_back(dim.getPosition());
      else if (!dim && expr != 0)
        return std::nullopt;
    }
    auto const lie = [&](ArrayRef<unsigned> first, ArrayRef<unsigned> second) {
      SmallVector<unsigned> all(first);
      llvm::append_range(all, second);
      return found == all;
    };
    BlasMatrix matrix{operands[number], SmallVector<unsigned>(rows), SmallVector<unsigned>(columns)};
    if (!lie(rows, columns)) {
      if (!lie(columns, rows))
        return std::nullopt;
      std::swap(matrix.rows, matrix.columns);
      matrix.isTransposed = true;
    }
    return isViewable(matrix) ? std::optional(matrix) : std::nullopt;
  }

  /// A view of its memory has so many columns, or it is one as it is.
  bool isViewable(BlasMatrix const &matrix) const {
    auto const type = cast<MemRefType>(matrix.memref.getType());
    auto buffer = matrix.memref.getDefiningOp<BufferOp>();
    bool const isMember = buffer || isa<BlockArgument>(matrix.memref) || matrix.memref.getDefiningOp<WeightOp>();
    bool const isWhole = isMember && type.getRank() == (matrix.columns.empty() ? 1 : 2);
    if (buffer && buffer.getForm() == BufferForm::Image)
      return false;
    return isContiguous(type) && (isWhole || llvm::none_of(matrix.columns, [&](unsigned loop) {
                                    return ShapedType::isDynamic(extents[loop]);
                                  }));
  }
};

SmallVector<int64_t> sizesOf(Kernel kernel) {
  return llvm::map_to_vector(kernel.getLoopExtents(), [](LoopExtent const &loop) { return loop.size(); });
}

Product productOf(ContractOp contract) {
  Product product{contract,
                  {contract.getInputs()[0], contract.getInputs()[1], contract.getOutputs()[0]},
                  contract.getMaps(),
                  sizesOf(contract),
                  {},
                  {},
                  {},
                  {},
                  contract.getEpilogue().getArgument(0).getType()};
  product.maps = {product.maps[0], product.maps[1], product.maps.back()};
  for (auto [loop, role] : llvm::enumerate(contract.getRoles()))
    if (product.extents[loop] != 1)
      (role == Role::Batch ? product.batch
       : role == Role::M   ? product.m
       : role == Role::N   ? product.n
                           : product.k)
          .push_back(loop);
  return product;
}

/// Of two factors and a result, the one with the loops of the result first.
void setOperands(Product &product, ArrayRef<AffineMap> maps) {
  unsigned const matrix = llvm::any_of(product.m, [&](unsigned loop) { return maps[0].isFunctionOfDim(loop); }) ? 0 : 1;
  OperandRange const all = product.op->getOperands();
  product.operands = {all[matrix], all[1 - matrix], all.back()};
  product.maps = {maps[matrix], maps[1 - matrix], maps.back()};
}

bool startsAtZero(ReduceOp reduce) {
  auto const initial = dyn_cast<FloatAttr>(reduce.getInitial());
  return initial && initial.getValue().isZero();
}

/// Σ a * b of two inputs, one of which has the loops of the result.
std::optional<Product> productOf(ReduceOp reduce) {
  Block &term = reduce.getTerm().front();
  auto multiply = term.back().getOperand(0).getDefiningOp<arith::MulFOp>();
  bool const isSum = reduce.getCombiner() == Combiner::Sum && startsAtZero(reduce);
  if (!isSum || reduce.getInputs().size() != 2 || !multiply || multiply.getLhs() == multiply.getRhs() ||
      !llvm::all_of(multiply->getOperands(), llvm::IsaPred<BlockArgument>))
    return std::nullopt;
  Product product{reduce, {}, {}, sizesOf(reduce), {}, {}, {}, {}, reduce.getFinish().getArgument(0).getType()};
  for (unsigned loop = 0; loop < product.extents.size(); ++loop)
    if (product.extents[loop] != 1)
      (llvm::is_contained(reduce.getReductionDims(), int64_t(loop)) ? product.k : product.m).push_back(loop);
  setOperands(product, reduce.getMaps());
  return product;
}

/// The same as one fold of a row, whose result is stored.
std::optional<Product> productOf(RowOp row) {
  Block &body = row.getBody().front();
  if (row.getInputs().size() != 2 || row.getOutputs().size() != 1 || !llvm::hasNItems(body.without_terminator(), 2))
    return std::nullopt;
  auto fold = dyn_cast<FoldOp>(body.front());
  auto set = dyn_cast<SetOp>(*std::next(body.begin()));
  if (!fold || !set || fold.getCombiner() != Combiner::Sum || set.getValue() != fold.getResult() || set.getPosition())
    return std::nullopt;
  Block &term = fold.getBody().front();
  auto multiply = term.back().getOperand(0).getDefiningOp<arith::MulFOp>();
  auto const isElement = [&](Value factor) {
    auto get = factor.getDefiningOp<GetOp>();
    return get && get.getPosition() == term.getArgument(0);
  };
  if (!multiply || multiply.getLhs() == multiply.getRhs() || !llvm::all_of(multiply->getOperands(), isElement) ||
      multiply.getLhs().getDefiningOp<GetOp>().getRow() == multiply.getRhs().getDefiningOp<GetOp>().getRow())
    return std::nullopt;
  Product product{row, {}, {}, sizesOf(row), {}, {}, {}, {}, fold.getResult().getType()};
  unsigned const along = product.extents.size() - 1;
  for (unsigned loop = 0; loop <= along; ++loop)
    if (product.extents[loop] != 1)
      (loop == along ? product.k : product.m).push_back(loop);
  setOperands(product, row.getMaps());
  return product;
}

} // namespace

static std::optional<BlasProduct> blasProductOf(Product const &product, std::string &why) {
  auto const refuse = [&](char const *reason) { return why = reason, std::nullopt; };
  if (!product.batch.empty())
    return refuse("a batch of products");
  if (!product.isFloat())
    return refuse("not all of one type, f32 or f64");
  if (product.k.empty() || (product.m.empty() && product.n.empty()))
    return refuse("not a matrix product");
  bool const isVector = product.m.empty() || product.n.empty(), isLeft = !product.m.empty();
  ArrayRef<unsigned> const rows = isLeft ? product.m : product.n;
  std::optional<BlasMatrix> const a = product.matrixOf(isLeft ? 0 : 1, rows, product.k),
                                  b = product.matrixOf(isLeft ? 1 : 0, product.k,
                                                       isVector ? ArrayRef<unsigned>() : product.n),
                                  c = product.matrixOf(2, rows, isVector ? ArrayRef<unsigned>() : product.n);
  if (!a || !b || !c || c->isTransposed)
    return refuse("an operand does not lie row by row or column by column");
  return BlasProduct{*a, *b, *c, !isVector, false};
}

std::optional<BlasProduct> blasSumsOf(Operation *kernel, std::string &why) {
  if (auto contract = dyn_cast<ContractOp>(kernel))
    return blasProductOf(productOf(contract), why);
  std::optional<Product> const product = isa<ReduceOp>(kernel) ? productOf(cast<ReduceOp>(kernel))
                                         : isa<RowOp>(kernel)  ? productOf(cast<RowOp>(kernel))
                                                               : std::nullopt;
  if (!product)
    return why = "not a matrix product", std::nullopt;
  return blasProductOf(*product, why);
}

/// Whether the block yields its sum, plus the element of the result before it.
static std::optional<bool> addsToResult(Operation *kernel) {
  if (isa<RowOp>(kernel))
    return false;
  auto kernelOp = cast<Kernel>(kernel);
  Block &block = kernelOp.getStoringRegion().front();
  Value const yielded = block.back().getOperand(0), sum = block.getArgument(0);
  if (yielded == sum)
    return false;
  auto add = yielded.getDefiningOp<arith::AddFOp>();
  std::optional<unsigned> const extra = addedToSum(kernelOp.getStoringRegion());
  if (!add || !extra || !llvm::is_contained(add->getOperands(), sum))
    return std::nullopt;
  auto const extras =
      isa<ContractOp>(kernel) ? cast<ContractOp>(kernel).getExtras() : cast<ReduceOp>(kernel).getExtras();
  auto const outputs = cast<DestinationStyleOpInterface>(kernel).getDpsInits();
  SmallVector<AffineMap> const maps = kernelOp.getMaps();
  bool const isOwn = extras[*extra] == outputs[0] && maps[maps.size() - 1 - extras.size() + *extra] == maps.back();
  return isOwn ? std::optional(true) : std::nullopt;
}

std::optional<BlasProduct> blasProductOf(Operation *kernel, std::string &why) {
  std::optional<BlasProduct> product = blasSumsOf(kernel, why);
  if (!product)
    return std::nullopt;
  std::optional<bool> const adds = addsToResult(kernel);
  if (!adds)
    return why = "an epilogue that is a kernel of its own", std::nullopt;
  product->adds = *adds;
  return product;
}

//===--- Sparse products ------------------------------------------------------------------------------------------===//

/// Casts between an index and the integers of an array.
static Value throughCasts(Value value) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  return value;
}

/// The memory of which `value` is the element at `at`.
static Value arrayAt(Value value, Value at) {
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load.getIndices().size() == 1 && load.getIndices()[0] == at ? load.getMemref() : Value();
}

std::optional<SparseProduct> sparseProductOf(LoopKernelOp kernel, std::string &why) {
  auto const refuse = [&](char const *reason) { return why = reason, std::nullopt; };
  std::optional<StoredRows> const rows = kernel.getInto().empty() ? storedRowsOf(kernel) : std::nullopt;
  if (!rows || rows->loops.size() != 1 || rows->loops.begin()->second.kind != RowLoop::Kind::Fold ||
      rows->loops.begin()->second.combiner != Combiner::Sum)
    return refuse("not the product of a sparse matrix and a vector alone");
  Block &body = kernel.getBody().front();
  RowLoop const &fold = rows->loops.begin()->second;
  auto const stores = body.getOps<memref::StoreOp>();
  auto term = fold.term().getDefiningOp<arith::MulFOp>();
  Value const row = body.getArgument(0), entry = fold.entries.getInductionVar();
  if (!llvm::hasSingleElement(stores) || !term)
    return refuse("more than the product of a sparse matrix and a vector");
  SparseProduct product;
  product.positions = rows->positions;
  memref::StoreOp store = *stores.begin();
  bool const isSum =
      store.getValue() == fold.entries.getResult(0) && store.getIndices().size() == 1 && store.getIndices()[0] == row;
  product.y = store.getMemref();
  product.adds = !isZero(fold.initial());
  if (!isSum || (product.adds && arrayAt(fold.initial(), row) != product.y))
    return refuse("more than the product of a sparse matrix and a vector");
  for (auto [value, factor] : {std::pair(term.getLhs(), term.getRhs()), std::pair(term.getRhs(), term.getLhs())}) {
    auto load = factor.getDefiningOp<memref::LoadOp>();
    Value const column = load && load.getIndices().size() == 1 ? throughCasts(load.getIndices()[0]) : Value();
    Value const values = arrayAt(value, entry), coordinates = column ? arrayAt(column, entry) : Value();
    if (values && coordinates) {
      product.values = values;
      product.coordinates = coordinates;
      product.x = load.getMemref();
    }
  }
  if (!product.values)
    return refuse("not the product of a sparse matrix and a vector alone");
  for (Value array : {product.positions, product.coordinates, product.values, product.x, product.y})
    if (!isa<BlockArgument>(array) && !array.getDefiningOp<BufferOp>())
      return refuse("an operand is a part of an array");
  Type const element = getElementTypeOrSelf(product.y.getType());
  for (Value array : {product.values, product.x})
    if (getElementTypeOrSelf(array.getType()) != element || !(element.isF32() || element.isF64()))
      return refuse("not all of one type, f32 or f64");
  if (getElementTypeOrSelf(product.coordinates.getType()).isIndex())
    return product;
  if (getElementTypeOrSelf(product.coordinates.getType()).getIntOrFloatBitWidth() < 32)
    return refuse("coordinates of fewer than 32 bits");
  return product;
}

} // namespace ml2k::nest
