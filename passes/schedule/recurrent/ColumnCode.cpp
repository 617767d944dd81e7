//===- ColumnCode.cpp - the steps of a loop, for one column -------------------------------------------------------===//

#include "passes/schedule/recurrent/ColumnCode.h"

#include "passes/lower/loops/Dependence.h"
#include "passes/schedule/GenericBody.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

static constexpr int64_t mostElements = 64; ///< of an array of a column
static constexpr int64_t mostWork = 1024;   ///< operations of the bodies in a step of a column
static constexpr int64_t mostFactors = 8;   ///< of a weight for a state: larger ones are the recurrent layers' own

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

ColumnCode::ColumnCode(scf::ForOp loop, ColumnDims const &dims) : loop(loop), dims(dims), builder(loop) {
  for (auto [carried, yielded] : llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    State state;
    state.carried = carried;
    state.yielded = yielded;
    state.isSequence = isSequence(carried);
    states.push_back(state);
  }
  for (State &state : states)
    state.isChangedInPlace = isChangedInPlace(state);
}

//===--- What is kept ---------------------------------------------------------------------------------------------===//

/// The parallel loops that a column runs itself.
SmallVector<unsigned> ColumnCode::ownLoops(linalg::GenericOp op) const {
  SmallVector<unsigned> loops;
  SmallVector<int64_t> const extents = op.getStaticLoopRanges();
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel && extents[i] != 1 && !dims.ofLoop(op, i))
      loops.push_back(i);
  return loops;
}

/// Iterations for one column; a dynamic extent counts as too many.
int64_t ColumnCode::volume(linalg::GenericOp op, bool withReductions) const {
  int64_t product = 1;
  SmallVector<int64_t> const extents = op.getStaticLoopRanges();
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (!dims.ofLoop(op, i) && (withReductions || kind == utils::IteratorType::parallel))
      product *= ShapedType::isDynamic(extents[i]) ? mostWork + 1 : std::min(extents[i], mostWork + 1);
  return product;
}

/// False for what is computed where its one reader asks for it, and is not asked twice for an element.
bool ColumnCode::isKept(linalg::GenericOp op) const {
  if (volume(op, true) == 1)
    return true;
  Value value = op.getResult(0);
  if (op.getNumReductionLoops() > 0) {
    auto reader = value.hasOneUse() ? dyn_cast<linalg::GenericOp>(*value.user_begin()) : linalg::GenericOp();
    return !reader || reader.getNumReductionLoops() > 0 || volume(reader, true) != volume(op, false) ||
           reader.getMatchingIndexingMap(&*value.use_begin()) != reader.getIndexingMapsArray().back();
  }
  while (value.hasOneUse() && isViewOfTensor(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  if (!value.hasOneUse())
    return true;
  Operation *const reader = *value.user_begin();
  auto generic = dyn_cast<linalg::GenericOp>(reader);
  return isa<scf::YieldOp>(reader) ? value == op.getResult(0) : generic && volume(generic, true) > volume(op, true);
}

/// Whether an element of the value is computed from the state as it was before the step.
bool ColumnCode::reads(Value value, Value carried) {
  Operation *const op = value.getDefiningOp();
  if (value == carried || !isInside(op))
    return value == carried;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return !(generic && isKept(generic)) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return reads(operand, carried); });
}

/// Whether each element of the value reads the same element of the state, or none.
bool ColumnCode::readsInOrder(Value value, Value carried) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (value == carried || !reads(value, carried))
    return true;
  return generic && llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
           return !reads(operand->get(), carried) ||
                  (generic.getMatchingIndexingMap(operand) == generic.getIndexingMapsArray().back() &&
                   readsInOrder(operand->get(), carried));
         });
}

/// Whether the next state can be written over the one before it: nobody asks for that any more.
bool ColumnCode::isChangedInPlace(State const &state) {
  auto next = state.yielded.getDefiningOp<linalg::GenericOp>();
  if (state.isSequence || !next || !isInside(next) || next.getNumReductionLoops() > 0 ||
      llvm::count(loop.getYieldedValues(), state.yielded) != 1)
    return false;
  for (OpOperand *operand : next.getDpsInputOperands())
    if (reads(operand->get(), state.carried) &&
        (next.getMatchingIndexingMap(operand) != next.getIndexingMapsArray().back() ||
         !readsInOrder(operand->get(), state.carried)))
      return false;
  auto const asks = [&](Operation &op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    bool const isStatement = isa<tensor::InsertSliceOp, scf::YieldOp>(op) || (generic && isKept(generic));
    return isStatement && llvm::any_of(op.getOperands(), [&](Value operand) {
             return !(isa<tensor::InsertSliceOp>(op) && operand == op.getOperand(1)) && reads(operand, state.carried);
           });
  };
  return llvm::none_of(llvm::make_range(std::next(next->getIterator()), loop.getBody()->end()), asks);
}

/// Whether each step only inserts a part.
bool ColumnCode::isSequence(BlockArgument carried) {
  auto insert = carried.hasOneUse() ? dyn_cast<tensor::InsertSliceOp>(*carried.user_begin()) : tensor::InsertSliceOp();
  return insert && insert.getDest() == carried && insert.getSource() != carried && insert->getResult(0).hasOneUse() &&
         loop.getTiedLoopYieldedValue(carried)->get() == insert->getResult(0);
}

static tensor::InsertSliceOp insertionOf(Value sequence) { return sequence.getDefiningOp<tensor::InsertSliceOp>(); }

/// Of the elements that a step inserts for one column.
SmallVector<int64_t> ColumnCode::partExtents(tensor::InsertSliceOp op) const {
  SmallVector<int64_t> extents;
  llvm::SmallBitVector const dropped = op.getDroppedDims();
  int64_t next = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim)
    if (!dropped.test(dim)) {
      int64_t const extent = op.getSourceType().getDimSize(next++);
      if (extent != 1 && !dims.ofCarried(op.getDest(), dim))
        extents.push_back(extent);
    }
  return extents;
}

bool ColumnCode::isSmall() {
  int64_t work = 0;
  for (linalg::GenericOp op : loop.getBody()->getOps<linalg::GenericOp>()) {
    work += volume(op, true) * std::distance(op.getBody()->begin(), op.getBody()->end());
    bool const isProduct = op.getNumReductionLoops() > 0 && !ownLoops(op).empty();
    if ((isKept(op) && volume(op, false) > mostElements) || (isProduct && volume(op, true) > mostFactors))
      return false;
  }
  auto const isFit = [&](State const &state) {
    int64_t elements = 1;
    for (int64_t size : state.isSequence ? partExtents(insertionOf(state.yielded)) : ownExtents(state.carried))
      elements *= ShapedType::isDynamic(size) ? mostElements + 1 : std::min(size, mostElements + 1);
    return elements <= mostElements;
  };
  // A tensor that is changed in parts and read as well is neither a state nor a sequence
  auto const isKnown = [&](Operation &op) {
    auto inserted = dyn_cast<tensor::InsertSliceOp>(op);
    return !inserted || llvm::any_of(states, [&](State const &state) {
      return state.isSequence && state.yielded == inserted->getResult(0);
    });
  };
  return work <= mostWork && llvm::all_of(states, isFit) && llvm::all_of(*loop.getBody(), isKnown);
}

//===--- Statements -----------------------------------------------------------------------------------------------===//

/// The indices of an array that holds a column of the tensor: those that are neither columns nor of extent 1.
ColumnCode::Indices ColumnCode::own(Indices const &at, Value tensor) const {
  Indices indices;
  for (auto [index, extent] : llvm::zip(at, typeOf(tensor).getShape()))
    if (extent != 1 && !llvm::is_contained(columns, index))
      indices.push_back(index);
  return indices;
}

SmallVector<int64_t> ColumnCode::ownExtents(Value carried) const {
  SmallVector<int64_t> extents;
  for (auto [dim, extent] : llvm::enumerate(typeOf(carried).getShape()))
    if (extent != 1 && !dims.ofCarried(carried, dim))
      extents.push_back(extent);
  return extents;
}

Value ColumnCode::makeArray(ArrayRef<int64_t> extents, Type element, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  if (lastArray)
    builder.setInsertionPointAfter(lastArray);
  else
    builder.setInsertionPointToStart(parallel.getBody());
  auto array = builder.create<memref::AllocaOp>(location, MemRefType::get(extents, element));
  lastArray = array;
  return array;
}

/// Loops from 0 around the code of `body`.
void ColumnCode::nest(ArrayRef<int64_t> extents, Location location, llvm::function_ref<void(ValueRange)> body) {
  if (extents.empty())
    return body({});
  auto outer = std::move(known); // what is known here is not known outside
  known.clear();
  SmallVector<Value> const steps(extents.size(), builder.create<arith::ConstantIndexOp>(location, 1));
  SmallVector<Value> uppers;
  for (int64_t extent : extents)
    uppers.push_back(builder.create<arith::ConstantIndexOp>(location, extent));
  SmallVector<Value> const lowers(extents.size(), zero);
  scf::buildLoopNest(builder, location, lowers, uppers, steps, [&](OpBuilder &inner, Location, ValueRange at) {
    OpBuilder::InsertionGuard guard(builder);
    builder.restoreInsertionPoint(inner.saveInsertionPoint());
    around.append(at.begin(), at.end());
    body(at);
    around.truncate(around.size() - at.size());
  });
  known = std::move(outer);
}

/// For all elements of one column of a tensor that is like one that is carried.
void ColumnCode::forElements(Value carried, Location location, llvm::function_ref<void(Indices const &)> body) {
  nest(ownExtents(carried), location, [&](ValueRange inner) {
    Indices at;
    auto next = inner.begin();
    for (auto [dim, extent] : llvm::enumerate(typeOf(carried).getShape()))
      if (auto const column = dims.ofCarried(carried, dim))
        at.push_back(columns[*column]);
      else
        at.push_back(extent == 1 ? zero : *next++);
    body(at);
  });
}

/// The loops of a reduction from `loops` on, which add to the total.
Value ColumnCode::sum(linalg::GenericOp op, Indices &positions, ArrayRef<unsigned> loops, Value total) {
  if (loops.empty())
    return bodyValue(op, positions, total);
  Location const location = op.getLoc();
  auto outer = std::move(known);
  known.clear();
  Value const extent = builder.create<arith::ConstantIndexOp>(location, op.getStaticLoopRanges()[loops.front()]);
  Value const step = builder.create<arith::ConstantIndexOp>(location, 1);
  auto terms = builder.create<scf::ForOp>(location, zero, extent, step, total);
  terms.getRegionIterArg(0).setLoc(NameLoc::get(builder.getStringAttr("argument \"sum\""), location));
  if (loops.size() == 1)
    terms->setAttr(sumsInAnyOrder, builder.getUnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(terms.getBody());
  positions[loops.front()] = terms.getInductionVar();
  around.push_back(terms.getInductionVar());
  Value const last = sum(op, positions, loops.drop_front(), terms.getRegionIterArg(0));
  around.pop_back();
  builder.setInsertionPointToEnd(terms.getBody());
  builder.create<scf::YieldOp>(location, last);
  known = std::move(outer);
  return terms.getResult(0);
}

/// An element of the result, all terms summed up.
Value ColumnCode::valueAt(linalg::GenericOp op, Indices &positions) {
  if (op.getNumReductionLoops() == 0)
    return bodyValue(op, positions, {});
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  llvm::erase_if(reductions, [&](unsigned loop) { return op.getStaticLoopRanges()[loop] == 1; });
  OpOperand &init = op.getDpsInitsMutable()[0];
  Indices at;
  for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
    at.push_back(affine::expandAffineExpr(builder, op.getLoc(), expr, positions, {}));
  Value const total = sum(op, positions, reductions, element(init.get(), at));
  auto add = total.getDefiningOp<arith::AddFOp>(); // of one term to nothing
  bool const isTerm = reductions.empty() && add && matchPattern(add.getLhs(), m_AnyZeroFloat());
  return isTerm ? add.getRhs() : total;
}

/// An array of its own may have the name of a node, if that is a short word.
static Location shortName(Location location) {
  std::string const name = nameInLocation(location);
  constexpr size_t longest = 10;
  bool const isWord = name.size() <= longest && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return NameLoc::get(StringAttr::get(location.getContext(), "alloca \"" + (isWord ? name : "made") + "\""), location);
}

/// Computes all that a column needs of the result of an operation.
void ColumnCode::keep(linalg::GenericOp op) {
  Location const location = op.getLoc();
  SmallVector<unsigned> const loops = ownLoops(op);
  Indices positions(op.getNumLoops(), zero);
  for (unsigned i = 0; i < op.getNumLoops(); ++i)
    if (auto const column = dims.ofLoop(op, i))
      positions[i] = columns[*column];
  Value const result = op.getResult(0);
  if (loops.empty()) {
    kept[result] = valueAt(op, positions);
    return;
  }
  State *const changed =
      llvm::find_if(states, [&](State const &state) { return state.isChangedInPlace && state.yielded == result; });
  // In the order of the result's dimensions
  SmallVector<unsigned> order;
  SmallVector<int64_t> ordered;
  for (AffineExpr expr : op.getIndexingMapsArray().back().getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && llvm::is_contained(loops, dim.getPosition())) {
      order.push_back(dim.getPosition());
      ordered.push_back(op.getStaticLoopRanges()[dim.getPosition()]);
    }
  Value const array = changed != states.end()
                          ? changed->array
                          : makeArray(ordered, typeOf(result).getElementType(), shortName(location));
  nest(ordered, location, [&](ValueRange at) {
    for (auto [loop, index] : llvm::zip(order, at))
      positions[loop] = index;
    builder.create<memref::StoreOp>(location, valueAt(op, positions), array, at);
  });
  arrays[result] = array;
}

/// Writes a part of a sequence.
void ColumnCode::insert(tensor::InsertSliceOp op) {
  State const &state = *llvm::find_if(states, [&](State const &each) { return each.yielded == op->getResult(0); });
  llvm::SmallBitVector const dropped = op.getDroppedDims();
  auto const shape = typeOf(op.getSource()).getShape();
  SmallVector<Value> column(shape.size()); // of the part
  unsigned next = 0;
  for (int64_t dim = 0; dim < typeOf(op.getDest()).getRank(); ++dim) {
    if (dropped.test(dim))
      continue;
    if (auto const set = dims.ofCarried(state.carried, dim))
      column[next] = columns[*set];
    else if (shape[next] == 1)
      column[next] = zero;
    ++next;
  }
  nest(partExtents(op), op.getLoc(), [&](ValueRange at) {
    Indices part(column.begin(), column.end()), whole;
    auto index = at.begin();
    for (Value &each : part)
      if (!each)
        each = *index++;
    auto from = part.begin();
    for (int64_t dim = 0; dim < typeOf(op.getDest()).getRank(); ++dim)
      whole.push_back(shifted(op.getLoc(), op.getMixedOffsets()[dim], op.getMixedStrides()[dim],
                              dropped.test(dim) ? zero : *from++));
    builder.create<memref::StoreOp>(op.getLoc(), element(op.getSource(), part), state.memory, whole);
  });
}

} // namespace ml2k
