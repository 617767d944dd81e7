//===- RecomputeTerms.cpp - vectors that cost more to keep than to compute again ----------------------------------===//
//
// z = d .* r of a preconditioned solver is written in one loop and read in the next one. Two more vectors read there
// cost less than one written and read again, and the workspace has one less.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopTouches.h"
#include "passes/lower/loops/LoopsToNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace ml2k {
namespace {

/// The only store to memory of the function's own, in a parallel loop, and the loads elsewhere.
class Term {
public:
  explicit Term(memref::AllocOp memory) : memory(memory) {}

  bool recompute(RewriterBase &rewriter) {
    if (!findUses() || !collect(store.getValue(), /*depth=*/0) || operations.empty() || !pays() ||
        !llvm::all_of(readers, [&](auto const &reader) { return canRead(reader.first); }))
      return false;
    for (auto const &[loop, loads] : readers)
      for (memref::LoadOp load : loads)
        replace(rewriter, load);
    return true;
  }

private:
  static constexpr unsigned deepest = 2; ///< operations on the way to a vector

  bool findUses() {
    for (Operation *user : memory->getUsers()) {
      if (isa<memref::DeallocOp>(user))
        continue;
      auto loop = dyn_cast<scf::ParallelOp>(user->getParentOp());
      auto write = dyn_cast<memref::StoreOp>(user);
      auto read = dyn_cast<memref::LoadOp>(user);
      if (!loop || (!write && !read) || (write && (store || write.getValue() == memory.getResult())))
        return false;
      ValueRange const at = write ? write.getIndices() : read.getIndices();
      if (!llvm::equal(at, loop.getInductionVars()))
        return false;
      if (write)
        store = write;
      else
        readers[loop].push_back(read);
    }
    if (!store || readers.empty())
      return false;
    writer = cast<scf::ParallelOp>(store->getParentOp());
    return collectTouches(writer, touches) && !readers.count(writer);
  }

  /// Another vector that has the value at the position of the iteration, when the loop is over.
  Value vectorOf(Value value) {
    auto load = value.getDefiningOp<memref::LoadOp>();
    for (Touch const &touch : touches) {
      if (touch.memref == memory.getResult() || !isAtOwnPosition(touch, writer))
        continue;
      auto write = dyn_cast<memref::StoreOp>(touch.op);
      bool const has =
          write ? write->getParentOp() == writer && write.getValue() == value : load && touch.op == load.getOperation();
      if (has && llvm::all_of(touches, [&](Touch const &other) {
            return !other.writes || other.op == touch.op || !mayAlias(other.memref, touch.memref);
          }))
        return touch.memref;
    }
    return {};
  }

  bool collect(Value value, unsigned depth) {
    if (value.getParentRegion() != &writer.getRegion())
      return true;
    if (Value const vector = vectorOf(value)) {
      vectors.insert({value, vector});
      return true;
    }
    Operation *op = value.getDefiningOp();
    if (depth == deepest || !isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
      return false;
    for (Value operand : op->getOperands())
      if (!collect(operand, depth + 1))
        return false;
    if (!llvm::is_contained(operations, op))
      operations.push_back(op);
    return true;
  }

  bool hasVector(scf::ParallelOp loop, Value vector) {
    SmallVector<Touch> own;
    collectTouches(loop, own);
    return llvm::any_of(own, [&](Touch const &touch) {
      return touch.memref == vector && isAtOwnPosition(touch, loop) && !touch.writes;
    });
  }

  /// Vectors that readers have to read in addition, against a store, which reads its line first, and the loads.
  bool pays() {
    size_t saved = 2, cost = 0;
    for (auto const &[loop, loads] : readers) {
      ++saved;
      for (auto const &[value, vector] : vectors)
        cost += !hasVector(loop, vector);
    }
    return cost < saved;
  }

  /// The same iterations, later, and until then the vectors and what else the value needs are as they were.
  bool canRead(scf::ParallelOp loop) {
    if (loop->getBlock() != writer->getBlock() || !writer->isBeforeInBlock(loop) || !haveSameBounds(writer, loop))
      return false;
    SmallVector<Touch> between;
    for (Operation *op = writer->getNextNode(); op != loop->getNextNode(); op = op->getNextNode())
      if (!isa<memref::AllocOp>(op) && !collectTouches(op, between))
        return false;
    return llvm::none_of(between, [&](Touch const &touch) {
      return touch.writes &&
             llvm::any_of(vectors, [&](auto const &pair) { return mayAlias(touch.memref, pair.second); });
    });
  }

  void replace(RewriterBase &rewriter, memref::LoadOp load) {
    rewriter.setInsertionPoint(load);
    IRMapping values;
    for (auto const &[value, vector] : vectors)
      values.map(value, rewriter.create<memref::LoadOp>(value.getLoc(), vector, load.getIndices()).getResult());
    for (Operation *op : operations)
      rewriter.clone(*op, values);
    rewriter.replaceOp(load, values.lookup(store.getValue()));
  }

  memref::AllocOp memory;
  memref::StoreOp store;
  scf::ParallelOp writer;
  llvm::MapVector<scf::ParallelOp, SmallVector<memref::LoadOp>> readers;
  SmallVector<Touch> touches;            ///< of the writer
  llvm::MapVector<Value, Value> vectors; ///< of values that it loads or stores
  SmallVector<Operation *> operations;   ///< from those to the stored one
};

} // namespace

void recomputeTerms(func::FuncOp entry) {
  IRRewriter rewriter(entry.getContext());
  SmallVector<memref::AllocOp> allocations;
  entry.walk([&](memref::AllocOp memory) { allocations.push_back(memory); });
  for (memref::AllocOp memory : allocations)
    Term(memory).recompute(rewriter);
}

} // namespace ml2k
