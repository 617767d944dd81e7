//===- Loops.cpp - operators that need loops in order: Scatter*, CumSum -------------------------------------------===//

#include "translator/frontend/onnx/importer/LoopNest.h"
#include "translator/frontend/onnx/importer/Registry.h"

#include "translator/ir/NestScalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

using Fold = Build::Fold;

Value loopNest(Build &b, SizesRef sizes, Value carried, llvm::function_ref<Value(ValueRange, Value)> body) {
  return loopNest(b, sizes, ValueRange(carried),
                  [&](ValueRange position, ValueRange values) { return Values{body(position, values[0])}; })[0];
}

Values loopNest(Build &b, SizesRef sizes, ValueRange carried, llvm::function_ref<Values(ValueRange, ValueRange)> body) {
  Location const loc = b.getLoc();
  llvm::SmallVector<Value> zeros, ends, ones;
  for (OpFoldResult size : sizes) {
    zeros.push_back(b.create<arith::ConstantIndexOp>(0));
    ends.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
    ones.push_back(b.create<arith::ConstantIndexOp>(1));
  }
  auto const loops = scf::buildLoopNest(b, loc, zeros, ends, ones, carried,
                                        [&](OpBuilder &nested, Location, ValueRange position, ValueRange values) {
                                          OpBuilder::InsertionGuard const guard(b);
                                          b.setInsertionPoint(nested.getBlock(), nested.getInsertionPoint());
                                          Values const next = body(position, values);
                                          return scf::ValueVector(next.begin(), next.end());
                                        });
  return Values(loops.results.begin(), loops.results.end());
}

Values loop(Build &b, Value begin, Value end, ValueRange carried, llvm::function_ref<Values(Value, ValueRange)> body) {
  Value const one = b.create<arith::ConstantIndexOp>(1);
  auto made = b.create<scf::ForOp>(begin, end, one, carried);
  OpBuilder::InsertionGuard const guard(b);
  b.setInsertionPointToStart(made.getBody());
  Values const next = body(made.getInductionVar(), made.getRegionIterArgs());
  b.create<scf::YieldOp>(next);
  return Values(made.getResults());
}

Values when(Build &b, Value condition, ValueRange values, llvm::function_ref<Values()> body) {
  auto branch = b.create<scf::IfOp>(TypeRange(values), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard const guard(b);
  b.setInsertionPointToStart(&branch.getThenRegion().front());
  b.create<scf::YieldOp>(body());
  b.setInsertionPointToStart(&branch.getElseRegion().front());
  b.create<scf::YieldOp>(values);
  return Values(branch.getResults());
}

//===--- Scatter --------------------------------------------------------------------------------------------------===//

/// More elements than this are left to run time.
constexpr int64_t maxScatteredElements = 1 << 16;

static Value combined(Node &node, Value before, Value update) {
  std::string const how = node.stringAttr("reduction", "none");
  Scalars s(node.b, node.b.getLoc(), node.isUnsigned());
  Type const type = before.getType(), wide = computeType(type);
  Value const l = s.convert(before, wide), r = s.convert(update, wide);
  if (how == "none")
    return update;
  if (how == "add")
    return s.convert(s.add(l, r), type);
  if (how == "mul")
    return s.convert(s.mul(l, r), type);
  if (how == "max")
    return s.convert(s.max(l, r), type);
  if (how == "min")
    return s.convert(s.min(l, r), type);
  node.refuse("reduction \"" + how + "\" is unknown");
}

static Value position(Node &node, Value index, int64_t axis) {
  Value const extent = getValueOrCreateConstantIndexOp(node.b, node.b.getLoc(), node.b.sizeOf(node.in(0), axis));
  return node.b.create<nest::PositionOp>(node.b.getIndexType(), index, extent);
}

static Value scattered(Node &node, Value carried, ValueRange at, Value update) {
  Value const before = node.b.create<tensor::ExtractOp>(carried, at);
  return node.b.create<tensor::InsertOp>(combined(node, before, update), carried, at);
}

/// Indices that name an element twice are an error or, with a reduction, meant to be joined in any order.
static Value inAnyOrder(Value scattered) {
  if (auto outermost = scattered.getDefiningOp<scf::ForOp>()) // any of them may turn out to be the outermost one
    outermost->walk([](scf::ForOp loop) { loop->setAttr("nest.unordered", UnitAttr::get(loop.getContext())); });
  return scattered;
}

static void checkScatter(Node &node) {
  if (!isa<IntegerType>(node.element(1)))
    node.refuse("indices are no integers");
  if (node.dataType(0) != node.dataType(2))
    node.refuse("data and updates are of different types");
}

/// Data, indices and updates that are constants, as in the masks of shifted windows: the elements of the data, to write
/// in. Empty if sizes that are known at run time only are among them.
static SmallVector<Attribute> knownData(Node &node) {
  DenseElementsAttr const data = node.constant(0), indices = node.constant(1), updates = node.constant(2);
  if (!data || !indices || !updates || data.getNumElements() > maxScatteredElements ||
      updates.getNumElements() > maxScatteredElements || node.stringAttr("reduction", "none") != "none")
    return {};
  auto const isSize = [](Attribute element) {
    auto const integer = dyn_cast<IntegerAttr>(element);
    return integer && integer.getValue().getSignificantBits() <= 64 && Extents::isCode(integer.getInt());
  };
  if (llvm::any_of(data.getValues<Attribute>(), isSize) || llvm::any_of(updates.getValues<Attribute>(), isSize))
    return {};
  if (!node.b.mayCompute(data.getNumElements()))
    return {};
  return llvm::to_vector(data.getValues<Attribute>());
}

/// The result of ScatterElements if all is known; nothing if an index lies outside.
static DenseElementsAttr knownElements(Node &node, int64_t axis) {
  SmallVector<Attribute> elements = knownData(node);
  if (elements.empty() || node.shape(1) != node.shape(2))
    return {};
  IntsRef const shape = node.shape(0), inner = node.shape(1);
  auto const given = llvm::to_vector(node.constant(2).getValues<Attribute>());
  for (auto [number, value] : llvm::enumerate(node.constant(1).getValues<APInt>())) {
    int64_t rest = static_cast<int64_t>(number), place = 0, stride = 1;
    for (int64_t dim = shape.size(); dim-- > 0; rest /= inner[dim], stride *= shape[dim]) {
      int64_t const index =
          dim != axis ? rest % inner[dim] : value.getSExtValue() + (value.isNegative() ? shape[dim] : 0);
      if (index < 0 || index >= shape[dim])
        return {};
      place += index * stride;
    }
    elements[place] = given[number];
  }
  return DenseElementsAttr::get(node.constant(0).getType(), elements);
}

static void importScatterElements(Node &node) {
  checkScatter(node);
  int64_t const axis = node.axisAttr("axis", 0, node.rank(0));
  for (size_t at : {1, 2})
    node.needRank(at, node.rank(0), node.rank(0));
  if (DenseElementsAttr const known = knownElements(node, axis))
    return node.outConstant(0, known, node.dataType(0));
  Value const indices = node.in(1), updates = node.in(2);
  auto const body = [&](ValueRange loops, Value carried) {
    llvm::SmallVector<Value> at(loops);
    at[axis] = position(node, node.b.create<tensor::ExtractOp>(indices, loops), axis);
    return scattered(node, carried, at, node.b.create<tensor::ExtractOp>(updates, loops));
  };
  node.out(0, inAnyOrder(loopNest(node.b, node.b.sizesOf(indices), node.in(0), body)));
}

/// The result of ScatterND if all is known; nothing if an index lies outside.
static DenseElementsAttr knownBlocks(Node &node, int64_t count) {
  SmallVector<Attribute> elements = knownData(node);
  if (elements.empty())
    return {};
  IntsRef const shape = node.shape(0);
  int64_t block = 1, place = 0, number = 0;
  for (int64_t extent : shape.drop_front(count))
    block *= extent;
  auto const given = llvm::to_vector(node.constant(2).getValues<Attribute>());
  for (APInt const &value : node.constant(1).getValues<APInt>()) {
    int64_t const dim = number % count, index = value.getSExtValue() + (value.isNegative() ? shape[dim] : 0);
    if (index < 0 || index >= shape[dim])
      return {};
    place = (dim == 0 ? 0 : place) * shape[dim] + index;
    if (dim == count - 1)
      llvm::copy(ArrayRef(given).slice(number / count * block, block), elements.begin() + place * block);
    ++number;
  }
  return DenseElementsAttr::get(node.constant(0).getType(), elements);
}

/// indices [.., k] name the first k dimensions of data, updates [.., rest] what goes there.
static void importScatterND(Node &node) {
  checkScatter(node);
  int64_t const outer = node.rank(1) - 1, rank = node.rank(0);
  if (outer < 0 || ShapedType::isDynamic(node.shape(1)[outer]) || node.shape(1)[outer] > rank)
    node.refuse("indices " + shapeText(node.shape(1)) + " do not fit data " + shapeText(node.shape(0)));
  int64_t const count = node.shape(1)[outer];
  node.needRank(2, outer + rank - count, outer + rank - count);
  if (DenseElementsAttr const known = count > 0 ? knownBlocks(node, count) : DenseElementsAttr())
    return node.outConstant(0, known, node.dataType(0));
  Value const indices = node.in(1), updates = node.in(2);
  auto const body = [&](ValueRange loops, Value carried) {
    llvm::SmallVector<Value> row(loops.take_front(outer)), at;
    for (int64_t dim = 0; dim < count; ++dim) {
      row.push_back(node.b.create<arith::ConstantIndexOp>(dim));
      at.push_back(position(node, node.b.create<tensor::ExtractOp>(indices, row), dim));
      row.pop_back();
    }
    at.append(loops.begin() + outer, loops.end());
    return scattered(node, carried, at, node.b.create<tensor::ExtractOp>(updates, loops));
  };
  node.out(0, inAnyOrder(loopNest(node.b, node.b.sizesOf(updates), node.in(0), body)));
}

//===--- Running sums and products -------------------------------------------------------------------------------===//

static void runAlong(Node &node, int64_t axis, Fold fold);

/// An axis that is known at run time only: the running sums along each, of which the axis chooses.
static void runAlongAny(Node &node, Fold fold) {
  Build &b = node.b;
  int64_t const rank = node.rank(0);
  if (rank == 0 || node.elements(1) != 1)
    node.refuse("one axis of a tensor that has some is needed");
  Value chosen;
  Value const axis = b.reshape(node.in(1), {});
  for (int64_t candidate = 0; candidate < rank; ++candidate) {
    runAlong(node, candidate, fold);
    Value const own = node.outputs[0]->value;
    chosen = !chosen ? own : b.elementwise({chosen, own, axis}, [&](Scalars &s, ValueRange v) -> Value {
      auto isAxis = [&](int64_t value) {
        return s.compare(Compare::eq, v[2], s.constantLike(v[2], static_cast<double>(value)));
      };
      return s.select(s.create<arith::OrIOp>(isAxis(candidate), isAxis(candidate - rank)), v[1], v[0]);
    });
  }
  node.out(0, chosen);
}

template <Fold fold> static void importRunning(Node &node) {
  if (node.has(1) && !node.constant(1) && node.wants(0))
    return runAlongAny(node, fold);
  runAlong(node, node.axis(static_cast<int64_t>(node.scalar(1, "axis")), node.rank(0)), fold);
}

/// One step along the axis: y[at] = sum + x[at], or y[at] = sum where x[at] does not count yet; or products instead.
/// ONNX says nothing of the order in which terms are added.
static Values runStep(Build &b, Value x, ValueRange at, ValueRange carried, bool isExclusive, Fold fold,
                      bool isUnsigned) {
  Scalars s(b, b.getLoc(), isUnsigned);
  Value const term = s.create<tensor::ExtractOp>(x, at), next = Build::combine(s, fold, carried[1], term);
  if (auto add = next.getDefiningOp<arith::AddFOp>())
    add.setFastmath(arith::FastMathFlags::reassoc);
  return {s.create<tensor::InsertOp>(isExclusive ? carried[1] : next, carried[0], at), next};
}

/// y[i] = y[i - 1] + x[i] along the axis; `exclusive` leaves x[i] out, `reverse` starts at the end. The sums are
/// independent of each other, so that of the loops only the last has an order; it carries the sum.
static void runAlong(Node &node, int64_t axis, Fold fold) {
  Build &b = node.b;
  bool const isReverse = node.intAttr("reverse", 0), isExclusive = node.intAttr("exclusive", 0);
  Value const x = node.in(0);
  Value const extent = getValueOrCreateConstantIndexOp(b, b.getLoc(), b.sizeOf(x, axis));
  Sizes others = b.sizesOf(x);
  others.erase(others.begin() + axis);
  auto const row = [&](ValueRange position, Value carried) -> Value {
    auto const step = [&](Value index, ValueRange values) {
      Scalars s(b, b.getLoc(), node.isUnsigned());
      llvm::SmallVector<Value> at(position);
      if (isReverse)
        index = s.create<arith::SubIOp>(s.create<arith::SubIOp>(extent, s.index(1)), index);
      at.insert(at.begin() + axis, index);
      return runStep(b, x, at, values, isExclusive, fold, node.isUnsigned());
    };
    Scalars s(b, b.getLoc(), node.isUnsigned());
    Value const neutral = s.constant(node.element(0), fold == Fold::product ? 1 : 0);
    return loop(b, s.index(0), extent, {carried, neutral}, step)[0];
  };
  node.out(0, loopNest(b, others, b.empty(b.sizesOf(x), node.element(0)), row));
}

void registerLoops(Registry &table) {
  table.add("Scatter", {9, 11}, importScatterElements);
  table.add("ScatterElements", {11, 13, 16, 18}, importScatterElements);
  table.add("ScatterND", {11, 13, 16, 18}, importScatterND);
  table.add("CumSum", {11, 14}, importRunning<Fold::sum>);
  table.add("CumProd", {26}, importRunning<Fold::product>);
}

} // namespace ml2k::frontend
