//===- Launches.cpp - kernels of the gpu dialect and loops of omp become parallel loops ---------------------------===//
//
// A launch whose threads do not wait for each other is one parallel loop over blocks and threads. Otherwise it is a
// loop over blocks; in it, what lies between two barriers is a loop over the threads (ThreadPhases.cpp).
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/mlir/Launches.h"

#include "translator/frontend/mlir/Steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ml2k::mlir_import;

//===--- gpu.launch_func ------------------------------------------------------------------------------------------===//

/// The body of the kernel with the arguments of the launch, as a gpu.launch.
static LogicalResult inlineLaunch(gpu::LaunchFuncOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<gpu::GPUFuncOp>(launch, launch.getKernelAttr());
  if (!kernel || !llvm::hasSingleElement(kernel.getBody()) || launch.getAsyncToken() || launch.getAsyncObject() ||
      launch.getDynamicSharedMemorySize())
    return launch.emitError(
        "launches of this form are not supported: asynchronous, with shared memory of a size known at run "
        "time, or of a kernel that is not there or has several blocks of code");
  OpBuilder builder(launch);
  gpu::KernelDim3 const grid = launch.getGridSizeOperandValues(), block = launch.getBlockSizeOperandValues();
  auto const types = [](ArrayRef<BlockArgument> arguments) {
    return llvm::map_to_vector(arguments, [](BlockArgument argument) { return argument.getType(); });
  };
  auto inlined = builder.create<gpu::LaunchOp>(launch.getLoc(), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                               Value(), Type(), ValueRange(), types(kernel.getWorkgroupAttributions()),
                                               types(kernel.getPrivateAttributions()));
  IRMapping values;
  values.map(kernel.getArguments().take_front(launch.getNumKernelOperands()), launch.getKernelOperands());
  for (auto [from, to] : llvm::zip(kernel.getWorkgroupAttributions(), inlined.getWorkgroupAttributions()))
    values.map(from, to);
  for (auto [from, to] : llvm::zip(kernel.getPrivateAttributions(), inlined.getPrivateAttributions()))
    values.map(from, to);
  builder.setInsertionPointToEnd(&inlined.getBody().front());
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, values);
  builder.create<gpu::TerminatorOp>(launch.getLoc());
  launch.erase();
  return success();
}

//===--- gpu.launch -----------------------------------------------------------------------------------------------===//

static Value along(gpu::KernelDim3 const &all, gpu::Dimension dimension) {
  return dimension == gpu::Dimension::x ? all.x : dimension == gpu::Dimension::y ? all.y : all.z;
}

/// gpu.thread_id and its like are the arguments of the launch.
static void nameIds(gpu::LaunchOp launch) {
  auto const replace = [](Operation *op, Value value) {
    op->replaceAllUsesWith(ValueRange(value));
    op->erase();
  };
  launch.getBody().walk([&](Operation *op) {
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      return replace(op, along(launch.getBlockIds(), id.getDimension()));
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
      return replace(op, along(launch.getThreadIds(), id.getDimension()));
    if (auto size = dyn_cast<gpu::GridDimOp>(op))
      return replace(op, along(launch.getGridSize(), size.getDimension()));
    if (auto size = dyn_cast<gpu::BlockDimOp>(op))
      return replace(op, along(launch.getBlockSize(), size.getDimension()));
    auto id = dyn_cast<gpu::GlobalIdOp>(op);
    if (!id)
      return;
    OpBuilder builder(op);
    Value const before = builder.create<arith::MulIOp>(op->getLoc(), along(launch.getBlockIds(), id.getDimension()),
                                                       along(launch.getBlockSize(), id.getDimension()));
    replace(op, builder.create<arith::AddIOp>(op->getLoc(), before, along(launch.getThreadIds(), id.getDimension())));
  });
}

Ranges ml2k::mlir_import::rangesOf(gpu::KernelDim3 const &indices, gpu::KernelDim3 const &sizes) {
  Ranges ranges;
  for (auto [index, size] :
       {std::pair(indices.z, sizes.z), std::pair(indices.y, sizes.y), std::pair(indices.x, sizes.x)})
    ranges.push_back({index, size});
  return ranges;
}

scf::ParallelOp ml2k::mlir_import::parallelOver(OpBuilder &builder, Location loc, Ranges const &ranges,
                                                IRMapping &values, ValueRange inits) {
  Value const zero = builder.create<arith::ConstantIndexOp>(loc, 0),
              one = builder.create<arith::ConstantIndexOp>(loc, 1);
  SmallVector<Value> sizes, indices;
  for (auto [index, size] : ranges) {
    bool const isOnly = index == ranges.back().first && sizes.empty();
    if (isConstantIntValue(size, 1) && !isOnly) {
      values.map(index, zero);
      continue;
    }
    indices.push_back(index);
    sizes.push_back(size);
  }
  auto loop = builder.create<scf::ParallelOp>(loc, SmallVector<Value>(sizes.size(), zero), sizes,
                                              SmallVector<Value>(sizes.size(), one), inits);
  for (auto [index, position] : llvm::zip(indices, loop.getInductionVars())) {
    position.setLoc(index.getLoc()); // its name
    values.map(index, position);
  }
  return loop;
}

Location ml2k::mlir_import::locationOfMemory(Value value) {
  auto const location = dyn_cast<NameLoc>(value.getLoc());
  if (!location)
    return value.getLoc();
  StringRef const name = location.getName().getValue().split(" \"").second;
  return NameLoc::get(StringAttr::get(value.getContext(), "alloca \"" + name), location.getChildLoc());
}

Value ml2k::mlir_import::ownMemory(OpBuilder &builder, Value attribution) {
  auto const type = cast<MemRefType>(attribution.getType());
  return builder.create<memref::AllocaOp>(locationOfMemory(attribution),
                                          MemRefType::get(type.getShape(), type.getElementType()));
}

static void mapSizes(gpu::LaunchOp launch, IRMapping &values) {
  auto const map = [&](gpu::KernelDim3 const &inside, gpu::KernelDim3 const &given) {
    values.map(inside.x, given.x);
    values.map(inside.y, given.y);
    values.map(inside.z, given.z);
  };
  map(launch.getGridSize(), launch.getGridSizeOperandValues());
  map(launch.getBlockSize(), launch.getBlockSizeOperandValues());
}

/// Memory of a block or a thread is an array of a known size.
static LogicalResult checkMemory(gpu::LaunchOp launch) {
  for (auto const &memory : {launch.getWorkgroupAttributions(), launch.getPrivateAttributions()})
    for (BlockArgument const array : memory) {
      auto const type = cast<MemRefType>(array.getType());
      if (!type.hasStaticShape() || !type.getLayout().isIdentity())
        return emitError(array.getLoc())
               << "memory of a block or a thread has extents that are known and no layout, not " << type;
    }
  return success();
}

static LogicalResult lowerLaunch(gpu::LaunchOp launch) {
  if (launch.getAsyncToken() || launch.getDynamicSharedMemorySize() || launch.getClusterIds() ||
      !llvm::hasSingleElement(launch.getBody()))
    return launch.emitError("launches of this form are not supported: asynchronous, with clusters, with shared memory "
                            "of a size known at run time, or of several blocks of code");
  if (failed(checkMemory(launch)))
    return failure();
  nameIds(launch);
  IRMapping values;
  mapSizes(launch, values);
  if (needsPhases(launch)) {
    if (failed(lowerToPhases(launch, values)))
      return failure();
    launch.erase();
    return success();
  }
  OpBuilder builder(launch);
  Ranges ranges = rangesOf(launch.getBlockIds(), launch.getGridSizeOperandValues());
  llvm::append_range(ranges, rangesOf(launch.getThreadIds(), launch.getBlockSizeOperandValues()));
  scf::ParallelOp loop = parallelOver(builder, launch.getLoc(), ranges, values, {});
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  for (BlockArgument memory : launch.getPrivateAttributions())
    values.map(memory, ownMemory(builder, memory));
  for (Operation &op : launch.getBody().front().without_terminator())
    builder.clone(op, values);
  launch.erase();
  return success();
}

//===--- omp ------------------------------------------------------------------------------------------------------===//

static LogicalResult lowerLoopNest(omp::WsloopOp shared) {
  auto nest = dyn_cast<omp::LoopNestOp>(shared.getBody()->front());
  if (!nest || !shared.getReductionVars().empty() || !shared.getLinearVars().empty() || shared.getOrderedVal() ||
      !llvm::hasSingleElement(nest.getRegion()))
    return shared.emitError("loops of this form are not supported: with reductions, linear variables, an order, or "
                            "several blocks of code");
  OpBuilder builder(shared);
  Location const loc = nest.getLoc();
  auto const asIndex = [&](Value value) -> Value {
    return value.getType().isIndex() ? value : builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), value);
  };
  SmallVector<Value> lowers, uppers, steps;
  for (auto [lower, upper, step] : llvm::zip(nest.getLowerBound(), nest.getUpperBound(), nest.getStep())) {
    lowers.push_back(asIndex(lower));
    Value last = asIndex(upper);
    if (nest.getInclusive())
      last = builder.create<arith::AddIOp>(loc, last, builder.create<arith::ConstantIndexOp>(loc, 1));
    uppers.push_back(last);
    steps.push_back(asIndex(step));
  }
  auto loop = builder.create<scf::ParallelOp>(loc, lowers, uppers, steps);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  IRMapping values;
  for (auto [index, position] : llvm::zip(nest.getIVs(), loop.getInductionVars())) {
    position.setLoc(index.getLoc());
    Value const typed = index.getType().isIndex() ? Value(position)
                                                  : builder.create<arith::IndexCastOp>(loc, index.getType(), position);
    values.map(index, typed);
  }
  for (Operation &op : nest.getRegion().front().without_terminator())
    builder.clone(op, values);
  shared.erase();
  return success();
}

/// What all threads do together stands alone.
static LogicalResult inlineParallel(omp::ParallelOp parallel) {
  if (parallel.getIfExpr() || !parallel.getReductionVars().empty() || !parallel.getPrivateVars().empty() ||
      !llvm::hasSingleElement(parallel.getRegion()))
    return parallel.emitError("parallel regions of this form are not supported: with a condition, reductions, private "
                              "variables or several blocks of code");
  Block &body = parallel.getRegion().front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    if (!isa<omp::BarrierOp>(op))
      op.moveBefore(parallel);
  parallel.erase();
  return success();
}

//===--- All ------------------------------------------------------------------------------------------------------===//

/// Every operation of a kind, also those that appear meanwhile.
template <class Op> static LogicalResult lowerAll(func::FuncOp entry, LogicalResult (*lower)(Op)) {
  SmallVector<Op> ops;
  entry.walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops)
    if (failed(lower(op)))
      return failure();
  return success();
}

LogicalResult ml2k::mlir_import::lowerLaunches(func::FuncOp entry) {
  if (failed(lowerAll<gpu::LaunchFuncOp>(entry, inlineLaunch)) || failed(lowerAll<gpu::LaunchOp>(entry, lowerLaunch)) ||
      failed(lowerAll<omp::WsloopOp>(entry, lowerLoopNest)) || failed(lowerAll<omp::ParallelOp>(entry, inlineParallel)))
    return failure();
  for (auto kernels : llvm::make_early_inc_range(entry->getParentOfType<ModuleOp>().getOps<gpu::GPUModuleOp>()))
    kernels.erase();
  return success();
}
