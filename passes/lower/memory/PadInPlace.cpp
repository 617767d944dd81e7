//===- PadInPlace.cpp - padding that no kernel took in: fill, then a slice ----------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/Labels.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_PADINPLACE
#include "passes/Passes.h.inc"

namespace {

Value fill(OpBuilder &builder, Location location, StringRef label, Value scalar, Value empty) {
  auto const type = cast<RankedTensorType>(empty.getType());
  auto map = builder.create<nest::MapOp>(location, TypeRange(type), label, ValueRange(), ValueRange(), empty,
                                         builder.getAffineMapArrayAttr(builder.getMultiDimIdentityMap(type.getRank())));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&map.getBody());
  if (Operation *constant = scalar.getDefiningOp<arith::ConstantOp>())
    scalar = builder.clone(*constant)->getResult(0); // kernels show their constants
  builder.create<nest::YieldOp>(location, scalar);
  return map.getResult(0);
}

LogicalResult toSlice(tensor::PadOp pad, Labels &labels) {
  Value const scalar = pad.getConstantPaddingValue();
  if (!scalar)
    return pad.emitError("pads with a value that is computed for every element");
  OpBuilder builder(pad);
  Location const location = pad.getLoc();
  auto const low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  auto const inner = tensor::getMixedSizes(builder, location, pad.getSource());
  AffineExpr a, b, c;
  bindSymbols(builder.getContext(), a, b, c);
  SmallVector<OpFoldResult> extents;
  for (unsigned d = 0; d < inner.size(); ++d)
    extents.push_back(affine::makeComposedFoldedAffineApply(builder, location, a + b + c, {low[d], inner[d], high[d]}));
  // Filled before the source is made, which can then be made in its place
  OpBuilder::InsertPoint const here = builder.saveInsertionPoint();
  Operation *const maker = pad.getSource().getDefiningOp();
  bool const isFixed = llvm::all_of(extents, [](OpFoldResult extent) { return isa<Attribute>(extent); });
  if (maker && maker->getBlock() == pad->getBlock() && isFixed && scalar.getDefiningOp<arith::ConstantOp>())
    builder.setInsertionPoint(maker);
  Value whole = builder.create<tensor::EmptyOp>(location, extents, pad.getType().getElementType());
  whole = fill(builder, location, labels.unique(nameFromLocation(location) + ".fill", ""), scalar, whole);
  builder.restoreInsertionPoint(here);
  SmallVector<OpFoldResult> const strides(inner.size(), builder.getIndexAttr(1));
  whole = builder.create<tensor::InsertSliceOp>(location, pad.getSource(), whole, low, inner, strides);
  if (whole.getType() != pad.getType())
    whole = builder.create<tensor::CastOp>(location, pad.getType(), whole);
  pad.replaceAllUsesWith(whole);
  pad.erase();
  return success();
}

struct PadInPlace : impl::PadInPlaceBase<PadInPlace> {
  void runOnOperation() override {
    Labels labels(getOperation());
    WalkResult const done = getOperation().walk([&](tensor::PadOp pad) {
      return failed(toSlice(pad, labels)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (done.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace ml2k
