//===- StoreInParts.cpp - products store the columns of heads where they are wanted -------------------------------===//
//
// Part of ForwardCopies. A projection makes the keys or values of all heads of a token as one row; the cache has them
// head by head. Where nothing but a copy stands between, the product stores each head's columns there at once: the map
// of its output cuts rows into parts.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "passes/Provenance.h"
#include "passes/lower/memory/Copies.h"
#include "passes/lower/memory/Memory.h"
#include "translator/ir/StoredSums.h"

using namespace mlir;

namespace ml2k {
namespace {

using Indices = SmallVector<AffineExpr>;

/// A part is a group of weights, whose panels are at most so wide: parts of other widths would waste some of the last.
constexpr int64_t panelColumns = 32;

/// A copy of everything that `from` sees, by loops over it.
struct Copy {
  Operation *op;
  Value from, to;
  AffineMap read, write;
};

std::optional<Copy> asCopy(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    unsigned const rank = cast<MemRefType>(copy.getSource().getType()).getRank();
    AffineMap const identity = AffineMap::getMultiDimIdentityMap(rank, op->getContext());
    return Copy{op, copy.getSource(), copy.getTarget(), identity, identity};
  }
  auto map = dyn_cast<nest::MapOp>(op);
  if (!map || map.getInputs().size() != 1 || !map.getExtras().empty() || map.getOutputs().size() != 1)
    return std::nullopt;
  Block &body = map.getBody().front();
  if (body.getOperations().size() != 1 || body.back().getOperand(0) != body.getArgument(0))
    return std::nullopt;
  SmallVector<AffineMap> const maps = map.getMaps();
  return Copy{op, map.getInputs()[0], map.getOutputs()[0], maps[0], maps[1]};
}

/// One index for several dimensions that it runs through; none if their extents are not known.
bool split(AffineExpr index, ArrayRef<int64_t> extents, Indices &indices) {
  SmallVector<unsigned> longOnes;
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent != 1)
      longOnes.push_back(d);
  unsigned const first = indices.size();
  indices.append(extents.size(), getAffineConstantExpr(0, index.getContext()));
  for (size_t i = longOnes.size(); i-- > 0;) {
    int64_t const extent = extents[longOnes[i]];
    if (i > 0 && ShapedType::isDynamic(extent))
      return false;
    indices[first + longOnes[i]] = i > 0 ? index % extent : index;
    index = i > 0 ? index.floorDiv(extent) : index;
  }
  return true;
}

/// The indices of what a reshape makes, for those of its source.
std::optional<Indices> throughReshape(Operation *reshape, ArrayRef<AffineExpr> indices) {
  Indices after;
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape)) {
    ArrayRef<int64_t> const shape = expand.getResultType().getShape();
    for (auto const &[group, index] : llvm::zip(expand.getReassociationIndices(), indices))
      if (!split(index, shape.slice(group.front(), group.size()), after))
        return std::nullopt;
    return after;
  }
  auto collapse = dyn_cast<memref::CollapseShapeOp>(reshape);
  if (!collapse)
    return std::nullopt;
  for (ReassociationIndices const &group : collapse.getReassociationIndices()) {
    AffineExpr linear = indices[group.front()];
    for (int64_t d : ArrayRef(group).drop_front()) {
      if (collapse.getSrcType().isDynamicDim(d))
        return std::nullopt;
      linear = linear * collapse.getSrcType().getDimSize(d) + indices[d];
    }
    after.push_back(linear);
  }
  return after;
}

/// The indices of a view of `root`, for those of `root`.
std::optional<Indices> indicesOf(Value view, Value root, AffineMap map) {
  if (view == root) {
    Indices indices(map.getResults());
    for (auto [index, extent] : llvm::zip(indices, cast<MemRefType>(root.getType()).getShape()))
      index = extent == 1 ? getAffineConstantExpr(0, map.getContext()) : index;
    return indices;
  }
  Operation *reshape = view.getDefiningOp();
  if (!isAlias(reshape))
    return std::nullopt;
  std::optional<Indices> const before = indicesOf(reshape->getOperand(0), root, map);
  return before ? throughReshape(reshape, *before) : std::nullopt;
}

/// Where the copy puts the elements that it reads at `indices`.
std::optional<AffineMap> writtenAt(Copy const &copy, Indices const &indices, unsigned loops) {
  MLIRContext *context = copy.op->getContext();
  Indices at(copy.read.getNumDims());
  for (auto [expr, index] : llvm::zip(copy.read.getResults(), indices)) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && at[dim.getPosition()])
      return std::nullopt;
    if (dim)
      at[dim.getPosition()] = index;
    else if (expr != 0 || index != 0)
      return std::nullopt;
  }
  for (auto [loop, expr] : llvm::enumerate(at))
    if (!expr && copy.write.isFunctionOfDim(loop))
      return std::nullopt;
    else if (!expr)
      expr = getAffineConstantExpr(0, context);
  return AffineMap::get(loops, 0, copy.write.replaceDimsAndSymbols(at, {}, loops, 0).getResults(), context);
}

/// The only reader of what the product makes, if that is a copy of all of it.
std::optional<Copy> onlyCopy(nest::ContractOp product) {
  Value const made = product.getOutputs()[0];
  auto weight = product.getInputs()[1].getDefiningOp<nest::WeightOp>();
  if (!made.getDefiningOp<memref::AllocOp>() || !weight || !weight.getPackingAttr() || !weight->hasOneUse() ||
      llvm::count(product.getRoles(), nest::Role::N) != 1)
    return std::nullopt;
  SmallVector<OpOperand *> uses;
  collectAccesses(made, uses);
  if (uses.size() != 2)
    return std::nullopt;
  OpOperand *const other = uses[uses[0]->getOwner() == product.getOperation()];
  std::optional<Copy> const copy = asCopy(other->getOwner());
  return copy && copy->op->getBlock() == product->getBlock() && rootOf(copy->from) == made ? copy : std::nullopt;
}

/// The maps of the product with another one for its output.
ArrayAttr withOutput(nest::ContractOp product, AffineMap map) {
  SmallVector<Attribute> maps(product.getIndexingMaps().getValue());
  maps.back() = AffineMapAttr::get(map);
  return ArrayAttr::get(product.getContext(), maps);
}

/// Whether the block can store sums so: panels of columns that are neighbours in memory.
bool canStore(nest::ContractOp product, Value to, AffineMap map) {
  int64_t offset;
  SmallVector<int64_t> strides;
  auto const type = cast<MemRefType>(to.getType());
  std::optional<int64_t> const columns = nest::columnsOfPart(map, product.getRoles());
  return columns && *columns % panelColumns == 0 && succeeded(getStridesAndOffset(type, strides, offset)) &&
         strides.back() == 1 &&
         type.getElementType() == cast<MemRefType>(product.getOutputs()[0].getType()).getElementType();
}

void storeColumns(nest::ContractOp product) {
  std::optional<Copy> const copy = onlyCopy(product);
  if (!copy)
    return;
  Value const made = product.getOutputs()[0];
  std::optional<Indices> const indices = indicesOf(copy->from, made, product.getMaps().back());
  std::optional<AffineMap> const map =
      indices ? writtenAt(*copy, *indices, product.getIterators().size()) : std::nullopt;
  if (!map || !canStore(product, copy->to, *map) || !isFreeBetween(copy->to, product, copy->op, /*mayRead=*/false) ||
      failed(hoistBefore(copy->to, product)))
    return;
  product.setIndexingMapsAttr(withOutput(product, *map));
  product.getOutputsMutable().assign(copy->to);
  product->setLoc(fusedLocation(product.getContext(), {product.getLoc(), copy->op->getLoc()}));
  Value view = copy->from;
  copy->op->erase();
  while (view != made) {
    Operation *const reshape = view.getDefiningOp();
    view = reshape->getOperand(0);
    if (reshape->use_empty())
      reshape->erase();
  }
  if (made.use_empty())
    made.getDefiningOp()->erase();
}

} // namespace

void storeInParts(func::FuncOp function) {
  SmallVector<nest::ContractOp> products;
  function.walk([&](nest::ContractOp product) { products.push_back(product); });
  llvm::for_each(products, storeColumns);
}

} // namespace ml2k
