//===- Padding.cpp - elements around a tensor ---------------------------------------------------------------------===//
//
// Each element of the result reads the one that it is made of: a repeated, a mirrored or a far one, or it is a
// constant.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/ops/Padding.h"

#include "translator/frontend/onnx/importer/Refusal.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

namespace {

/// What is done along one dimension.
struct PaddedDim {
  OpFoldResult low, extent, last; ///< last: the extent without 1
};

} // namespace

static Value valueOf(Scalars &s, OpFoldResult size) { return getValueOrCreateConstantIndexOp(s.b, s.b.getLoc(), size); }

/// The position in the input for `at` in the padded output, which is `moved` without the elements in front: at the
/// edge, mirrored at it, or around.
static Value padPosition(Scalars &s, Value at, Value moved, PaddedDim const &dim, StringRef mode) {
  Value const zero = s.index(0), last = valueOf(s, dim.last);
  if (mode == "edge" || mode == "constant")
    return s.create<arith::MinSIOp>(s.create<arith::MaxSIOp>(moved, zero), last);
  if (mode == "wrap") {
    Value const length = valueOf(s, dim.extent);
    // Extents in front are added as often as needed for a remainder that is not negative
    auto const low = getConstantIntValue(dim.low), extent = getConstantIntValue(dim.extent);
    if (low && extent) {
      Value const ahead = s.create<arith::AddIOp>(at, s.index((*extent - *low % *extent) % *extent));
      return s.create<arith::RemSIOp>(ahead, length);
    }
    Value const rest = s.create<arith::RemSIOp>(moved, length);
    Value const isBelow = s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, rest, zero);
    return s.select(isBelow, s.create<arith::AddIOp>(rest, length), rest);
  }
  Value const distance = s.create<arith::MaxSIOp>(moved, s.create<arith::SubIOp>(zero, moved));
  return s.create<arith::MinSIOp>(distance,
                                  s.create<arith::SubIOp>(s.create<arith::MulIOp>(last, s.index(2)), distance));
}

/// Whether a position lies in the input.
static Value isInside(Scalars &s, Value moved, PaddedDim const &dim) {
  return s.create<arith::AndIOp>(s.create<arith::CmpIOp>(arith::CmpIPredicate::sge, moved, s.index(0)),
                                 s.create<arith::CmpIOp>(arith::CmpIPredicate::slt, moved, valueOf(s, dim.extent)));
}

static void checkMirrored(Build &b, Extent const &extent, Extent const &amount) {
  if (extent.number() && amount.number() && *amount.number() >= *extent.number())
    throw Refusal("mode reflect pads by more than the input has");
  b.extents.requireAtLeast(extent - amount, 1);
}

Value padAtRunTime(Build &b, Value x, std::vector<Extent> const &low, std::vector<Extent> const &high, StringRef mode,
                   Value fill) {
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    throw Refusal("mode \"" + Twine(mode) + "\" is unknown");
  std::vector<Extent> const from = b.extentsOf(x);
  std::vector<Extent> shape = from;
  Sizes const sizes = b.sizesFor(from);
  llvm::SmallVector<std::optional<PaddedDim>> dims(from.size());
  for (size_t d = 0; d < from.size(); ++d) {
    if (low[d] == Extent(0) && high[d] == Extent(0))
      continue;
    shape[d] = from[d] + low[d] + high[d];
    if (mode == "reflect") {
      checkMirrored(b, from[d], low[d]);
      checkMirrored(b, from[d], high[d]);
    }
    b.extents.requireAtLeast(from[d], 1);
    dims[d] = PaddedDim{b.extents.size(low[d]), sizes[d], b.extents.size(from[d] - 1)};
  }
  Type const element = Build::elementOf(x);
  return b.map({}, {}, b.sizesFor(shape), element, [&](Scalars &s, ValueRange) -> Value {
    llvm::SmallVector<Value> position;
    Value inside;
    for (size_t d = 0; d < from.size(); ++d) {
      Value at = s.create<linalg::IndexOp>(static_cast<int64_t>(d));
      if (dims[d]) {
        Value const moved = s.create<arith::SubIOp>(at, valueOf(s, dims[d]->low));
        at = padPosition(s, at, moved, *dims[d], mode);
        if (mode == "constant") {
          Value const here = isInside(s, moved, *dims[d]);
          inside = inside ? s.create<arith::AndIOp>(inside, here) : here;
        }
      }
      position.push_back(at);
    }
    Value const read = s.create<tensor::ExtractOp>(x, position);
    if (!inside)
      return s.convert(read, computeType(element));
    Value const outside = fill ? s.create<tensor::ExtractOp>(fill, ValueRange{}) : s.constantLike(read, 0);
    return s.convert(s.select(inside, read, outside), computeType(element));
  });
}

} // namespace ml2k::frontend
