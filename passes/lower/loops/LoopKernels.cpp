//===- LoopKernels.cpp - one parallel loop to one kernel ----------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/HostLoops.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/SparseLevels.h"
#include "translator/ir/Teams.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ml2k {
using nest::Combiner;

bool isRecomputable(Operation *op) {
  return op && op->getNumRegions() == 0 && isPure(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
         llvm::none_of(op->getResultTypes(), [](Type type) { return isa<MemRefType>(type); });
}

//===--- Labels ---------------------------------------------------------------------------------------------------===//

/// The outside memory that `op` reads (or writes) first in the text.
template <class Access> static std::string firstName(Operation *op) {
  std::string name;
  op->walk([&](Access access) {
    if (op->isAncestor(baseOf(access.getMemref()).getParentRegion()->getParentOp()))
      return WalkResult::advance();
    name = memrefName(access.getMemref());
    return WalkResult::interrupt();
  });
  return name;
}

/// The same of functions of C.
static std::string firstPassedOn(Operation *op) {
  std::string name;
  op->walk([&](nest::CallOp call) {
    for (auto [argument, writes] : llvm::zip(call.getArguments(), call.getWrites()))
      if (writes && name.empty() && !op->isAncestor(baseOf(argument).getParentRegion()->getParentOp()))
        name = memrefName(argument);
  });
  return name;
}

/// What the kernel does, and nothing around it: operations and attributes, values by their place in the kernel or by
/// the names that others have outside.
static std::string contentsOf(Operation *kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  DenseMap<Value, unsigned> places;
  auto const place = [&](ValueRange values) {
    for (Value value : values)
      places.insert({value, places.size()});
  };
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    stream << op->getName();
    for (Value operand : op->getOperands()) {
      if (auto inside = places.find(operand); inside != places.end())
        stream << " " << inside->second;
      else if (Attribute constant; matchPattern(operand, m_Constant(&constant)))
        stream << " " << constant;
      else
        stream << " " << (isa<MemRefType>(operand.getType()) ? memrefName(operand) : nameInLocation(operand.getLoc()));
    }
    stream << " " << op->getAttrDictionary() << ";";
    place(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        place(block.getArguments());
  });
  return text;
}

std::string labelFor(nest::LoopKernelOp kernel, UniqueNames &taken, StringRef otherwise) {
  std::string written = kernel.getInto().empty() ? firstName<memref::StoreOp>(kernel) : memrefName(kernel.getInto()[0]);
  std::string read = firstName<memref::LoadOp>(kernel);
  if (written.empty())
    read = written = firstPassedOn(kernel);
  std::string const stem = written.empty() ? otherwise.str() : written;
  std::string label = stem;
  if (taken.isTaken(label) && !read.empty())
    label = read == written ? stem + "_update" : stem + "_from_" + read;
  return taken.take(label) ? label : taken.unique(label, contentsOf(kernel));
}

//===--- Loops inside kernels -------------------------------------------------------------------------------------===//

SmallVector<scf::ForOp> makeSequential(RewriterBase &rewriter, scf::ParallelOp loop) {
  rewriter.setInsertionPoint(loop);
  Location const location = loop.getLoc();
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  SmallVector<Value> const inits(loop.getInitVals());
  scf::LoopNest loops =
      scf::buildLoopNest(rewriter, location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                         [&](OpBuilder &, Location, ValueRange, ValueRange carried) -> scf::ValueVector {
                           return {carried.begin(), carried.end()};
                         });
  SmallVector<Value> positions;
  for (auto [inner, index] : llvm::zip(loops.loops, loop.getInductionVars())) {
    inner.getInductionVar().setLoc(index.getLoc()); // its name
    for (auto [carried, joining] : llvm::zip(inner.getRegionIterArgs(), reduce.getReductions()))
      carried.setLoc(joining.front().getArgument(0).getLoc());
    positions.push_back(inner.getInductionVar());
  }
  scf::ForOp innermost = loops.loops.back();
  if (!inits.empty())
    innermost->setAttr(sumsInAnyOrder, rewriter.getUnitAttr());
  auto yield = cast<scf::YieldOp>(innermost.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), yield, positions);
  SmallVector<Value> next;
  for (auto [i, term] : llvm::enumerate(reduce.getOperands())) {
    Block &block = reduce.getReductions()[i].front();
    IRMapping values;
    values.map(block.getArgument(0), innermost.getRegionIterArg(i));
    values.map(block.getArgument(1), term);
    rewriter.setInsertionPoint(yield);
    for (Operation &op : block.without_terminator())
      rewriter.clone(op, values);
    next.push_back(values.lookupOrDefault(block.getTerminator()->getOperand(0)));
  }
  rewriter.eraseOp(reduce);
  if (!next.empty())
    yield->setOperands(next);
  if (loops.results.empty())
    rewriter.eraseOp(loop);
  else
    rewriter.replaceOp(loop, loops.results);
  return {loops.loops.begin(), loops.loops.end()};
}

//===--- Kernels --------------------------------------------------------------------------------------------------===//

static Value constantIndex(OpBuilder &builder, Location location, int64_t value) {
  return builder.create<arith::ConstantIndexOp>(location, value);
}

nest::LoopKernelOp makeKernel(RewriterBase &rewriter, scf::ParallelOp loop, ValueRange into) {
  rewriter.setInsertionPoint(loop);
  Location const location = loop.getLoc();
  MLIRContext *context = rewriter.getContext();
  SmallVector<Value> lowers, uppers;
  for (auto [lower, upper, step] : llvm::zip(loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    bool const dense = isConstantIntValue(step, 1);
    lowers.push_back(dense ? lower : constantIndex(rewriter, location, 0));
    if (dense) {
      uppers.push_back(upper);
      continue;
    }
    AffineExpr const from = rewriter.getAffineSymbolExpr(0), to = rewriter.getAffineSymbolExpr(1),
                     by = rewriter.getAffineSymbolExpr(2);
    uppers.push_back(rewriter.create<affine::AffineApplyOp>(location, AffineMap::get(0, 3, (to - from).ceilDiv(by)),
                                                            ValueRange{lower, upper, step}));
  }
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  SmallVector<Attribute> combiners;
  for (Region &region : reduce.getReductions())
    combiners.push_back(nest::CombinerAttr::get(context, *combinerOf(region)));
  auto const policy = loop.getNumLoops() > 1 ? nest::Policy::MDRange : nest::Policy::Range;
  auto kernel = rewriter.create<nest::LoopKernelOp>(
      location, rewriter.getStringAttr(""), nest::PolicyAttr::get(context, policy), lowers, uppers, into,
      rewriter.getArrayAttr(combiners), loop->getAttrOfType<StringAttr>("nest.note"),
      loop->getAttrOfType<DenseBoolArrayAttr>("nest.ordered"), TypedAttr());
  if (loop->hasAttr(nest::teamLoop))
    kernel->setAttr(nest::teamLoop, rewriter.getUnitAttr());
  Block *block =
      rewriter.createBlock(&kernel.getBody(), {}, SmallVector<Type>(lowers.size(), rewriter.getIndexType()),
                           llvm::map_to_vector(loop.getBody()->getArguments(), [](Value v) { return v.getLoc(); }));
  SmallVector<Value> positions;
  for (auto [i, step] : llvm::enumerate(loop.getStep())) {
    Value position = block->getArgument(i);
    if (!isConstantIntValue(step, 1)) {
      Value const advanced = rewriter.create<arith::MulIOp>(location, position, step);
      position = rewriter.create<arith::AddIOp>(location, advanced, loop.getLowerBound()[i]);
    }
    positions.push_back(position);
  }
  auto yield = rewriter.create<nest::YieldOp>(location, reduce.getOperands());
  rewriter.inlineBlockBefore(loop.getBody(), yield, positions);
  rewriter.eraseOp(reduce);
  return kernel;
}

/// Copies in what the block uses of values computed on the host, so that kernels capture sizes, arguments and memory
/// only.
static void copyRecomputable(RewriterBase &rewriter, nest::LoopKernelOp kernel) {
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::SmallSetVector<Operation *, 8> outside;
    kernel.getBody().walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && !kernel->isAncestor(def) && isRecomputable(def) && !isa<memref::DimOp>(def))
          outside.insert(def);
    });
    for (Operation *op : outside) {
      rewriter.setInsertionPointToStart(&kernel.getBody().front());
      Operation *copy = rewriter.clone(*op);
      rewriter.replaceOpUsesWithIf(op, copy->getResults(), [&](OpOperand &use) {
        return kernel.getBody().isAncestor(use.getOwner()->getParentRegion());
      });
      changed = true;
    }
  }
}

Location locationOfArray(Operation *allocation) {
  std::string const name = nameInLocation(allocation->getLoc());
  return name.empty() ? allocation->getLoc() : namedLocation(allocation->getLoc(), "alloca", name);
}

/// Memory made by a thread for itself is a local array.
static LogicalResult makeLocal(RewriterBase &rewriter, memref::AllocOp allocation) {
  constexpr int64_t largest = 4096; // elements that a thread's stack can be trusted with
  MemRefType const type = allocation.getType();
  if (!type.hasStaticShape() || type.getNumElements() > largest)
    return allocation.emitError()
           << "memory made inside a parallel loop is local to a thread and must have a known shape of at most "
           << largest << " elements; this one is a " << type;
  rewriter.setInsertionPoint(allocation);
  rewriter.replaceOp(allocation, rewriter.create<memref::AllocaOp>(locationOfArray(allocation), type).getResult());
  return success();
}

/// Functions of C get memory as it is, or a part of it that the kernel chooses.
static void chooseParts(RewriterBase &rewriter, nest::LoopKernelOp kernel) {
  kernel.walk([&](nest::CallOp call) {
    rewriter.setInsertionPoint(call);
    for (OpOperand &argument : call->getOpOperands()) {
      while (auto cast = argument.get().getDefiningOp<memref::CastOp>())
        argument.set(cast.getSource());
      if (auto part = argument.get().getDefiningOp<memref::SubViewOp>(); part && !kernel->isAncestor(part))
        argument.set(rewriter.clone(*part)->getResult(0));
    }
  });
}

LogicalResult finishKernel(RewriterBase &rewriter, nest::LoopKernelOp kernel) {
  SmallVector<scf::ParallelOp> loops;
  if (!formTeam(rewriter, kernel))
    kernel.walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
  for (scf::ParallelOp loop : loops)
    makeSequential(rewriter, loop);
  SmallVector<memref::AllocOp> allocations;
  kernel.walk([&](memref::AllocOp op) { allocations.push_back(op); });
  for (memref::AllocOp allocation : allocations)
    if (failed(makeLocal(rewriter, allocation)))
      return failure();
  chooseParts(rewriter, kernel);
  copyRecomputable(rewriter, kernel);
  return success();
}

} // namespace ml2k
