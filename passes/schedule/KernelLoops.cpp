//===- KernelLoops.cpp - the loops of a kernel brought to the fewest that say the same ----------------------------===//

#include "passes/schedule/KernelLoops.h"

#include "translator/ir/Nest.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace ml2k;

KernelLoops::KernelLoops(MLIRContext *context, ArrayRef<KernelLoop> loops) : context(context), loops(loops) {
  for (unsigned i = 0; i < loops.size(); ++i)
    places.push_back(i);
}

template <class Function> void KernelLoops::forEachAccess(Function function) {
  for (KernelAccess &access : inputs)
    function(access);
  for (KernelAccess &access : outputs)
    function(access);
}

std::optional<unsigned> KernelLoops::find(unsigned sourceLoop) const { return places[sourceLoop]; }

//===--- Slices ---------------------------------------------------------------------------------------------------===//

/// The map of the source of a slice with static offsets and strides, for an access of the slice; null if it has none.
static AffineMap mapOfSource(tensor::ExtractSliceOp slice, AffineMap map) {
  if (ShapedType::isDynamicShape(slice.getStaticOffsets()) || ShapedType::isDynamicShape(slice.getStaticStrides()))
    return {};
  llvm::SmallBitVector const dropped = slice.getDroppedDims();
  SmallVector<AffineExpr> indices;
  unsigned kept = 0;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    AffineExpr const inside = dropped[d] ? getAffineConstantExpr(0, map.getContext()) : map.getResult(kept++);
    indices.push_back(inside * slice.getStaticStrides()[d] + slice.getStaticOffsets()[d]);
  }
  return AffineMap::get(map.getNumDims(), 0, indices, map.getContext());
}

SmallVector<nest::LoopExtent> KernelLoops::extentsBy(ArrayRef<std::vector<KernelAccess> const *> operands) const {
  SmallVector<AffineMap> maps;
  SmallVector<Value> values;
  for (auto const *accesses : operands)
    for (KernelAccess const &access : *accesses) {
      maps.push_back(access.map);
      values.push_back(access.value);
    }
  SmallVector<nest::LoopExtent> extents = nest::loopExtents(maps, values);
  extents.resize(count());
  return extents;
}

bool KernelLoops::knowsExtents(int kind) const {
  auto const extents = extentsBy({&inputs, &outputs});
  return llvm::all_of(llvm::seq(count()), [&](unsigned i) { return loop(i).kind != kind || extents[i].operand; });
}

/// True if a loop runs as often as a dimension of the slice says that is shorter than the source's, and no output says
/// so.
bool KernelLoops::givesExtent(tensor::ExtractSliceOp slice, AffineMap map) const {
  auto const known = extentsBy({&outputs});
  llvm::SmallBitVector const dropped = slice.getDroppedDims();
  unsigned kept = 0;
  for (unsigned d = 0; d < dropped.size(); ++d) {
    if (dropped[d])
      continue;
    auto const dim = dyn_cast<AffineDimExpr>(map.getResult(kept++));
    int64_t const size = slice.getStaticSizes()[d];
    if (dim && !known[dim.getPosition()].operand &&
        (ShapedType::isDynamic(size) || size != slice.getSourceType().getDimSize(d)))
      return true;
  }
  return false;
}

/// The map of what was split, for an access of the parts.
static AffineMap mapOfSource(tensor::ExpandShapeOp split, AffineMap map) {
  SmallVector<AffineExpr> indices;
  for (ReassociationIndices const &group : split.getReassociationIndices()) {
    AffineExpr linear = getAffineConstantExpr(0, map.getContext());
    for (int64_t d : group)
      linear = linear * split.getResultType().getDimSize(d) + map.getResult(d);
    indices.push_back(linear);
  }
  return AffineMap::get(map.getNumDims(), 0, indices, map.getContext());
}

void KernelLoops::joinSplitSlices() {
  auto const known = extentsBy({&outputs});
  if (llvm::any_of(known, [](nest::LoopExtent const &loop) { return !loop.operand; }))
    return;
  for (KernelAccess &access : inputs) {
    auto split = access.value.getDefiningOp<tensor::ExpandShapeOp>();
    if (!split || !split.getSrc().getDefiningOp<tensor::ExtractSliceOp>() || !split.getResultType().hasStaticShape())
      continue;
    access.map = mapOfSource(split, access.map);
    access.value = split.getSrc();
  }
}

void KernelLoops::readThroughSlices() {
  joinSplitSlices();
  for (KernelAccess &access : inputs)
    while (auto slice = access.value.getDefiningOp<tensor::ExtractSliceOp>()) {
      AffineMap const whole = mapOfSource(slice, access.map);
      if (!whole || givesExtent(slice, access.map))
        break;
      access.value = slice.getSource();
      access.map = whole;
    }
}

//===--- Order and extent 1 ---------------------------------------------------------------------------------------===//

void KernelLoops::reorder(ArrayRef<unsigned> order) {
  SmallVector<KernelLoop> moved;
  SmallVector<AffineExpr> to(loops.size());
  SmallVector<unsigned> newPlace(loops.size());
  for (auto [place, old] : llvm::enumerate(order)) {
    moved.push_back(loops[old]);
    to[old] = getAffineDimExpr(place, context);
    newPlace[old] = place;
  }
  forEachAccess([&](KernelAccess &access) { access.map = access.map.replaceDimsAndSymbols(to, {}, loops.size(), 0); });
  for (auto &place : places)
    if (place)
      place = newPlace[*place];
  loops = moved;
}

void KernelLoops::dropUnitLoops() {
  SmallVector<AffineExpr> to;
  SmallVector<KernelLoop> kept;
  SmallVector<std::optional<unsigned>> newPlace;
  for (KernelLoop const &loop : loops) {
    bool const unit = loop.extent == 1;
    newPlace.push_back(unit ? std::nullopt : std::optional<unsigned>(kept.size()));
    to.push_back(unit ? getAffineConstantExpr(0, context) : getAffineDimExpr(kept.size(), context));
    if (!unit)
      kept.push_back(loop);
  }
  forEachAccess([&](KernelAccess &access) { access.map = access.map.replaceDimsAndSymbols(to, {}, kept.size(), 0); });
  for (auto &place : places)
    if (place)
      place = newPlace[*place];
  loops = kept;
}

//===--- Joining --------------------------------------------------------------------------------------------------===//

/// Volumes N D H W C as the images that are their planes, or images whose rows and columns were split.
static bool joinsImages(tensor::CollapseShapeOp op) {
  auto const groups = op.getReassociationIndices();
  return groups.size() == 4 && groups[3].size() == 1 &&
         (groups[0].size() == 1 || llvm::equal(groups, ArrayRef<ReassociationIndices>{{0, 1}, {2}, {3}, {4}}));
}

/// True for a tensor that will not lie contiguously: part of a larger one, or an image that gets a border for the
/// padding of a convolution.
static bool mayHaveGaps(Value value) {
  if (value.getDefiningOp<tensor::ExtractSliceOp>())
    return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      return insert.getSource() == value;
    if (auto images = dyn_cast<tensor::CollapseShapeOp>(user); images && joinsImages(images))
      return mayHaveGaps(images.getResult());
    auto const hasAny = [](ArrayRef<int64_t> pads) { return llvm::any_of(pads, [](int64_t p) { return p; }); };
    if (auto conv = dyn_cast<nest::ConvOp>(user))
      return hasAny(conv.getBorder());
    auto window = dyn_cast<nest::WindowOp>(user);
    return window && hasAny(window.getPads());
  });
}

/// Where a loop stands as it is in a map: its only place, or -1 if it is absent; nothing if it stands elsewhere too.
static std::optional<int> placeOf(AffineMap map, unsigned loop) {
  int place = -1;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (place >= 0 || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    place = int(i);
  }
  return place;
}

/// True if two neighbouring loops run through the operand as one.
static bool lieContiguous(KernelAccess const &access, unsigned outer, KernelLoop const &a, KernelLoop const &b) {
  auto const first = placeOf(access.map, outer), second = placeOf(access.map, outer + 1);
  if (!first || !second || (*first < 0) != (*second < 0))
    return false;
  if (*first < 0)
    return true;
  auto const type = cast<RankedTensorType>(access.value.getType());
  if (*first > *second || type.getDimSize(*first) != a.extent || type.getDimSize(*second) != b.extent)
    return false;
  for (int d = *first + 1; d < *second; ++d)
    if (type.getDimSize(d) != 1)
      return false;
  return !mayHaveGaps(access.value) && !(access.result && mayHaveGaps(access.result));
}

bool KernelLoops::canJoin(unsigned i) const {
  KernelLoop const &a = loops[i], &b = loops[i + 1];
  if (a.kind != b.kind || a.pinned || b.pinned || ShapedType::isDynamic(a.extent) || ShapedType::isDynamic(b.extent))
    return false;
  auto const fits = [&](KernelAccess const &access) { return lieContiguous(access, i, a, b); };
  return llvm::all_of(inputs, fits) && llvm::all_of(outputs, fits);
}

void KernelLoops::joinLoops(OpBuilder &builder, Location loc, unsigned enough, int64_t length,
                            std::optional<int> kind) {
  bool const isEmpty = llvm::any_of(loops, [](KernelLoop const &loop) { return loop.extent == 0; });
  if (loops.empty() || isEmpty || (loops.size() <= enough && loops.back().extent >= length))
    return; // from nothing, no reshape leads back to the dimensions that were joined
  SmallVector<unsigned> groupOf{0};
  for (unsigned i = 0; i + 1 < loops.size(); ++i)
    groupOf.push_back(groupOf.back() + ((kind && loops[i].kind != *kind) || !canJoin(i)));
  if (groupOf.back() + 1 < loops.size())
    join(builder, loc, groupOf);
}

void KernelLoops::join(OpBuilder &builder, Location loc, ArrayRef<unsigned> groupOf) {
  for (KernelAccess &access : inputs)
    joinAccess(builder, loc, access, groupOf, false);
  for (KernelAccess &access : outputs)
    joinAccess(builder, loc, access, groupOf, true);
  SmallVector<KernelLoop> joined;
  for (auto [loop, group] : llvm::zip(loops, groupOf)) {
    if (group == joined.size())
      joined.push_back(loop);
    else
      joined.back().extent *= loop.extent;
  }
  for (auto &place : places)
    if (place)
      place = groupOf[*place];
  loops = joined;
}

/// The dimensions of an operand that become one, per dimension of its new shape. Dimensions between two joined ones
/// have extent 1 and join them.
static SmallVector<ReassociationIndices> reassociation(AffineMap map, ArrayRef<unsigned> groupOf) {
  SmallVector<ReassociationIndices> groups;
  int64_t last = -1, lastAt = -1; // loop of the dimension that may go on, and its place
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    auto const dim = dyn_cast<AffineDimExpr>(expr);
    int64_t const loop = dim ? dim.getPosition() : -1;
    if (last >= 0 && loop == last + 1 && groupOf[loop] == groupOf[last]) {
      last = loop;
      groups.resize(lastAt + 1);
      for (int64_t between = groups.back().back() + 1; between <= int64_t(d); ++between)
        groups.back().push_back(between);
      continue;
    }
    groups.push_back({int64_t(d)});
    if (dim) {
      last = loop;
      lastAt = groups.size() - 1;
    }
  }
  return groups;
}

void KernelLoops::joinAccess(OpBuilder &builder, Location loc, KernelAccess &access, ArrayRef<unsigned> groupOf,
                             bool output) {
  SmallVector<ReassociationIndices> const groups = reassociation(access.map, groupOf);
  SmallVector<AffineExpr> to;
  for (unsigned group : groupOf)
    to.push_back(getAffineDimExpr(group, context));
  SmallVector<AffineExpr> indices;
  for (ReassociationIndices const &group : groups)
    indices.push_back(access.map.getResult(group.front()).replaceDims(to));
  auto const type = cast<RankedTensorType>(access.value.getType());
  if (groups.size() < size_t(type.getRank())) {
    auto const joined = tensor::CollapseShapeOp::inferCollapsedType(
        type, llvm::map_to_vector(groups, [&](ReassociationIndices const &group) {
          return AffineMap::get(
              type.getRank(), 0,
              llvm::map_to_vector(group, [&](int64_t d) { return AffineExpr(getAffineDimExpr(d, context)); }), context);
        }));
    auto empty = access.value.getDefiningOp<tensor::EmptyOp>();
    if (output && empty && joined.hasStaticShape())
      access.value = builder.create<tensor::EmptyOp>(loc, joined.getShape(), joined.getElementType());
    else
      access.value = builder.create<tensor::CollapseShapeOp>(loc, joined, access.value, groups);
  }
  access.map = AffineMap::get(groupOf.back() + 1, 0, indices, context);
}

//===--- Results --------------------------------------------------------------------------------------------------===//

ArrayAttr KernelLoops::maps(OpBuilder &builder) const {
  SmallVector<AffineMap> all;
  for (KernelAccess const &access : inputs)
    all.push_back(access.map);
  for (KernelAccess const &access : outputs)
    all.push_back(access.map);
  return builder.getAffineMapArrayAttr(all);
}

SmallVector<Value> KernelLoops::inputValues() const {
  return llvm::map_to_vector(inputs, [](KernelAccess const &access) { return access.value; });
}

SmallVector<Value> KernelLoops::outputValues() const {
  return llvm::map_to_vector(outputs, [](KernelAccess const &access) { return access.value; });
}

void KernelLoops::replaceResults(RewriterBase &rewriter, ValueRange results) const {
  for (auto [access, result] : llvm::zip(outputs, results)) {
    Value whole = result;
    auto const wide = cast<RankedTensorType>(access.result.getType());
    if (whole.getType() != wide) {
      auto const groups = getReassociationIndicesForReshape(wide, cast<RankedTensorType>(whole.getType()));
      whole = rewriter.create<tensor::ExpandShapeOp>(result.getLoc(), wide, result, *groups);
    }
    rewriter.replaceAllUsesWith(access.result, whole);
  }
}
