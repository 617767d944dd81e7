//===- CheckExtents.cpp - run-time extents that the loops of a program need ---------------------------------------===//
//
// Loops on the host are taken to run at least once, those that go on while their numbers say so as well. Accesses under
// a condition inside a kernel, and those at positions that data decide, say nothing about sizes.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/Dependence.h"
#include "passes/lower/loops/LoopSizes.h"
#include "passes/lower/loops/LoopsToNest.h"
#include "translator/ir/Exchanges.h"
#include "translator/ir/NestScalars.h"
#include "translator/ir/SparseLevels.h"

using namespace mlir;
using namespace ml2k;

namespace {

class Checker : LoopSizes {
public:
  using LoopSizes::LoopSizes;

  void run() {
    visitHost(entry.getBody().front());
    write(entry.getBody().front());
  }

private:
  void visitHost(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        enter(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        visitHost(*loop.getBody());
        leave();
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (Region &region : branch->getRegions())
          if (!region.empty())
            inBranch(region.front(), [&] { visitHost(region.front()); });
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        visitHost(*loop.getBeforeBody());
        visitHost(*loop.getAfterBody());
      } else if (auto kernel = dyn_cast<nest::LoopKernelOp>(op)) {
        visitKernel(kernel);
      } else if (auto assemble = dyn_cast<nest::AssembleOp>(op)) {
        visitAssembly(assemble);
      }
    }
  }

  /// Rows of the result are those of the operands; of a transpose and of triplets they are the caller's choice.
  void visitAssembly(nest::AssembleOp assemble) {
    Value const first = assemble.getInputs()[0], positions = assemble.getOutputs()[0];
    auto const known = assemble->getAttrOfType<IntegerAttr>(assembledRows);
    Value64 const count = known ? Value64(Polynomial(known.getInt() + 1)) : extent(positions, 0);
    if (known)
      requireSame(extent(positions, 0), count);
    atMostZero(sum(Polynomial(1), count, -1));
    nest::Assembly const kind = assemble.getKind();
    if (kind == nest::Assembly::Transpose || kind == nest::Assembly::Triplets)
      return;
    int64_t const more = kind == nest::Assembly::Nonzeros ? 1 : 0;
    requireSame(sum(extent(first, 0), Polynomial(more), 1), count);
    if (kind == nest::Assembly::Union || kind == nest::Assembly::Intersection)
      requireSame(extent(assemble.getInputs()[3], 0), count);
  }

  void requireSame(Value64 const &a, Value64 const &b) {
    atMostZero(sum(a, b, -1));
    atMostZero(sum(b, a, -1));
  }

  void visitKernel(nest::LoopKernelOp kernel) {
    enterKernel(kernel);
    visitBody(kernel.getBody().front());
    leave(kernel.getLowers().size());
  }

  void visitBody(Block &block) {
    for (Operation &op : block) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        require(load.getMemref(), load.getIndices());
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        require(store.getMemref(), store.getIndices());
      else if (auto call = dyn_cast<nest::CallOp>(op)) {
        for (Value argument : call.getArguments())
          if (auto part = argument.getDefiningOp<memref::SubViewOp>())
            requirePart(part);
      } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
        enter(loop.getInductionVar(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
        visitBody(*loop.getBody());
        leave();
      } else if (auto loop = dyn_cast<scf::ParallelOp>(op)) { // of a team's threads
        for (auto [index, lower, upper] :
             llvm::zip(loop.getInductionVars(), loop.getLowerBound(), loop.getUpperBound()))
          enter(index, lower, upper);
        visitBody(*loop.getBody());
        leave(loop.getNumLoops());
      }
    }
  }

  //===--- Requirements ---===//

  /// The memory that a value may be: loops on the host may exchange what they carry.
  static SmallVector<Value> memoriesOf(Value memref) {
    Operation *const loop = exchangeOf(memref).loop;
    if (!loop)
      return {memref};
    SmallVector<Value> memories;
    for (Value init : initsOf(loop))
      if (init.getType() == memref.getType())
        llvm::append_range(memories, memoriesOf(init));
    return memories;
  }

  void require(Value memref, ValueRange indices) {
    for (auto [dim, index] : llvm::enumerate(indices)) {
      Value64 const position = polynomial(index);
      requireSpan(memref, dim, position, position);
    }
  }

  /// From the first to the last position of a dimension.
  void requireSpan(Value memref, int64_t dim, Value64 const &first, Value64 const &last) {
    atMostZero(sum(Polynomial(), extreme(first, false), -1));
    for (Value memory : memoriesOf(memref))
      atMostZero(sum(sum(extreme(last, true), Polynomial(1), 1), extent(memory, dim), -1));
  }

  void requirePart(memref::SubViewOp part) {
    for (int64_t dim = 0; dim < part.getSourceType().getRank(); ++dim) {
      Value64 const first = polynomialOf(part.getMixedOffsets()[dim]);
      Value64 const steps = sum(polynomialOf(part.getMixedSizes()[dim]), Polynomial(1), -1);
      requireSpan(part.getSource(), dim, first,
                  sum(first, product(steps, polynomialOf(part.getMixedStrides()[dim])), 1));
    }
  }
};

} // namespace

void ml2k::checkExtents(func::FuncOp entry) { Checker(entry).run(); }
