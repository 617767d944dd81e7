//===- ReadParts.cpp - kernels read one of several results that are one tensor ------------------------------------===//

#include "passes/schedule/fuse/ReadParts.h"
#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

namespace ml2k {
namespace {

using Groups = SmallVector<ReassociationIndices>;

constexpr unsigned mostReshapes = 8; ///< one behind the other

/// A kernel that reads the operand by a map: an index more is a constant there. Products with a constant matrix read
/// rows of memory. What is only copied the product may store at its place itself, such as heads in a cache.
bool readsByMap(OpOperand &use) {
  auto const isInput = [&](auto kernel) { return use.getOperandNumber() < kernel.getInputs().size(); };
  if (auto product = dyn_cast<nest::ContractOp>(use.getOwner()))
    return isInput(product) && !product.getInputs()[1].getDefiningOp<nest::WeightOp>();
  if (auto map = dyn_cast<nest::MapOp>(use.getOwner()))
    return isInput(map) && !llvm::hasSingleElement(map.getBody().front());
  return false;
}

/// The first dimension of the result of a reshape that comes from dimension `at` of its source or one behind it, where
/// none in front does.
std::optional<int64_t> placeBehind(Operation *reshape, int64_t at) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return expand.getReassociationIndices()[at].front();
  auto const groups = cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices();
  auto const *group = llvm::find_if(groups, [&](ReassociationIndices const &dims) { return dims.front() == at; });
  return group == groups.end() ? std::nullopt : std::optional<int64_t>(group - groups.begin());
}

bool canReadBehind(Value value, int64_t at, unsigned reshapes) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(use.getOwner()))
      return readsByMap(use);
    std::optional<int64_t> const place = placeBehind(use.getOwner(), at);
    return place && reshapes < mostReshapes && canReadBehind(use.getOwner()->getResult(0), *place, reshapes + 1);
  });
}

/// The groups of a reshape with one more, of one more dimension.
Groups withDimension(ArrayRef<ReassociationIndices> groups, int64_t group, int64_t dim) {
  Groups more;
  for (auto const &[number, dims] : llvm::enumerate(groups)) {
    if (int64_t(number) == group)
      more.push_back({dim});
    more.push_back(llvm::to_vector<2>(llvm::map_range(dims, [&](int64_t d) { return d < dim ? d : d + 1; })));
  }
  return more;
}

/// The groups of two expansions, one behind the other.
Groups joined(ArrayRef<ReassociationIndices> first, ArrayRef<ReassociationIndices> second) {
  Groups both;
  for (ReassociationIndices const &dims : first) {
    both.emplace_back();
    for (int64_t d : dims)
      llvm::append_range(both.back(), second[d]);
  }
  return both;
}

/// `whole` has one more dimension than `value`, at `at`.
void readBehind(Value value, Value whole, int64_t at, int64_t part);

void readBehind(tensor::ExpandShapeOp expand, Value whole, int64_t at, int64_t part) {
  int64_t const place = *placeBehind(expand, at);
  Builder builder(expand.getContext());
  int64_t const parts = cast<ShapedType>(whole.getType()).getDimSize(at);
  SmallVector<int64_t> shape(expand.getResultType().getShape());
  shape.insert(shape.begin() + place, parts);
  SmallVector<OpFoldResult> sizes = getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder);
  sizes.insert(sizes.begin() + place, builder.getIndexAttr(parts));
  Groups groups = withDimension(expand.getReassociationIndices(), at, place);
  if (auto before = whole.getDefiningOp<tensor::ExpandShapeOp>()) { // of both, one
    groups = joined(before.getReassociationIndices(), groups);
    whole = before.getSrc();
  }
  auto const type = RankedTensorType::get(shape, expand.getResultType().getElementType());
  Value const more = OpBuilder(expand).create<tensor::ExpandShapeOp>(expand.getLoc(), type, whole, groups, sizes);
  readBehind(expand.getResult(), more, place, part);
}

void readBehind(tensor::CollapseShapeOp collapse, Value whole, int64_t at, int64_t part) {
  int64_t const place = *placeBehind(collapse, at);
  Groups const groups = withDimension(collapse.getReassociationIndices(), place, at);
  Value const more = OpBuilder(collapse).create<tensor::CollapseShapeOp>(collapse.getLoc(), whole, groups);
  readBehind(collapse.getResult(), more, place, part);
}

/// The kernel reads `whole`, with an index more.
void readBehind(OpOperand &use, Value whole, int64_t at, int64_t part) {
  SmallVector<AffineMap> maps = cast<nest::Kernel>(use.getOwner()).getMaps();
  AffineMap &map = maps[use.getOperandNumber()];
  SmallVector<AffineExpr> exprs(map.getResults());
  exprs.insert(exprs.begin() + at, getAffineConstantExpr(part, map.getContext()));
  map = AffineMap::get(map.getNumDims(), map.getNumSymbols(), exprs, map.getContext());
  use.set(whole);
  ArrayAttr const attribute = Builder(map.getContext()).getAffineMapArrayAttr(maps);
  if (auto product = dyn_cast<nest::ContractOp>(use.getOwner()))
    product.setIndexingMapsAttr(attribute);
  else
    cast<nest::MapOp>(use.getOwner()).setIndexingMapsAttr(attribute);
}

void readBehind(Value value, Value whole, int64_t at, int64_t part) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *const reader = use.getOwner();
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reader))
      readBehind(expand, whole, at, part);
    else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reader))
      readBehind(collapse, whole, at, part);
    else
      readBehind(use, whole, at, part);
    if (reader->getNumResults() == 1 && isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reader))
      reader->erase();
  }
}

} // namespace

bool canReadPart(Value matrix) { return canReadBehind(matrix, 1, 0); }

void readPart(Value matrix, Value whole, int64_t parts, int64_t part) {
  auto const type = cast<RankedTensorType>(matrix.getType());
  OpBuilder builder(matrix.getContext());
  builder.setInsertionPointAfterValue(matrix);
  auto const shape = RankedTensorType::get({type.getDimSize(0), parts, type.getDimSize(1)}, type.getElementType());
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(type.getDimSize(0)), builder.getIndexAttr(parts),
                                     builder.getIndexAttr(type.getDimSize(1))};
  if (type.isDynamicDim(0))
    sizes[0] = cast<DestinationStyleOpInterface>(matrix.getDefiningOp())
                   .getDpsInits()[0]
                   .getDefiningOp<tensor::EmptyOp>()
                   .getDynamicSizes()[0];
  auto expand = builder.create<tensor::ExpandShapeOp>(matrix.getLoc(), shape, whole, Groups{{0}, {1, 2}}, sizes);
  readBehind(matrix, expand.getResult(), 1, part);
  if (expand->use_empty())
    expand.erase();
}

} // namespace ml2k
