//===- Trees.cpp - TreeEnsemble, TreeEnsembleRegressor, TreeEnsembleClassifier ------------------------------------===//

#include "translator/frontend/onnx/importer/Registry.h"
#include "translator/frontend/onnx/ops/Classes.h"
#include "translator/frontend/onnx/ops/TreeTables.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <set>

using namespace mlir;
using llvm::StringRef;
using llvm::Twine;

namespace ml2k::frontend {

//===--- Nodes by the numbers of their trees ----------------------------------------------------------------------===//

static Split splitCalled(Node &node, StringRef name) {
  auto const split = llvm::StringSwitch<std::optional<Split>>(name)
                         .Case("BRANCH_LEQ", Split::leq)
                         .Case("BRANCH_LT", Split::lt)
                         .Case("BRANCH_GTE", Split::gte)
                         .Case("BRANCH_GT", Split::gt)
                         .Case("BRANCH_EQ", Split::eq)
                         .Case("BRANCH_NEQ", Split::neq)
                         .Case("LEAF", Split::leaf)
                         .Default(std::nullopt);
  if (!split)
    node.refuse("a node has the mode \"" + name + "\", which is unknown");
  return *split;
}

/// A list that has to have `count` numbers; zeros where it may be left out.
template <typename T> static std::vector<T> list(Node &node, StringRef name, size_t count, bool isOptional = false) {
  std::optional<std::vector<T>> found;
  if constexpr (std::is_same_v<T, double>)
    found = node.numbersAttr(name);
  else if (auto integers = node.wideIntsAttr(name))
    found.emplace(integers->begin(), integers->end());
  if (!found || (found->empty() && isOptional))
    found.emplace(isOptional ? count : 0);
  if (found->size() != count)
    node.refuse("attribute " + name + " has " + Twine(found->size()) + " elements for " + Twine(count));
  return *found;
}

namespace {
/// Positions of nodes by their tree and number.
class NodePlaces {
public:
  explicit NodePlaces(Node &node) : node(node) {
    numbers = node.wideIntsAttr("nodes_nodeids").value_or(Ints());
    trees = list<int64_t>(node, "nodes_treeids", numbers.size());
    for (auto [at, key] : llvm::enumerate(llvm::zip(trees, numbers))) {
      auto const [tree, number] = key;
      if (!places.try_emplace({tree, number}, static_cast<int64_t>(at)).second)
        node.refuse("tree " + Twine(tree) + " has two nodes " + Twine(number));
    }
  }
  size_t count() const { return numbers.size(); }
  int64_t find(int64_t tree, int64_t number) const {
    auto const found = places.find({tree, number});
    if (found == places.end())
      node.refuse("tree " + Twine(tree) + " has no node " + Twine(number));
    return found->second;
  }
  /// The first node of each tree, in the order of their numbers.
  std::vector<int64_t> roots() const {
    std::map<int64_t, int64_t> first;
    for (auto [at, tree] : llvm::enumerate(trees))
      first.try_emplace(tree, static_cast<int64_t>(at));
    std::vector<int64_t> found;
    for (auto const &[tree, at] : first)
      found.push_back(at);
    return found;
  }
  int64_t tree(size_t at) const { return trees[at]; }

private:
  Node &node;
  Ints numbers;
  std::vector<int64_t> trees;
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
};
} // namespace

/// What `prefix`_treeids and its like say about leaves.
static void addWeights(Node &node, NodePlaces const &places, StringRef prefix, Trees &trees) {
  auto const named = [&](StringRef what) { return (prefix + what).str(); };
  Ints const ids = node.wideIntsAttr(named("_ids")).value_or(Ints());
  auto const owners = list<int64_t>(node, named("_treeids"), ids.size()),
             leaves = list<int64_t>(node, named("_nodeids"), ids.size());
  auto const weights = list<double>(node, named("_weights"), ids.size());
  for (auto [id, tree, leaf, weight] : llvm::zip(ids, owners, leaves, weights))
    trees.nodes[places.find(tree, leaf)].weights.emplace_back(id, weight);
}

static Trees numberedTrees(Node &node, StringRef prefix) {
  NodePlaces const places(node);
  size_t const count = places.count();
  auto const columns = list<int64_t>(node, "nodes_featureids", count),
             whenTrue = list<int64_t>(node, "nodes_truenodeids", count),
             whenFalse = list<int64_t>(node, "nodes_falsenodeids", count),
             missing = list<int64_t>(node, "nodes_missing_value_tracks_true", count, /*isOptional=*/true);
  auto const thresholds = list<double>(node, "nodes_values", count);
  auto const modes = node.stringsAttr("nodes_modes");
  if (modes.size() != count)
    node.refuse("attribute nodes_modes has " + Twine(modes.size()) + " elements for " + Twine(count));
  Trees trees;
  trees.nodes.resize(count);
  for (size_t at = 0; at < count; ++at) {
    TreeNode &made = trees.nodes[at];
    made.split = splitCalled(node, modes[at]);
    if (made.split == Split::leaf)
      continue;
    made.column = columns[at];
    made.threshold = thresholds[at];
    made.isMissingTrue = missing[at] != 0;
    made.whenTrue = places.find(places.tree(at), whenTrue[at]);
    made.whenFalse = places.find(places.tree(at), whenFalse[at]);
  }
  trees.roots = places.roots();
  addWeights(node, places, prefix, trees);
  return trees;
}

static std::vector<double> baseOf(Node &node) {
  return node.numbersAttr("base_values").value_or(std::vector<double>());
}

/// Results are floats, whatever x is.
static Value asFloat(Build &b, Value y) { return b.elementwiseCast(y, b.getF32Type()); }

//===--- TreeEnsembleRegressor ------------------------------------------------------------------------------------===//

static Aggregate aggregateCalled(Node &node, StringRef name) {
  auto const found = llvm::StringSwitch<std::optional<Aggregate>>(name)
                         .Case("AVERAGE", Aggregate::average)
                         .Case("SUM", Aggregate::sum)
                         .Case("MIN", Aggregate::min)
                         .Case("MAX", Aggregate::max)
                         .Default(std::nullopt);
  if (!found)
    node.refuse("aggregate_function \"" + name + "\" is unknown");
  return *found;
}

static void importTreeRegressor(Node &node) {
  Value const x = featureRows(node);
  Trees trees = numberedTrees(node, "target");
  trees.targets = node.intAttr("n_targets", 1);
  Aggregate const aggregate = aggregateCalled(node, node.stringAttr("aggregate_function", "SUM"));
  Value const y = asFloat(node.b, walkTrees(node, x, std::move(trees), aggregate, baseOf(node)));
  node.out(0, transformedScores(node, y, node.stringAttr("post_transform", "NONE")), pb::TensorProto::FLOAT);
}

//===--- TreeEnsembleClassifier -----------------------------------------------------------------------------------===//

/// Leaves of two classes that name one of them alone: their sum stands for the second class, and is a probability if no
/// leaf is negative.
static void classifyByOne(Node &node, Value x, Trees trees, Classes const &classes) {
  Build &b = node.b;
  bool isPositive = true;
  for (TreeNode &given : trees.nodes)
    for (auto &[id, weight] : given.weights) {
      isPositive &= weight >= 0;
      id = 0;
    }
  trees.targets = 1;
  std::string const how = node.stringAttr("post_transform", "NONE");
  Value const score = asFloat(b, walkTrees(node, x, std::move(trees), Aggregate::sum, baseOf(node)));
  node.out(0, classes.above(node, score, isPositive ? 0.5 : 0, /*orEqual=*/false), pb::TensorProto::INT64);
  Value const both = bothScores(b, score, /*complement=*/isPositive);
  // Probabilities stay what they are
  node.out(1, isPositive ? both : transformedScores(node, both, how), pb::TensorProto::FLOAT);
}

static void importTreeClassifier(Node &node) {
  Value const x = featureRows(node);
  Classes const classes(node, "classlabels_int64s");
  Trees trees = numberedTrees(node, "class");
  trees.targets = classes.count();
  if (classes.count() < 2)
    node.refuse("it has " + Twine(classes.count()) + " classes");
  std::set<int64_t> named;
  for (TreeNode const &given : trees.nodes)
    for (auto const &[id, weight] : given.weights)
      named.insert(id);
  if (classes.count() == 2 && named.size() == 1)
    return classifyByOne(node, x, std::move(trees), classes);
  Value const scores = asFloat(node.b, walkTrees(node, x, std::move(trees), Aggregate::sum, baseOf(node)));
  node.out(0, classes.best(node, scores), pb::TensorProto::INT64);
  node.out(1, transformedScores(node, scores, node.stringAttr("post_transform", "NONE")), pb::TensorProto::FLOAT);
}

//===--- TreeEnsemble ---------------------------------------------------------------------------------------------===//

namespace {
/// Interior nodes and leaves in lists of their own: leaves come behind the nodes.
class ListedTrees {
public:
  explicit ListedTrees(Node &node) : node(node) {}
  Trees read();

private:
  std::vector<double> tensor(StringRef name, bool isNeeded = true) {
    auto const *found = node.attribute(name);
    if (!found && isNeeded)
      node.refuse("attribute " + name + " is missing");
    return found ? node.tensorNumbers(found->t()) : std::vector<double>();
  }
  /// nodes_modes is a tensor of uint8.
  std::vector<int64_t> modes();
  int64_t child(int64_t number, bool isLeaf, size_t leaves) const;
  void addMembers(Trees &trees, std::vector<double> const &members);

  Node &node;
  size_t count = 0; ///< of interior nodes
};
} // namespace

std::vector<int64_t> ListedTrees::modes() {
  auto const *found = node.attribute("nodes_modes");
  if (!found)
    node.refuse("attribute nodes_modes is missing");
  DenseElementsAttr const value = node.tensorAttr(found->t());
  if (!isa<IntegerType>(value.getElementType()))
    node.refuse("nodes_modes are no integers");
  auto const integers = integersOf(value);
  return {integers.begin(), integers.end()};
}

int64_t ListedTrees::child(int64_t number, bool isLeaf, size_t leaves) const {
  if (number < 0 || number >= static_cast<int64_t>(isLeaf ? leaves : count))
    node.refuse(Twine("it has no ") + (isLeaf ? "leaf " : "node ") + Twine(number));
  return number + (isLeaf ? static_cast<int64_t>(count) : 0);
}

/// Lists that end with a NaN each, in the order of the splits that they belong to.
void ListedTrees::addMembers(Trees &trees, std::vector<double> const &members) {
  size_t next = 0;
  for (TreeNode &given : trees.nodes) {
    if (given.split != Split::member)
      continue;
    for (; next < members.size() && members[next] == members[next]; ++next)
      given.members.push_back(members[next]);
    if (next++ >= members.size())
      node.refuse("membership_values end before the last split by membership");
  }
}

Trees ListedTrees::read() {
  static constexpr Split splits[] = {Split::leq, Split::lt,  Split::gte,   Split::gt,
                                     Split::eq,  Split::neq, Split::member};
  auto const kinds = modes();
  count = kinds.size();
  auto const thresholds = tensor("nodes_splits"), weights = tensor("leaf_weights");
  auto const columns = list<int64_t>(node, "nodes_featureids", count),
             whenTrue = list<int64_t>(node, "nodes_truenodeids", count),
             whenFalse = list<int64_t>(node, "nodes_falsenodeids", count),
             trueIsLeaf = list<int64_t>(node, "nodes_trueleafs", count),
             falseIsLeaf = list<int64_t>(node, "nodes_falseleafs", count),
             missing = list<int64_t>(node, "nodes_missing_value_tracks_true", count, /*isOptional=*/true),
             targets = list<int64_t>(node, "leaf_targetids", weights.size());
  if (thresholds.size() != count)
    node.refuse("nodes_splits has " + Twine(thresholds.size()) + " elements for " + Twine(count));
  Trees trees;
  for (size_t at = 0; at < count; ++at) {
    if (kinds[at] < 0 || kinds[at] >= int64_t(std::size(splits)))
      node.refuse("a node has the mode " + Twine(kinds[at]) + ", which is unknown");
    trees.nodes.push_back({splits[kinds[at]], columns[at], thresholds[at], missing[at] != 0,
                           child(whenTrue[at], trueIsLeaf[at] != 0, weights.size()),
                           child(whenFalse[at], falseIsLeaf[at] != 0, weights.size())});
  }
  addMembers(trees, tensor("membership_values", /*isNeeded=*/false));
  for (auto [target, weight] : llvm::zip(targets, weights)) {
    trees.nodes.emplace_back();
    trees.nodes.back().weights = {{target, weight}};
  }
  for (int64_t root : node.wideIntsAttr("tree_roots").value_or(Ints()))
    trees.roots.push_back(child(root, /*isLeaf=*/false, 0));
  return trees;
}

static void importEnsemble(Node &node) {
  static constexpr Aggregate aggregates[] = {Aggregate::average, Aggregate::sum, Aggregate::min, Aggregate::max};
  static constexpr StringRef transforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  Value const x = featureRows(node);
  int64_t const aggregate = node.intAttr("aggregate_function", 1), transform = node.intAttr("post_transform", 0);
  if (aggregate < 0 || aggregate >= int64_t(std::size(aggregates)) || transform < 0 ||
      transform >= int64_t(std::size(transforms)))
    node.refuse("aggregate_function " + Twine(aggregate) + " or post_transform " + Twine(transform) + " is unknown");
  Trees trees = ListedTrees(node).read();
  trees.targets = node.intAttr("n_targets", 1);
  Value const y = walkTrees(node, x, std::move(trees), aggregates[aggregate], {});
  node.out(0, transformedScores(node, y, transforms[transform]), node.dataType(0));
}

void registerTrees(Registry &table) {
  table.add("TreeEnsemble", {5}, importEnsemble, classicalDomain);
  table.add("TreeEnsembleClassifier", {1, 3, 5}, importTreeClassifier, classicalDomain);
  table.add("TreeEnsembleRegressor", {1, 3, 5}, importTreeRegressor, classicalDomain);
}

} // namespace ml2k::frontend
