//===- StoredRows.cpp - kernels over the rows of a sparse matrix --------------------------------------------------===//

#include "translator/ir/StoredRows.h"

#include "translator/ir/NestScalars.h"
#include "translator/ir/SparseLevels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ml2k::nest;
using ml2k::sparseEntries;

Value RowLoop::term() const { return join->getOperand(join->getOperand(0) == entries.getRegionIterArg(0) ? 1 : 0); }

namespace {

bool stores(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto call = dyn_cast<CallOp>(inner);
        bool const writes = call && llvm::is_contained(call.getWrites(), true);
        return writes || isa<memref::StoreOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Floating-point sums keep their order unless they come from an operation that has none, or the text lets them.
bool hasOrder(scf::ForOp loop) {
  return isa<FloatType>(loop.getResult(0).getType()) && !loop->hasAttr(sparseEntries) &&
         !loop->hasAttr(ml2k::sumsInAnyOrder) && !mayReassociate(loop.getYieldedValues()[0].getDefiningOp());
}

/// Every loop that joins a term in each iteration and stores nothing.
std::optional<RowLoop> readJoin(scf::ForOp loop) {
  if (loop.getNumResults() != 1 || stores(loop))
    return std::nullopt;
  RowLoop fold{RowLoop::Kind::Fold, loop};
  BlockArgument const sum = loop.getRegionIterArg(0);
  fold.join = loop.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  std::optional<Combiner> const combiner =
      fold.join && fold.join->getBlock() == loop.getBody() ? combinerOf(fold.join) : std::nullopt;
  bool const joinsOnce = combiner && sum.hasOneUse() && *sum.getUsers().begin() == fold.join;
  if (!joinsOnce || !fold.join->hasOneUse())
    return std::nullopt;
  fold.combiner = *combiner;
  return fold;
}

std::optional<RowLoop> readFold(scf::ForOp loop) {
  std::optional<RowLoop> fold = readJoin(loop);
  return fold && !hasOrder(loop) ? fold : std::nullopt;
}

class Reader {
public:
  explicit Reader(LoopKernelOp kernel) : kernel(kernel), row(kernel.getBody().getArgument(0)) {}

  bool read() {
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (!readTop(op))
        return false;
    return !rows.loops.empty() && rows.entryArray && !isWritten(rows.positions);
  }

  StoredRows rows;

  /// The only loop, over the entries of a row; null where there is another one or none.
  scf::ForOp onlyLoop() {
    scf::ForOp only;
    for (Operation &op : kernel.getBody().front().without_terminator()) {
      auto loop = dyn_cast<scf::ForOp>(op);
      bool const isPlain = op.getNumRegions() == 0 && (isa<memref::LoadOp>(op) || isPure(&op));
      if (loop ? only || loop.getNumResults() != 0 || !isOverEntries(loop) : !isPlain)
        return {};
      only = loop ? loop : only;
    }
    return only;
  }

private:
  /// The memory of which `bound` is the element at the row plus `offset`.
  Value positionsAt(Value bound, int64_t offset) {
    while (Operation *cast = bound.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::IndexCastUIOp>(cast))
        break;
      bound = cast->getOperand(0);
    }
    auto load = bound.getDefiningOp<memref::LoadOp>();
    if (!load || load.getMemRefType().getRank() != 1)
      return {};
    Value const at = load.getIndices()[0];
    if (offset == 0)
      return at == row ? load.getMemref() : Value();
    auto sum = at.getDefiningOp<arith::AddIOp>();
    bool const isNext = sum && sum.getLhs() == row && isConstantIntValue(sum.getRhs(), offset);
    return isNext ? load.getMemref() : Value();
  }

  bool isOverEntries(scf::ForOp loop) {
    Value const positions = positionsAt(loop.getLowerBound(), 0);
    if (!positions || positions != positionsAt(loop.getUpperBound(), 1) || !isConstantIntValue(loop.getStep(), 1))
      return false;
    if (rows.positions && rows.positions != positions)
      return false;
    rows.positions = positions;
    loop.walk([&](Operation *op) {
      auto load = dyn_cast<memref::LoadOp>(op);
      bool const isOfEntry = load && load.getIndices().size() == 1 && load.getIndices()[0] == loop.getInductionVar();
      if (isOfEntry && isa<BlockArgument>(load.getMemref()))
        rows.entryArray = load.getMemref();
    });
    return true;
  }

  bool isWritten(Value memref) {
    return kernel
        .walk([&](memref::StoreOp store) {
          return store.getMemref() == memref ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool readTop(Operation &op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      std::optional<RowLoop> const known = isOverEntries(loop) ? readEntries(loop) : readColumns(loop);
      if (known)
        rows.loops[loop] = *known;
      return known.has_value();
    }
    return op.getNumRegions() == 0 && (isa<memref::LoadOp, memref::StoreOp>(op) || isPure(&op));
  }

  std::optional<RowLoop> readEntries(scf::ForOp loop) {
    return loop.getNumResults() == 0 ? readEach(loop) : readFold(loop);
  }

  /// What is written belongs to an entry, and of what is written only that is read.
  std::optional<RowLoop> readEach(scf::ForOp loop) {
    auto const isOwn = [&](ValueRange at) { return at.size() == 1 && at[0] == loop.getInductionVar(); };
    WalkResult const result = loop.walk([&](Operation *op) {
      if (auto store = dyn_cast<memref::StoreOp>(op); store && !isOwn(store.getIndices()))
        return WalkResult::interrupt();
      if (auto load = dyn_cast<memref::LoadOp>(op); load && !isOwn(load.getIndices()) && isWritten(load.getMemref()))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return result.wasInterrupted() ? std::nullopt : std::optional(RowLoop{RowLoop::Kind::Each, loop});
  }

  /// One reduction over the entries, then the elements of a column.
  std::optional<RowLoop> readColumns(scf::ForOp loop) {
    std::optional<RowLoop> columns;
    if (loop.getNumResults() != 0 || !isConstantIntValue(loop.getLowerBound(), 0) ||
        !isConstantIntValue(loop.getStep(), 1))
      return std::nullopt;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto inner = dyn_cast<scf::ForOp>(op)) {
        columns = columns || !isOverEntries(inner) ? std::nullopt : readFold(inner);
        if (!columns)
          return std::nullopt;
        columns->kind = RowLoop::Kind::Columns;
        continue;
      }
      auto store = dyn_cast<memref::StoreOp>(op);
      if (store && !llvm::is_contained(store.getIndices(), loop.getInductionVar()))
        return std::nullopt;
      if (op.getNumRegions() != 0 || !(store || isa<memref::LoadOp>(op) || isPure(&op)))
        return std::nullopt;
    }
    return columns && !usesOf(loop, columns->entries) ? columns : std::nullopt;
  }

  /// Whether the entries' loop needs what its loop over columns computes.
  static bool usesOf(scf::ForOp loop, scf::ForOp entries) {
    return entries.getBody()
        ->walk([&](Operation *op) {
          for (Value operand : op->getOperands())
            if (Operation *made = operand.getDefiningOp();
                made && made->getBlock() == loop.getBody() && !matchPattern(operand, m_Constant()))
              return WalkResult::interrupt();
          return WalkResult::advance();
        })
        .wasInterrupted();
  }

  LoopKernelOp kernel;
  Value row;
};

} // namespace

bool ml2k::nest::StoredRows::hasWideEntries() const {
  return llvm::any_of(loops, [](auto const &pair) {
    scf::ForOp entries = pair.second.entries;
    return pair.second.kind == RowLoop::Kind::Columns ||
           llvm::any_of(*entries.getBody(), [](Operation &op) { return isa<scf::ForOp>(op); });
  });
}

/// Nothing that the term uses is the row or computed in its body, and it reads nothing that the body writes.
static bool isTermOfEntry(scf::ForOp entries) {
  Block *const body = entries->getBlock();
  SmallPtrSet<Value, 4> written;
  body->walk([&](memref::StoreOp store) { written.insert(store.getMemref()); });
  auto const isOfRow = [&](Value value) {
    bool const isComputed = value.getDefiningOp() && value.getParentBlock() == body;
    return value == body->getArgument(0) || (isComputed && !matchPattern(value, m_Constant()));
  };
  return !entries.getBody()
              ->walk([&](Operation *op) {
                auto load = dyn_cast<memref::LoadOp>(op);
                bool const isChanging = load && written.contains(load.getMemref());
                bool const isPlain =
                    op->getNumRegions() == 0 && !isChanging && llvm::none_of(op->getOperands(), isOfRow);
                return isPlain ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool ml2k::nest::StoredRows::areTermsOfEntries() const {
  return llvm::all_of(loops, [](auto const &pair) {
    return pair.second.kind == RowLoop::Kind::Fold && isTermOfEntry(pair.second.entries);
  });
}

SmallVector<Value> ml2k::nest::StoredRows::arraysByEntry(LoopKernelOp kernel) const {
  SmallPtrSet<Value, 4> entries;
  for (auto const &pair : loops) {
    scf::ForOp loop = pair.second.entries;
    entries.insert(loop.getInductionVar());
    if (llvm::any_of(*loop.getBody(), [](Operation &op) { return isa<scf::ForOp>(op); }))
      return {};
  }
  llvm::SetVector<Value> arrays;
  kernel.getBody().walk([&](memref::LoadOp load) {
    if (load.getIndices().size() == 1 && entries.contains(load.getIndices()[0]))
      arrays.insert(load.getMemref());
  });
  return arrays.takeVector();
}

std::optional<RowLoop> ml2k::nest::joinOf(scf::ForOp loop) {
  std::optional<RowLoop> const join = readJoin(loop);
  bool const isRounded = join && llvm::is_contained({Combiner::Sum, Combiner::Prod}, join->combiner);
  bool const isPlain = llvm::none_of(*loop.getBody(), [](Operation &op) { return op.getNumRegions() != 0; });
  return isPlain && isConstantIntValue(loop.getStep(), 1) && !(isRounded && hasOrder(loop)) ? join : std::nullopt;
}

/// The index of the loop, or at a distance from it that the loop does not change.
static bool runsAlong(scf::ForOp loop, Value index) {
  while (index != loop.getInductionVar()) {
    Operation *op = index.getDefiningOp();
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) || loop.isDefinedOutsideOfLoop(index))
      return false;
    bool const isRight = loop.isDefinedOutsideOfLoop(op->getOperand(0));
    if (!isRight && !loop.isDefinedOutsideOfLoop(op->getOperand(1)))
      return false;
    index = op->getOperand(isRight ? 1 : 0);
  }
  return true;
}

/// Neighbouring iterations read neighbours, or all of them the same element.
static bool readsAlong(scf::ForOp loop, memref::LoadOp load) {
  OperandRange const at = load.getIndices();
  if (llvm::all_of(at, [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }))
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  return llvm::all_of(at.drop_back(), [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }) &&
         runsAlong(loop, at.back()) && succeeded(getStridesAndOffset(load.getMemRefType(), strides, offset)) &&
         strides.back() == 1;
}

std::optional<RowLoop> ml2k::nest::orderedSumOf(scf::ForOp loop) {
  if (loop.getNumResults() != 1 || !isConstantIntValue(loop.getStep(), 1))
    return std::nullopt;
  BlockArgument const sum = loop.getRegionIterArg(0);
  RowLoop fold{RowLoop::Kind::Fold, loop};
  fold.join = loop.getYieldedValues()[0].getDefiningOp();
  bool const joins = isa_and_nonnull<arith::AddFOp, arith::SubFOp>(fold.join) &&
                     fold.join->getBlock() == loop.getBody() && fold.join->hasOneUse() && sum.hasOneUse() &&
                     *sum.user_begin() == fold.join &&
                     (isa<arith::AddFOp>(fold.join) || fold.join->getOperand(0) == sum);
  if (!joins || !(sum.getType().isF32() || sum.getType().isF64()) || !hasOrder(loop))
    return std::nullopt;
  bool reads = false, computes = false; // a compiler adds what is only read as fast
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load ? !readsAlong(loop, load) : op.getNumRegions() != 0 || !isPure(&op))
      return std::nullopt;
    reads |= bool(load);
    computes |= !load && &op != fold.join && op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType());
  }
  return reads && computes ? std::optional<RowLoop>(fold) : std::nullopt;
}

std::optional<RowLoop> ml2k::nest::innerFoldOf(scf::ForOp loop) {
  bool const isPlain = isConstantIntValue(loop.getLowerBound(), 0) && isConstantIntValue(loop.getStep(), 1) &&
                       llvm::none_of(*loop.getBody(), [](Operation &op) { return op.getNumRegions() != 0; });
  return isPlain ? readFold(loop) : std::nullopt;
}

std::optional<StoredRows> ml2k::nest::storedRowsOf(LoopKernelOp kernel) {
  if (kernel.getLowers().size() != 1 || kernel.getOrdered() || !isConstantIntValue(kernel.getLowers()[0], 0))
    return std::nullopt;
  Reader reader(kernel);
  if (!reader.read())
    return std::nullopt;
  return std::move(reader.rows);
}

/// Of integers that have no sign.
static bool isShort(Value array) {
  Type const element = getElementTypeOrSelf(array.getType());
  return !element.isIndex() && element.getIntOrFloatBitWidth() < 32;
}

/// The array of which an index is the element at `at`.
static Value arrayOf(Value value, Value at) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto load = value.getDefiningOp<memref::LoadOp>();
  return load && load.getIndices().size() == 1 && load.getIndices()[0] == at ? load.getMemref() : Value();
}

std::optional<ScatteredRows> ml2k::nest::scatteredRowsOf(LoopKernelOp kernel) {
  if (kernel.getLowers().size() != 1 || !kernel.getOrdered() || !isConstantIntValue(kernel.getLowers()[0], 0))
    return std::nullopt;
  Reader reader(kernel);
  ScatteredRows rows;
  rows.entries = reader.onlyLoop();
  rows.positions = reader.rows.positions;
  SmallVector<memref::StoreOp> stores;
  kernel.walk([&](memref::StoreOp store) { stores.push_back(store); });
  if (!rows.entries || !reader.rows.entryArray || stores.size() != 1 || isShort(rows.positions))
    return std::nullopt;
  rows.store = stores[0];
  for (auto [dim, subscript] : llvm::enumerate(rows.store.getIndices()))
    if (Value const array = arrayOf(subscript, rows.entries.getInductionVar()); array && isa<BlockArgument>(array)) {
      rows.coordinates = array;
      rows.column = subscript;
      rows.dim = dim;
      return rows;
    }
  return std::nullopt;
}

std::optional<EntrySearch> ml2k::nest::entrySearchOf(scf::WhileOp loop) {
  auto const loads = llvm::to_vector(loop.getAfterBody()->getOps<memref::LoadOp>());
  auto const compares = llvm::to_vector(loop.getAfterBody()->getOps<arith::CmpIOp>());
  if (!loop->hasAttr(bisectsEntries) || loads.size() != 1 || compares.size() != 1)
    return std::nullopt;
  memref::LoadOp load = loads[0];
  auto const array = dyn_cast<BlockArgument>(load.getMemref());
  if (!array || isShort(array))
    return std::nullopt;
  return EntrySearch{array, loop.getInits()[0], loop.getInits()[1], arith::CmpIOp(compares[0]).getRhs()};
}
