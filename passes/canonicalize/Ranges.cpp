//===- Ranges.cpp - positions along a dimension -------------------------------------------------------------------===//

#include "passes/canonicalize/Ranges.h"

#include "passes/Constants.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace ml2k {

void Ranges::add(int64_t begin, int64_t end) {
  SmallVector<Range> kept;
  for (Range const &range : ranges)
    if (range.end < begin || end < range.begin) {
      kept.push_back(range);
    } else {
      begin = std::min(begin, range.begin);
      end = std::max(end, range.end);
    }
  kept.push_back({begin, end});
  llvm::sort(kept, [](Range const &a, Range const &b) { return a.begin < b.begin; });
  ranges = std::move(kept);
}

Ranges Ranges::hull() const {
  Ranges whole;
  whole.add(ranges.front().begin, ranges.back().end);
  return whole;
}

int64_t Ranges::size() const {
  int64_t total = 0;
  for (Range const &range : ranges)
    total += range.end - range.begin;
  return total;
}

int64_t Ranges::placeOf(int64_t position) const {
  int64_t place = 0;
  for (Range const &range : ranges) {
    if (position < range.end)
      return place + position - range.begin;
    place += range.end - range.begin;
  }
  return place;
}

int64_t Ranges::at(int64_t place) const {
  for (Range const &range : ranges) {
    if (place < range.end - range.begin)
      return range.begin + place;
    place -= range.end - range.begin;
  }
  llvm_unreachable("a place beyond the ranges");
}

std::optional<SmallVector<unsigned>> dimensionsOf(AffineMap map, unsigned loop) {
  SmallVector<unsigned> dims;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto single = dyn_cast<AffineDimExpr>(expr)) {
      if (single.getPosition() == loop)
        dims.push_back(dim);
    } else if (expr.isFunctionOfDim(loop)) {
      return std::nullopt;
    }
  }
  return dims;
}

/// A weight that nobody else reads, of which another one can be made.
static nest::WeightOp ownWeight(Value tensor) {
  auto weight = tensor.getDefiningOp<nest::WeightOp>();
  Type const element = getElementTypeOrSelf(tensor);
  bool const isByteSized = element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8 == 0;
  return weight && tensor.hasOneUse() && isByteSized ? weight : nest::WeightOp();
}

bool hasPartAt(Value tensor, Ranges const &ranges) { return ranges.count() == 1 || ownWeight(tensor); }

Value partAt(OpBuilder &builder, Location loc, Value tensor, unsigned dim, Ranges const &ranges) {
  auto const type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = ranges.size();
  if (auto weight = ownWeight(tensor)) {
    auto const place = [&](ArrayRef<int64_t> position) -> std::optional<int64_t> {
      int64_t source = 0;
      for (auto [d, at] : llvm::enumerate(position))
        source = source * type.getDimSize(d) + (d == dim ? ranges.at(at) : at);
      return source;
    };
    OpBuilder::InsertionGuard const guard(builder);
    builder.setInsertionPoint(weight);
    return replacementWeight(builder, weight, gathered(weight.getValue(), shape, place));
  }
  if (ranges.count() != 1)
    return {};
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), sizes,
      strides(type.getRank(), builder.getIndexAttr(1));
  offsets[dim] = builder.getIndexAttr(ranges.begin());
  for (int64_t extent : shape)
    sizes.push_back(builder.getIndexAttr(extent));
  return builder.create<tensor::ExtractSliceOp>(loc, tensor, offsets, sizes, strides);
}

bool hasFreshOutput(linalg::GenericOp op) {
  return op.getNumDpsInits() == 1 &&
         isa_and_nonnull<linalg::FillOp, tensor::EmptyOp>(op.getOutputs()[0].getDefiningOp());
}

linalg::GenericOp withInputs(OpBuilder &builder, linalg::GenericOp op, ValueRange inputs, ArrayRef<int64_t> shape) {
  auto const type = RankedTensorType::get(shape, getElementTypeOrSelf(op.getResult(0)));
  Value output = builder.create<tensor::EmptyOp>(op.getLoc(), shape, type.getElementType());
  if (auto fill = op.getOutputs()[0].getDefiningOp<linalg::FillOp>())
    output = builder.create<linalg::FillOp>(fill.getLoc(), fill.getInputs()[0], output).getResult(0);
  auto made = builder.create<linalg::GenericOp>(op.getLoc(), TypeRange{type}, inputs, output, op.getIndexingMapsArray(),
                                                op.getIteratorTypesArray());
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  return made;
}

} // namespace ml2k
