//===- LabelCopies.cpp - every copy that is left becomes a kernel -------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/Labels.h"
#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_LABELCOPIES
#include "passes/Passes.h.inc"

nest::MapOp createCopy(OpBuilder &builder, Location location, StringRef label, Value from, Value to) {
  auto type = cast<ShapedType>(to.getType());
  AffineMap const identity = builder.getMultiDimIdentityMap(type.getRank());
  TypeRange const results = isa<RankedTensorType>(type) ? TypeRange(type) : TypeRange();
  auto copy = builder.create<nest::MapOp>(location, results, label, from, ValueRange(), to,
                                          builder.getAffineMapArrayAttr({identity, identity}));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&copy.getBody(), {}, type.getElementType(), location);
  builder.create<nest::YieldOp>(location, body->getArgument(0));
  return copy;
}

namespace {

/// The last part of a path: weights may be called /encoder/Constant_output_0.
std::string shortName(StringRef name) {
  return name.rsplit('/').second.empty() ? name.str() : name.rsplit('/').second.str();
}

/// What a copy is for: an output of the model, a step of a loop that is kept, a part of a concatenation, the start of a
/// loop.
std::string labelFor(memref::CopyOp copy, Labels &labels, ContentNames &names) {
  Value const target = copy.getTarget(), root = rootOf(target);
  std::string const from = shortName(names.of(copy.getSource()));
  std::string const layer = nameFromLocation(copy.getLoc());
  std::string const detail = layer + "|" + from + "|" + names.of(target);
  if (isa<BlockArgument>(root))
    return labels.unique(names.of(root) + ".copy", detail);
  if (layer.empty())
    return labels.unique(from + ".copy", detail);
  if (target == root)
    return labels.unique(layer + ".copy", detail);
  return labels.unique(layer + (copy->getParentOfType<scf::ForOp>() ? ".keep" : "." + from), detail);
}

/// A loop over every dimension, as --schedule=naive has all its kernels; returns the kernel.
Operation *createLoops(OpBuilder &builder, memref::CopyOp copy, StringRef label) {
  Location const location = copy.getLoc();
  int64_t const rank = cast<MemRefType>(copy.getTarget().getType()).getRank();
  SmallVector<Value> lowers, uppers;
  for (int64_t dim = 0; dim < rank; ++dim) {
    lowers.push_back(builder.create<arith::ConstantIndexOp>(location, 0));
    uppers.push_back(builder.createOrFold<memref::DimOp>(location, copy.getTarget(), dim));
  }
  if (auto around = copy->getParentOfType<nest::LoopKernelOp>()) { // a work item copies for itself
    SmallVector<Value> const steps(rank, builder.create<arith::ConstantIndexOp>(location, 1));
    scf::buildLoopNest(builder, location, lowers, uppers, steps, [&](OpBuilder &inside, Location, ValueRange at) {
      Value const value = inside.create<memref::LoadOp>(location, copy.getSource(), at);
      inside.create<memref::StoreOp>(location, value, copy.getTarget(), at);
    });
    return around;
  }
  auto const policy =
      nest::PolicyAttr::get(builder.getContext(), rank > 1 ? nest::Policy::MDRange : nest::Policy::Range);
  auto kernel =
      builder.create<nest::LoopKernelOp>(location, builder.getStringAttr(label), policy, lowers, uppers, ValueRange(),
                                         builder.getArrayAttr({}), StringAttr(), DenseBoolArrayAttr(), TypedAttr());
  Block *body = builder.createBlock(&kernel.getBody(), {}, SmallVector<Type>(rank, builder.getIndexType()),
                                    SmallVector<Location>(rank, location));
  Value const value = builder.create<memref::LoadOp>(location, copy.getSource(), body->getArguments());
  builder.create<memref::StoreOp>(location, value, copy.getTarget(), body->getArguments());
  builder.create<nest::YieldOp>(location, ValueRange());
  return kernel;
}

struct LabelCopies : impl::LabelCopiesBase<LabelCopies> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<nest::NestDialect, arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() override {
    Labels labels(getOperation());
    ContentNames names;
    bool const isNaive = getOperation()->hasAttr("nest.naive");
    getOperation().walk([&](memref::CopyOp copy) {
      OpBuilder builder(copy);
      std::string const label = labelFor(copy, labels, names);
      Operation *const kernel = isNaive ? createLoops(builder, copy, label)
                                        : createCopy(builder, copy.getLoc(), label, copy.getSource(), copy.getTarget());
      names.replace(copy, copy.getTarget(), kernel);
      copy.erase();
    });
    if (isNaive)
      return;
    hoistFills(getOperation());
    sinkFills(getOperation());
    joinMaps(getOperation());
  }
};

} // namespace
} // namespace ml2k
