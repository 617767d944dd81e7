//===- FuseEpilogues.cpp - elementwise work moves into the kernel that makes its operand --------------------------===//
//
// A convolution, contraction or pool has its result in registers: bias, activation, residual and scale cost nothing
// there.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Provenance.h"
#include "passes/Rewrite.h"
#include "passes/schedule/GenericBody.h"
#include "passes/schedule/Tensors.h"
#include "passes/schedule/fuse/FusePools.h"
#include "passes/schedule/fuse/FuseShuffles.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace ml2k {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "passes/Passes.h.inc"

namespace {

bool takesEpilogue(Operation *op) { return isa_and_nonnull<nest::ConvOp, nest::ContractOp, nest::WindowOp>(op); }

/// Multiplications per output element, to prefer the longer kernel where an addition could join either of two.
int64_t workPerElement(Operation *kernel) {
  if (auto conv = dyn_cast<nest::ConvOp>(kernel)) {
    auto const weight = cast<ShapedType>(conv.getInputs()[1].getType());
    return weight.getNumElements() / weight.getDimSize(0);
  }
  auto contract = dyn_cast<nest::ContractOp>(kernel);
  int64_t const k = contract ? cast<ShapedType>(contract.getInputs()[0].getType()).getShape().back() : 1;
  return ShapedType::isDynamic(k) ? 1 : k;
}

/// The output loops of a kernel, as expressions over all its loops.
AffineMap outputMap(Operation *kernel) {
  if (auto contract = dyn_cast<nest::ContractOp>(kernel))
    return cast<AffineMapAttr>(contract.getIndexingMaps().getValue().back()).getValue();
  return AffineMap::getMultiDimIdentityMap(4, kernel->getContext());
}

/// Element i of the operand for element i of the result; along an extent of 1 the only one may be read as number 0.
bool readsInOrder(linalg::GenericOp generic, OpOperand &operand) {
  AffineMap const map = generic.getMatchingIndexingMap(&operand);
  auto const type = cast<ShapedType>(operand.get().getType());
  return type.getShape() == cast<ShapedType>(generic.getResultTypes()[0]).getShape() &&
         llvm::all_of(llvm::enumerate(map.getResults()), [&](auto indexed) {
           auto const [dim, expr] = indexed;
           return expr == getAffineDimExpr(dim, map.getContext()) || (expr == 0 && type.getDimSize(dim) == 1);
         });
}

/// An operand of `generic` whose kernel can take the whole operation as its epilogue; none if there is no such operand.
OpOperand *fusibleOperand(linalg::GenericOp generic) {
  if (!generic.hasPureTensorSemantics() || generic.getNumDpsInits() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return nullptr;
  AffineMap const out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  bool const readsOutput = !generic.getRegion().front().getArguments().back().use_empty();
  if (!out.isIdentity() || readsOutput)
    return nullptr;
  OpOperand *best = nullptr;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    Operation *kernel = operand->get().getDefiningOp();
    if (!takesEpilogue(kernel) || !operand->get().hasOneUse() || !readsInOrder(generic, *operand) ||
        kernel->getBlock() != generic->getBlock() ||
        !fitOneKernel(cast<nest::Kernel>(kernel).getStoringRegion().front(), *generic.getBody()))
      continue;
    if (!best || workPerElement(kernel) > workPerElement(best->get().getDefiningOp()))
      best = operand;
  }
  return best;
}

/// The rest of the operands as extras: values and their maps over the kernel's loops.
struct Extras {
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
};

/// Operands from this size on are copied into the order of the result: an epilogue that walks across their lines would
/// use one element of each, and lines at distances of a power of two push each other out of a host's cache.
constexpr int64_t fewestReordered = int64_t(1) << 18;

/// Which dimension of an operand is dimension i of the result, where their innermost dimensions differ and both have
/// the same elements; nothing for other operands.
std::optional<SmallVector<int64_t>> reordering(linalg::GenericOp generic, OpOperand *operand) {
  auto const type = dyn_cast<RankedTensorType>(operand->get().getType());
  auto const result = cast<RankedTensorType>(generic.getResultTypes()[0]);
  AffineMap const map = generic.getMatchingIndexingMap(operand);
  if (!type || type.getRank() != result.getRank() || !type.hasStaticShape() || !result.hasStaticShape() ||
      type.getNumElements() < fewestReordered || type.getNumElements() != result.getNumElements())
    return std::nullopt;
  SmallVector<int64_t> from(result.getRank(), -1), left; // of one element each
  std::optional<unsigned> innermost;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      if (from[loop.getPosition()] >= 0)
        return std::nullopt;
      from[loop.getPosition()] = dim;
      if (type.getDimSize(dim) > 1)
        innermost = loop.getPosition();
    } else if (expr == 0 && type.getDimSize(dim) == 1) {
      left.push_back(dim);
    } else {
      return std::nullopt;
    }
  }
  for (auto [dim, place] : llvm::enumerate(from))
    if (place < 0 && (result.getDimSize(dim) != 1 || left.empty()))
      return std::nullopt;
    else if (place < 0)
      place = left.pop_back_val();
  unsigned last = result.getRank() - 1;
  while (last > 0 && result.getDimSize(last) == 1)
    --last;
  return innermost && *innermost != last ? std::optional(from) : std::nullopt;
}

Extras extrasOf(linalg::GenericOp generic, OpOperand *fused, AffineMap toKernelLoops, OpBuilder &builder) {
  Extras extras;
  for (OpOperand *operand : generic.getDpsInputOperands()) {
    if (operand == fused)
      continue;
    auto const order = reordering(generic, operand);
    extras.values.push_back(order ? transposed(builder, operand->get().getLoc(), operand->get(), *order)
                                  : operand->get());
    extras.maps.push_back(order ? toKernelLoops : generic.getMatchingIndexingMap(operand).compose(toKernelLoops));
  }
  return extras;
}

/// Appends the generic's body to the epilogue: the kernel's yielded value takes the place of the fused argument.
void appendBody(OpBuilder &builder, Region &epilogue, linalg::GenericOp generic, OpOperand *fused, AffineMap toOutput) {
  Block &block = epilogue.front();
  Operation *yield = block.getTerminator();
  Block &body = generic.getRegion().front();
  IRMapping mapping;
  mapping.map(body.getArgument(fused->getOperandNumber()), yield->getOperand(0));
  for (OpOperand *operand : generic.getDpsInputOperands())
    if (operand != fused)
      mapping.map(body.getArgument(operand->getOperandNumber()),
                  block.addArgument(body.getArgument(operand->getOperandNumber()).getType(), generic.getLoc()));
  builder.setInsertionPoint(yield);
  for (Operation &op : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      mapping.map(index.getResult(), builder
                                         .create<nest::IndexOp>(index.getLoc(), builder.getIndexType(),
                                                                int64_t(toOutput.getDimPosition(index.getDim())))
                                         .getResult());
    else
      builder.clone(op, mapping);
  }
  builder.create<nest::YieldOp>(yield->getLoc(), mapping.lookupOrDefault(body.getTerminator()->getOperand(0)));
  yield->erase();
}

/// The attribute that holds the maps of the extras, with those of the new extras put in.
void addMaps(OpBuilder &builder, Operation *kernel, ArrayRef<AffineMap> maps) {
  StringRef const name = isa<nest::ContractOp>(kernel) ? "indexing_maps" : "extra_maps";
  SmallVector<Attribute> all(kernel->getAttrOfType<ArrayAttr>(name).getValue());
  auto const position = isa<nest::ContractOp>(kernel) ? std::prev(all.end()) : all.end();
  SmallVector<Attribute> const added =
      llvm::map_to_vector(maps, [](AffineMap map) { return Attribute(AffineMapAttr::get(map)); });
  all.insert(position, added.begin(), added.end());
  kernel->setAttr(name, builder.getArrayAttr(all));
}

/// Makes the kernel anew in the place of the generic, with its epilogue and in its output.
void fuse(linalg::GenericOp generic, OpOperand *fused) {
  Operation *kernel = fused->get().getDefiningOp();
  OpBuilder builder(generic);
  // Result i of the output map is the kernel's loop for output dimension i, which is loop i of the generic
  Extras const extras = extrasOf(generic, fused, outputMap(kernel), builder);
  Operation *joined = builder.clone(*kernel);
  appendBody(builder, cast<nest::Kernel>(joined).getStoringRegion(), generic, fused, outputMap(kernel));
  addMaps(builder, joined, extras.maps);
  auto const setOutputs = [&](auto op) {
    op.getExtrasMutable().append(extras.values);
    op.getOutputsMutable().assign(generic.getOutputs());
  };
  if (auto conv = dyn_cast<nest::ConvOp>(joined))
    setOutputs(conv);
  else if (auto contract = dyn_cast<nest::ContractOp>(joined))
    setOutputs(contract);
  else
    setOutputs(cast<nest::WindowOp>(joined));
  joined->getResult(0).setType(generic.getResult(0).getType());
  joined->setLoc(fusedLocation(builder.getContext(), {kernel->getLoc(), generic.getLoc()}));
  generic.getResult(0).replaceAllUsesWith(joined->getResult(0));
  generic.erase();
  kernel->erase();
}

struct FuseEpilogues : impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    // In program order, so that a chain joins its kernel link by link
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp generic) { generics.push_back(generic); });
    for (linalg::GenericOp generic : generics)
      if (OpOperand *operand = fusibleOperand(generic))
        fuse(generic, operand);
    fuseShuffles(getOperation());
    if (failed(joinPools()))
      signalPassFailure();
  }

private:
  LogicalResult joinPools() {
    RewritePatternSet patterns(&getContext());
    populatePoolMeans(patterns);
    populatePoolPlanes(patterns);
    return rewriteGreedily(getOperation(), std::move(patterns));
  }
};

} // namespace
} // namespace ml2k
