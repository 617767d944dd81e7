//===- ColumnSteps.cpp - a loop over the steps of every column ----------------------------------------------------===//

#include "passes/schedule/recurrent/ColumnCode.h"

#include "passes/lower/loops/Dependence.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace ml2k {

Value ColumnCode::extent(Value tensor, unsigned dim) {
  int64_t const size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (ShapedType::isDynamic(size))
    return builder.create<tensor::DimOp>(loop.getLoc(), tensor, dim);
  return builder.create<arith::ConstantIndexOp>(loop.getLoc(), size);
}

/// `argument "h"` and `alloca "h"` name what a loop carries and its array.
static Location named(Location location, StringRef kind, StringRef name) {
  return NameLoc::get(StringAttr::get(location.getContext(), kind + " \"" + name + "\""), location);
}

static Location arrayLocation(Value carried) {
  std::string const name = nameInLocation(carried.getLoc());
  return name.empty() ? carried.getLoc() : named(carried.getLoc(), "alloca", name);
}

/// Of a result that somebody reads. A sequence may keep elements of what it began with, which the steps may go on to
/// read as it was, perhaps as a part of something else: it gets memory of its own.
Value ColumnCode::makeMemory(State const &state, Value init) {
  auto const type = cast<RankedTensorType>(state.carried.getType());
  SmallVector<Value> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      extents.push_back(extent(init, dim));
  auto const memory = MemRefType::get(type.getShape(), type.getElementType());
  Value const made = builder.create<memref::AllocOp>(state.yielded.getLoc(), memory, extents);
  if (state.isSequence && !init.getDefiningOp<tensor::EmptyOp>()) {
    Value const start = builder.create<bufferization::ToMemrefOp>(loop.getLoc(), memory, init, /*read_only=*/true);
    builder.create<memref::CopyOp>(loop.getLoc(), start, made);
  }
  return made;
}

/// Arrays with the first values; numbers are carried by the loop.
void ColumnCode::makeStates() {
  for (auto [state, init] : llvm::zip(states, loop.getInitArgs())) {
    SmallVector<int64_t> const extents = ownExtents(state.carried);
    if (state.isSequence || extents.empty())
      continue;
    Location const location = state.yielded.getLoc();
    Value const first = init;
    state.array = makeArray(extents, cast<RankedTensorType>(state.carried.getType()).getElementType(),
                            arrayLocation(state.carried));
    forElements(state.carried, location, [&](Indices const &at) {
      builder.create<memref::StoreOp>(location, element(first, at), state.array, own(at, state.carried));
    });
    arrays[state.carried] = state.array;
  }
}

/// The statements of a step, and what the next one begins with.
void ColumnCode::writeSteps(scf::ForOp steps) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(steps.getBody());
  scalars.map(loop.getInductionVar(), steps.getInductionVar());
  stepIndex = steps.getInductionVar();
  around.push_back(stepIndex);
  known.clear();
  for (Operation &op : loop.getBody()->without_terminator())
    if (llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>))
      builder.clone(op, scalars);
    else if (auto inserted = dyn_cast<tensor::InsertSliceOp>(op))
      insert(inserted);
    else if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && isKept(generic))
      keep(generic);

  SmallVector<Value> numbers;
  SmallVector<std::pair<State const *, Value>> copied;
  for (State const &state : states) {
    if (state.isSequence || state.isChangedInPlace || state.yielded == state.carried) {
      if (!state.isSequence && !state.array)
        numbers.push_back(state.isChangedInPlace ? kept.lookup(state.yielded) : kept.lookup(state.carried));
      continue;
    }
    if (!state.array) {
      forElements(state.carried, state.yielded.getLoc(),
                  [&](Indices const &at) { numbers.push_back(element(state.yielded, at)); });
      continue;
    }
    Value next = arrays.lookup(state.yielded);
    if (!next || next == state.array || llvm::is_contained(loop.getRegionIterArgs(), state.yielded)) {
      next = makeArray(ownExtents(state.carried), cast<MemRefType>(state.array.getType()).getElementType(),
                       state.yielded.getLoc());
      forElements(state.carried, state.yielded.getLoc(), [&](Indices const &at) {
        builder.create<memref::StoreOp>(state.yielded.getLoc(), element(state.yielded, at), next,
                                        own(at, state.carried));
      });
    }
    copied.push_back({&state, next});
  }
  for (auto [state, next] : copied)
    forElements(state->carried, state->yielded.getLoc(), [&, state = state, next = next](Indices const &at) {
      Indices const place = own(at, state->carried);
      Value const value = builder.create<memref::LoadOp>(state->yielded.getLoc(), next, place);
      builder.create<memref::StoreOp>(state->yielded.getLoc(), value, state->array, place);
    });
  if (!numbers.empty())
    builder.create<scf::YieldOp>(loop.getLoc(), numbers);
  for (auto [before, now] : scalars.getValueMap()) // bodies may ask for indices of the loop around them
    Value(before).replaceUsesWithIf(now, [&](OpOperand &use) { return steps->isProperAncestor(use.getOwner()); });
  around.pop_back();
  known.clear();
}

void ColumnCode::build() {
  Location const location = loop.getLoc();
  SmallVector<Value> results;
  for (auto [state, result] : llvm::zip(states, loop.getResults()))
    if (state.isSequence || !result.use_empty())
      results.push_back(result);
  auto whole = builder.create<nest::InMemoryOp>(location, TypeRange(ValueRange(results)));
  builder.setInsertionPointToEnd(&whole.getBody().emplaceBlock());
  zero = builder.create<arith::ConstantIndexOp>(location, 0);
  Value const one = builder.create<arith::ConstantIndexOp>(location, 1);
  SmallVector<Value> uppers(dims.count());
  for (auto [state, init, result] : llvm::zip(states, loop.getInitArgs(), loop.getResults())) {
    for (int64_t dim = 0; dim < cast<RankedTensorType>(init.getType()).getRank(); ++dim)
      if (auto const column = dims.ofCarried(state.carried, dim); column && !uppers[*column])
        uppers[*column] = extent(init, dim);
    if (llvm::is_contained(results, result))
      state.memory = makeMemory(state, init);
  }
  writeColumns(SmallVector<Value>(dims.count(), zero), uppers, SmallVector<Value>(dims.count(), one));

  SmallVector<Value> made;
  for (State const &state : states)
    if (state.memory)
      made.push_back(builder.create<bufferization::ToTensorOp>(location, state.carried.getType(), state.memory,
                                                               /*restrict=*/true, /*writable=*/true));
  builder.create<nest::YieldOp>(location, made);
  for (auto [before, now] : llvm::zip(results, whole.getResults()))
    before.replaceAllUsesWith(now);
  loop.erase();
}

void ColumnCode::writeColumns(ValueRange lowers, ValueRange uppers, ValueRange ones) {
  Location const location = loop.getLoc();
  parallel = builder.create<scf::ParallelOp>(location, lowers, uppers, ones);
  OpBuilder::InsertionGuard guard(builder);
  llvm::append_range(columns, parallel.getBody()->getArguments());
  around = columns;
  builder.setInsertionPoint(parallel.getBody()->getTerminator());
  makeStates();

  SmallVector<Value> inits;
  SmallVector<State *> numbers;
  for (auto [state, init] : llvm::zip(states, loop.getInitArgs()))
    if (!state.isSequence && !state.array) {
      Value const first = init;
      forElements(state.carried, location, [&](Indices const &at) { inits.push_back(element(first, at)); });
      numbers.push_back(&state);
    }
  auto steps = builder.create<scf::ForOp>(location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  steps.getInductionVar().setLoc(named(location, "argument", "step"));
  for (auto [state, argument] : llvm::zip(numbers, steps.getRegionIterArgs())) {
    argument.setLoc(state->carried.getLoc());
    kept[state->carried] = argument;
  }
  writeSteps(steps);

  for (auto [i, state] : llvm::enumerate(numbers))
    kept[state->carried] = steps.getResult(i);
  for (State const &state : states)
    if (state.memory && !state.isSequence)
      forElements(state.carried, location, [&](Indices const &at) {
        builder.create<memref::StoreOp>(location, element(state.carried, at), state.memory, at);
      });
}

} // namespace ml2k
