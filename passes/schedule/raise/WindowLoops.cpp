//===- WindowLoops.cpp - the loops of a convolution or pool, read off its indexing maps ---------------------------===//

#include "passes/schedule/raise/WindowLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using ml2k::WindowLoops;
using ml2k::nest::Combiner;

/// loop * factor, as it stands in an image's map.
struct Scaled {
  unsigned loop;
  int64_t factor;
};

static std::optional<Scaled> scaled(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Scaled{dim.getPosition(), 1};
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!dim || !factor || factor.getValue() < 1)
    return std::nullopt;
  return Scaled{dim.getPosition(), factor.getValue()};
}

static std::optional<unsigned> place(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

/// An image dimension walked by a window, if the map's result `d` is one.
static std::optional<WindowLoops::Spatial> spatialAt(linalg::GenericOp op, unsigned d) {
  auto const maps = op.getIndexingMapsArray();
  auto sum = dyn_cast<AffineBinaryOpExpr>(maps[0].getResult(d));
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto out = scaled(sum.getLHS()), tap = scaled(sum.getRHS());
  if (!out || !tap)
    return std::nullopt;
  if (!place(maps[2], out->loop))
    std::swap(out, tap);
  auto const outDim = place(maps[2], out->loop), filterDim = place(maps[1], tap->loop);
  if (!outDim || !filterDim || place(maps[2], tap->loop) || place(maps[1], out->loop))
    return std::nullopt;
  return WindowLoops::Spatial{out->loop, tap->loop, d, *filterDim, *outDim, out->factor, tap->factor};
}

/// Puts a loop that stands plainly in operands into its part; false if it has none or the part is taken.
static bool assign(WindowLoops &loops, linalg::GenericOp op, unsigned loop) {
  auto const maps = op.getIndexingMapsArray();
  bool const inImage = bool(place(maps[0], loop)), inFilter = bool(place(maps[1], loop)),
             inOut = bool(place(maps[2], loop));
  auto const take = [&](std::optional<unsigned> &part) {
    bool const isFree = !part;
    part = loop;
    return isFree;
  };
  if (inImage && inFilter && inOut)
    return take(loops.group);
  if (inImage && inOut)
    return loops.batch ? take(loops.poolChannel) : take(loops.batch);
  if (inImage && inFilter)
    return take(loops.inChannel);
  return inFilter && inOut && take(loops.outChannel);
}

std::optional<WindowLoops> WindowLoops::of(linalg::GenericOp op, size_t mostDirections) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1)
    return std::nullopt;
  auto const maps = op.getIndexingMapsArray();
  if (!maps[1].isProjectedPermutation() || !maps[2].isProjectedPermutation())
    return std::nullopt;
  WindowLoops loops;
  llvm::SmallBitVector walked(op.getNumLoops());
  for (unsigned d = 0; d < maps[0].getNumResults(); ++d) {
    if (isa<AffineDimExpr>(maps[0].getResult(d)))
      continue;
    auto const spatial = spatialAt(op, d);
    if (!spatial)
      return std::nullopt;
    walked.set(spatial->outLoop);
    walked.set(spatial->tapLoop);
    loops.spatial.push_back(*spatial);
  }
  if (loops.spatial.empty() || loops.spatial.size() > mostDirections)
    return std::nullopt;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!walked.test(loop) && !assign(loops, op, loop))
      return std::nullopt;
  // In N C.. both loops of a pool stand in image and output; the batch is the one in front
  if (loops.poolChannel && *place(maps[0], *loops.poolChannel) < *place(maps[0], *loops.batch))
    std::swap(loops.poolChannel, loops.batch);
  return loops;
}

std::optional<Combiner> ml2k::poolCombiner(linalg::GenericOp op) {
  Block &body = op.getRegion().front();
  Operation *join = body.getTerminator()->getOperand(0).getDefiningOp();
  if (!join || join->getNumOperands() != 2)
    return std::nullopt;
  // 16-bit images are widened before they are joined
  auto widened = dyn_cast<arith::ExtFOp>(body.front());
  Value const element = widened ? widened.getIn() : body.getArgument(0);
  if (element != body.getArgument(0) || (widened ? widened->getNextNode() : &body.front()) != join)
    return std::nullopt;
  auto const joins = [&](Value value) { return llvm::is_contained(join->getOperands(), value); };
  if (!joins(widened ? widened.getOut() : element) || !joins(body.getArgument(2)))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<Combiner>>(join)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return std::optional(Combiner::Sum); })
      .Case<arith::MaximumFOp>([](auto) { return std::optional(Combiner::Max); })
      .Case<arith::MinimumFOp>([](auto) { return std::optional(Combiner::Min); })
      .Case<arith::MaxNumFOp>([](auto) { return std::optional(Combiner::MaxNum); })
      .Case<arith::MinNumFOp>([](auto) { return std::optional(Combiner::MinNum); })
      .Case<arith::MaxSIOp>([](auto) { return std::optional(Combiner::MaxSI); })
      .Case<arith::MinSIOp>([](auto) { return std::optional(Combiner::MinSI); })
      .Case<arith::MaxUIOp>([](auto) { return std::optional(Combiner::MaxUI); })
      .Case<arith::MinUIOp>([](auto) { return std::optional(Combiner::MinUI); })
      .Default([](auto) { return std::optional<Combiner>(); });
}

bool ml2k::isNeutral(Combiner combiner, TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat const x = number.getValue();
    switch (combiner) {
    case Combiner::Sum:
      return x.isZero();
    case Combiner::Prod:
      return x.isExactlyValue(1.);
    case Combiner::Max:
    case Combiner::MaxNum: // the lowest number stands for -inf in some exporters
      return x.isNegative() && (x.isInfinity() || x.isLargest());
    case Combiner::Min:
    case Combiner::MinNum:
      return !x.isNegative() && (x.isInfinity() || x.isLargest());
    default:
      return false;
    }
  }
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number)
    return false;
  APInt const x = number.getValue();
  switch (combiner) {
  case Combiner::Sum:
  case Combiner::Or:
  case Combiner::Xor:
  case Combiner::MaxUI:
    return x.isZero();
  case Combiner::Prod:
    return x.isOne();
  case Combiner::MaxSI:
    return x.isMinSignedValue();
  case Combiner::MinSI:
    return x.isMaxSignedValue();
  case Combiner::And:
  case Combiner::MinUI:
    return x.isAllOnes();
  default:
    return false;
  }
}
