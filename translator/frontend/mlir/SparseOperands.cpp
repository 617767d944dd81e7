//===- SparseOperands.cpp - sparse arguments that kernels of our own walk through ---------------------------------===//
//
// An operation that is zero wherever its one sparse operand is can run over the stored elements alone, and which of its
// loops are parallel follows from how they are stored. Such an operand becomes its arrays; until the kernels are made,
// a dense argument behind all others stands for it, so that bufferization sees what it knows. All other operations on
// sparse tensors are left to upstream's sparsification.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Steps.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ml2k::mlir_import {

//===--- Which operations -----------------------------------------------------------------------------------------===//

/// Whether `value` is zero where `zero` is.
static bool vanishes(Value value, Value zero) {
  Operation *op = value.getDefiningOp();
  if (value == zero || !op || op->getBlock() != zero.getParentBlock())
    return value == zero || matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
  auto const does = [&](Value operand) { return vanishes(operand, zero); };
  if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op))
    return llvm::any_of(op->getOperands(), does);
  if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::OrIOp, arith::XOrIOp>(op) ||
      isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp, math::AbsFOp, math::AbsIOp, math::SqrtOp, math::SinOp, math::TanOp,
          math::TanhOp, math::AtanOp, math::ErfOp, math::FloorOp, math::CeilOp, math::RoundOp>(op))
    return llvm::all_of(op->getOperands(), does);
  if (isa<arith::DivFOp>(op)) // by a number that is not zero, that is
    return does(op->getOperand(0)) && matchPattern(op->getOperand(1), m_Constant()) &&
           !matchPattern(op->getOperand(1), m_AnyZeroFloat());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return does(select.getTrueValue()) && does(select.getFalseValue());
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// What is added to `before`, or the whole value if nothing reads that; null if it is neither.
static Value termOf(linalg::LinalgOp op, BlockArgument before) {
  Value const value = op.getBlock()->getTerminator()->getOperand(0);
  if (before.use_empty())
    return op.getNumReductionLoops() == 0 ? value : Value();
  Operation *join = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(join) || join->getBlock() != op.getBlock() || !join->hasOneUse() ||
      !before.hasOneUse() || *before.getUsers().begin() != join)
    return {};
  return join->getOperand(join->getOperand(0) == before ? 1 : 0);
}

static bool isSparse(Value value) { return bool(sparse_tensor::getSparseTensorEncoding(value.getType())); }

static bool isOwnKernel(linalg::LinalgOp op, OpOperand &sparse) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 || op.isDpsInit(&sparse) ||
      llvm::count_if(op->getOperands(), isSparse) != 1 ||
      op.getNumLoops() != op.getNumParallelLoops() + op.getNumReductionLoops())
    return false;
  OpOperand &output = *op.getDpsInitOperand(0);
  AffineMap const map = op.getMatchingIndexingMap(&output);
  bool const isWhole = map.isProjectedPermutation() && map.getNumResults() == op.getNumParallelLoops();
  Value const term = termOf(op, op.getMatchingBlockArgument(&output));
  return isWhole && op.getMatchingIndexingMap(&sparse).isProjectedPermutation() && term &&
         vanishes(term, op.getMatchingBlockArgument(&sparse));
}

static bool isOwn(OpOperand &use) {
  if (auto size = dyn_cast<tensor::DimOp>(use.getOwner()))
    return size.getConstantIndex().has_value();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && isOwnKernel(op, use);
}

/// The elements of a sparse tensor as a dense one.
static Value densified(OpBuilder &builder, Location location, Value sparse) {
  auto const type = cast<RankedTensorType>(sparse.getType());
  Value const dense = builder.create<tensor::EmptyOp>(location, tensor::getMixedSizes(builder, location, sparse),
                                                      type.getElementType());
  SmallVector<AffineMap> const maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> const kinds(type.getRank(), utils::IteratorType::parallel);
  return builder
      .create<linalg::GenericOp>(
          location, dense.getType(), sparse, dense, maps, kinds,
          [](OpBuilder &inside, Location at, ValueRange values) { inside.create<linalg::YieldOp>(at, values[0]); })
      .getResult(0);
}

void densifyOthers(func::FuncOp entry) {
  SmallVector<linalg::LinalgOp> products;
  entry.walk([&](linalg::LinalgOp op) {
    if (op.hasPureTensorSemantics() && op.getNumDpsInits() == 1 && !isSparse(op.getDpsInits()[0]) &&
        llvm::count_if(op.getDpsInputs(), isSparse) > 1)
      products.push_back(op);
  });
  for (linalg::LinalgOp op : products) {
    Value const term = termOf(op, op.getMatchingBlockArgument(op.getDpsInitOperand(0)));
    SmallVector<OpOperand *> const inputs = op.getDpsInputOperands();
    auto const kept = llvm::find_if(inputs, [&](OpOperand *operand) {
      return isSparse(operand->get()) && term && vanishes(term, op.getMatchingBlockArgument(operand));
    });
    OpBuilder builder(op);
    for (OpOperand *operand : inputs)
      if (kept != inputs.end() && operand != *kept && isSparse(operand->get()))
        operand->set(densified(builder, op.getLoc(), operand->get()));
  }
}

/// Where nothing reads the destination, it may be what the operation also reads: then it is made anew.
static void separateDestination(linalg::LinalgOp op) {
  OpOperand &output = *op.getDpsInitOperand(0);
  if (!op.getMatchingBlockArgument(&output).use_empty() || !llvm::is_contained(op.getDpsInputs(), output.get()))
    return;
  OpBuilder builder(op);
  output.set(builder.create<tensor::EmptyOp>(op.getLoc(), tensor::getMixedSizes(builder, op.getLoc(), output.get()),
                                             getElementTypeOrSelf(output.get())));
}

//===--- The arguments --------------------------------------------------------------------------------------------===//

/// The arrays of a stored tensor as arguments from `place` on.
static void addArrays(func::FuncOp entry, unsigned place, StringRef name, RankedTensorType type, int64_t number) {
  Builder builder(entry.getContext());
  auto const encoding = cast<sparse_tensor::SparseTensorEncodingAttr>(type.getEncoding());
  SmallVector<SparseLevel> const levels = *levelsOf(encoding);
  bool const isOnly = llvm::count_if(levels, [](SparseLevel const &level) { return !level.isDense(); }) == 1;
  auto const add = [&](Type element, Twine const &array) {
    entry.insertArgument(
        place++, MemRefType::get({ShapedType::kDynamic}, element),
        builder.getDictionaryAttr({builder.getNamedAttr("nest.name", builder.getStringAttr(name + "_" + array)),
                                   builder.getNamedAttr(sparseTensor, builder.getI64IntegerAttr(number))}),
        entry.getLoc());
  };
  for (auto [i, level] : llvm::enumerate(levels)) {
    std::string const suffix = isOnly ? "" : std::to_string(i);
    if (level.hasPositions(i))
      add(encoding.getPosElemType(), "positions" + suffix);
    if (!level.isDense())
      add(encoding.getCrdElemType(), "coordinates" + suffix);
  }
  add(type.getElementType(), "values");
}

static void standFor(func::FuncOp entry, unsigned place, int64_t number) {
  Builder builder(entry.getContext());
  BlockArgument argument = entry.getArgument(place);
  auto const type = cast<RankedTensorType>(argument.getType());
  StringAttr const name = entry.getArgAttrOfType<StringAttr>(place, "nest.name");
  addArrays(entry, place + 1, name, type, number);
  entry.insertArgument(
      entry.getNumArguments(), RankedTensorType::get(type.getShape(), type.getElementType()),
      builder.getDictionaryAttr({builder.getNamedAttr("nest.name", name),
                                 builder.getNamedAttr(sparseEncoding, type.getEncoding()),
                                 builder.getNamedAttr(sparseTensor, builder.getI64IntegerAttr(number))}),
      argument.getLoc());
  for (Operation *user : argument.getUsers())
    if (auto op = dyn_cast<linalg::LinalgOp>(user))
      separateDestination(op);
  argument.replaceAllUsesWith(entry.getArguments().back());
  entry.eraseArgument(place);
}

void takeSparseOperands(func::FuncOp entry) {
  int64_t number = 0;
  for (unsigned place = 0; place < entry.getNumArguments(); ++place) {
    BlockArgument argument = entry.getArgument(place);
    auto const encoding = sparse_tensor::getSparseTensorEncoding(argument.getType());
    if (encoding && levelsOf(encoding) && llvm::all_of(argument.getUses(), isOwn))
      standFor(entry, place--, number++);
  }
}

} // namespace ml2k::mlir_import
