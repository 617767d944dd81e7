//===- RaiseColumnSums.cpp - kernels that reduce down columns become nest.reduce ----------------------------------===//
//
// A thread with one column would jump from row to row, an element of every line of memory at a time. nest.reduce says
// what is meant, and its block walks down strips of columns. Terms that may be joined in any order only.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/lower/loops/LoopsToNest.h"
#include "passes/lower/loops/OrderedUpdates.h"
#include "passes/lower/loops/SumKernel.h"
#include "translator/ir/LoopNames.h"
#include "translator/ir/Strips.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace ml2k {

namespace {

using nest::leastColumns, nest::leastTerms, nest::manyTerms;

class ColumnSum : SumKernel {
public:
  using SumKernel::SumKernel;

  bool read() { return readFrame() && readTerms() && readRest(terms) && goesDownColumns() && areWhole(); }
  void raise(RewriterBase &rewriter);

private:
  bool readTerms();
  bool goesDownColumns();
  bool areWhole();

  Operation *join = nullptr;
  Loads terms; ///< the one along whose columns the kernel goes first
};

/// A join of the carried value with what is computed of elements.
bool ColumnSum::readTerms() {
  BlockArgument const carried = sum.getRegionIterArg(0);
  join = sum.getYieldedValues()[0].getDefiningOp();
  Type const type = sum.getResult(0).getType();
  if (!join || join->getBlock() != sum.getBody() || !isReorderable(join) || !nest::combinerOf(join) ||
      !carried.hasOneUse() || *carried.getUsers().begin() != join || !join->hasOneUse() ||
      !(type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64)) || !arith::getNeutralElement(join))
    return false;
  auto const isPosition = [&](Value value) {
    return value == sum.getInductionVar() || llvm::is_contained(block.getArguments(), value);
  };
  for (Operation &op : sum.getBody()->without_terminator())
    if (auto load = dyn_cast<memref::LoadOp>(op))
      terms.push_back(load);
    else if (!isPure(&op) || op.getNumRegions() != 0 || llvm::any_of(op.getOperands(), isPosition))
      return false;
  return llvm::all_of(terms, [&](memref::LoadOp load) {
    AffineMap const map = mapOf(load.getIndices());
    return map && map.isProjectedPermutation();
  });
}

/// Whether neighbouring iterations of the result's last loop, but no neighbouring terms, read elements side by side.
bool ColumnSum::goesDownColumns() {
  unsigned const column = cast<AffineDimExpr>(mapOfStore.getResults().back()).getPosition();
  bool const isFew = getConstantIntValue(upper(column)).value_or(leastColumns) < leastColumns;
  if (getConstantIntValue(upper(sumLoop())).value_or(manyTerms) < (isFew ? manyTerms : leastTerms))
    return false;
  bool goesDown = false;
  for (memref::LoadOp &load : terms) {
    AffineMap const map = mapOf(load.getIndices());
    if (!map.isFunctionOfDim(sumLoop()) || map.getNumResults() < 2)
      continue;
    unsigned const last = cast<AffineDimExpr>(map.getResults().back()).getPosition();
    if (last != column)
      return false;
    if (!goesDown)
      std::swap(terms.front(), load);
    goesDown = true;
  }
  return goesDown;
}

/// nest.reduce has the extents of its result, and that of the reduced loop from its operands.
bool ColumnSum::areWhole() {
  for (unsigned loop = 0; loop < sumLoop(); ++loop)
    if (!isWhole(store.getMemref(), mapOfStore, loop))
      return false;
  return llvm::all_of(terms, [&](memref::LoadOp load) {
    AffineMap const map = mapOf(load.getIndices());
    return !map.isFunctionOfDim(sumLoop()) || isWhole(load.getMemref(), map, sumLoop());
  });
}

void ColumnSum::raise(RewriterBase &rewriter) {
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs, read;
  for (memref::LoadOp load : terms) {
    maps.push_back(mapOf(load.getIndices()));
    inputs.push_back(load.getMemref());
  }
  for (memref::LoadOp load : extras) {
    maps.push_back(mapOf(load.getIndices()));
    read.push_back(load.getMemref());
  }
  maps.push_back(mapOfStore);
  nest::Combiner const combiner = *nest::combinerOf(join);
  TypedAttr initial;
  bool const isConstant = matchPattern(sum.getInitArgs()[0], m_Constant(&initial));
  if (!isConstant)
    initial = *arith::getNeutralElement(join);
  rewriter.setInsertionPoint(kernel);
  Location const location = kernel.getLoc();
  auto reduce = rewriter.create<nest::ReduceOp>(location, TypeRange(), kernel.getLabel(), inputs, read,
                                                ValueRange{store.getMemref()}, rewriter.getAffineMapArrayAttr(maps),
                                                ArrayRef<int64_t>{int64_t(sumLoop())}, combiner, initial);
  reduce->setAttr(nest::loopNames, namesOf(llvm::to_vector(llvm::seq(0u, sumLoop() + 1))));
  Block *term = rewriter.createBlock(&reduce.getTerm());
  IRMapping values;
  for (memref::LoadOp load : terms)
    values.map(load.getResult(), term->addArgument(load.getType(), load.getLoc()));
  for (Operation &op : sum.getBody()->without_terminator())
    if (&op != join && !isa<memref::LoadOp>(op))
      rewriter.clone(op, values);
  bool const isFirst = join->getOperand(0) == sum.getRegionIterArg(0);
  rewriter.create<nest::YieldOp>(location, values.lookupOrDefault(join->getOperand(isFirst ? 1 : 0)));
  writeEpilogue(rewriter, reduce.getFinish(), [&](Value before, Value total) {
    return isConstant ? total : nest::join(rewriter, sum.getLoc(), combiner, before, total);
  });
  rewriter.eraseOp(kernel);
}

} // namespace

void raiseColumnSums(func::FuncOp entry) { raiseKernels<ColumnSum>(entry); }

} // namespace ml2k
