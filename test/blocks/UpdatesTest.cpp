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
  for (int const rows : {0, 1, 7})
    for (int const length : {0, 1, 64, 4096, 4097, 9000})
      spans(rows, length);
}
