//===- VectorControl.cpp - loops and branches that carry vectors --------------------------------------------------===//
//
// What a loop carries lies in one array for all rounds, to which each round stores the next elements. A branch stores
// its results in arrays that were made in front.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/VectorLowering.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ml2k::mlir_import;

static SmallVector<Value> scalarsOf(ValueRange values) {
  return llvm::to_vector(llvm::make_filter_range(values, [](Value value) { return !isVector(value.getType()); }));
}

/// A value of the vector's type that has the array, until all vectors are gone.
Value VectorLowering::standIn(OpBuilder &at, Type type, Value array, Location loc) {
  auto made = at.create<UnrealizedConversionCastOp>(loc, type, ValueRange());
  dead.push_back(made);
  vectors.arrays[made.getResult(0)] = array;
  return made.getResult(0);
}

/// The operation without vectors among its operands and results; `resultArrays` has an array for each vector.
Operation *VectorLowering::withoutVectors(Operation *op, ArrayRef<Value> resultArrays) {
  OpBuilder at(op);
  if (auto loop = dyn_cast<affine::AffineForOp>(op))
    loop.getInitsMutable().assign(scalarsOf(loop.getInits()));
  else
    op->setOperands(scalarsOf(op->getOperands()));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isVector(type))
      types.push_back(type);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *const made = at.create(state);
  for (auto [to, from] : llvm::zip_equal(made->getRegions(), op->getRegions()))
    to.takeBody(from);
  unsigned next = 0;
  for (auto [result, array] : llvm::zip_equal(op->getResults(), resultArrays))
    result.replaceAllUsesWith(array ? standIn(at, result.getType(), array, result.getLoc()) : made->getResult(next++));
  op->erase();
  return made;
}

/// `arrays` has one for each argument that is a vector.
void VectorLowering::dropArguments(Block &block, ArrayRef<Value> arrays) {
  OpBuilder at = OpBuilder::atBlockBegin(&block);
  unsigned const first = block.getNumArguments() - arrays.size();
  for (auto [argument, array] : llvm::zip_equal(block.getArguments().drop_front(first), arrays))
    if (array)
      argument.replaceAllUsesWith(standIn(at, argument.getType(), array, argument.getLoc()));
  block.eraseArguments([](BlockArgument argument) { return isVector(argument.getType()); });
}

/// Stores the vectors among what a block yields, as if at once.
void VectorLowering::carry(Operation *end, OperandRange values, ArrayRef<Value> into) {
  OpBuilder at(end);
  llvm::DenseSet<Value> carried;
  for (Value array : into)
    if (array)
      carried.insert(array);
  auto const isThere = [&](Value value, Value array) { return vectors.arrays.lookup(value) == array; };
  SmallVector<Value> copies(into.size());
  for (auto [value, array, copy] : llvm::zip_equal(values, into, copies))
    if (array && !isThere(value, array) && vectors.isInTheWay(value, array, carried))
      copy = vectors.copied(at, value, value.getLoc());
  for (auto [value, array, copy] : llvm::zip_equal(values, into, copies)) {
    if (!array || isThere(value, array))
      continue;
    if (copy)
      vectors.arrays[value] = copy;
    vectors.store(at, value, array);
    vectors.consume(value);
  }
}

/// Arrays for vectors, nothing for others.
static SmallVector<Value> arraysFor(TypeRange types, function_ref<Value(unsigned)> array) {
  SmallVector<Value> all(types.size());
  for (auto [i, type] : llvm::enumerate(types))
    if (isVector(type))
      all[i] = array(i);
  return all;
}

LogicalResult VectorLowering::loop(Operation *op, ValueRange inits) {
  OpBuilder at(op);
  SmallVector<Value> const arrays = arraysFor(
      inits.getTypes(), [&](unsigned i) { return vectors.takeArray(at, inits[i], op, op->getResult(i).getLoc()); });
  Operation *const made = withoutVectors(op, arrays);
  Block &body = made->getRegion(0).front();
  dropArguments(body, arrays);
  if (failed(block(body)))
    return failure();
  Operation *const end = body.getTerminator();
  carry(end, end->getOperands(), arrays);
  end->setOperands(scalarsOf(end->getOperands()));
  return success();
}

LogicalResult VectorLowering::whileLoop(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  OpBuilder at(op);
  SmallVector<Value> const before = arraysFor(loop.getInits().getTypes(), [&](unsigned i) {
    return vectors.takeArray(at, loop.getInits()[i], op, loop.getBeforeArguments()[i].getLoc());
  });
  SmallVector<Value> const after = arraysFor(loop.getResultTypes(), [&](unsigned i) {
    return vectors.newArray(at, loop.getResult(i).getType(), loop.getResult(i).getLoc());
  });
  auto made = cast<scf::WhileOp>(withoutVectors(op, after));
  dropArguments(*made.getBeforeBody(), before);
  dropArguments(*made.getAfterBody(), after);
  if (failed(block(*made.getBeforeBody())))
    return failure();
  carry(made.getConditionOp(), made.getConditionOp().getArgs(), after);
  made.getConditionOp().getArgsMutable().assign(scalarsOf(made.getConditionOp().getArgs()));
  if (failed(block(*made.getAfterBody())))
    return failure();
  Operation *const end = made.getAfterBody()->getTerminator();
  carry(end, end->getOperands(), before);
  end->setOperands(scalarsOf(end->getOperands()));
  return success();
}

LogicalResult VectorLowering::branch(Operation *op) {
  OpBuilder at(op);
  SmallVector<Value> const arrays = arraysFor(op->getResultTypes(), [&](unsigned i) {
    return vectors.newArray(at, op->getResult(i).getType(), op->getResult(i).getLoc());
  });
  Operation *const made = withoutVectors(op, arrays);
  for (Region &region : made->getRegions())
    for (Block &part : region) {
      if (failed(block(part)))
        return failure();
      Operation *const end = part.getTerminator();
      carry(end, end->getOperands(), arrays);
      end->setOperands(scalarsOf(end->getOperands()));
    }
  return success();
}

/// Vectors live inside only.
LogicalResult VectorLowering::inner(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &part : region) {
      if (part.empty())
        continue;
      if (failed(block(part)))
        return failure();
      if (part.back().hasTrait<OpTrait::IsTerminator>() && failed(visit(&part.back())))
        return failure();
    }
  return success();
}

LogicalResult VectorLowering::control(Operation *op) {
  bool const carries = llvm::any_of(op->getResultTypes(), isVector) || llvm::any_of(op->getOperandTypes(), isVector);
  if (!carries)
    return inner(op);
  if (auto counted = dyn_cast<scf::ForOp>(op))
    return loop(op, counted.getInitArgs());
  if (auto counted = dyn_cast<affine::AffineForOp>(op))
    return loop(op, counted.getInits());
  if (isa<scf::WhileOp>(op))
    return whileLoop(op);
  if (isa<scf::IfOp, affine::AffineIfOp>(op))
    return branch(op);
  return op->emitError() << "'" << op->getName() << "': vectors are not supported as values of this operation";
}
