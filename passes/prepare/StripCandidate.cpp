//===- StripCandidate.cpp - whether the columns of a kernel take their steps together -----------------------------===//

#include "passes/prepare/StripCandidate.h"

#include "passes/TripCount.h"
#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/Scans.h"
#include "translator/ir/SparseLevels.h"
#include "translator/ir/StoredRows.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

static constexpr int64_t shortLoop = 16;    ///< steps that a column may as well take alone
static constexpr int64_t fewestColumns = 4; ///< that have a kernel of their own: less than a vector register holds
static constexpr int64_t mostCalls = 8;     ///< of a function in short loops that compilers write one after the other
static constexpr int64_t leastLanes = 8;    ///< of a short loop that is worth vectors of its own
static constexpr int64_t longWithoutStores = 256; ///< the same where the steps write nothing
static constexpr int64_t mostBytes = 16 * 128;    ///< of arrays for one column

namespace {

/// What is asked of a kernel, or of a loop of one, before it is changed.
class Candidate {
public:
  explicit Candidate(Operation *owner) : owner(owner), values(owner, [&](scf::ForOp loop) { return choose(loop); }) {}

  bool isFit() {
    return !loops.empty() && hasColumns() && hasPlainOperations() && areShared() && isWorthIt &&
           (liesAlongColumns() || areChains());
  }

  /// A running sum down each column is all there is; two columns are worth it, which share lines of memory.
  bool isScan() {
    fewest = 2;
    auto loop = dyn_cast<scf::ForOp>(owner->getRegion(0).front().front());
    return loop && loops.size() == 1 && loop == loops.front() && isAlone(loop) && hasColumns() && areShared() &&
           liesAlongColumns() && isColumnScan(loop);
  }

  ArrayRef<scf::ForOp> chosenLoops() const { return loops; }

private:
  /// Not just a few.
  bool hasColumns() {
    if (auto loop = dyn_cast<scf::ForOp>(owner))
      return loop.getNumResults() == 0 && isConstantIntValue(loop.getStep(), 1) && isLong(loop, nest::leastColumns - 1);
    auto kernel = cast<nest::LoopKernelOp>(owner);
    if (kernel.getLowers().empty())
      return false;
    auto const lower = getConstantIntValue(kernel.getLowers().back()),
               upper = getConstantIntValue(kernel.getUppers().back());
    return !(lower && upper && *upper - *lower < fewest);
  }

  bool hasPlainOperations() {
    int64_t bytes = 0;
    int operations = 0;
    auto const stops = [&](Operation *op) {
      if (++operations > mostOperationsOfStrips)
        return true;
      if (auto array = dyn_cast<memref::AllocaOp>(op)) {
        Type const element = array.getType().getElementType();
        bytes += array.getType().getNumElements() * (element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8);
        return bytes > mostBytes;
      }
      bool const isKnown = isa<memref::LoadOp, memref::StoreOp, scf::ForOp, scf::IfOp, scf::YieldOp, nest::YieldOp>(op);
      return op != owner && !isKnown && !(isPure(op) && op->getNumRegions() == 0);
    };
    return !owner->walk([&](Operation *op) { return stops(op) ? WalkResult::interrupt() : WalkResult::advance(); })
                .wasInterrupted();
  }

  static std::optional<int64_t> tripsOf(scf::ForOp loop) {
    return tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
  }

  static bool isLong(scf::ForOp loop, int64_t most) {
    std::optional<int64_t> const trips = tripsOf(loop);
    return !trips || *trips > most;
  }

  /// Steps of the loop, of those around it and of the longest in it, if functions are computed in it: so many copies of
  /// a function no compiler makes.
  int64_t callsOf(scf::ForOp loop) const {
    int64_t calls = 0, around = 1;
    for (auto outer = loop->getParentOfType<scf::ForOp>(); outer && owner->isProperAncestor(outer);
         outer = outer->getParentOfType<scf::ForOp>())
      around = llvm::SaturatingMultiply<uint64_t>(around, tripsOf(outer).value_or(shortLoop));
    loop.walk([&](Operation *op) {
      if (!isa<math::ExpOp, math::LogOp, math::TanhOp, math::AtanOp, math::Atan2Op, math::PowFOp, math::SinOp,
               math::CosOp>(op))
        return;
      int64_t steps = around;
      for (auto inner = op->getParentOfType<scf::ForOp>(); loop->isAncestor(inner);
           inner = inner->getParentOfType<scf::ForOp>()) {
        steps = llvm::SaturatingMultiply<uint64_t>(steps, tripsOf(inner).value_or(shortLoop));
        if (inner == loop)
          break;
      }
      calls = std::max(calls, steps);
    });
    return calls;
  }

  /// Of a loop of the kernel, or of one that was chosen before.
  bool choose(scf::ForOp loop) {
    bool const isShort = !isLong(loop, shortLoop);
    if (isShort && callsOf(loop) <= mostCalls)
      return false;
    loops.push_back(loop);
    chosen.insert(loop);
    isWorthIt |= isShort || isLong(loop, longWithoutStores) || storesIn(loop);
    return true;
  }

  /// Columns can take the chosen loops together, and no long one is left.
  bool areShared() {
    return !owner
                ->walk([&](scf::ForOp loop) {
                  if (loop == owner)
                    return WalkResult::advance();
                  Value const bounds[] = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
                  bool const isOne = chosen.contains(loop);
                  auto const isShared = [&](Value bound) { return values.isShared(bound); };
                  bool const isFit = isOne ? llvm::all_of(bounds, isShared) : !isLong(loop, shortLoop);
                  return isFit ? WalkResult::advance() : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  static bool storesIn(scf::ForOp loop) {
    return loop
        .walk([](memref::StoreOp store) {
          return store.getMemref().getDefiningOp<memref::AllocaOp>() ? WalkResult::advance() : WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  /// i, i + c, c + i, i - c, and so on
  bool isAlong(Value index, unsigned depth = 4) const {
    if (index == nest::columnOf(owner))
      return true;
    Operation *op = index.getDefiningOp();
    if (depth == 0 || !isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return false;
    bool const isLeft = values.goesAlike(op->getOperand(1));
    return (isLeft && isAlong(op->getOperand(0), depth - 1)) ||
           (!isLeft && isa<arith::AddIOp>(op) && values.goesAlike(op->getOperand(0)) &&
            isAlong(op->getOperand(1), depth - 1));
  }

  static bool isContiguous(Value memref) {
    SmallVector<int64_t> strides;
    int64_t offset;
    return succeeded(getStridesAndOffset(cast<MemRefType>(memref.getType()), strides, offset)) && !strides.empty() &&
           strides.back() == 1;
  }

  /// Whether a subscript changes from step to step of a chosen loop.
  bool moves(Value index) const { return chosen.contains(index.getParentRegion()->getParentOp()); }

  /// Whether each step of a loop waits for a number that the one before it computes. Terms that are joined in any order
  /// do not.
  static bool isChain(scf::ForOp loop) {
    if (loop.getNumResults() > 0) {
      bool const isInOrder = !nest::joinOf(loop) && !loop->hasAttr(sumsInAnyOrder) &&
                             llvm::none_of(loop.getYieldedValues(),
                                           [](Value value) { return nest::mayReassociate(value.getDefiningOp()); });
      return isInOrder && llvm::any_of(loop.getResultTypes(), llvm::IsaPred<FloatType>);
    }
    SmallVector<memref::LoadOp> loads(loop.getBody()->getOps<memref::LoadOp>());
    // Elements that stay, or go along with the store, meet it in one step, if at all
    auto const isBehind = [&](memref::StoreOp store) {
      return llvm::any_of(loads, [&](memref::LoadOp load) {
        return load.getMemref() == store.getMemref() &&
               llvm::any_of(llvm::zip(load.getIndices(), store.getIndices()), [&](auto const &pair) {
                 auto const &[read, written] = pair;
                 return read != written && !loop.isDefinedOutsideOfLoop(read);
               });
      });
    };
    return llvm::any_of(loop.getBody()->getOps<memref::StoreOp>(), isBehind) && !dependenceOf(loop).empty();
  }

  /// Whether the loop goes down neighbouring columns, whatever else does not lie along them.
  bool goesDown(scf::ForOp loop) const {
    return llvm::any_of(loop.getBody()->getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
      OperandRange const at = load.getIndices();
      return !at.empty() && isAlong(at.back()) && isContiguous(load.getMemref()) &&
             llvm::any_of(at.drop_back(), [&](Value index) { return moves(index); });
    });
  }

  /// Whether a loop inside the chosen ones goes along memory, a vector of it or more: it fills the lanes.
  bool fillsLanes(scf::ForOp loop) const {
    return !chosen.contains(loop) && tripsOf(loop).value_or(0) >= leastLanes &&
           llvm::any_of(loop.getBody()->getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
             return !load.getMemref().getDefiningOp<memref::AllocaOp>() && !load.getIndices().empty() &&
                    load.getIndices().back() == loop.getInductionVar() && isContiguous(load.getMemref());
           });
  }

  /// Whether the chosen loops are chains or go down columns, or go around such, without branches, and memory of
  /// neighbouring columns is rows apart somewhere.
  bool areChains() {
    auto const suits = [&](scf::ForOp loop) {
      return isChain(loop) || goesDown(loop) || !loop.getBody()->getOps<scf::ForOp>().empty();
    };
    bool const hasBranches = owner->walk([](scf::IfOp) { return WalkResult::interrupt(); }).wasInterrupted();
    bool const areFilled =
        owner->walk([&](scf::ForOp loop) { return fillsLanes(loop) ? WalkResult::interrupt() : WalkResult::advance(); })
            .wasInterrupted();
    return llvm::all_of(loops, suits) && !hasBranches && !areFilled && values.lieAcrossRows();
  }

  /// Whether every access is to neighbours of the neighbours in the last loop, or to the same element for all of them.
  /// Some of them go down the columns.
  bool liesAlongColumns() {
    bool isFound = false;
    auto const suits = [&](Value memref, OperandRange at, bool isStore) {
      if (llvm::all_of(at, [&](Value index) { return values.goesAlike(index); }))
        return !isStore || memref.getDefiningOp<memref::AllocaOp>();
      bool const isLine =
          isAlong(at.back()) && llvm::all_of(at.drop_back(), [&](Value index) { return values.goesAlike(index); });
      isFound |= isLine && llvm::any_of(at.drop_back(), [&](Value index) { return moves(index); });
      return isLine && isContiguous(memref);
    };
    WalkResult const result = owner->walk([&](Operation *op) {
      auto load = dyn_cast<memref::LoadOp>(op);
      auto store = dyn_cast<memref::StoreOp>(op);
      bool const isFit = (!load || suits(load.getMemref(), load.getIndices(), false)) &&
                         (!store || suits(store.getMemref(), store.getIndices(), true));
      return isFit ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted() && isFound;
  }

  static bool isAlone(scf::ForOp loop) { return llvm::hasSingleElement(loop->getBlock()->without_terminator()); }

  Operation *owner;
  int64_t fewest = fewestColumns;
  SmallVector<scf::ForOp> loops; ///< in the order of the text
  DenseSet<Operation *> chosen;  ///< the same
  bool isWorthIt = false;
  nest::StripValues values;
};

} // namespace

SmallVector<scf::ForOp> stripLoopsOf(Operation *owner) {
  Candidate candidate(owner);
  return candidate.isFit() ? llvm::to_vector(candidate.chosenLoops()) : SmallVector<scf::ForOp>();
}

bool isScanOfColumns(Operation *owner) { return Candidate(owner).isScan(); }

} // namespace ml2k
