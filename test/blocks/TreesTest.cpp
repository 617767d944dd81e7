//===- TreesTest.cpp - walk_trees, walk_own_targets ---------------------------------------------------------------===//

#include "Check.h"

#include <cstdint>

using namespace blocks;

namespace {
/// Random trees, level by level: children side by side, leaves their own children and with a threshold that is no
/// number.
struct Forest {
  std::vector<std::int32_t> roots, steps, columns, children;
  std::vector<float> thresholds;

  Forest(int trees, int depth, int width) {
    auto const random = check::numbers(std::size_t(trees) << (depth + 2), 9);
    std::size_t next = 0;
    auto const draw = [&] { return random[next++ % random.size()]; };
    for (int tree = 0; tree < trees; ++tree) {
      int const root = int(columns.size());
      roots.push_back(root);
      std::vector<int> levels = {0};
      int deepest = 0;
      for (std::size_t at = 0; at < levels.size(); ++at) {
        bool const isLeaf = levels[at] == depth || (at > 0 && draw() < -.6f);
        columns.push_back(isLeaf ? 0 : int((draw() + 1) / 2 * float(width)) % width);
        thresholds.push_back(isLeaf ? NAN : draw());
        children.push_back(isLeaf ? root + int(at) : root + int(levels.size()));
        deepest = std::max(deepest, levels[at]);
        for (int child = 0; child < (isLeaf ? 0 : 2); ++child)
          levels.push_back(levels[at] + 1);
      }
      steps.push_back(deepest);
    }
  }
  int nodes() const { return int(columns.size()); }
  int leaf(int tree, float const *row) const {
    int node = roots[tree];
    while (children[node] != node)
      node = children[node] + (row[columns[node]] <= thresholds[node]);
    return node;
  }
};

template <class T> Tensor<T const *> table(std::vector<T> const &values) {
  Tensor<T *> const view("table", values.size());
  check::put(view, values);
  return view;
}

/// Rows of numbers of which some are none
std::vector<float> rowsOf(int rows, int width) {
  auto numbers = check::numbers(std::size_t(rows) * width, 4);
  for (std::size_t i = 0; i < numbers.size(); i += 11)
    numbers[i] = NAN;
  return numbers;
}

template <class Join, int targets> void forest(int rows, int trees, int depth, bool ownTargets) {
  constexpr int width = 5;
  Forest const made(trees, depth, width);
  auto const numbers = rowsOf(rows, width);
  auto const values = check::numbers(std::size_t(made.nodes()) * targets, 6);
  std::vector<std::int32_t> named(made.nodes());
  for (int node = 0; node < made.nodes(); ++node)
    named[node] = node % targets;
  ExecutionSpace const space;
  Tensor<float **> const x("x", rows, width), out("out", rows, targets);
  Tensor<float **> const of("of", made.nodes(), targets);
  check::put(x, numbers);
  check::put(of, values);
  auto const columns = table(made.columns), children = table(made.children), roots = table(made.roots),
             steps = table(made.steps), owners = table(named);
  auto const thresholds = table(made.thresholds);
  auto const goes_on = KOKKOS_LAMBDA(int row, int node) { return x(row, columns(node)) <= thresholds(node); };
  auto const store = KOKKOS_LAMBDA(int row, int target, float total) { out(row, target) = total; };
  if (ownTargets)
    walk_own_targets<Join, float, targets>(
        "test::trees", space, rows, trees, roots, steps, children, goes_on,
        KOKKOS_LAMBDA(int node)->int { return owners(node); }, KOKKOS_LAMBDA(int node)->float { return of(node, 0); },
        store);
  else
    walk_trees<Join, float, targets>(
        "test::trees", space, rows, trees, roots, steps, children, goes_on,
        KOKKOS_LAMBDA(int node, int target)->float { return of(node, target); }, store);
  space.fence();
  std::vector<double> expected(std::size_t(rows) * targets, double(Join::template neutral<float>()));
  for (int row = 0; row < rows; ++row)
    for (int tree = 0; tree < trees; ++tree) {
      int const leaf = made.leaf(tree, &numbers[std::size_t(row) * width]);
      for (int target = 0; target < targets; ++target)
        if (!ownTargets || named[leaf] == target) {
          double &joined = expected[std::size_t(row) * targets + target];
          joined = Join::join(joined, double(values[std::size_t(leaf) * targets + (ownTargets ? 0 : target)]));
        }
    }
  check::compare(std::to_string(trees) + " trees of " + std::to_string(rows) + " rows for " + std::to_string(targets) +
                     (ownTargets ? " own targets" : " targets"),
                 check::get(out), expected);
}
} // namespace

void testTrees() {
  for (int rows : {1, 7, 8, 100})
    for (int trees : {1, 7, 8, 21}) {
      forest<Sum, 1>(rows, trees, 6, false);
      forest<Sum, 3>(rows, trees, 4, true);
    }
  forest<Max, 2>(33, 9, 5, false);
  forest<Sum, 300>(19, 5, 3, false); // in parts
  forest<Sum, 300>(33, 40, 3, true);
  forest<Sum, 1>(5, 3, 0, false); // leaves alone
}
