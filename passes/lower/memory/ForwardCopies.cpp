//===- ForwardCopies.cpp - what is only copied somewhere is computed there ----------------------------------------===//
//
// Bufferization gives every kernel memory of its own and then copies: into the slice of a concatenation, an output of
// the model, the state of a loop. Where nobody can tell the difference the kernel writes there at once. Chains of
// concatenations resolve one copy at a time.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Rewrite.h"
#include "passes/lower/memory/AccessIndex.h"
#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"
#include "passes/lower/memory/Operands.h"
#include "translator/ir/Nest.h"
#include "translator/ir/Sizes.h"
#include "translator/ir/StoredSums.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FORWARDCOPIES
#include "passes/Passes.h.inc"

namespace {

//===--- Aliases of the new place ---------------------------------------------------------------------------------===//

/// The type of the alias `op` when its source has the type `source`; null if there is no such alias.
MemRefType aliasType(Operation *op, MemRefType source) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), source, view.getMixedOffsets(), view.getMixedSizes(), view.getMixedStrides()));
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    auto type = memref::ExpandShapeOp::computeExpandedType(source, expand.getResultType().getShape(),
                                                           expand.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    auto const groups = collapse.getReassociationIndices();
    if (memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups))
      return memref::CollapseShapeOp::computeCollapsedType(source, groups);
  }
  if (auto known = dyn_cast<memref::CastOp>(op)) { // extents that run time knows, or has to check
    auto const shape = cast<MemRefType>(known.getType()).getShape();
    auto const type = MemRefType::get(shape, source.getElementType(), source.getLayout());
    if (memref::CastOp::areCastCompatible(source, type))
      return type;
  }
  return {};
}

/// True if every alias of `value` has a type when `value` has the type `type`, and kernels can address it there.
/// `inImage`: the new place is an image of the workspace or channels of one.
bool canRetype(Value value, MemRefType type, bool inImage) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (isImageOperand(use))
      return isContiguous(type) || (inImage && isChannelSlice(value));
    if (isMatrixOperand(use))
      return isContiguous(type);
    if (!isAlias(use.getOwner()))
      return true;
    MemRefType const result = aliasType(use.getOwner(), type);
    return result && canRetype(use.getOwner()->getResult(0), result, inImage);
  });
}

void replaceWithAliases(Value from, Value to) {
  for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
    Operation *user = use.getOwner();
    use.set(to);
    if (!isAlias(user) || from.getType() == to.getType())
      continue;
    Value const result = user->getResult(0);
    MemRefType const type = aliasType(user, cast<MemRefType>(to.getType()));
    if (type == result.getType())
      continue;
    OpBuilder builder(user);
    Operation *clone = builder.clone(*user);
    clone->getResult(0).setType(type);
    replaceWithAliases(result, clone->getResult(0));
    user->erase();
  }
}

//===--- One copy -------------------------------------------------------------------------------------------------===//

/// Whether a reshape only puts in extents of 1: a slice takes them out again, however the rest lies.
bool addsUnitExtents(memref::ExpandShapeOp expand) {
  return llvm::all_of(expand.getReassociationIndices(), [&](ReassociationIndices const &group) {
    auto const shape = expand.getResultType().getShape();
    return llvm::count_if(group, [&](int64_t dim) { return shape[dim] != 1; }) <= 1;
  });
}

/// The type of the slice that is all of a memref of type `result`, with the extents of 1 taken out.
MemRefType typeOfSlice(ArrayRef<int64_t> shape, MemRefType result) {
  SmallVector<int64_t> const zeros(result.getRank(), 0), ones(result.getRank(), 1);
  return cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(shape, result, zeros, result.getShape(), ones));
}

/// The type of a memref of which `reshape` makes one of type `result`; null if there is none.
MemRefType typeBefore(Operation *reshape, MemRefType result) {
  auto const shape = cast<MemRefType>(reshape->getOperand(0).getType()).getShape();
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(reshape)) {
    auto type = memref::ExpandShapeOp::computeExpandedType(result, shape, collapse.getReassociationIndices());
    return succeeded(type) ? *type : MemRefType();
  }
  auto expand = cast<memref::ExpandShapeOp>(reshape);
  auto const groups = expand.getReassociationIndices();
  if (memref::CollapseShapeOp::isGuaranteedCollapsible(result, groups))
    return memref::CollapseShapeOp::computeCollapsedType(result, groups);
  return addsUnitExtents(expand) ? typeOfSlice(shape, result) : MemRefType();
}

/// copy(reshapes(alloc), target), and the span of the block in which `alloc` is in use.
struct Candidate {
  memref::CopyOp copy;
  memref::AllocOp alloc;
  SmallVector<Operation *> reshapes;                  // from the copy's source back to the allocation
  MemRefType type;                                    // of the target with these undone
  SmallVector<SmallVector<OpFoldResult>> shapes = {}; // which each of them collapses
  Operation *named = nullptr;                         // the first mention of the allocation, an alias of it perhaps
  Operation *first = nullptr;                         // its first access
  Operation *last = nullptr;

  Value target() { return copy.getTarget(); }
  Operation *inBlock(Operation *op) { return copy->getBlock()->findAncestorOpInBlock(*op); }
};

/// The number that an extent is, where the memory or the reshape says; null where nothing does.
OpFoldResult extentAlong(Value memref, int64_t dim) {
  Builder builder(memref.getContext());
  while (true) {
    auto const now = cast<MemRefType>(memref.getType());
    if (!now.isDynamicDim(dim))
      return builder.getIndexAttr(now.getDimSize(dim));
    if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
      return alloc.getDynamicSizes()[now.getDynamicDimIndex(dim)];
    if (auto expand = memref.getDefiningOp<memref::ExpandShapeOp>())
      return getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder)[dim];
    auto collapse = memref.getDefiningOp<memref::CollapseShapeOp>();
    auto const group = collapse ? collapse.getReassociationIndices()[dim] : ReassociationIndices();
    if (group.size() != 1)
      return {};
    memref = collapse.getSrc();
    dim = group.front();
  }
}

/// Whoever asks for an extent of the memory, or of a reshape of it, gets the number that it was made with: the place
/// where the memory is going to be may be as large as that.
void answerExtents(Value memref) {
  auto const type = cast<MemRefType>(memref.getType());
  if (type.hasStaticShape())
    return;
  for (Operation *user : llvm::make_early_inc_range(memref.getUsers())) {
    if (isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(user))
      answerExtents(user->getResult(0));
    auto dim = dyn_cast<memref::DimOp>(user);
    auto const index = dim ? dim.getConstantIndex() : std::nullopt;
    OpFoldResult const size =
        index && *index >= 0 && *index < type.getRank() ? extentAlong(memref, *index) : OpFoldResult();
    if (!size || !isa<Value>(size))
      continue;
    dim.replaceAllUsesWith(cast<Value>(size));
    dim.erase();
  }
}

std::optional<Candidate> asCandidate(memref::CopyOp copy) {
  Candidate it{copy, {}, {}, cast<MemRefType>(copy.getTarget().getType())};
  if (cast<MemRefType>(copy.getSource().getType()).getShape() != it.type.getShape())
    return std::nullopt; // one knows an extent that the other has at run time: no reshape leads from one to the other
  Value source = copy.getSource();
  while (isa_and_nonnull<memref::CollapseShapeOp, memref::ExpandShapeOp>(source.getDefiningOp())) {
    it.reshapes.push_back(source.getDefiningOp());
    source = it.reshapes.back()->getOperand(0);
  }
  it.alloc = source.getDefiningOp<memref::AllocOp>();
  if (!it.alloc || rootOf(copy.getTarget()) == source)
    return std::nullopt;
  answerExtents(it.alloc);
  Builder builder(copy.getContext());
  for (Operation *reshape : it.reshapes) {
    if (!(it.type = typeBefore(reshape, it.type)))
      return std::nullopt;
    it.shapes.emplace_back();
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape))
      it.shapes.back() = getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder);
    for (int64_t dim = 0; isa<memref::CollapseShapeOp>(reshape) && dim < it.type.getRank(); ++dim)
      if (it.shapes.back().push_back(extentAlong(reshape->getOperand(0), dim)); !it.shapes.back().back())
        return std::nullopt;
  }
  return it.type.getShape() == it.alloc.getType().getShape() ? std::optional(it) : std::nullopt;
}

/// Finds the span; false if the allocation is in use elsewhere or written after the copy.
bool findSpan(Candidate &it, AccessIndex &index) {
  for (Access const &access : index.all(it.alloc)) {
    Operation *op = it.inBlock(access.op);
    if (!op || (access.writes && !index.isBefore(op, it.copy)))
      return false;
    it.first = it.first ? it.first : op;
    it.last = op;
  }
  for (Operation *user : it.alloc->getUsers()) {
    if (!it.inBlock(user))
      return false;
    Operation *const here = it.inBlock(user);
    it.named = !it.named || here->isBeforeInBlock(it.named) ? here : it.named;
  }
  return it.first != it.copy;
}

/// True if no two positions of the loops share an element.
bool addressesOnce(AffineMap map) {
  llvm::SmallBitVector seen(map.getNumDims());
  for (AffineExpr expr : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      seen.set(dim.getPosition());
    else if (!isa<AffineConstantExpr>(expr))
      return false;
  return seen.all();
}

/// The operands that a kernel reads where it stores its results, and the maps of them and of the result. Reductions,
/// products of packed weights and convolutions have their sums first: each result is stored once, by whoever reads what
/// is added.
std::optional<std::pair<SmallVector<Value>, SmallVector<AffineMap>>> readWhereStored(nest::Kernel kernel) {
  if (auto map = dyn_cast<nest::MapOp>(*kernel))
    return {{map.getMappedOperands(), map.getMaps()}};
  if (auto reduce = dyn_cast<nest::ReduceOp>(*kernel))
    return {{llvm::to_vector(reduce.getExtras()),
             llvm::to_vector(ArrayRef(reduce.getMaps()).drop_front(reduce.getInputs().size()))}};
  if (auto contract = dyn_cast<nest::ContractOp>(*kernel)) {
    auto weight = contract.getInputs()[1].getDefiningOp<nest::WeightOp>();
    SmallVector<AffineMap> const maps = contract.getMaps();
    if (!weight || !weight.getPacking() || nest::columnsOfPart(contract))
      return std::nullopt;
    return {{llvm::to_vector(contract.getExtras()), llvm::to_vector(ArrayRef(maps).drop_front(2))}};
  }
  auto conv = dyn_cast<nest::ConvOp>(*kernel);
  if (!conv || nest::channelsPerSum(conv) != 1 || nest::shuffledParts(conv) != 1 || conv.getTransposed())
    return std::nullopt;
  SmallVector<AffineMap> maps = conv.getMaps();
  maps.push_back(AffineMap::getMultiDimIdentityMap(4, conv.getContext()));
  return {{llvm::to_vector(conv.getExtras()), maps}};
}

/// A kernel may read an element that it overwrites: same position in both, and the value is gone before anything is
/// stored.
bool readsWhatItWrites(Candidate &it, Access const &access) {
  auto kernel = dyn_cast<nest::Kernel>(access.op);
  if (!kernel || access.op != it.first || access.alias != it.target() || access.writes || !it.reshapes.empty())
    return false;
  auto const read = readWhereStored(kernel);
  auto const outputs = cast<DestinationStyleOpInterface>(access.op).getDpsInits();
  if (!read || !llvm::is_contained(outputs, it.alloc.getResult()))
    return false;
  auto const &[operands, maps] = *read;
  size_t const place = llvm::find(outputs, it.alloc.getResult()) - outputs.begin();
  AffineMap const output = maps[maps.size() - outputs.size() + place];
  Block &block = kernel.getStoringRegion().front();
  bool const isMap = isa<nest::MapOp>(access.op);
  unsigned const sums = isMap ? 0 : 1;
  if (isMap ? !addressesOnce(output) : !output.isProjectedPermutation(/*allowZeroInResults=*/true))
    return false;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (operand == access.alias && (maps[i] != output || !block.getArgument(sums + i).hasOneUse()))
      return false;
  return llvm::count(operands, access.alias) == llvm::count(access.op->getOperands(), access.alias) &&
         llvm::is_contained(operands, access.alias);
}

/// True if nobody else uses the target while the allocation is in use; afterwards it may be read.
bool isTargetFree(Candidate &it, AccessIndex &index) {
  Box const box = boxOf(it.target());
  for (Access const &access : index.between(rootOf(it.target()), it.first, it.last)) {
    if (access.op == it.copy)
      continue;
    bool const readAfterwards = index.isBefore(it.copy, it.inBlock(access.op)) && !access.writes;
    if (!readAfterwards && !areDisjoint(boxOf(access.alias), box) && !readsWhatItWrites(it, access))
      return false;
  }
  return true;
}

/// What an expansion to `shape` was made of: the same memory with groups of dimensions joined again.
Value withoutExtents(OpBuilder &builder, memref::ExpandShapeOp expand, Value place, ArrayRef<OpFoldResult> shape) {
  auto const type = cast<MemRefType>(place.getType());
  auto const groups = expand.getReassociationIndices();
  if (memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
    return builder.create<memref::CollapseShapeOp>(expand.getLoc(), place, groups);
  SmallVector<OpFoldResult> const zeros(type.getRank(), builder.getIndexAttr(0)),
      ones(type.getRank(), builder.getIndexAttr(1));
  return builder.create<memref::SubViewOp>(expand.getLoc(), typeOfSlice(expand.getSrcType().getShape(), type), place,
                                           zeros, shape, ones);
}

/// The target in the shape of the allocation: the reshapes of the copy's source undone.
Value undoReshapes(Candidate &it) {
  OpBuilder builder(it.named);
  Value place = it.target();
  for (auto const &[op, shape] : llvm::zip(it.reshapes, it.shapes)) {
    auto const type = cast<MemRefType>(op->getOperand(0).getType());
    if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
      place = builder.create<memref::ExpandShapeOp>(op->getLoc(), type.getShape(), place,
                                                    collapse.getReassociationIndices(), shape);
    else
      place = withoutExtents(builder, cast<memref::ExpandShapeOp>(op), place, shape);
  }
  return place;
}

/// What has to be there before the allocation is mentioned: the target, and sizes of what it is reshaped to.
SmallVector<Value> neededFirst(Candidate &it) {
  SmallVector<Value> needed = {it.target()};
  for (SmallVector<OpFoldResult> const &shape : it.shapes)
    for (OpFoldResult size : shape)
      if (auto const value = dyn_cast<Value>(size))
        needed.push_back(value);
  return needed;
}

/// Whether values are computed from the allocation, as from an extent of a part of it. Also of more than this looks at.
bool dependOn(ArrayRef<Value> values, memref::AllocOp alloc) {
  constexpr unsigned most = 256;
  SetVector<Operation *> all;
  auto const add = [&](ValueRange operands) {
    for (Value operand : operands)
      if (Operation *op = operand.getDefiningOp())
        all.insert(op);
  };
  add(values);
  for (unsigned i = 0; i < all.size() && i < most; ++i)
    add(all[i]->getOperands());
  return all.size() > most || all.contains(alloc);
}

/// True if the kernels of the allocation can work in the target, which has the type `type` for them.
bool suitsKernels(Candidate &it, MemRefType type) {
  bool const inImage =
      it.reshapes.empty() && rootOf(it.target()).getDefiningOp<memref::AllocOp>() && isChannelSlice(it.target());
  return type == it.alloc.getType() || canRetype(it.alloc, type, inImage);
}

/// Without what undoReshapes() has made.
void eraseViews(Value place, Value target) {
  while (place != target) {
    Operation *const view = place.getDefiningOp();
    place = view->getOperand(0);
    view->erase();
  }
}

bool forward(memref::CopyOp copy, AccessIndex &index) {
  auto it = asCandidate(copy);
  if (!it || !suitsKernels(*it, it->type) || !findSpan(*it, index) || !isTargetFree(*it, index) ||
      dependOn(neededFirst(*it), it->alloc) || hoistAllBefore(neededFirst(*it), it->named))
    return false;
  Value const place = undoReshapes(*it), root = rootOf(it->target());
  if (!suitsKernels(*it, cast<MemRefType>(place.getType()))) { // extents are known there that were not here
    eraseViews(place, it->target());
    return false;
  }
  index.forget(it->alloc, copy);
  index.forget(root, copy);
  index.join(it->alloc, root);
  copy.erase();
  replaceWithAliases(it->alloc, place);
  it->alloc.erase();
  return true;
}

//===--- Slices of slices -----------------------------------------------------------------------------------------===//

/// A slice of a slice is a slice, also where either drops dimensions of extent 1. Upstream's pattern never comes to
/// an end on a row of a slice of run-time size.
struct ComposeSlices : OpRewritePattern<memref::SubViewOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(memref::SubViewOp op, PatternRewriter &rewriter) const override {
    auto outer = op.getSource().getDefiningOp<memref::SubViewOp>();
    auto const isOne = [](OpFoldResult stride) { return isConstantIntValue(stride, 1); };
    if (!outer || !llvm::all_of(op.getMixedStrides(), isOne) || !llvm::all_of(outer.getMixedStrides(), isOne))
      return failure();
    llvm::SmallBitVector const dropped = outer.getDroppedDims();
    SmallVector<OpFoldResult> offsets = outer.getMixedOffsets(), sizes = outer.getMixedSizes();
    SmallVector<std::pair<Value, int64_t>> sums(offsets.size()); // offsets that need an operation
    for (size_t dim = 0, inner = 0; dim < offsets.size(); ++dim) {
      if (dropped.test(dim))
        continue;
      OpFoldResult const more = op.getMixedOffsets()[inner];
      sizes[dim] = op.getMixedSizes()[inner++];
      auto const a = getConstantIntValue(offsets[dim]), b = getConstantIntValue(more);
      if (a && b)
        offsets[dim] = rewriter.getIndexAttr(*a + *b);
      else if (a == 0)
        offsets[dim] = more;
      else if (a || b)
        sums[dim] = {cast<Value>(a ? more : offsets[dim]), a ? *a : *b};
      else
        return failure();
    }
    SmallVector<OpFoldResult> places = offsets;
    for (auto [place, sum] : llvm::zip(places, sums))
      if (sum.first)
        place = sum.first; // any run-time offset has the same type
    auto const type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        op.getType().getShape(), outer.getSourceType(), places, sizes, outer.getMixedStrides()));
    if (type != op.getType())
      return failure();
    for (auto [offset, sum] : llvm::zip(offsets, sums))
      if (sum.first && sum.second != 0)
        offset = rewriter
                     .create<affine::AffineApplyOp>(
                         op.getLoc(), AffineMap::get(1, 0, rewriter.getAffineDimExpr(0) + sum.second), sum.first)
                     .getResult();
    rewriter.replaceOpWithNewOp<memref::SubViewOp>(op, type, outer.getSource(), offsets, sizes,
                                                   outer.getMixedStrides());
    return success();
  }
};

struct ForwardCopies : impl::ForwardCopiesBase<ForwardCopies> {
  void runOnOperation() override {
    AccessIndex index(getOperation());
    bool changed = true;
    while (changed) {
      changed = false;
      SmallVector<memref::CopyOp> copies;
      getOperation().walk([&](memref::CopyOp copy) { copies.push_back(copy); });
      // From the last: the state of a loop, stored at its end, is computed in place before the sequence gets its copy
      for (memref::CopyOp copy : llvm::reverse(copies))
        changed |= forward(copy, index);
    }
    storeInParts(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<ComposeSlices>(&getContext());
    if (failed(rewriteGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
