//===- GridsTest.cpp - for_squares, for_tiles ---------------------------------------------------------------------===//

#include "Check.h"

using namespace blocks;

namespace {
/// Each of several matrices plus what another one has across it; what no position stands for keeps its value.
template <class T> void squares(int outer, int rows, int columns) {
  std::size_t const count = std::size_t(outer) * rows * columns;
  auto const straight = check::numbers<T>(count, 3), across = check::numbers<T>(count, 4);
  ExecutionSpace const space;
  Tensor<T ***> const a("a", outer, rows, columns), b("b", outer, columns, rows);
  check::put(a, straight);
  check::put(b, across);
  for_squares(
      "test::for_squares", space, outer, rows, columns,
      KOKKOS_LAMBDA(int i, int row, int column) { a(i, row, column) += b(i, column, row); });
  space.fence();
  std::vector<double> expected(straight.begin(), straight.end());
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const matrix = i / (std::size_t(rows) * columns), row = i / columns % rows, column = i % columns;
    expected[i] += across[(matrix * columns + column) * rows + row];
  }
  check::compare("squares of " + std::to_string(outer) + "x" + std::to_string(rows) + "x" + std::to_string(columns),
                 check::get(a), expected);
}

void tiles(Span rows, Span columns) {
  int const height = 70, width = 50;
  auto const straight = check::numbers<double>(std::size_t(height) * width, 3);
  ExecutionSpace const space;
  Tensor<double **> const a("a", height, width);
  check::put(a, straight);
  for_tiles(
      "test::for_tiles", space, rows, columns,
      KOKKOS_LAMBDA(int row, int column) { a(row, column) += 100 * row + column; });
  space.fence();
  std::vector<double> expected(straight.begin(), straight.end());
  for (int row = rows.begin; row < rows.end; ++row)
    for (int column = columns.begin; column < columns.end; ++column)
      expected[std::size_t(row) * width + column] += 100 * row + column;
  check::compare("tiles from " + std::to_string(rows.begin) + " to " + std::to_string(rows.end), check::get(a),
                 expected);
}
} // namespace

void testGrids() {
  for (int const rows : {1, 31, 32, 33, 129})
    for (int const columns : {1, 15, 16, 17, 50})
      squares<float>(3, rows, columns);
  squares<double>(1, 1100, 1001); // so many are taken in taller squares
  squares<float>(2, 2000, 531);
  squares<float>(0, 5, 5);
  tiles({0, 70}, {0, 50});
  tiles({3, 69}, {1, 49});
  tiles({40, 41}, {7, 8});
  tiles({5, 5}, {0, 50});
  tiles({6, 5}, {9, 2}); // nothing
}
