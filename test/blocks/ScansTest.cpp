//===- ScansTest.cpp - scan_rows, scan_columns --------------------------------------------------------------------===//

#include "Check.h"

#include <cmath>
#include <cstdint>

using namespace blocks;

namespace {
/// Small integers, whose sums are exact in any order
template <class T> std::vector<T> integers(std::size_t count) {
  auto values = check::numbers<T>(count, 5);
  for (T &x : values)
    x = T(std::floor(9 * double(x)));
  return values;
}

template <class T> void sumsOfRows(int rows, int length) {
  auto const values = integers<T>(std::size_t(rows) * length);
  ExecutionSpace const space;
  Tensor<T **> const in("in", rows, length), out("out", rows, length);
  check::put(in, values);
  scan_rows<T>(
      "test::scan_rows", space, rows, length, KOKKOS_LAMBDA(int row, int i, T &sum, bool is_final) {
        sum = sum + in(row, i);
        if (is_final)
          out(row, i) = sum;
      });
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row)
    for (double sum = 0; int(expected.size()) < (row + 1) * length;)
      expected.push_back(sum += double(values[expected.size()]));
  check::compare("running sums of " + std::to_string(rows) + "x" + std::to_string(length), check::get(out), expected);
}

/// Of columns 1 .. columns, without the last of all: what a block of other bounds would touch keeps its value
template <class T, int most> void sumsOfColumns(int rows, int columns, int length) {
  int const all = columns + 2;
  auto const values = integers<T>(std::size_t(rows) * length * all);
  ExecutionSpace const space;
  Tensor<T ***> const in("in", rows, length, all), out("out", rows, length, all);
  check::put(in, values);
  check::put(out, values);
  scan_columns<T, most>(
      "test::scan_columns", space, Span{0, rows}, Span{1, columns + 1}, length,
      KOKKOS_LAMBDA(int row, int column, int i, T &sum, bool is_final) {
        sum = sum + in(row, i, column);
        if (is_final)
          out(row, i, column) = sum;
      });
  space.fence();
  std::vector<double> expected(values.begin(), values.end());
  auto const at = [&](int row, int i, int column) { return (std::size_t(row) * length + i) * all + column; };
  for (int row = 0; row < rows; ++row)
    for (int i = 1; i < length; ++i)
      for (int column = 1; column <= columns; ++column)
        expected[at(row, i, column)] += expected[at(row, i - 1, column)];
  check::compare("running sums of " + std::to_string(rows) + " times " + std::to_string(columns) + " columns of " +
                     std::to_string(length),
                 check::get(out), expected);
}
} // namespace

void testScans() {
  for (int const length : {1, 31, 1000, 5000})
    sumsOfRows<float>(3, length);
  sumsOfRows<std::int64_t>(1, 20000);
  sumsOfRows<double>(70, 300);
  for (int const rows : {0, 1, 5})
    for (int const length : {0, 1, 64, 65, 3000}) {
      sumsOfColumns<float, 2>(rows, 2, length);
      sumsOfColumns<double, 8>(rows, 8, length);
      sumsOfColumns<std::int64_t, 4096>(rows, 100, length);
    }
  sumsOfColumns<float, 4096>(1, 9000, 70);
  sumsOfColumns<float, 2>(3, 2, 5000);
}
