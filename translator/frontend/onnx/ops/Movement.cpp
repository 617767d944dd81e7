//===- Movement.cpp - operators that copy elements to other places ------------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Padding.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

static void importTranspose(Node &node) {
  int64_t const rank = node.rank(0);
  Ints permutation = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  if (auto const given = node.intsAttr("perm")) {
    if (node.axes(*given, rank).size() != static_cast<size_t>(rank))
      node.refuse("perm has " + Twine(given->size()) + " axes, " + Twine(rank) + " are needed");
    for (auto [axis, value] : llvm::zip(permutation, *given))
      axis = node.axis(value, rank);
  }
  node.out(0, node.b.transpose(node.in(0), permutation));
}

//===--- Padding --------------------------------------------------------------------------------------------------===//

/// The pads hold a value that is known at run time: everything is filled with it first.
static Value padWith(Build &b, Value x, IntsRef low, IntsRef high, Value value) {
  Sizes sizes;
  for (auto [extent, before, after] : llvm::zip(Build::shapeOf(x), low, high)) {
    if (ShapedType::isDynamic(extent))
      throw Refusal("a constant_value that depends on run-time data needs known extents; give them by --dim");
    sizes.push_back(b.getIndexAttr(extent + before + after));
  }
  Value const filled = b.broadcastTo(value, sizes);
  return b.create<tensor::InsertSliceOp>(x, filled, b.sizes(low), b.sizesOf(x), b.sizes(Ints(low.size(), 1)));
}

/// Amounts that only the run knows, as those that bring an image to a multiple of a patch.
static void padByAmounts(Node &node, std::vector<Extent> const &amounts, IntsRef axes) {
  Build &b = node.b;
  if (amounts.size() != 2 * axes.size())
    node.refuse("pads need two values per axis");
  std::vector<Extent> low(node.rank(0)), high(node.rank(0));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    low[axis] = amounts[i];
    high[axis] = amounts[axes.size() + i];
    b.extents.requireAtLeast(low[axis], 0);
    b.extents.requireAtLeast(high[axis], 0);
  }
  Value const fill = node.has(2) ? b.reshape(node.in(2), {}) : Value();
  node.out(0, padAtRunTime(b, node.in(0), low, high, node.stringAttr("mode", "constant"), fill));
}

static void importPad(Node &node) {
  Build &b = node.b;
  int64_t const rank = node.rank(0);
  bool const isOld = node.opset < 11;
  auto const old = isOld ? node.intsAttr(node.opset < 2 ? "paddings" : "pads") : std::nullopt;
  std::vector<Extent> const amounts = isOld ? std::vector<Extent>() : node.shapeInput(1, "pads");
  bool const isOpen = llvm::any_of(amounts, [](Extent const &amount) { return !amount.number(); });
  auto const given = isOld || isOpen ? old : std::optional(node.ints(1, "pads"));
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    axes = node.ints(3, "axes");
    for (int64_t &axis : axes)
      axis = node.axis(axis, rank);
  }
  if (isOpen)
    return padByAmounts(node, amounts, axes);
  if (!given || given->size() != 2 * axes.size())
    node.refuse("pads need two values per axis");
  Ints low(rank, 0), high(rank, 0), cutLow(rank, 0), extents(node.shape(0));
  bool isCut = false;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t const before = (*given)[i], after = (*given)[axes.size() + i];
    low[axis] = std::max<int64_t>(before, 0);
    high[axis] = std::max<int64_t>(after, 0);
    cutLow[axis] = std::max<int64_t>(-before, 0);
    int64_t const cut = cutLow[axis] + std::max<int64_t>(-after, 0);
    if (cut && (ShapedType::isDynamic(extents[axis]) || extents[axis] < cut))
      node.refuse("negative pads cut off more than there is");
    extents[axis] -= cut;
    isCut |= cut != 0;
  }
  Value const x = isCut ? b.slice(node.in(0), cutLow, extents, Ints(rank, 1)) : node.in(0);
  std::string const mode = node.stringAttr("mode", "constant");
  if (mode == "edge" || mode == "reflect" || mode == "wrap")
    return node.out(0, padAtRunTime(b, x, {low.begin(), low.end()}, {high.begin(), high.end()}, mode, {}));
  if (mode != "constant")
    node.refuse("mode \"" + mode + "\" is unknown");
  if (isOld || !node.has(2))
    return node.out(0, b.pad(x, low, high, b.scalar(node.element(0), isOld ? node.floatAttr("value", 0.0) : 0)));
  DenseElementsAttr const value = node.constant(2);
  if (!value)
    return node.out(0, padWith(b, x, low, high, b.reshape(node.in(2), {})));
  if (value.getNumElements() != 1)
    node.refuse("constant_value has " + Twine(value.getNumElements()) + " elements, 1 is needed");
  Attribute const fill = *value.getValues<Attribute>().begin();
  node.out(0, b.pad(x, low, high, b.create<arith::ConstantOp>(cast<TypedAttr>(fill))));
}

//===--- Concatenation --------------------------------------------------------------------------------------------===//

/// Marks what pads periodic dimensions: pads in front of each, then those behind.
constexpr StringLiteral wrapPads = "wrap_pads";

/// The number of slices of `source` along `axis` that `part` is, from the first (`atEnd`: to the last) one on; 0 if it
/// is something else.
static int64_t endOf(Build &b, Value part, Value source, int64_t axis, bool atEnd) {
  auto slice = part.getDefiningOp<tensor::ExtractSliceOp>();
  int64_t const extent = Build::shapeOf(source)[axis];
  if (!slice || slice.getSource() != source || slice.getType().getRank() != Build::rankOf(source) ||
      !slice.hasUnitStride() || ShapedType::isDynamic(extent))
    return 0;
  int64_t const count = slice.getStaticSizes()[axis];
  for (int64_t dim = 0; dim < Build::rankOf(source); ++dim) {
    bool const isWhole = isEqualConstantIntOrValue(slice.getMixedSizes()[dim], b.sizeOf(source, dim));
    if (slice.getStaticOffsets()[dim] != (dim == axis && atEnd ? extent - count : 0) || (dim != axis && !isWhole))
      return 0;
  }
  return ShapedType::isDynamic(count) ? 0 : count;
}

/// x with its own ends on the other sides, as periodic domains are written: Concat of the last slices, x and the first
/// ones is Pad around. Null for other operands.
static Value wrapped(Node &node, int64_t axis) {
  Build &b = node.b;
  Values const parts = node.allInputs();
  if (parts.size() != 2 && parts.size() != 3)
    return {};
  for (size_t at = 0; at < 2; ++at) { // where x is among them
    Value const x = parts[at];
    int64_t const before = at == 1 ? endOf(b, parts[0], x, axis, /*atEnd=*/true) : 0;
    int64_t const after = at + 1 < parts.size() ? endOf(b, parts[at + 1], x, axis, /*atEnd=*/false) : 0;
    if ((at == 1 && before == 0) || (at + 1 < parts.size() && after == 0) || parts.size() > at + 2)
      continue;
    int64_t const rank = Build::rankOf(x);
    Ints pads(2 * rank, 0);
    Value source = x;
    // One dimension after the other: all of them at once
    if (auto inner = x.getDefiningOp<linalg::GenericOp>(); inner && inner->hasAttr(wrapPads))
      if (Ints known(inner->getAttrOfType<DenseI64ArrayAttr>(wrapPads).asArrayRef());
          known[axis] == 0 && known[rank + axis] == 0) {
        pads = known;
        inner.walk([&](tensor::ExtractOp extract) { source = extract.getTensor(); });
      }
    pads[axis] = before;
    pads[rank + axis] = after;
    auto const middle = pads.begin() + rank;
    Value const made = padAtRunTime(b, source, {pads.begin(), middle}, {middle, pads.end()}, "wrap", {});
    made.getDefiningOp()->setAttr(wrapPads, b.getDenseI64ArrayAttr(pads));
    return made;
  }
  return {};
}

static void importConcat(Node &node) {
  int64_t const rank = node.rank(0);
  int64_t const axis = node.axisAttr("axis", node.opset < 4 ? std::optional<int64_t>(1) : std::nullopt, rank);
  for (size_t at = 1; at < node.inputCount(); ++at) {
    node.needRank(at, rank, rank);
    for (auto [dim, extents] : llvm::enumerate(llvm::zip(node.shape(0), node.shape(at)))) {
      auto const [first, own] = extents;
      bool const isKnown = !ShapedType::isDynamic(first) && !ShapedType::isDynamic(own);
      if (static_cast<int64_t>(dim) != axis && isKnown && first != own)
        node.refuse("shapes " + shapeText(node.shape(0)) + " and " + shapeText(node.shape(at)) +
                    " cannot be concatenated along axis " + Twine(axis));
    }
    if (node.dataType(at) != node.dataType(0))
      node.refuse("the inputs are of different types");
  }
  if (Value const around = wrapped(node, axis))
    return node.out(0, around);
  node.out(0, node.b.concat(node.allInputs(), axis));
}

//===--- Copies ---------------------------------------------------------------------------------------------------===//

static void importExpand(Node &node) {
  Build &b = node.b;
  std::vector<Extent> target = node.shapeInput(1, "shape"), own = node.extents(0);
  size_t const rank = std::max(target.size(), own.size());
  target.insert(target.begin(), rank - target.size(), 1);
  own.insert(own.begin(), rank - own.size(), 1);
  Ints shape;
  for (auto [from, to] : llvm::zip(own, target)) {
    if (to == Extent(1))
      to = from;
    if (from.number() && to.number() && *from.number() != 1 && *from.number() != *to.number())
      node.refuse("shapes " + shapeText(node.shape(0)) + " and [" + b.extents.text(to) + "] do not broadcast");
    if (!(from == Extent(1)))
      b.extents.requireEqual(from, to);
    b.extents.requireAtLeast(to, 0);
    shape.push_back(Extents::shaped(to));
  }
  tensorType(shape, node.element(0));
  if (own == target)
    return node.outReshapedTo(0, own);
  node.out(0, b.broadcastTo(b.reshapeTo(node.in(0), own), b.sizesFor(target)));
}

static void importTile(Node &node) {
  Build &b = node.b;
  if (node.opset < 6)
    node.refuse("this version of the operator is not supported");
  std::vector<Extent> const repeats = node.shapeInput(1, "repeats"), from = node.extents(0);
  if (repeats.size() != from.size())
    node.refuse("repeats need one value per axis");
  std::vector<Extent> split, result;
  Ints read, shape;
  for (auto const &[extent, repeat] : llvm::zip(from, repeats)) {
    if (repeat.number().value_or(0) < 0)
      node.refuse("repeats holds " + Twine(*repeat.number()));
    b.extents.requireAtLeast(repeat, 0);
    if (!(repeat == Extent(1)))
      split.push_back(repeat);
    read.push_back(split.size());
    split.push_back(extent);
    result.push_back(repeat * extent);
    shape.push_back(Extents::shaped(result.back()));
  }
  tensorType(shape, node.element(0));
  if (split.size() == from.size()) // each axis once
    return node.out(0, node.in(0));
  Value const copies = b.map(node.in(0), b.selectDims(split.size(), read), b.sizesFor(split), node.element(0),
                             [](Scalars &, ValueRange v) { return v[0]; });
  node.out(0, b.reshapeTo(copies, result));
}

static void importTrilu(Node &node) {
  Build &b = node.b;
  node.needRank(0, 2, 16);
  int64_t const rank = node.rank(0);
  bool const isUpper = node.intAttr("upper", 1), isKnown = !node.has(1) || node.constant(1);
  int64_t const known = node.has(1) && isKnown ? static_cast<int64_t>(node.scalar(1, "k")) : 0;
  Values given{node.in(0)};
  if (!isKnown)
    given.push_back(b.reshape(node.in(1), {}));
  node.out(0, b.elementwise(given, [&](Scalars &s, ValueRange v) {
    Value const row = s.create<linalg::IndexOp>(rank - 2), column = s.create<linalg::IndexOp>(rank - 1);
    Value const shift = isKnown ? s.index(known) : s.create<arith::IndexCastOp>(s.b.getIndexType(), v[1]);
    Value const diagonal = s.create<arith::AddIOp>(row, shift);
    auto const how = isUpper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
    return s.select(s.create<arith::CmpIOp>(how, column, diagonal), v[0], s.constantLike(v[0], 0));
  }));
}

static void importDepthToSpace(Node &node) {
  node.needRank(0, 4, 4);
  Build &b = node.b;
  int64_t const block = node.intAttr("blocksize"), all = node.shape(0)[1];
  std::vector<Extent> const from = node.extents(0);
  if (block < 1 || block > 1 << 15 || ShapedType::isDynamic(all) || all % (block * block))
    node.refuse("blocks of " + Twine(block) + " do not fit input " + shapeText(node.shape(0)));
  Extent const channels = all / (block * block);
  bool const isCRD = node.stringAttr("mode", "DCR") == "CRD";
  using Shape = std::vector<Extent>;
  Value x = b.reshapeTo(node.in(0), isCRD ? Shape{from[0], channels, block, block, from[2], from[3]}
                                          : Shape{from[0], block, block, channels, from[2], from[3]});
  x = b.transpose(x, isCRD ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2});
  node.out(0, b.reshapeTo(x, {from[0], channels, from[2] * block, from[3] * block}));
}

static void importSpaceToDepth(Node &node) {
  node.needRank(0, 4, 4);
  Build &b = node.b;
  int64_t const block = node.intAttr("blocksize");
  std::vector<Extent> const from = node.extents(0);
  auto isWhole = [&](int64_t extent) { return !ShapedType::isDynamic(extent) && extent % block == 0; };
  if (block < 1 || !llvm::all_of(node.shape(0).drop_front(2), isWhole))
    node.refuse("blocks of " + Twine(block) + " do not fit input " + shapeText(node.shape(0)));
  int64_t const rows = node.shape(0)[2] / block, columns = node.shape(0)[3] / block;
  Value x = b.reshapeTo(node.in(0), {from[0], from[1], rows, block, columns, block});
  bool const isCRD = node.stringAttr("mode", "DCR") == "CRD";
  x = b.transpose(x, isCRD ? Ints{0, 1, 3, 5, 2, 4} : Ints{0, 3, 5, 1, 2, 4});
  node.out(0, b.reshapeTo(x, {from[0], from[1] * (block * block), rows, columns}));
}

void registerMovement(Registry &table) {
  table.add("Transpose", {1, 13, 21, 23, 24, 25}, importTranspose);
  table.add("Concat", {1, 4, 11, 13}, importConcat);
  table.add("Pad", {1, 2, 11, 13, 18, 19, 21, 23, 24, 25}, importPad);
  table.add("Expand", {8, 13}, importExpand);
  table.add("Tile", {6, 13}, importTile);
  table.addUnsupported("Tile", {1});
  table.add("Trilu", {14}, importTrilu);
  table.add("DepthToSpace", {1, 11, 13, 28}, importDepthToSpace);
  table.add("SpaceToDepth", {1, 13, 28}, importSpaceToDepth);
}

} // namespace ml2k::frontend
