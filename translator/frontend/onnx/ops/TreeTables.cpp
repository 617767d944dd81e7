//===- TreeTables.cpp - decision trees as the tables of nest.trees ------------------------------------------------===//
//
// Each tree is written from its root down, level by level, so that the two children of a node lie side by side: a step
// of a walk reads the first one's place and adds what the comparison says. A leaf is its own first child, and its
// threshold is NaN, which compares as false with everything: walks may go on after they have arrived.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "translator/frontend/onnx/ops/TreeTables.h"

#include "translator/ir/Nest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using llvm::Twine;

namespace ml2k::frontend {

namespace {

/// A comparison, and whether it is true where the node's split is false: `x <= t, or NaN` is `not (x > t)`.
enum class Kind { le, lt, ge, gt, eq, eqOrNan };
struct Comparison {
  Kind kind;
  bool isOpposite;
};

/// A place in the tables to be filled: a node of the model, of a membership the first member that is left.
struct Place {
  int64_t node;
  size_t member = 0;
};

struct Tables {
  std::vector<int32_t> roots, steps, columns, children, kinds, targets;
  std::vector<double> thresholds, values;
  int64_t width = 0; ///< numbers of a leaf
};

class TableWriter {
public:
  /// `width` numbers for a leaf; `missing` is what a target gets that it does not name.
  TableWriter(Node &node, Trees const &trees, Type element, int64_t width, double missing);
  void addTree(int64_t root);
  Tables tables;

private:
  void addNode(Place place, int32_t step);
  void addSplit(TreeNode const &given, Place place, int32_t step);
  void addLeaf(TreeNode const &given);
  double threshold(double value, Kind kind) const;

  Node &node;
  Trees const &trees;
  bool isNarrow;  ///< thresholds are floats
  double missing; ///< what a target gets that a leaf does not name
  size_t most;    ///< places that trees, not graphs, take
  std::vector<std::pair<Place, int32_t>> queue;
};

} // namespace

static Comparison comparisonOf(TreeNode const &node) {
  bool const nan = node.isMissingTrue;
  switch (node.split) {
  case Split::leq:
    return nan ? Comparison{Kind::gt, true} : Comparison{Kind::le, false};
  case Split::lt:
    return nan ? Comparison{Kind::ge, true} : Comparison{Kind::lt, false};
  case Split::gte:
    return nan ? Comparison{Kind::lt, true} : Comparison{Kind::ge, false};
  case Split::gt:
    return nan ? Comparison{Kind::le, true} : Comparison{Kind::gt, false};
  case Split::neq:
    return {Kind::eq, true};
  default:
    return {nan ? Kind::eqOrNan : Kind::eq, false};
  }
}

TableWriter::TableWriter(Node &node, Trees const &trees, Type element, int64_t width, double missing)
    : node(node), trees(trees), isNarrow(element.isF32()), missing(missing) {
  tables.width = width;
  size_t members = 0;
  for (TreeNode const &given : trees.nodes)
    members += given.members.size();
  most = 4 * (trees.nodes.size() + members) + 1024;
}

/// How many numbers a leaf has: one for its own target where leaves name one each, as those of boosted classifiers,
/// else one for each target.
static int64_t widthOf(Node &node, Trees const &trees) {
  size_t weights = 0;
  bool isOneEach = trees.targets > 1;
  for (TreeNode const &given : trees.nodes) {
    weights += given.weights.size();
    isOneEach &= given.weights.size() <= 1;
    for (auto const &[target, weight] : given.weights)
      if (target < 0 || target >= trees.targets)
        node.refuse("a leaf names target " + Twine(target) + " of " + Twine(trees.targets));
  }
  int64_t const width = isOneEach ? 1 : trees.targets;
  if (size_t(width) > 64 * (weights / std::max<size_t>(1, trees.nodes.size()) + 1))
    node.refuse("its leaves name few of its " + Twine(trees.targets) + " targets, but more than one each");
  return width;
}

/// Between x of type float and a double: the float on its side that compares alike.
double TableWriter::threshold(double value, Kind kind) const {
  if (!isNarrow)
    return value;
  auto narrow = static_cast<float>(value);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (kind == Kind::eq || kind == Kind::eqOrNan)
    return double(narrow) == value ? narrow : std::numeric_limits<float>::quiet_NaN();
  bool const isBelow = kind == Kind::le || kind == Kind::gt;
  if (isBelow && double(narrow) > value)
    narrow = std::nextafter(narrow, -infinity);
  if (!isBelow && double(narrow) < value)
    narrow = std::nextafter(narrow, infinity);
  return narrow;
}

void TableWriter::addTree(int64_t root) {
  tables.roots.push_back(static_cast<int32_t>(tables.columns.size()));
  tables.steps.push_back(0);
  queue = {{{root}, 0}};
  for (size_t next = 0; next < queue.size(); ++next) {
    if (tables.columns.size() > most)
      node.refuse("its nodes are no trees: many are reached on several paths, or in a circle");
    auto const [place, step] = queue[next];
    addNode(place, step);
    tables.steps.back() = std::max(tables.steps.back(), step);
  }
}

void TableWriter::addNode(Place place, int32_t step) {
  if (place.node < 0 || place.node >= static_cast<int64_t>(trees.nodes.size()))
    node.refuse("a child of a node does not exist");
  TreeNode const &given = trees.nodes[place.node];
  given.split == Split::leaf ? addLeaf(given) : addSplit(given, place, step);
}

void TableWriter::addSplit(TreeNode const &given, Place place, int32_t step) {
  bool const isMember = given.split == Split::member;
  if (isMember && given.members.empty())
    node.refuse("a split by membership has no members");
  auto const [kind, isOpposite] = comparisonOf(given);
  tables.columns.push_back(static_cast<int32_t>(given.column));
  tables.thresholds.push_back(threshold(isMember ? given.members[place.member] : given.threshold, kind));
  tables.kinds.push_back(static_cast<int32_t>(kind));
  tables.children.push_back(static_cast<int32_t>(size_t(tables.roots.back()) + queue.size()));
  tables.values.resize(tables.values.size() + tables.width, 0);
  tables.targets.push_back(0);
  bool const hasMore = isMember && place.member + 1 < given.members.size();
  Place const whenTrue = {given.whenTrue},
              whenFalse = hasMore ? Place{place.node, place.member + 1} : Place{given.whenFalse};
  queue.push_back({isOpposite ? whenTrue : whenFalse, step + 1});
  queue.push_back({isOpposite ? whenFalse : whenTrue, step + 1});
}

void TableWriter::addLeaf(TreeNode const &given) {
  std::vector<std::optional<double>> values(tables.width);
  bool const isOneEach = tables.width < trees.targets;
  for (auto const &[target, weight] : given.weights) {
    auto &value = values[isOneEach ? 0 : target];
    value = value.value_or(0) + weight;
  }
  tables.targets.push_back(isOneEach && !given.weights.empty() ? static_cast<int32_t>(given.weights[0].first) : 0);
  tables.columns.push_back(0);
  tables.thresholds.push_back(std::numeric_limits<double>::quiet_NaN());
  tables.kinds.push_back(0);
  tables.children.push_back(static_cast<int32_t>(tables.columns.size() - 1));
  for (auto const &value : values)
    tables.values.push_back(value.value_or(missing));
}

//===--- The kernel -----------------------------------------------------------------------------------------------===//

static DenseElementsAttr integers(Build &b, ArrayRef<int32_t> values) {
  return DenseElementsAttr::get(RankedTensorType::get({int64_t(values.size())}, b.getI32Type()), values);
}

static DenseElementsAttr numbers(IntsRef shape, Type element, ArrayRef<double> values) {
  auto const type = RankedTensorType::get(shape, element);
  if (element.isF64())
    return DenseElementsAttr::get(type, values);
  std::vector<float> const narrow(values.begin(), values.end());
  return DenseElementsAttr::get(type, ArrayRef(narrow));
}

/// The kinds of comparisons that occur, numbered from 0 in `kinds`.
static std::vector<Kind> numberKinds(Tables &tables) {
  std::vector<Kind> used;
  for (auto [kind, child, at] : llvm::zip(tables.kinds, tables.children, llvm::seq<int32_t>(0, tables.kinds.size())))
    if (child != at && !llvm::is_contained(used, Kind(kind)))
      used.push_back(Kind(kind));
  llvm::sort(used);
  if (used == std::vector{Kind::eqOrNan}) // leaves are of the first kind, of which NaN is not true
    used.insert(used.begin(), Kind::eq);
  for (auto [kind, child, at] : llvm::zip(tables.kinds, tables.children, llvm::seq<int32_t>(0, tables.kinds.size())))
    kind = child == at ? 0 : static_cast<int32_t>(llvm::find(used, Kind(kind)) - used.begin());
  return used;
}

namespace {
/// Splits of several kinds as intervals, with both ends: x > t is x >= the next number.
struct Intervals {
  std::vector<double> lows, highs;
};
} // namespace

static double next(double value, double towards, bool isNarrow) {
  if (value == towards) // nothing is beyond
    return std::numeric_limits<double>::quiet_NaN();
  return isNarrow ? std::nextafter(static_cast<float>(value), static_cast<float>(towards))
                  : std::nextafter(value, towards);
}

static Intervals intervalsOf(Tables const &tables, ArrayRef<Kind> kinds, bool isNarrow) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Intervals made;
  for (auto [number, t] : llvm::zip(tables.kinds, tables.thresholds)) {
    Kind const kind = kinds[number];
    bool const isNan = t != t; // a leaf, or never equal
    made.lows.push_back(isNan || kind == Kind::ge || kind == Kind::eq ? t
                        : kind == Kind::gt                            ? next(t, infinity, isNarrow)
                                                                      : -infinity);
    made.highs.push_back(isNan || kind == Kind::le || kind == Kind::eq ? t
                         : kind == Kind::lt                            ? next(t, -infinity, isNarrow)
                                                                       : infinity);
  }
  return made;
}

static Value compared(Scalars &s, Kind kind, Value x, Value threshold) {
  static constexpr Compare plain[] = {Compare::le, Compare::lt, Compare::ge, Compare::gt, Compare::eq};
  if (kind != Kind::eqOrNan)
    return s.compare(plain[int(kind)], x, threshold);
  Value const isNan = s.compare(Compare::ne, x, x), isEqual = s.compare(Compare::eq, x, threshold);
  return s.create<arith::OrIOp>(isEqual, isNan);
}

/// Whether a walk goes on to the second child, by the kind of the split where there are several.
static Value goesOn(Scalars &s, ArrayRef<Kind> kinds, Block::BlockArgListType arguments) {
  if (kinds.empty()) // leaves alone
    return s.compare(Compare::le, arguments[0], arguments[1]);
  Value chosen = compared(s, kinds[0], arguments[0], arguments[1]);
  for (size_t number = 1; number < kinds.size(); ++number) {
    Value const isOwn = s.compare(Compare::eq, arguments[2], s.constantLike(arguments[2], double(number)));
    chosen = s.select(isOwn, compared(s, kinds[number], arguments[0], arguments[1]), chosen);
  }
  return chosen;
}

static void addSplit(Build &b, nest::TreesOp op, ArrayRef<Kind> kinds) {
  OpBuilder::InsertionGuard const guard(b);
  Block *block = b.createBlock(&op.getSplit());
  llvm::SmallVector<Value> read = {op.getX(), op.getThresholds()};
  if (op.getKinds())
    read.push_back(op.getKinds());
  for (Value value : read)
    block->addArgument(Build::elementOf(value), b.getLoc());
  Scalars s(b, b.getLoc(), false);
  auto const arguments = block->getArguments();
  if (!op.getKinds() || isa<IntegerType>(Build::elementOf(op.getKinds()))) {
    b.create<nest::YieldOp>(goesOn(s, kinds, arguments));
    return;
  }
  Value const isAbove = s.compare(Compare::ge, arguments[0], arguments[1]),
              isBelow = s.compare(Compare::le, arguments[0], arguments[2]);
  b.create<nest::YieldOp>(s.create<arith::AndIOp>(isAbove, isBelow));
}

static nest::Combiner combinerOf(Aggregate aggregate) {
  return aggregate == Aggregate::min   ? nest::Combiner::MinNum
         : aggregate == Aggregate::max ? nest::Combiner::MaxNum
                                       : nest::Combiner::Sum;
}

static Value kernel(Node &node, Value x, Tables &tables, Aggregate aggregate, int64_t targets) {
  Build &b = node.b;
  Type const element = Build::elementOf(x);
  std::vector<Kind> const kinds = numberKinds(tables);
  bool const mixes = kinds.size() > 1, isInterval = mixes && !llvm::is_contained(kinds, Kind::eqOrNan);
  Intervals const intervals = isInterval ? intervalsOf(tables, kinds, element.isF32()) : Intervals();
  auto const nodes = static_cast<int64_t>(tables.columns.size());
  llvm::SmallVector<Value> inputs = {x,
                                     node.table("roots", integers(b, tables.roots)),
                                     node.table("steps", integers(b, tables.steps)),
                                     node.table("columns", integers(b, tables.columns)),
                                     isInterval
                                         ? node.table("lows", numbers({nodes}, element, intervals.lows))
                                         : node.table("thresholds", numbers({nodes}, element, tables.thresholds)),
                                     node.table("children", integers(b, tables.children)),
                                     node.table("values", numbers({nodes, tables.width}, element, tables.values))};
  if (mixes)
    inputs.push_back(isInterval ? node.table("highs", numbers({nodes}, element, intervals.highs))
                                : node.table("kinds", integers(b, tables.kinds)));
  llvm::SmallVector<Value> extras;
  if (tables.width < targets)
    extras.push_back(node.table("targets", integers(b, tables.targets)));
  Value const out = b.empty({b.sizeOf(x, 0), b.getIndexAttr(targets)}, element);
  auto op = b.create<nest::TreesOp>(out.getType(), "trees", combinerOf(aggregate), inputs, extras, out);
  addSplit(b, op, kinds);
  return op.getResult(0);
}

static void check(Node &node, Trees const &trees, int64_t columns, std::vector<double> const &base) {
  if (trees.roots.empty())
    node.refuse("it has no trees");
  if (trees.targets < 1)
    node.refuse("it has no targets");
  for (TreeNode const &given : trees.nodes)
    if (given.split != Split::leaf && (given.column < 0 || given.column >= columns))
      node.refuse("a node asks for column " + Twine(given.column) + " of " + Twine(columns));
  if (base.size() > 1 && static_cast<int64_t>(base.size()) != trees.targets)
    node.refuse(Twine(base.size()) + " base values for " + Twine(trees.targets) + " targets");
}

/// Trees of one leaf each, for what is added to the sums at the end: one, or one for each number of `base`.
static void addBase(Trees &trees, int64_t width, std::vector<double> const &base) {
  TreeNode leaf;
  for (int64_t target = 0; target < trees.targets; ++target) {
    leaf.weights.emplace_back(target, base[base.size() == 1 ? 0 : target]);
    if (width != 1 && target + 1 < trees.targets)
      continue;
    trees.roots.push_back(static_cast<int64_t>(trees.nodes.size()));
    trees.nodes.push_back(leaf);
    leaf.weights.clear();
  }
}

static Value withBase(Node &node, Value y, std::vector<double> const &base) {
  Build &b = node.b;
  Type const element = Build::elementOf(y);
  if (base.size() == 1)
    return b.elementwise({y}, [&](Scalars &s, ValueRange v) { return s.add(v[0], s.constantLike(v[0], base[0])); });
  Value const added = node.table("base", numbers({int64_t(base.size())}, element, base));
  return b.elementwise({y, added}, [](Scalars &s, ValueRange v) { return s.add(v[0], v[1]); });
}

Value walkTrees(Node &node, Value x, Trees trees, Aggregate aggregate, std::vector<double> base) {
  check(node, trees, Build::shapeOf(x)[1], base);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bool const isSum = aggregate == Aggregate::sum || aggregate == Aggregate::average;
  double const missing = isSum ? 0 : aggregate == Aggregate::min ? infinity : -infinity;
  if (aggregate == Aggregate::average)
    for (TreeNode &given : trees.nodes)
      for (auto &[target, weight] : given.weights)
        weight /= double(trees.roots.size());
  if (llvm::all_of(base, [](double value) { return value == 0; }))
    base.clear();
  int64_t const width = widthOf(node, trees);
  bool const isOfLeaves = isSum && (width == trees.targets || base.size() > 1); // so many numbers the model has
  if (isOfLeaves && !base.empty())
    addBase(trees, width, base);
  TableWriter writer(node, trees, Build::elementOf(x), width, missing);
  for (int64_t root : trees.roots)
    writer.addTree(root);
  Value const y = kernel(node, x, writer.tables, aggregate, trees.targets);
  return isOfLeaves || base.empty() ? y : withBase(node, y, base);
}

} // namespace ml2k::frontend
