//===- UpdatesTest.cpp - for_updates, for_spans: elements at computed places --------------------------------------===//

#include "Check.h"

using namespace blocks;

namespace {
/// Row `place` of many rows, several of which meet.
KOKKOS_INLINE_FUNCTION int placeOf(int batch, int update, int rows) { return (update * 7 + batch * 3) % rows; }

void updates(int batches, int count, int rows, int length) {
  ExecutionSpace const space;
  std::size_t const size = std::size_t(batches) * rows * length;
  Tensor<float *> const sums("sums", size), largest("largest", size);
  Tensor<int *> const products("products", size);
  Kokkos::deep_copy(products, 1);
  for_updates(
      "test::for_updates", space, batches, count, length, KOKKOS_LAMBDA(int batch, int update, Span columns) {
        int const row = batch * rows + placeOf(batch, update, rows);
        for (int i = columns.begin; i < columns.end; ++i) {
          float const value = float(update) - .25f * i;
          add_to(sums(row * length + i), value);
          change_element(largest(row * length + i),
                         [&](float before) { return update == 5 && i == 0 ? float(NAN) : maximum(before, value); });
          change_element(products(row * length + i), [&](int before) { return before * (update % 2 ? 1 : -2) % 97; });
        }
      });
  space.fence();
  std::vector<double> added(size), most(size), multiplied(size, 1);
  for (int batch = 0; batch < batches; ++batch)
    for (int update = 0; update < count; ++update)
      for (int i = 0; i < length; ++i) {
        std::size_t const at = (std::size_t(batch) * rows + placeOf(batch, update, rows)) * length + i;
        double const value = update - .25 * i;
        added[at] += value;
        most[at] = (update == 5 && i == 0) || std::isnan(most[at]) ? NAN : std::max(most[at], value);
        multiplied[at] = int(multiplied[at]) * (update % 2 ? 1 : -2) % 97;
      }
  std::string const name = "for_updates " + std::to_string(batches) + "x" + std::to_string(count) + "x" +
                           std::to_string(rows) + "x" + std::to_string(length);
  check::compare(name + " add_to", check::get(sums), added);
  check::compare(name + " change_element", check::get(largest), most);
  check::compare(name + " of integers", check::get(products), multiplied);
}

/// Positions of a grid that meet in a row, by one thread or by several.
void atomicUpdates(int height, int width, int rows) {
  ExecutionSpace const space;
  Tensor<double *> const sums("sums", rows), largest("largest", rows);
  Tensor<int *> const counts("counts", rows);
  auto const body = KOKKOS_LAMBDA(int i, int j, bool alone) {
    int const row = placeOf(i, j, rows);
    add_atomically(alone, sums(row), i - .25 * j);
    add_atomically(alone, counts(row), 1 << 30);
    change_atomically(alone, largest(row), [&](double before) { return maximum(before, .5 * i + j); });
  };
  for_atomic_updates("test::for_atomic_updates", space, Span{1, height}, Span{0, width}, rows, body);
  for_each("test::for_each", space, height - 1, width, KOKKOS_LAMBDA(int i, int j) { body(i + 1, j, false); });
  space.fence();
  std::vector<double> added(rows), most(rows), counted(rows);
  for (int i = 1; i < height; ++i)
    for (int j = 0; j < width; ++j) {
      int const row = placeOf(i, j, rows);
      added[row] += 2 * (i - .25 * j);
      counted[row] = int(unsigned(int(counted[row])) + (1u << 31));
      most[row] = std::max(most[row], .5 * i + j);
    }
  std::string const name = "for_atomic_updates " + std::to_string(height) + "x" + std::to_string(width);
  check::compare(name + " add_atomically", check::get(sums), added);
  check::compare(name + " change_atomically", check::get(largest), most);
  check::compare(name + " of integers", check::get(counts), counted);
}

/// Two arrays of sums, one behind the other, to which threads and teams add their own.
void ownSums(int length, int columns = 1) {
  constexpr int bins = 37;
  ExecutionSpace const space;
  Tensor<float *> const first("first", bins), second("second", bins);
  Kokkos::deep_copy(second, 2.f);
  for_own_sums<float, 2 * bins>(
      "test::for_own_sums", space, Span{3, 3 + length}, Span{0, columns},
      KOKKOS_LAMBDA(int row, int column, float *own, bool alone) {
        int const i = 3 + (row - 3) * columns + column;
        add_atomically(alone, own[placeOf(1, i, bins)], 1.f);
        if (i % 3 == 0)
          add_atomically(alone, own[bins + placeOf(2, i, bins)], -.5f * (i % 5));
      },
      KOKKOS_LAMBDA(int k, float sum, bool alone) {
        if (k < bins)
          add_atomically(alone, first(k), sum);
        else
          add_atomically(alone, second(k - bins), sum);
      });
  space.fence();
  std::vector<double> one(bins), two(bins, 2);
  for (int i = 3; i < 3 + length * columns; ++i) {
    one[placeOf(1, i, bins)] += 1;
    two[placeOf(2, i, bins)] -= i % 3 == 0 ? .5 * (i % 5) : 0;
  }
  check::compare("for_own_sums " + std::to_string(length), check::get(first), one);
  check::compare("for_own_sums of the second array " + std::to_string(length), check::get(second), two);
}

/// An array of sums, which threads may have as their own.
template <class Sum> void arraySums(int elements, int length, int columns) {
  ExecutionSpace const space;
  Tensor<Sum *> const sums("sums", elements);
  Kokkos::deep_copy(sums, Sum(2));
  for_array_sums(
      "test::for_array_sums", space, Span{3, 3 + length}, Span{1, 1 + columns}, sums.data(), elements,
      KOKKOS_LAMBDA(int row, int column, Sum *all, bool alone) {
        int const i = (row - 3) * columns + column - 1;
        add_atomically(alone, all[placeOf(1, i, elements)], i % 7 - 2);
      });
  space.fence();
  std::vector<double> expected(elements, 2);
  for (int i = 0; i < length * columns; ++i)
    expected[placeOf(1, i, elements)] += i % 7 - 2;
  check::compare("for_array_sums of " + std::to_string(length) + "x" + std::to_string(columns) + " into " +
                     std::to_string(elements),
                 check::get(sums), expected);
}

void spans(int rows, int length) {
  ExecutionSpace const space;
  Tensor<float *> const out("out", std::size_t(rows) * length);
  for_spans(
      "test::for_spans", space, rows, length, KOKKOS_LAMBDA(int row, Span columns) {
        int const other = checked_index(-1 - row, rows);
        for (int i = columns.begin; i < columns.end; ++i)
          out(row * length + i) += 1 + other + .5f * i;
      });
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < length; ++i)
      expected.push_back(rows - row + .5 * i);
  check::compare("for_spans " + std::to_string(rows) + "x" + std::to_string(length), check::get(out), expected);
  for_each(
      "test::for_each", space, rows, length,
      KOKKOS_LAMBDA(int row, int i) { out(row * length + i) -= rows - row + .5f * i; });
  space.fence();
  check::compare("for_each " + std::to_string(rows) + "x" + std::to_string(length), check::get(out),
                 std::vector<double>(expected.size(), 0.));
}
} // namespace

void testUpdates() {
  updates(1, 1000, 50, 32);
  updates(3, 40, 7, 1);
  updates(2, 100, 9, 131);
  updates(1, 0, 5, 8);
  updates(0, 3, 5, 8);
  for (int const length : {0, 1, 100, 20000})
    ownSums(length);
  ownSums(50, 70);
  for (int const elements : {1, 50, 1024, 1025, 30000})
    for (int const length : {0, 1, 3000, 100000}) {
      arraySums<int>(elements, length, 1);
      arraySums<double>(elements, length / 9, 9);
    }
  atomicUpdates(40, 30, 7);
  atomicUpdates(9, 1, 20000);
  for (int const rows : {0, 1, 7})
    for (int const length : {0, 1, 64, 4096, 4097, 9000})
      spans(rows, length);
}
