//===- ApartAccesses.cpp - whether neighbours along a loop are neighbours in memory -------------------------------===//
//
// The elements of a triangle, and the matrix that it makes, lie side by side for one triangle: those of eight triangles
// are gathered and scattered, which takes longer than to compute them one after the other.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/prepare/ApartAccesses.h"
#include "passes/TripCount.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ml2k {
namespace {

/// Measured on a processor with registers of 512 bits: elements of a mesh of triangles 1.8 times as fast without, the
/// steps of a scan in a tree, whose few elements are gathered and scattered, 3 times, stresses from deformation
/// gradients 1.3 times as fast with vectors.
constexpr int64_t mostParts = 4, fewAccesses = 4, costOfAccess = 4, costOfDivision = 8, costOfFunction = 20;

class Line {
public:
  explicit Line(nest::LoopKernelOp kernel) : index(kernel.getBody().getArgument(0)) {
    varying.insert(index);
    visit(kernel.getBody().front(), 1);
  }

  int64_t apart = 0, scattered = 0, arithmetic = 0; ///< for one position

private:
  void visit(Block &block, int64_t times) {
    for (Operation &op : block) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        apart += isAlong(load.getMemref(), load.getIndices()) ? 0 : times;
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        scattered += isAlong(store.getMemref(), store.getIndices()) ? 0 : times;
      else
        arithmetic += costOf(&op) * times;
      int64_t inside = times;
      if (auto loop = dyn_cast<scf::ForOp>(op)) // the caller has seen that it has a few steps
        if (auto const trips = tripCount(loop.getLowerBound(), loop.getUpperBound(), loop.getStep()))
          inside *= *trips;
      for (Region &region : op.getRegions())
        for (Block &inner : region) {
          varying.insert(inner.args_begin(), inner.args_end());
          visit(inner, inside);
        }
      if (op.getNumRegions() > 0 ||
          llvm::any_of(op.getOperands(), [&](Value value) { return varying.contains(value); }))
        varying.insert(op.result_begin(), op.result_end());
    }
  }

  static int64_t costOf(Operation *op) {
    if (op->getNumResults() != 1 || !isa<FloatType>(op->getResult(0).getType()))
      return 0;
    if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp>(op))
      return costOfDivision;
    if (isa<math::MathDialect>(op->getDialect()) && !isa<math::AbsFOp, math::FmaOp>(op))
      return costOfFunction;
    return 1;
  }

  /// The index of the loop, or that and what all positions share.
  bool isLine(Value value) const {
    Operation *op = value.getDefiningOp();
    auto const isShared = [&](unsigned operand) { return !varying.contains(op->getOperand(operand)); };
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
      return (isLine(op->getOperand(0)) && isShared(1)) ||
             (isa<arith::AddIOp>(op) && isShared(0) && isLine(op->getOperand(1)));
    return value == index;
  }

  /// One element behind the other, or the parts of a pair, a triple, a quadruple of them: vectors are shuffled.
  bool isAlong(Value memref, ValueRange indices) const {
    auto const isShared = [&](Value value) { return !varying.contains(value); };
    auto const type = cast<MemRefType>(memref.getType());
    int64_t const last = type.getRank() > 1 ? type.getShape().back() : 0;
    if (last > 0 && last <= mostParts && isShared(indices.back()))
      indices = indices.drop_back();
    return indices.empty() ||
           (llvm::all_of(indices.drop_back(), isShared) && (isShared(indices.back()) || isLine(indices.back())));
  }

  Value index;
  DenseSet<Value> varying;
};

} // namespace

bool isApart(nest::LoopKernelOp kernel) {
  Line const line(kernel);
  int64_t const all = line.apart + line.scattered;
  return (all >= fewAccesses || (line.scattered > 0 && line.apart > 0)) && line.arithmetic < all * costOfAccess;
}

} // namespace ml2k
