//===- SparseValues.cpp - which operations run over stored elements alone -----------------------------------------===//

#include "translator/frontend/mlir/SparseValues.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace ml2k::mlir_import {

static constexpr llvm::StringLiteral storedOnly = "ml2k.stored_only"; // while the import asks

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

bool vanishesAt(Value value, ArrayRef<Value> zeros, bool asEntry) {
  Operation *op = value.getDefiningOp();
  if (llvm::is_contained(zeros, value) || !op || op->getBlock() != Value(zeros[0]).getParentBlock())
    return llvm::is_contained(zeros, value) || isZero(value);
  auto const does = [&](Value operand) { return vanishesAt(operand, zeros, asEntry); };
  if (isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op))
    return llvm::any_of(op->getOperands(), does);
  if (isa<arith::AddFOp, arith::SubFOp, arith::AddIOp, arith::SubIOp, arith::MaximumFOp, arith::MinimumFOp,
          arith::MaxNumFOp, arith::MinNumFOp, arith::OrIOp, arith::XOrIOp>(op) ||
      isa<arith::NegFOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp, math::AbsFOp, math::AbsIOp, math::SqrtOp, math::SinOp, math::TanOp,
          math::TanhOp, math::AtanOp, math::ErfOp, math::FloorOp, math::CeilOp, math::RoundOp>(op))
    return llvm::all_of(op->getOperands(), does);
  if (isa<arith::DivFOp>(op)) // by a number that is not zero, that is
    return does(op->getOperand(0)) &&
           (asEntry || (matchPattern(op->getOperand(1), m_Constant()) && !isZero(op->getOperand(1))));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return does(select.getTrueValue()) && does(select.getFalseValue());
  return isZero(value);
}

Value termOf(linalg::LinalgOp op, BlockArgument before) {
  Value const value = op.getBlock()->getTerminator()->getOperand(0);
  if (before.use_empty())
    return op.getNumReductionLoops() == 0 ? value : Value();
  Operation *join = value.getDefiningOp();
  bool const isSum = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(join);
  bool const isOther = isStoredOnly(op) && join && nest::combinerOf(join);
  if (!(isSum || isOther) || join->getBlock() != op.getBlock() || !join->hasOneUse() || !before.hasOneUse() ||
      *before.getUsers().begin() != join)
    return {};
  return join->getOperand(join->getOperand(0) == before ? 1 : 0);
}

bool runsOverStored(linalg::LinalgOp op, OpOperand &sparse) {
  if (op.getNumDpsInits() != 1 || op.isDpsInit(&sparse) ||
      op.getNumLoops() != op.getNumParallelLoops() + op.getNumReductionLoops())
    return false;
  OpOperand &output = *op.getDpsInitOperand(0);
  AffineMap const map = op.getMatchingIndexingMap(&output);
  bool const isWhole = map.isProjectedPermutation() && map.getNumResults() == op.getNumParallelLoops();
  Value const term = termOf(op, op.getMatchingBlockArgument(&output));
  return isWhole && op.getMatchingIndexingMap(&sparse).isProjectedPermutation() && term &&
         (isStoredOnly(op) || vanishes(term, op.getMatchingBlockArgument(&sparse)));
}

static bool looksUp(linalg::LinalgOp op, OpOperand &walked, OpOperand &other, Storage const &storage) {
  std::optional<SmallVector<SparseLevel>> const levels = levelsOf(storage.encoding);
  AffineMap const map = op.getMatchingIndexingMap(&other), own = op.getMatchingIndexingMap(&walked);
  // What the text says of elements that both store is not said of one that only one of them does
  if (!levels || !canLookUp(*levels) || !map.isProjectedPermutation() || isStoredOnly(op))
    return false;
  return llvm::all_of(llvm::seq(op.getNumLoops()),
                      [&](unsigned loop) { return map.isFunctionOfDim(loop) == own.isFunctionOfDim(loop); });
}

OpOperand *walkedInput(linalg::LinalgOp op, StorageOf storageOf) {
  SmallVector<std::pair<OpOperand *, Storage>> stored;
  for (OpOperand *input : op.getDpsInputOperands())
    if (std::optional<Storage> const storage = storageOf(input->get()))
      stored.push_back({input, *storage});
  for (auto const &[walked, own] : stored) {
    AffineMap const map = op.getMatchingIndexingMap(walked);
    bool const findsOthers = llvm::all_of(stored, [&, walked = walked, own = own](auto const &other) {
      bool const isSame = other.second.entries == own.entries && op.getMatchingIndexingMap(other.first) == map;
      return isSame || looksUp(op, *walked, *other.first, other.second);
    });
    if (findsOthers && runsOverStored(op, *walked))
      return walked;
  }
  return nullptr;
}

BlockArgument standInOf(func::FuncOp entry, Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    if (!op)
      return {};
    value = op.getTiedOpOperand(result)->get();
  }
  auto const argument = cast<BlockArgument>(value);
  bool const standsIn =
      argument.getOwner() == &entry.getBody().front() && entry.getArgAttr(argument.getArgNumber(), sparseEncoding);
  return standsIn ? argument : BlockArgument();
}

LogicalResult chooseWalked(func::FuncOp entry) {
  auto const numberOf = [&](BlockArgument standIn, StringRef name) {
    return entry.getArgAttrOfType<IntegerAttr>(standIn.getArgNumber(), name);
  };
  auto const storageOf = [&](Value value) -> std::optional<Storage> {
    BlockArgument const standIn = standInOf(entry, value);
    if (!standIn)
      return std::nullopt;
    IntegerAttr const pattern = numberOf(standIn, sparsePattern);
    return Storage{
        entry.getArgAttrOfType<sparse_tensor::SparseTensorEncodingAttr>(standIn.getArgNumber(), sparseEncoding),
        (pattern ? pattern : numberOf(standIn, sparseTensor)).getInt()};
  };
  WalkResult const result = entry.walk([&](linalg::LinalgOp op) {
    auto const isStored = [&](Value value) { return storageOf(value).has_value(); };
    if (llvm::none_of(op.getDpsInputs(), isStored) || llvm::any_of(op.getDpsInits(), isStored))
      return WalkResult::advance();
    if (OpOperand *walked = walkedInput(op, storageOf)) {
      if (llvm::count_if(op.getDpsInputs(), isStored) > 1)
        op->setAttr(walkedTensor, Builder(op).getI64IntegerAttr(storageOf(walked->get())->entries));
      return WalkResult::advance();
    }
    op.emitError("sparse operation is not supported in a program with sparse results");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

bool isStoredOnly(linalg::LinalgOp op) { return op->hasAttr(storedOnly); }

//===--- sparse_tensor.unary, binary, reduce ----------------------------------------------------------------------===//

/// The one block of a region whose values are `arguments`, in front of `op`; its result.
static Value inlined(RewriterBase &rewriter, Operation *op, Region &region, ValueRange arguments) {
  Block &block = region.front();
  Operation *const end = block.getTerminator();
  Value const result = end->getOperand(0);
  auto const argument = dyn_cast<BlockArgument>(result);
  Value const passed = argument && argument.getOwner() == &block ? arguments[argument.getArgNumber()] : result;
  rewriter.inlineBlockBefore(&block, op, arguments);
  rewriter.eraseOp(end);
  return passed;
}

static FailureOr<Value> inlineStored(RewriterBase &rewriter, Operation *op) {
  if (auto unary = dyn_cast<sparse_tensor::UnaryOp>(op))
    if (!unary.getPresentRegion().empty() && unary.getAbsentRegion().empty())
      return inlined(rewriter, op, unary.getPresentRegion(), unary.getX());
  if (auto binary = dyn_cast<sparse_tensor::BinaryOp>(op)) {
    bool const isOnlyOverlap = !binary.getOverlapRegion().empty() && binary.getLeftRegion().empty() &&
                               binary.getRightRegion().empty() && !binary.getLeftIdentity() &&
                               !binary.getRightIdentity();
    if (isOnlyOverlap)
      return inlined(rewriter, op, binary.getOverlapRegion(), {binary.getX(), binary.getY()});
  }
  if (auto reduce = dyn_cast<sparse_tensor::ReduceOp>(op))
    return inlined(rewriter, op, reduce.getRegion(), {reduce.getX(), reduce.getY()});
  return op->emitError() << "'" << op->getName()
                         << "' is supported where it says what becomes of stored elements alone";
}

LogicalResult inlineStoredBodies(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<Operation *> bodies;
  entry.walk([&](Operation *op) {
    if (isa<sparse_tensor::UnaryOp, sparse_tensor::BinaryOp, sparse_tensor::ReduceOp>(op) &&
        isa<linalg::LinalgOp>(op->getParentOp()))
      bodies.push_back(op);
  });
  for (Operation *op : bodies) {
    op->getParentOp()->setAttr(storedOnly, rewriter.getUnitAttr());
    FailureOr<Value> const value = inlineStored(rewriter, op);
    if (failed(value))
      return failure();
    rewriter.replaceOp(op, *value);
  }
  return success();
}

LogicalResult dropStoredOnly(func::FuncOp entry) {
  WalkResult const result = entry.walk([](linalg::LinalgOp op) {
    bool const isLeft = op->removeAttr(storedOnly) && llvm::any_of(op->getOperandTypes(), [](Type type) {
                          return bool(sparse_tensor::getSparseTensorEncoding(type));
                        });
    if (!isLeft)
      return WalkResult::advance();
    op.emitError(
        "sparse operation is not supported: what it does to stored elements needs one sparse operand, or several "
        "with the same entries");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

} // namespace ml2k::mlir_import
