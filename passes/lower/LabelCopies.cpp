//===- LabelCopies.cpp - every copy that is left becomes a kernel -------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/lower/Copies.h"
#include "passes/lower/Labels.h"
#include "passes/lower/Memory.h"
#include "translator/ir/Nest.h"

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
std::string labelFor(memref::CopyOp copy, Labels &labels) {
  Value const target = copy.getTarget(), root = rootOf(target);
  std::string const from = shortName(nameOfContents(copy.getSource()));
  std::string const layer = nameFromLocation(copy.getLoc());
  std::string const detail = layer + "|" + from + "|" + nameOfContents(target);
  if (isa<BlockArgument>(root))
    return labels.unique(nameOfContents(root) + ".copy", detail);
  if (layer.empty())
    return labels.unique(from + ".copy", detail);
  if (target == root)
    return labels.unique(layer + ".copy", detail);
  return labels.unique(layer + (copy->getParentOfType<scf::ForOp>() ? ".keep" : "." + from), detail);
}

struct LabelCopies : impl::LabelCopiesBase<LabelCopies> {
  void runOnOperation() override {
    Labels labels(getOperation());
    getOperation().walk([&](memref::CopyOp copy) {
      OpBuilder builder(copy);
      createCopy(builder, copy.getLoc(), labelFor(copy, labels), copy.getSource(), copy.getTarget());
      copy.erase();
    });
  }
};

} // namespace
} // namespace ml2k
