//===- GridsTest.cpp - for_squares, for_tiles, for_lines, for_checkered ------------------------------------------===//

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
/// Rows that begin anywhere in a line of the cache.
template <class T> void lines(Span planes, Span rows, Span columns, int width) {
  int const depth = 4, height = 6;
  std::size_t const count = std::size_t(depth) * height * width;
  auto const before = check::numbers<T>(count, 3);
  ExecutionSpace const space;
  Tensor<T ***> const a("a", depth, height, width);
  check::put(a, before);
  for_planes(
      "test::for_planes", space, planes, rows, columns, a,
      KOKKOS_LAMBDA(int plane, int row, int column) { a(plane, row, column) += 100 * plane + 10 * row + column; });
  Tensor<T **> const flat(a.data(), depth * height, width);
  for_lines(
      "test::for_lines", space, rows, columns, flat, KOKKOS_LAMBDA(int row, int column) { flat(row, column) += 1; });
  space.fence();
  std::vector<double> expected(before.begin(), before.end());
  auto const isIn = [](Span const &span, int i) { return i >= span.begin && i < span.end; };
  for (std::size_t i = 0; i < count; ++i) {
    int const column = int(i % width), row = int(i / width), plane = row / height;
    if (isIn(planes, plane) && isIn(rows, row % height) && isIn(columns, column))
      expected[i] += 100 * plane + 10 * (row % height) + column;
    if (isIn(rows, row) && isIn(columns, column))
      expected[i] += 1;
  }
  check::compare("lines of " + std::to_string(width) + " from " + std::to_string(columns.begin) + " to " +
                     std::to_string(columns.end),
                 check::get(a), expected);
}
/// Every other position of a plane and of three dimensions.
void checkered(Span planes, Span rows, Span columns, int parity) {
  int const depth = 4, height = 70, width = 41;
  std::size_t const count = std::size_t(depth) * height * width;
  auto const before = check::numbers<double>(count, 5);
  ExecutionSpace const space;
  Tensor<double ***> const a("a", depth, height, width);
  check::put(a, before);
  for_checkered_planes(
      "test::for_checkered_planes", space, planes, rows, columns, parity,
      KOKKOS_LAMBDA(int plane, int row, int column) { a(plane, row, column) += 1000 * plane + 100 * row + column; });
  for_checkered(
      "test::for_checkered", space, rows, columns, parity,
      KOKKOS_LAMBDA(int row, int column) { a(0, row, column) += 0.5 * row + 0.25 * column; });
  space.fence();
  std::vector<double> expected(before.begin(), before.end());
  auto const isIn = [](Span const &span, int i) { return i >= span.begin && i < span.end; };
  for (std::size_t i = 0; i < count; ++i) {
    int const column = int(i % width), row = int(i / width) % height, plane = int(i / width) / height;
    bool const isHere = isIn(rows, row) && isIn(columns, column);
    if (isHere && isIn(planes, plane) && (plane + row + column) % 2 == parity)
      expected[i] += 1000 * plane + 100 * row + column;
    if (isHere && plane == 0 && (row + column) % 2 == parity)
      expected[i] += 0.5 * row + 0.25 * column;
  }
  check::compare("every other position from " + std::to_string(columns.begin) + " to " + std::to_string(columns.end),
                 check::get(a), expected);
}
/// Rows so few that threads take parts of them, from an odd column on.
void checkeredParts() {
  int const width = 9001;
  ExecutionSpace const space;
  Tensor<int **> const a("a", 3, width);
  for_checkered(
      "test::for_checkered", space, Span{0, 3}, Span{3, width}, 1,
      KOKKOS_LAMBDA(int row, int column) { a(row, column) += 1; });
  space.fence();
  std::vector<double> expected(std::size_t(3) * width);
  for (int row = 0; row < 3; ++row)
    for (int column = 3; column < width; ++column)
      expected[std::size_t(row) * width + column] = (row + column) % 2;
  check::compare("every other position of few rows", check::get(a), expected);
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
  for (int const width : {1, 7, 16, 127, 128, 130, 203, 1024, 1026, 5000}) {
    lines<float>({0, 4}, {0, 6}, {0, width}, width);
    lines<float>({1, 3}, {1, 5}, {1, width - 1}, width);
    lines<double>({0, 4}, {2, 6}, {width / 2, width}, width);
    lines<double>({3, 2}, {2, 1}, {width, 0}, width); // nothing
  }
  for (int const parity : {0, 1}) {
    checkered({0, 4}, {0, 70}, {0, 41}, parity);
    checkered({1, 3}, {1, 69}, {1, 40}, parity);
    checkered({0, 3}, {5, 6}, {7, 8}, parity);
    checkered({3, 2}, {4, 1}, {9, 0}, parity); // nothing
  }
  checkeredParts();
}
