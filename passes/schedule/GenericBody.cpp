//===- GenericBody.cpp - reading linalg.generic while kernels are formed ------------------------------------------===//

#include "passes/schedule/GenericBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

bool ml2k::isElementwise(linalg::GenericOp op) { return op && op.getNumParallelLoops() == op.getNumLoops(); }

//===--- Bodies ---------------------------------------------------------------------------------------------------===//

Value ml2k::BodyCopier::copy(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (auto input = dyn_cast<BlockArgument>(value)) {
    if (input.getOwner() != body)
      return value;
    Value const read = argument(input);
    mapping.map(value, read);
    return read;
  }
  Operation *op = value.getDefiningOp();
  if (!body->findAncestorOpInBlock(*op))
    return value;
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    Value const here = position(index.getDim());
    mapping.map(value, here);
    return here;
  }
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        copy(operand);
  });
  replacePositions(builder.clone(*op, mapping));
  return mapping.lookup(value);
}

void ml2k::BodyCopier::replacePositions(Operation *copied) {
  OpBuilder::InsertionGuard const guard(builder);
  builder.setInsertionPoint(copied);
  copied->walk([&](linalg::IndexOp index) {
    index.replaceAllUsesWith(position(index.getDim()));
    index.erase();
  });
}

Value ml2k::yielded(linalg::GenericOp op, unsigned result) {
  return cast<linalg::YieldOp>(op.getBody()->getTerminator()).getValues()[result];
}

bool ml2k::reads(linalg::GenericOp op, OpOperand &operand) { return op.payloadUsesValueFromOperand(&operand); }

static bool isLoopOrConstant(AffineExpr expr) { return isa<AffineDimExpr, AffineConstantExpr>(expr); }

bool ml2k::isPlain(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() == 0)
    return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!llvm::all_of(map.getResults(), isLoopOrConstant))
      return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) && !isa<tensor::ExtractOp>(inner);
  });
}

bool ml2k::fitOneKernel(Block &a, Block &b) {
  constexpr unsigned most = 256;
  unsigned count = 0;
  for (Block *block : {&a, &b})
    for (Block::iterator op = block->begin(); op != block->end() && count <= most; ++op)
      ++count;
  return count <= most;
}

static bool isOneElement(linalg::GenericOp op) {
  return llvm::all_of(op.getStaticLoopRanges(), [](int64_t extent) { return extent == 1; });
}

bool ml2k::hasOneReader(Value value) {
  return llvm::count_if(value.getUsers(), [](Operation *user) { return !isOpTriviallyDead(user); }) == 1;
}

/// Whether a value of one element is a total, or made of one by operations on single elements.
static bool comesFromTotal(Value value, int steps) {
  while (ml2k::hasOneReader(value) && ml2k::isUnitReshape(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto op = value.getDefiningOp<linalg::GenericOp>();
  auto const type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !ml2k::hasOneReader(value) || !type.hasStaticShape() || type.getNumElements() != 1 || steps == 0)
    return false;
  return op.getNumReductionLoops() != 0 ||
         llvm::any_of(op.getDpsInputs(), [steps](Value input) { return comesFromTotal(input, steps - 1); });
}

bool ml2k::finishesTotal(linalg::GenericOp producer, linalg::GenericOp reader) {
  constexpr int most = 8;
  return isOneElement(producer) && !isOneElement(reader) && producer.getNumReductionLoops() == 0 &&
         llvm::any_of(producer.getDpsInputs(), [](Value input) { return comesFromTotal(input, most); });
}

bool ml2k::isExpensive(linalg::GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &inner) {
    if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::FmaOp, math::CopySignOp>(inner))
      return false;
    return isa<math::MathDialect>(inner.getDialect()) ||
           isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(inner);
  });
}

//===--- Operands -------------------------------------------------------------------------------------------------===//

bool ml2k::isUniform(Value operand) {
  DenseElementsAttr splat;
  return !isa<ShapedType>(operand.getType()) || operand.getDefiningOp<linalg::FillOp>() ||
         operand.getDefiningOp<tensor::SplatOp>() || (matchPattern(operand, m_Constant(&splat)) && splat.isSplat());
}

Value ml2k::uniformValue(OpBuilder &builder, Value operand) {
  if (!isa<ShapedType>(operand.getType()))
    return operand;
  if (auto fill = operand.getDefiningOp<linalg::FillOp>())
    return fill.getInputs()[0];
  if (auto splat = operand.getDefiningOp<tensor::SplatOp>())
    return splat.getInput();
  DenseElementsAttr splat;
  if (matchPattern(operand, m_Constant(&splat)) && splat.isSplat())
    return builder.create<arith::ConstantOp>(operand.getLoc(), cast<TypedAttr>(splat.getSplatValue<Attribute>()));
  return nullptr;
}

/// The groups of dimensions of a reshape, whichever side they are on.
static SmallVector<ReassociationIndices> groupsOf(Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getReassociationIndices();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapse.getReassociationIndices();
  return {};
}

/// The type of the side with more dimensions.
static RankedTensorType wideType(Operation *op) {
  return cast<RankedTensorType>(isa<tensor::ExpandShapeOp>(op) ? op->getResult(0).getType()
                                                               : op->getOperand(0).getType());
}

bool ml2k::isUnitReshape(Operation *op) {
  if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return false;
  RankedTensorType const wide = wideType(op);
  return llvm::all_of(groupsOf(op), [&](ReassociationIndices const &group) {
    return llvm::count_if(group, [&](int64_t d) { return wide.getDimSize(d) != 1; }) <= 1;
  });
}

/// Indices on the other side of a unit reshape.
static void crossReshape(Operation *op, SmallVectorImpl<AffineExpr> &indices) {
  RankedTensorType const wide = wideType(op);
  AffineExpr const zero = getAffineConstantExpr(0, op->getContext());
  bool const toNarrow = isa<tensor::ExpandShapeOp>(op);
  SmallVector<AffineExpr> crossed(toNarrow ? 0 : wide.getRank(), zero);
  for (auto [narrow, group] : llvm::enumerate(groupsOf(op))) {
    auto const real = llvm::find_if(group, [&](int64_t d) { return wide.getDimSize(d) != 1; });
    if (toNarrow)
      crossed.push_back(real == group.end() ? zero : indices[*real]);
    else if (real != group.end())
      crossed[*real] = indices[narrow];
  }
  indices.assign(crossed);
}

Value ml2k::throughUnitReshapes(Value value, SmallVectorImpl<AffineExpr> &indices) {
  while (isUnitReshape(value.getDefiningOp())) {
    crossReshape(value.getDefiningOp(), indices);
    value = value.getDefiningOp()->getOperand(0);
  }
  return value;
}

SmallVector<AffineExpr> ml2k::indicesOf(AffineMap map, ShapedType type, ArrayRef<AffineExpr> loops) {
  SmallVector<AffineExpr> indices;
  for (auto [expr, extent] : llvm::zip(map.getResults(), type.getShape()))
    indices.push_back(extent == 1 ? getAffineConstantExpr(0, map.getContext()) : expr.replaceDims(loops));
  return indices;
}

Value ml2k::freshDestination(OpBuilder &builder, Value output) {
  auto const argument = dyn_cast<BlockArgument>(output);
  if ((argument && isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp())) ||
      output.getDefiningOp<tensor::ExtractSliceOp>())
    return output;
  auto const type = cast<RankedTensorType>(output.getType());
  SmallVector<OpFoldResult> const sizes = tensor::getMixedSizes(builder, output.getLoc(), output);
  return builder.create<tensor::EmptyOp>(output.getLoc(), sizes, type.getElementType(), type.getEncoding());
}

void ml2k::eraseDead(RewriterBase &rewriter, Operation *root) {
  SmallVector<Operation *> all;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) { all.push_back(op); });
  for (Operation *op : llvm::reverse(all)) // what is inside an operation before the operation itself
    if (op != root && isOpTriviallyDead(op))
      rewriter.eraseOp(op);
}
