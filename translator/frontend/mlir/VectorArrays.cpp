//===- VectorArrays.cpp - which vectors are stored, and when ------------------------------------------------------===//

#include "translator/frontend/mlir/VectorArrays.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace ml2k::mlir_import;

/// So many operations are computed in each other; the next one stores its elements.
constexpr int deepest = 24;

//===--- Operations -----------------------------------------------------------------------------------------------===//

static bool readsMemory(Operation *op) {
  return isa<vector::TransferReadOp, vector::LoadOp, vector::MaskedLoadOp, vector::GatherOp>(op) &&
         isa<MemRefType>(op->getOperand(0).getType());
}

/// The operation for which a value is an operand; of a vector.mask the one inside.
static Block *blockOf(Operation *user) {
  if (auto mask = dyn_cast<vector::MaskOp>(user->getParentOp()))
    return mask->getBlock();
  return user->getBlock();
}

static int64_t countOf(Type type) {
  auto const vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

bool ml2k::mlir_import::readsRepeatedly(OpOperand &operand) {
  Operation *const op = operand.getOwner();
  int64_t const own = countOf(operand.get().getType());
  if (auto product = dyn_cast<vector::ContractionOp>(op)) {
    SmallVector<int64_t> extents;
    product.getIterationBounds(extents);
    int64_t all = 1;
    for (int64_t extent : extents)
      all *= extent;
    return operand.getOperandNumber() < 2 && all != own;
  }
  if (isa<vector::OuterProductOp>(op))
    return operand.getOperandNumber() < 2 && own != countOf(op->getResult(0).getType());
  if (isa<vector::BroadcastOp, vector::BitCastOp>(op))
    return own < countOf(op->getResult(0).getType());
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(op))
    return transfer.getMask() == operand.get() && own != transfer.getVectorType().getNumElements();
  return isa<vector::MatmulOp, vector::MaskOp>(op);
}

/// Elements in other places, or those of scalars: to compute one again costs nothing.
static bool isView(Operation *op) {
  return isa<vector::BroadcastOp, vector::ExtractOp, vector::ExtractStridedSliceOp, vector::TransposeOp,
             vector::ShapeCastOp, vector::DeinterleaveOp>(op);
}

bool VectorArrays::isFree(Value vector) const {
  Operation *const op = vector.getDefiningOp();
  if (!isa<VectorType>(vector.getType()))
    return true;
  return op && (isSimpleConstant(op) ||
                isa<vector::SplatOp, vector::StepOp, vector::CreateMaskOp, vector::ConstantMaskOp>(op) ||
                (isa<vector::BroadcastOp>(op) && !isa<VectorType>(op->getOperand(0).getType())));
}

static bool isElementwise(Operation *op) { return OpTrait::hasElementwiseMappableTraits(op) || isa<vector::FMAOp>(op); }

//===--- What is computed later -----------------------------------------------------------------------------------===//

bool VectorArrays::isViewOfArray(Operation *op) const {
  if (!isView(op))
    return false;
  Value const source = op->getOperand(0);
  return arrays.contains(source) || views.contains(source) || isFree(source);
}

bool VectorArrays::mayWait(OpResult result) const {
  Operation *const op = result.getOwner();
  if (isFree(result))
    return true;
  int depth = 0;
  for (Value operand : op->getOperands())
    depth = std::max(depth, depths.lookup(operand) + 1);
  if (depth > deepest)
    return false;
  if (isViewOfArray(op))
    return true;
  if (op->getNumResults() != 1)
    return false;
  OpOperand &use = *result.use_begin(); // an elementwise operation may have it several times
  bool const isOnce = result.hasOneUse() || isElementwise(use.getOwner());
  return isOnce && blockOf(use.getOwner()) == op->getBlock() && llvm::all_of(result.getUses(), [&](OpOperand &other) {
           return other.getOwner() == use.getOwner() && !readsRepeatedly(other);
         });
}

void VectorArrays::waitFor(OpResult result) {
  Operation *const op = result.getOwner();
  int depth = 0;
  bool reads = readsMemory(op);
  for (Value operand : op->getOperands()) {
    depth = std::max(depth, depths.lookup(operand) + 1);
    reads |= readers.contains(operand);
    consume(operand);
  }
  depths[result] = depth;
  if (isViewOfArray(op))
    views.insert(result);
  if (reads) {
    readers.insert(result);
    reading.insert(result);
  }
}

void VectorArrays::define(OpBuilder &at, Operation *op) {
  bool isStored = op->use_empty();
  for (OpResult result : op->getResults())
    if (result.use_empty())
      continue;
    else if (mayWait(result))
      waitFor(result);
    else {
      arrays[result] = copied(at, result, result.getLoc());
      isStored = true;
    }
  if (isStored)
    for (Value operand : op->getOperands())
      consume(operand);
}

void VectorArrays::settle(OpBuilder &at, Value vector) {
  consume(vector);
  if (!isa<VectorType>(vector.getType()) || arrays.contains(vector) || isFree(vector))
    return;
  Value const array = copied(at, vector, vector.getLoc());
  arrays[vector] = array;
  readers.erase(vector);
  depths.erase(vector);
}

void VectorArrays::settleReads(OpBuilder &at) {
  while (!reading.empty()) {
    SmallVector<Value> const waiting(reading.begin(), reading.end());
    for (Value vector : waiting)
      settle(at, vector);
  }
}

//===--- Arrays ---------------------------------------------------------------------------------------------------===//

Value VectorArrays::newArray(OpBuilder &at, Type vector, Location loc) {
  auto const type = cast<VectorType>(vector);
  if (auto const named = dyn_cast<NameLoc>(loc)) // `load "v"`
    loc = NameLoc::get(at.getStringAttr("alloca \"" + named.getName().getValue().split('"').second), loc);
  return at.create<memref::AllocaOp>(loc, MemRefType::get(type.getShape(), type.getElementType()));
}

void VectorArrays::store(OpBuilder &at, Value vector, Value array) {
  forEach(at, vector.getLoc(), cast<VectorType>(vector.getType()).getShape(),
          [&](OpBuilder &inside, Positions positions) {
            inside.create<memref::StoreOp>(vector.getLoc(), element(inside, vector, positions), array, positions);
          });
}

Value VectorArrays::copied(OpBuilder &at, Value vector, Location loc) {
  Value const array = newArray(at, vector.getType(), loc);
  store(at, vector, array);
  return array;
}

Value VectorArrays::takeArray(OpBuilder &at, Value vector, Operation *user, Location loc) {
  Value const own = arrays.lookup(vector);
  if (own && own.getDefiningOp<memref::AllocaOp>() && vector.hasOneUse() && vector.getParentBlock() == user->getBlock())
    return own;
  Value const copy = copied(at, vector, loc);
  consume(vector);
  return copy;
}

//===--- Conflicts ------------------------------------------------------------------------------------------------===//

/// Whether an element of the result takes the one at its own position, of this operand.
static bool isReadInPlace(OpOperand &operand) {
  Operation *const op = operand.getOwner();
  if (isa<vector::OuterProductOp, vector::ContractionOp>(op)) // the sum
    return operand.getOperandNumber() == 2;
  if (isa<vector::MultiDimReductionOp>(op))
    return operand.getOperandNumber() == 1;
  return isElementwise(op);
}

void VectorArrays::readsOf(Value vector, bool atSamePositions, SmallVectorImpl<Read> &reads) const {
  if (Value const array = arrays.lookup(vector)) {
    reads.push_back({nullptr, array, atSamePositions});
    return;
  }
  Operation *const op = vector.getDefiningOp();
  if (!op || !depths.contains(vector))
    return;
  if (readsMemory(op))
    reads.push_back({op, {}, atSamePositions});
  for (OpOperand &operand : op->getOpOperands()) {
    bool const isKnown = llvm::is_contained(op->getOperands().take_front(operand.getOperandNumber()), operand.get());
    if (!isKnown || !isElementwise(op)) // an operand that is there twice must not double the work at each step
      readsOf(operand.get(), atSamePositions && isReadInPlace(operand), reads);
  }
}

bool VectorArrays::isInTheWay(Value vector, Value own, llvm::DenseSet<Value> const &carried) const {
  SmallVector<Read> reads;
  readsOf(vector, true, reads);
  return llvm::any_of(reads, [&](Read const &read) {
    return read.array && (read.array == own ? !read.atSamePositions : carried.contains(read.array));
  });
}

/// The memory that a view shows.
static Value wholeOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// Arguments do not overlap, nor does memory that the program makes.
static bool isOwn(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(memref.getDefiningOp());
}

static bool mayOverlap(Value a, Value b) {
  Value const first = wholeOf(a), second = wholeOf(b);
  return first == second || !isOwn(first) || !isOwn(second);
}

/// Whether both touch the same element at each position.
static bool isSamePlace(Operation *read, Operation *store) {
  auto from = dyn_cast<VectorTransferOpInterface>(read), to = dyn_cast<VectorTransferOpInterface>(store);
  if (from && to)
    return from.getSource() == to.getSource() && llvm::equal(from.getIndices(), to.getIndices()) &&
           from.getPermutationMap() == to.getPermutationMap() && from.getPermutationMap().isProjectedPermutation() &&
           from.getVectorType() == to.getVectorType();
  auto load = dyn_cast<vector::LoadOp>(read);
  auto kept = dyn_cast<vector::StoreOp>(store);
  return load && kept && load.getBase() == kept.getBase() && llvm::equal(load.getIndices(), kept.getIndices()) &&
         load.getVectorType() == kept.getVectorType();
}

static Value targetOf(Operation *store) {
  if (auto transfer = dyn_cast<VectorTransferOpInterface>(store))
    return transfer.getSource();
  if (auto scatter = dyn_cast<vector::ScatterOp>(store))
    return scatter.getBase();
  if (auto masked = dyn_cast<vector::MaskedStoreOp>(store))
    return masked.getBase();
  if (auto compressed = dyn_cast<vector::CompressStoreOp>(store))
    return compressed.getBase();
  return cast<vector::StoreOp>(store).getBase();
}

void VectorArrays::prepareStore(OpBuilder &at, Operation *store, Value vector, ArrayRef<Value> others) {
  Value const target = targetOf(store);
  auto const isInTheWay = [&](Value operand, bool mayBeSame) {
    SmallVector<Read> reads;
    readsOf(operand, true, reads);
    return llvm::any_of(reads, [&](Read const &read) {
      return read.op && mayOverlap(read.op->getOperand(0), target) &&
             !(mayBeSame && read.atSamePositions && isSamePlace(read.op, store));
    });
  };
  if (isInTheWay(vector, true))
    settle(at, vector);
  for (Value other : others)
    if (isInTheWay(other, false))
      settle(at, other);
  consume(vector);
  for (Value other : others)
    consume(other);
  settleReads(at);
}
