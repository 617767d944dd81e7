//===- ChooseBlocks.cpp - what each kernel is printed as ----------------------------------------------------------===//

#include "passes/prepare/ChooseBlocks.h"
#include "passes/TripCount.h"

#include "passes/lower/loops/Scans.h"
#include "passes/lower/memory/Memory.h"
#include "passes/prepare/ApartAccesses.h"
#include "passes/prepare/GridAccesses.h"
#include "translator/ir/AtomicUpdates.h"
#include "translator/ir/LibraryCalls.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/StoredRows.h"
#include "translator/ir/Strips.h"
#include "translator/ir/Teams.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_CHOOSEBLOCKS
#include "passes/prepare/Passes.h.inc"

using nest::DevicePath;
using nest::KernelBlock;

std::optional<unsigned> innermost(AffineMap map, ArrayRef<int64_t> extents) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && extents[dim.getPosition()] != 1)
      return dim.getPosition();
  return std::nullopt;
}

SmallVector<int64_t> extentsOf(nest::Kernel kernel) {
  return llvm::map_to_vector(kernel.getLoopExtents(), [](nest::LoopExtent const &loop) { return loop.size(); });
}

//===--- Reductions and windows -----------------------------------------------------------------------------------===//

bool foldsTogether(ArrayRef<int64_t> rows) {
  constexpr int64_t together = 8; // of templates/block/rows/fold_rows.mustache
  auto const isLong = [](int64_t extent) { return extent != 1; };
  auto const *const found = llvm::find_if(rows, isLong);
  return llvm::count_if(rows, isLong) == 1 && (ShapedType::isDynamic(*found) || *found >= together);
}

/// So many elements fill a vector register of any type.
static constexpr int64_t wholeVector = 16;

/// The product, kDynamic if an extent is not known or it is larger than `most`.
static int64_t productUpTo(ArrayRef<int64_t> extents, int64_t most) {
  int64_t all = 1;
  for (int64_t const extent : extents) {
    if (ShapedType::isDynamic(extent) || extent > most || all * extent > most)
      return ShapedType::kDynamic;
    all *= extent;
  }
  return all;
}

bool foldsInElements(ArrayRef<int64_t> terms, ArrayRef<int64_t> elements) {
  constexpr int64_t most = 15;
  return !ShapedType::isDynamic(productUpTo(terms, most)) &&
         ShapedType::isDynamic(productUpTo(elements, wholeVector - 1));
}

int64_t vectorLoop(ArrayRef<unsigned> loops, ArrayRef<int64_t> extents) {
  SmallVector<int64_t> all;
  for (unsigned const loop : loops)
    all.push_back(extents[loop]);
  for (unsigned const loop : llvm::reverse(loops)) {
    if (extents[loop] == 1)
      continue;
    bool const isWhole = ShapedType::isDynamic(extents[loop]) || extents[loop] >= wholeVector;
    return isWhole || !ShapedType::isDynamic(productUpTo(all, wholeVector - 1)) ? int64_t(loop) : -1;
  }
  return -1;
}

static bool isAtLeast(int64_t extent, int64_t least) { return ShapedType::isDynamic(extent) || extent >= least; }

/// Whether neighbours in a loop are neighbours in the last dimension of an operand that is longer than 1.
static bool isContiguous(AffineMap map, ArrayRef<int64_t> extents, unsigned loop) {
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && dim.getPosition() != loop && extents[dim.getPosition()] == 1)
      continue;
    return dim && dim.getPosition() == loop;
  }
  return false;
}

/// Whether a window slides along lines: neighbouring elements of the last loop read neighbouring terms, so that a
/// vector of elements adds up whatever is in the window.
static bool slidesAlongLines(nest::ReduceOp reduce, unsigned loop, ArrayRef<int64_t> extents) {
  AffineMap const map = reduce.getMaps().front();
  return isAtLeast(extents[loop], wholeVector) && map.getNumResults() > 0 &&
         map.getResults().back().isFunctionOfDim(loop) && llvm::any_of(reduce.getReductionDims(), [&](int64_t term) {
           return extents[term] != 1 && map.getResults().back().isFunctionOfDim(term);
         });
}

/// So many terms compilers write one after the other; loops inside a vector loop they do not take.
static constexpr int64_t unrolled = 25;

/// Fewer results fit into what a thread of a device has for them; a column of so many terms is worth all threads.
static constexpr int64_t aboveFew = 33, manyPerColumn = 8192;

/// Rows where the first input's contiguous dimension is reduced, columns where it is not, a loop per element of the
/// output where there are but a few terms. Where rows are reduced together with other dimensions, `inner` goes along
/// them.
static LogicalResult chooseBlock(nest::ReduceOp reduce) {
  SmallVector<int64_t> const extents = extentsOf(reduce);
  AffineMap const map = reduce.getMaps().front();
  std::optional<unsigned> const inner = innermost(map, extents);
  bool const isAlong = inner && llvm::is_contained(reduce.getReductionDims(), int64_t(*inner));
  SmallVector<int64_t> rows, folded;
  SmallVector<unsigned> elements;
  int64_t terms = 1, reduced = 0, many = 1, results = 1;
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (!llvm::is_contained(reduce.getReductionDims(), int64_t(loop))) {
      rows.push_back(extent);
      elements.push_back(loop);
      results = ShapedType::isDynamic(extent) ? aboveFew : std::min(results * extent, aboveFew);
    } else if (extent != 1) {
      folded.push_back(extent);
      many = ShapedType::isDynamic(extent) ? manyPerColumn : std::min(many * extent, manyPerColumn);
      terms = ShapedType::isDynamic(extent) || terms >= nest::leastTerms ? nest::leastTerms : terms * extent;
      ++reduced;
    }
  bool const isColumn = inner && isContiguous(map, extents, *inner);
  bool const isLong = inner && isAtLeast(extents[*inner], nest::leastColumns) && isColumn;
  bool const isStencil = results == aboveFew && !elements.empty() && slidesAlongLines(reduce, elements.back(), extents);
  if (isStencil && many > unrolled)
    nest::setSchedule(reduce, KernelBlock::FoldColumns, {.inner = int64_t(elements.back())});
  else if (isStencil || foldsInElements(folded, rows))
    nest::setSchedule(reduce, KernelBlock::ForEach, {.inner = vectorLoop(elements, extents)});
  else if (isAlong && results == 1 && many >= manyPerColumn)
    nest::setSchedule(reduce, KernelBlock::FoldFewColumns); // a total
  else if (isAlong && reduced > 1 && isLong)
    nest::setSchedule(reduce, KernelBlock::ForRows, {.inner = int64_t(*inner)});
  else if (isAlong)
    nest::setSchedule(reduce, foldsTogether(rows) ? KernelBlock::FoldRows : KernelBlock::ForRows);
  else if (isColumn && results < aboveFew && many >= (isLong ? manyPerColumn : nest::manyTerms))
    nest::setSchedule(reduce, KernelBlock::FoldFewColumns, {.inner = int64_t(*inner)});
  else if (isLong && terms >= nest::leastTerms)
    nest::setSchedule(reduce, KernelBlock::FoldColumns, {.inner = int64_t(*inner)});
  else
    nest::setSchedule(reduce, KernelBlock::ForEach, {.inner = vectorLoop(elements, extents)});
  return success();
}

/// From so many taps on, devices join those of a pixel by a team. ResNet18 with a thread for each channel of its 7 x 7
/// takes 11 us longer (H100, replayed), though that kernel alone, its input in L1, is faster so.
static constexpr int64_t broadWindow = 32;

static LogicalResult chooseBlock(nest::WindowOp window) {
  bool const isBroad = window.getKernel()[0] * window.getKernel()[1] >= broadWindow;
  nest::setSchedule(window, KernelBlock::Pool, {.device = isBroad ? DevicePath::BroadWindows : DevicePath::Plain});
  return success();
}

//===--- Explicit loops -------------------------------------------------------------------------------------------===//

static constexpr unsigned maxBoxRank = 6; // of Kokkos::MDRangePolicy

static constexpr int64_t shortLoops = 256; ///< iterations that an element of a vector may take
static constexpr int64_t shortLine = 64;   ///< positions that are not worth a block

/// How many iterations the loops of a body take for one position; none where data decide, or where positions meet.
static std::optional<int64_t> iterations(Block &body) {
  int64_t most = 1;
  for (Operation &op : body) {
    if (isa<memref::AtomicRMWOp, memref::AllocaOp, memref::AllocOp, scf::WhileOp, nest::CallOp>(op))
      return std::nullopt;
    std::optional<int64_t> factor = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      factor = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    } else if (op.getNumRegions() > 0 && !isa<scf::IfOp>(op)) {
      factor = std::nullopt;
    }
    if (!factor)
      return std::nullopt;
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        std::optional<int64_t> const inner = iterations(block);
        if (!inner || *factor * *inner > shortLoops)
          return std::nullopt;
        most = std::max(most, *factor * *inner);
      }
  }
  return most;
}

/// Vector registers go along one loop of some length where each of its positions takes as many steps.
static KernelBlock blockOfLine(nest::LoopKernelOp kernel) {
  if (kernel.getLowers().empty() || !iterations(kernel.getBody().front()) || isApart(kernel))
    return KernelBlock::Range;
  auto const lower = getConstantIntValue(kernel.getLowers()[0]), upper = getConstantIntValue(kernel.getUppers()[0]);
  return lower && upper && *upper - *lower < shortLine ? KernelBlock::Range : KernelBlock::ForGrid;
}

/// Marks what all iterations of a loop compute alike from scalars in memory, such as the step length of a solver;
/// whether there is one such value.
static bool markShared(nest::LoopKernelOp kernel) {
  auto const isWritten = [&](Value memref) {
    auto const isIt = [&](Value other) { return rootOf(other) == rootOf(memref); };
    return llvm::any_of(kernel.getInto(), isIt) || kernel
                                                       .walk([&](memref::StoreOp store) {
                                                         return isIt(store.getMemref()) ? WalkResult::interrupt()
                                                                                        : WalkResult::advance();
                                                       })
                                                       .wasInterrupted();
  };
  Block &block = kernel.getBody().front();
  llvm::SmallSetVector<Operation *, 8> shared;
  auto const isShared = [&](Value value) { return value.getDefiningOp() && shared.contains(value.getDefiningOp()); };
  auto const isKnown = [&](Value value) {
    return isShared(value) || value.getParentRegion() != &kernel.getBody() || matchPattern(value, m_Constant());
  };
  for (Operation &op : block.without_terminator()) {
    auto load = dyn_cast<memref::LoadOp>(op);
    bool const isScalar = load && !isWritten(load.getMemref()) && llvm::all_of(load.getIndices(), [](Value index) {
                            return matchPattern(index, m_Constant());
                          });
    bool const isDerived = isPure(&op) && op.getNumRegions() == 0 && llvm::any_of(op.getOperands(), isShared) &&
                           llvm::all_of(op.getOperands(), isKnown);
    if (isScalar || isDerived)
      shared.insert(&op);
  }
  SmallVector<Operation *> used;
  for (Operation *op : shared)
    if (!isa<memref::LoadOp>(op) &&
        llvm::any_of(op->getUsers(), [&](Operation *user) { return !shared.contains(user); }))
      used.push_back(op);
  if (kernel.getLowers().size() != 1 || used.size() != 1)
    return false;
  used[0]->setAttr("nest.shared", UnitAttr::get(kernel.getContext()));
  return true;
}

/// The loads that an operand on the right of && or || is made of.
static void nameLoads(Value value, Block *block) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || !value.hasOneUse())
    return;
  if (isa<memref::LoadOp>(op))
    op->setAttr("nest.let", UnitAttr::get(op->getContext()));
  else if (isPure(op) && op->getNumRegions() == 0)
    for (Value operand : op->getOperands())
      nameLoads(operand, block);
}

/// Compilers make no vectors of a load that C++ evaluates under a condition; the program has none.
static void nameGuardedLoads(nest::LoopKernelOp kernel) {
  kernel.walk([](Operation *op) {
    if (isa<arith::AndIOp, arith::OrIOp>(op) && op->getResult(0).getType().isInteger(1))
      nameLoads(op->getOperand(1), op->getBlock());
  });
}

/// A loop that is marked is all that the iterations of the kernel do.
static bool isAll(nest::LoopKernelOp kernel, StringRef mark) {
  Block &block = kernel.getBody().front();
  return !kernel.getLowers().empty() && kernel.getInto().empty() && !kernel.getOrdered() &&
         llvm::hasSingleElement(block.without_terminator()) && block.front().hasAttr(mark);
}

static constexpr int64_t shortFold = 32; ///< terms that are not worth several partial results

/// Sums and extrema inside the iterations of a kernel that has no vector registers along its own loop.
static void markFolds(nest::LoopKernelOp kernel) {
  kernel.walk([](scf::ForOp loop) {
    auto const count = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    if (count && *count < shortFold)
      return;
    if (nest::joinOf(loop))
      loop->setAttr("nest.lanes", UnitAttr::get(loop.getContext()));
    else if (nest::orderedSumOf(loop))
      loop->setAttr("nest.in_order", UnitAttr::get(loop.getContext()));
  });
}

/// Whether an iteration has a loop that vector registers go along.
static bool hasFolds(nest::LoopKernelOp kernel) {
  return kernel
      .walk([](scf::ForOp loop) {
        auto const count = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        return nest::joinOf(loop) && (!count || *count >= shortFold) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static LogicalResult chooseBlock(nest::LoopKernelOp kernel) {
  nameGuardedLoads(kernel);
  nameSums(kernel);
  if (nest::isOfRows(kernel)) {
    nest::setSchedule(kernel, KernelBlock::ForRows);
    return success();
  }
  if (kernel.getPolicy() == nest::Policy::Team) {
    nest::TeamShape const shape = nest::teamShapeOf(kernel);
    nest::setSchedule(kernel, KernelBlock::Team, {.threads = shape.threads, .lanes = shape.lanes});
    return success();
  }
  unsigned const loops = kernel.getLowers().size();
  bool const reduces = !kernel.getInto().empty(), isGrid = loops > 1;
  int64_t const rows = loops > 2 ? loops - 1 : 0;
  bool const isNaive = kernel->getParentOfType<func::FuncOp>()->hasAttr("nest.naive");
  if (kernel.getPolicy() == nest::Policy::Strips)
    nest::setSchedule(kernel, KernelBlock::ForStrips, {.fused = rows, .lanes = nest::columnsOfStrip(kernel)});
  else if (isAll(kernel, nest::columnScan))
    nest::setSchedule(kernel, KernelBlock::ScanColumns, {.fused = rows, .lanes = nest::columnsOfStrip(kernel)});
  else if (!isNaive && isAll(kernel, scanLoop))
    nest::setSchedule(kernel, KernelBlock::ScanRows, {.fused = isGrid ? loops : 0});
  else if (!isNaive && nest::storedRowsOf(kernel))
    nest::setSchedule(kernel, reduces ? KernelBlock::ReduceStoredRows : KernelBlock::ForStoredRows);
  else if (kernel.getOrdered())
    nest::setSchedule(kernel, nest::scatteredRowsOf(kernel) ? KernelBlock::ScatterRows : KernelBlock::ForUpdates);
  else if (!nest::ownSums(kernel).empty() || nest::arrayOfSums(kernel))
    nest::setSchedule(kernel, KernelBlock::ForOwnSums, {.fused = rows});
  else if (nest::hasAtomicUpdates(kernel))
    nest::setSchedule(kernel, KernelBlock::ForAtomicUpdates, {.fused = rows});
  else if (reduces && !isGrid && !isNaive && hasFolds(kernel))
    nest::setSchedule(kernel, KernelBlock::Range);
  else if (reduces && isGrid)
    nest::setSchedule(kernel, KernelBlock::ReduceGrid, {.fused = rows});
  else if (reduces)
    nest::setSchedule(kernel, markShared(kernel) ? KernelBlock::ReduceSharedSpan : KernelBlock::ReduceSpan);
  else if (!isGrid) {
    KernelBlock const line = isNaive ? KernelBlock::Range : blockOfLine(kernel);
    nest::setSchedule(kernel, line != KernelBlock::Range && markShared(kernel) ? KernelBlock::ForSharedSpan : line);
  } else if (isNaive)
    nest::setSchedule(kernel, KernelBlock::MDRange, {.fused = loops > maxBoxRank ? loops - maxBoxRank + 1 : 0});
  else
    nest::setSchedule(kernel, goesInTiles(kernel) ? KernelBlock::ForTiles : KernelBlock::ForGrid,
                      {.fused = nest::storeFromLine(kernel) || nest::branchOfEveryOther(kernel) ? 0 : rows,
                       .lanes = goesInTiles(kernel) ? 0 : columnsOfShortRows(kernel)});
  KernelBlock const block = nest::scheduleOf(kernel).getBlock();
  if (!isNaive && block == KernelBlock::Range)
    markFolds(kernel);
  bool const hasVectors = block == KernelBlock::ForGrid && !nest::branchOfEveryOther(kernel);
  if (!hasVectors && block != KernelBlock::ForTiles && block != KernelBlock::ForSharedSpan)
    kernel.walk([](scf::IfOp branch) { branch->removeAttr(nest::earlyLoads); }); // it has no vectors
  return success();
}

static LogicalResult chooseBlock(nest::RecurrentOp recurrent) {
  for (Value input : recurrent.getInputs()) {
    auto weight = rootOf(input).getDefiningOp<nest::WeightOp>();
    if (!weight || !weight.getPacking() || weight.getPacking()->getKind() != nest::PackingKind::Gates)
      return recurrent.emitError("the weight of a recurrent layer must be packed by gates");
  }
  nest::setSchedule(recurrent, recurrent.getNumDirections() == 1 ? KernelBlock::Recurrent : KernelBlock::RecurrentBoth);
  return success();
}

static LogicalResult chooseBlock(nest::AssembleOp assemble) {
  static constexpr KernelBlock blocks[] = {KernelBlock::JoinRows,     KernelBlock::JoinRows,
                                           KernelBlock::MultiplyRows, KernelBlock::TransposeRows,
                                           KernelBlock::SortTriplets, KernelBlock::PackRows};
  nest::setSchedule(assemble, blocks[unsigned(assemble.getKind())]);
  return success();
}

static LogicalResult chooseBlock(nest::TopKOp top) {
  nest::setSchedule(top, top.getOutputs().size() > 2 ? KernelBlock::TopKParts : KernelBlock::TopK);
  return success();
}

static LogicalResult chooseBlock(nest::SortOp sort) {
  nest::setSchedule(sort, sort.getSlices() ? KernelBlock::SortSlices : KernelBlock::SortRows);
  return success();
}

static LogicalResult chooseBlock(nest::TreesOp trees) {
  nest::setSchedule(trees, KernelBlock::WalkTrees);
  return success();
}

//===--- The pass -------------------------------------------------------------------------------------------------===//

static LogicalResult chooseBlock(Operation *kernel, Devices devices) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(kernel)
      .Case<nest::MapOp, nest::RowOp>([&](auto op) { return chooseBlock(op, devices), success(); })
      .Case<nest::ReduceOp, nest::WindowOp, nest::ContractOp, nest::ConvOp, nest::RecurrentOp, nest::TopKOp,
            nest::SortOp, nest::TreesOp, nest::AssembleOp, nest::LoopKernelOp>([](auto op) { return chooseBlock(op); })
      .Default([](Operation *op) { return LogicalResult(op->emitError("has no block")); });
}

/// Loops that are marked as running sums are some.
static LogicalResult checkScans(func::FuncOp entry) {
  bool isRight = true;
  entry.walk([&](scf::ForOp loop) {
    bool const isMarked = loop->hasAttr(scanLoop) || loop->hasAttr(nest::columnScan);
    if (!isMarked || hasFormOfScan(loop))
      return;
    loop.emitError("is marked as a running sum but is none");
    isRight = false;
  });
  return success(isRight);
}

/// Whether a schedule that stands already can be printed where `chosen` can: it is that, or asks for less.
static bool isPlainer(nest::ScheduleAttr given, nest::ScheduleAttr chosen, Operation *kernel) {
  if (given == chosen)
    return true;
  if (auto map = dyn_cast<nest::MapOp>(kernel)) // any loop of a map may be the innermost one
    return given.getBlock() == KernelBlock::ForEach && given.getInner() >= 0 && given.getChannel() == -1 &&
           given.getInner() < int64_t(map.getMaps().front().getNumDims());
  if (isa<nest::RowOp, nest::ReduceOp>(kernel) && chosen.getBlock() != KernelBlock::ForEach)
    return given.getBlock() == KernelBlock::ForRows;
  if (auto loops = dyn_cast<nest::LoopKernelOp>(kernel); loops && loops.getPolicy() == nest::Policy::Team)
    return given.getBlock() == KernelBlock::Team && !nest::hasValuesOfThreads(kernel); // a team of any size
  if (chosen.getBlock() == KernelBlock::ForOwnSums)
    return given.getBlock() == KernelBlock::ForAtomicUpdates;
  if (isa<nest::LoopKernelOp>(kernel))
    return (given.getBlock() == KernelBlock::ForGrid && chosen.getBlock() == KernelBlock::ForTiles) ||
           (given.getBlock() == KernelBlock::Range &&
            llvm::is_contained({KernelBlock::ForStoredRows, KernelBlock::ForGrid, KernelBlock::ForSharedSpan},
                               chosen.getBlock())) ||
           (given.getBlock() == KernelBlock::ReduceSpan &&
            llvm::is_contained({KernelBlock::ReduceStoredRows, KernelBlock::ReduceSharedSpan}, chosen.getBlock()));
  if (given.getBlock() != chosen.getBlock() || !isa<nest::ContractOp, nest::WindowOp>(kernel))
    return false;
  return (chosen.getLeft() || !given.getLeft()) && (chosen.getRight() || !given.getRight()) &&
         (chosen.getInPlace() || !given.getInPlace());
}

/// A call of KokkosKernels that was asked for is one that the kernel can be.
static LogicalResult checkCall(Operation *kernel, nest::ScheduleAttr given) {
  std::string why;
  if (auto loops = dyn_cast<nest::LoopKernelOp>(kernel)) {
    if (given.getBlock() == KernelBlock::LibrarySpmv && nest::sparseProductOf(loops, why))
      return success();
  } else if (std::optional<nest::BlasProduct> const product = nest::blasProductOf(kernel, why)) {
    KernelBlock const block = product->isMatrix ? KernelBlock::LibraryGemm : KernelBlock::LibraryGemv;
    if (given.getBlock() == block && given.getLeft() != product->a.isTransposed &&
        given.getRight() == (product->isMatrix && !product->b.isTransposed))
      return success();
  }
  InFlightDiagnostic error = kernel->emitError() << "cannot be printed as " << given;
  if (!why.empty())
    error << ": " << why;
  return error;
}

static LogicalResult settle(Operation *kernel, Devices devices) {
  if (llvm::any_of(kernel->getOperandTypes(), llvm::IsaPred<TensorType>))
    return kernel->emitError("works on tensors: a prepared nest is on memrefs");
  nest::ScheduleAttr const given = nest::scheduleOf(kernel);
  if (given && nest::isLibraryCall(given.getBlock()))
    return checkCall(kernel, given);
  if (failed(chooseBlock(kernel, devices)))
    return failure();
  nest::ScheduleAttr const chosen = nest::scheduleOf(kernel);
  if (!given)
    return success();
  if (!isPlainer(given, chosen, kernel))
    return kernel->emitError() << "cannot be printed as " << given << "; " << chosen << " fits";
  if (given != chosen)
    kernel->removeAttr("nest.fixed_extents");
  kernel->setAttr("nest.schedule", given);
  return success();
}

namespace {
struct ChooseBlocks : impl::ChooseBlocksBase<ChooseBlocks> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (llvm::is_contained({"portable", "host", "device"}, target))
      return success();
    return emitError(UnknownLoc::get(context)) << "target is portable, host or device, not '" << target << "'";
  }

  void runOnOperation() override {
    if (failed(checkScans(getOperation())))
      return signalPassFailure();
    Devices const devices = target == "host" ? Devices::None : Devices::Some;
    auto const settleKernel = [&](nest::Kernel kernel) { return WalkResult(settle(kernel, devices)); };
    if (getOperation().walk(settleKernel).wasInterrupted())
      signalPassFailure();
  }
};
} // namespace

} // namespace ml2k
