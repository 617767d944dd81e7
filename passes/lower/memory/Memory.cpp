//===- Memory.cpp - who reads and writes which part of a buffer ---------------------------------------------------===//

#include "passes/lower/memory/Memory.h"

#include "translator/ir/Nest.h"
#include "translator/ir/Sizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ml2k;

bool ml2k::isAlias(Operation *op) {
  return isa_and_nonnull<memref::SubViewOp, memref::CollapseShapeOp, memref::ExpandShapeOp, memref::CastOp>(op);
}

Value ml2k::rootOf(Value memref) {
  while (isAlias(memref.getDefiningOp()))
    memref = memref.getDefiningOp()->getOperand(0);
  return memref;
}

Access ml2k::accessOf(OpOperand &use) {
  Operation *op = use.getOwner();
  bool reads = true, writes = true;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    reads = use.get() == copy.getSource();
    writes = use.get() == copy.getTarget();
  } else if (isa<memref::LoadOp>(op)) {
    writes = false;
  } else if (auto kernel = dyn_cast<DestinationStyleOpInterface>(op)) {
    writes = kernel.isDpsInit(&use);
    reads = !writes || isa<nest::RecurrentOp>(op);
  }
  return {op, use.get(), reads, writes};
}

void ml2k::collectAccesses(Value alias, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : alias.getUses()) {
    Operation *op = use.getOwner();
    if (isAlias(op))
      collectAccesses(op->getResult(0), uses);
    else if (!isa<memref::DimOp>(op))
      uses.push_back(&use);
    if (isa<scf::ForOp>(op)) // any of its results may be any of the memrefs that it exchanges
      for (Value result : op->getResults())
        if (result.getType() == alias.getType())
          collectAccesses(result, uses);
  }
}

/// Order in the program, wherever the two are nested.
static bool isBefore(Operation *a, Operation *b) {
  for (; a; a = a->getParentOp())
    if (Operation *other = a->getBlock() ? a->getBlock()->findAncestorOpInBlock(*b) : nullptr)
      return a != other && a->isBeforeInBlock(other);
  return false;
}

SmallVector<Access> ml2k::accessesOf(Value root) {
  SmallVector<OpOperand *> uses;
  collectAccesses(root, uses);
  SmallVector<Access> accesses = llvm::map_to_vector(uses, [](OpOperand *use) { return accessOf(*use); });
  llvm::stable_sort(accesses, [](Access const &a, Access const &b) { return isBefore(a.op, b.op); });
  return accesses;
}

//===--- Parts of buffers -----------------------------------------------------------------------------------------===//

static Box wholeOf(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  return {SmallVector<int64_t>(type.getRank(), 0), SmallVector<int64_t>(type.getShape())};
}

/// The dimension of the root that each dimension of a view is; none for those of extent 1 that a reshape adds.
using RootDims = SmallVector<std::optional<unsigned>>;

/// Narrows `box` to what `view` takes of it; false if the dimensions of the view are no longer those of the root.
static bool narrow(Box &box, RootDims &dims, memref::SubViewOp view) {
  bool const isStatic = view.getOffsets().empty() && view.getSizes().empty();
  box.offsetValues.assign(isStatic ? 0 : box.offsets.size(), Value());
  box.sizeValues.assign(isStatic ? 0 : box.offsets.size(), Value());
  auto nextOffset = view.getOffsets().begin(), nextSize = view.getSizes().begin();
  llvm::SmallBitVector const dropped = view.getDroppedDims();
  RootDims kept;
  for (unsigned at = 0; at < dims.size(); ++at) {
    int64_t const offset = view.getStaticOffsets()[at], size = view.getStaticSizes()[at];
    Value const offsetValue = ShapedType::isDynamic(offset) ? *nextOffset++ : Value();
    Value const sizeValue = ShapedType::isDynamic(size) ? *nextSize++ : Value();
    if (!dropped.test(at))
      kept.push_back(dims[at]);
    if (!dims[at])
      continue;
    unsigned const d = *dims[at];
    bool const known = !ShapedType::isDynamic(offset) && !ShapedType::isDynamic(box.offsets[d]);
    if (offsetValue && box.offsets[d] == 0)
      box.offsetValues[d] = offsetValue;
    if (sizeValue && view.getStaticStrides()[at] == 1)
      box.sizeValues[d] = sizeValue;
    box.offsets[d] = known ? box.offsets[d] + offset : ShapedType::kDynamic;
    // A strided view touches less than this, which is safe.
    int64_t const stride = view.getStaticStrides()[at];
    bool const fixed = !ShapedType::isDynamic(size) && !ShapedType::isDynamic(stride);
    box.sizes[d] = fixed ? (size - 1) * stride + 1 : ShapedType::kDynamic;
  }
  dims = std::move(kept);
  return llvm::all_of(view.getStaticStrides(), [](int64_t stride) { return stride == 1; });
}

/// The one of some dimensions that is longer than 1, the first one if none is; nothing if several may be.
static std::optional<unsigned> longDimension(ArrayRef<int64_t> group, ArrayRef<int64_t> shape) {
  auto const isLong = [&](int64_t dim) { return shape[dim] != 1; };
  if (group.empty() || llvm::count_if(group, isLong) > 1)
    return std::nullopt;
  auto const *found = llvm::find_if(group, isLong);
  return found == group.end() ? group.front() : *found;
}

/// Follows a reshape that only adds or drops extents of 1; false for others.
static bool follow(RootDims &dims, Operation *reshape) {
  RootDims now;
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(reshape)) {
    for (ReassociationIndices const &group : collapse.getReassociationIndices()) {
      auto const dim = longDimension(group, collapse.getSrcType().getShape());
      if (!dim)
        return false;
      now.push_back(dims[*dim]);
    }
  } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape)) {
    now.assign(expand.getResultType().getRank(), std::nullopt);
    for (auto [from, group] : llvm::enumerate(expand.getReassociationIndices())) {
      auto const dim = longDimension(group, expand.getResultType().getShape());
      if (!dim)
        return false;
      now[*dim] = dims[from];
    }
  } else {
    return isa<memref::CastOp>(reshape);
  }
  dims = std::move(now);
  return true;
}

Box ml2k::boxOf(Value alias) {
  SmallVector<Operation *> chain;
  for (; isAlias(alias.getDefiningOp()); alias = chain.back()->getOperand(0))
    chain.push_back(alias.getDefiningOp());
  Box box = wholeOf(alias);
  RootDims dims(box.offsets.size());
  for (auto [d, dim] : llvm::enumerate(dims))
    dim = d;
  for (Operation *op : llvm::reverse(chain)) {
    auto view = dyn_cast<memref::SubViewOp>(op);
    if (view ? !narrow(box, dims, view) : !follow(dims, op))
      break;
  }
  return box;
}

/// The extent of a dimension as it is given where the memory or the part of it is made; null for arguments.
static OpFoldResult extentOf(Value memref, unsigned d) {
  auto const type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(d))
    return Builder(memref.getContext()).getIndexAttr(type.getDimSize(d));
  if (auto allocation = memref.getDefiningOp<memref::AllocOp>())
    return allocation.getDynamicSizes()[type.getDynamicDimIndex(d)];
  if (auto buffer = memref.getDefiningOp<nest::BufferOp>())
    return buffer.getSizes()[type.getDynamicDimIndex(d)];
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  return view && view.getType().getRank() == view.getSourceType().getRank() ? view.getMixedSizes()[d] : OpFoldResult();
}

/// What the model calls the extent of an argument that a size is; empty for other sizes.
static StringRef nameOfSize(OpFoldResult size) {
  auto dim = cast<Value>(size).getDefiningOp<memref::DimOp>();
  auto argument = dim && dim.getConstantIndex() ? dyn_cast<BlockArgument>(dim.getSource()) : BlockArgument();
  auto entry = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return entry ? nameOfExtent(entry, argument, *dim.getConstantIndex()) : StringRef();
}

/// Whether two sizes are the same number: computed in the same way from the same sizes.
static bool isSameSize(OpFoldResult a, OpFoldResult b) {
  if (!a || !b || a == b)
    return a && b;
  auto const known = getConstantIntValue(a), other = getConstantIntValue(b);
  if (known || other)
    return known == other;
  auto const given = [](OpFoldResult size) { // what a question for an extent is answered by
    auto dim = cast<Value>(size).getDefiningOp<memref::DimOp>();
    OpFoldResult const extent =
        dim && dim.getConstantIndex() ? extentOf(dim.getSource(), *dim.getConstantIndex()) : OpFoldResult();
    return extent ? extent : size;
  };
  if (OpFoldResult const left = given(a), right = given(b); left != a || right != b)
    return isSameSize(left, right);
  if (StringRef const name = nameOfSize(a); !name.empty() && name == nameOfSize(b))
    return true;
  Operation *x = cast<Value>(a).getDefiningOp(), *y = cast<Value>(b).getDefiningOp();
  if (!x || !y || x->getName() != y->getName() || x->getAttrDictionary() != y->getAttrDictionary() ||
      x->getNumOperands() != y->getNumOperands() || x->getNumRegions() != 0 || !isPure(x))
    return false;
  return llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [](auto pair) {
    auto const [l, r] = pair;
    return l == r || (l.getType().isIndex() && r.getType().isIndex() && isSameSize(l, r));
  });
}

/// True if one of two parts ends where the other begins, or before: the first ones by number, or by what the program
/// says of a part that begins at 0.
static bool endsBefore(Box const &x, Box const &y, unsigned d) {
  if (!ShapedType::isDynamic(x.offsets[d]) && !ShapedType::isDynamic(x.sizes[d]) &&
      !ShapedType::isDynamic(y.offsets[d]))
    return x.offsets[d] + x.sizes[d] <= y.offsets[d];
  return x.offsets[d] == 0 && !x.sizeValues.empty() && !y.offsetValues.empty() && x.sizeValues[d] &&
         y.offsetValues[d] && isSameSize(x.sizeValues[d], y.offsetValues[d]);
}

bool ml2k::areDisjoint(Box const &a, Box const &b) {
  return llvm::any_of(llvm::seq<unsigned>(0, a.offsets.size()),
                      [&](unsigned d) { return endsBefore(a, b, d) || endsBefore(b, a, d); });
}

bool ml2k::isFreeBetween(Value alias, Operation *first, Operation *last, bool mayRead) {
  constexpr unsigned farthest = 64; // operations: time must not grow with the square of the program
  Value const root = rootOf(alias);
  Box const box = boxOf(alias);
  auto const disturbs = [&](OpOperand &use) {
    if (!isa<MemRefType>(use.get().getType()) || rootOf(use.get()) != root || areDisjoint(boxOf(use.get()), box))
      return false;
    return !mayRead || accessOf(use).writes;
  };
  unsigned count = 0;
  for (Operation *op = first; op != last; op = op->getNextNode()) {
    if (!op || ++count > farthest)
      return false;
    bool const found = op->walk([&](Operation *inner) {
                           bool const isAccess = !isAlias(inner) && !isa<memref::DimOp>(inner);
                           return isAccess && llvm::any_of(inner->getOpOperands(), disturbs) ? WalkResult::interrupt()
                                                                                             : WalkResult::advance();
                         }).wasInterrupted();
    if (found)
      return false;
  }
  return true;
}

/// Whether two extents are the same number, those of arguments by their names.
static bool isSameExtent(Value a, Value b, unsigned d) {
  if (OpFoldResult const left = extentOf(a, d), right = extentOf(b, d); left || right)
    return isSameSize(left, right);
  auto const first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  auto entry = first && second ? dyn_cast<func::FuncOp>(first.getOwner()->getParentOp()) : func::FuncOp();
  StringRef const name = entry ? nameOfExtent(entry, first, d) : StringRef();
  return !name.empty() && second.getOwner() == first.getOwner() && name == nameOfExtent(entry, second, d);
}

bool ml2k::haveSameShape(Value a, Value b) {
  auto const first = cast<MemRefType>(a.getType()), second = cast<MemRefType>(b.getType());
  return first.getShape() == second.getShape() &&
         llvm::all_of(llvm::seq(first.getRank()), [&](int64_t d) { return isSameExtent(a, b, d); });
}

bool ml2k::isChannelSlice(Value alias) {
  for (; isAlias(alias.getDefiningOp()); alias = alias.getDefiningOp()->getOperand(0)) {
    auto view = alias.getDefiningOp<memref::SubViewOp>();
    if (!view || view.getSourceType().getRank() != 4 || view.getType().getRank() != 4)
      return false;
    for (unsigned d : {0, 1, 2})
      if (view.getStaticOffsets()[d] != 0 || !isSameSize(view.getMixedSizes()[d], extentOf(view.getSource(), d)))
        return false;
    if (ShapedType::isDynamic(view.getStaticOffsets()[3]) || ShapedType::isDynamic(view.getStaticSizes()[3]) ||
        llvm::any_of(view.getStaticStrides(), [](int64_t stride) { return stride != 1; }))
      return false;
  }
  return cast<MemRefType>(alias.getType()).getRank() == 4;
}

//===--- Hoisting -------------------------------------------------------------------------------------------------===//

static bool isMovable(Operation *op) {
  return isAlias(op) || isa<memref::DimOp, nest::WeightOp, memref::AllocOp>(op) ||
         (op->getNumRegions() == 0 && isPure(op) && isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()));
}

/// Gathers, operands first, what must move for `value` to stand before `place`.
static LogicalResult gather(Value value, Operation *place, DominanceInfo &dominance, SetVector<Operation *> &moves) {
  if (dominance.properlyDominates(value, place))
    return success();
  Operation *op = value.getDefiningOp();
  if (op && moves.contains(op))
    return success();
  if (!op || op == place || !isMovable(op))
    return failure();
  for (Value operand : op->getOperands())
    if (failed(gather(operand, place, dominance, moves)))
      return failure();
  moves.insert(op);
  return success();
}

/// Without the order of the block being forgotten, as moveBefore would: it would be counted anew for every value.
static void moveTo(Operation *op, Operation *place) {
  op->remove();
  place->getBlock()->getOperations().insert(place->getIterator(), op);
}

LogicalResult ml2k::hoistBefore(Value value, Operation *place) {
  return success(hoistAllBefore(value, place) == nullptr);
}

Operation *ml2k::hoistAllBefore(ValueRange values, Operation *place) {
  DominanceInfo dominance(place->getParentOp());
  SetVector<Operation *> moves;
  for (Value value : values)
    if (failed(gather(value, place, dominance, moves)))
      return value.getDefiningOp();
  for (Operation *op : moves)
    moveTo(op, place);
  return nullptr;
}

SmallVector<Value> ml2k::dynamicSizes(OpBuilder &builder, Location location, Value memref) {
  SmallVector<Value> sizes;
  auto type = cast<MemRefType>(memref.getType());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(builder.create<memref::DimOp>(location, memref, d));
  return sizes;
}
