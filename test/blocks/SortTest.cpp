//===- SortTest.cpp - sort_rows, sort_slices ----------------------------------------------------------------------===//

#include "Check.h"

#include <cstdint>
#include <numeric>

using namespace blocks;

namespace {
enum class Values { Few, Many, Rising, Falling };

/// Elements of which many are equal, some are 0 and -0 and every seventh is not a number, or other rows.
template <class T> std::vector<T> rowsOf(int rows, int length, Values values) {
  auto const numbers = check::numbers<double>(std::size_t(rows) * length, 5);
  std::vector<T> result(numbers.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    double const x = values == Values::Few ? std::floor(9 * numbers[i]) : numbers[i] * 100;
    if (values == Values::Rising || values == Values::Falling)
      result[i] = T((values == Values::Rising ? i % length : length - i % length) / (sizeof(T) < 4 ? 512 : 1));
    else
      result[i] = T(x);
    if constexpr (std::is_floating_point_v<T>)
      if (values == Values::Few || values == Values::Many)
        result[i] = i % 7 == 3 ? T(NAN) : i % 7 == 5 ? T(-0.) : result[i];
  }
  return result;
}

template <class T> bool isBefore(T a, T b, bool descending) {
  if (a != a || b != b)
    return a == a && b != b;
  return descending ? a > b : a < b;
}

template <class Order> void sorted(int rows, int length, int count, Values values) {
  using T = typename Order::Scalar;
  bool const descending = std::is_same_v<Order, Descending<T>>;
  std::string const name =
      "sort " + std::to_string(count) + " of " + std::to_string(rows) + "x" + std::to_string(length);
  auto const numbers = rowsOf<T>(rows, length, values);
  ExecutionSpace const space;
  Tensor<T **> const in("in", rows, length), out("out", rows, count);
  Tensor<std::int64_t **> const at("at", rows, count);
  Tensor<std::int64_t *> const room("room", (sizeof(T) > 4 ? 4 : 2) * rows * length);
  check::put(in, numbers);
  sort_rows<Order>(
      "test::sort", space, rows, length, count, room, KOKKOS_LAMBDA(int row, int i)->T { return in(row, i); },
      KOKKOS_LAMBDA(int row, int place, int i) {
        out(row, place) = in(row, i);
        at(row, place) = i;
      });
  space.fence();
  std::vector<double> expected, places;
  for (int row = 0; row < rows; ++row) {
    T const *const line = &numbers[std::size_t(row) * length];
    std::vector<int> order(length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return isBefore(line[a], line[b], descending); });
    for (int place = 0; place < count; ++place) {
      expected.push_back(double(line[order[place]]));
      places.push_back(order[place]);
    }
  }
  check::compare(name, check::get(out), expected);
  check::compare(name + " (positions)", check::get(at), places);
}

/// Slices of few different elements, so that equal ones and long equal beginnings occur
template <class Order> void slices(int count, int length) {
  using T = typename Order::Scalar;
  bool const descending = std::is_same_v<Order, Descending<T>>;
  auto numbers = rowsOf<T>(count, length, Values::Few);
  for (T &x : numbers)
    x = x == x ? T(std::floor(double(x) / 3)) : x;
  ExecutionSpace const space;
  Tensor<T **> const in("in", count, length);
  Tensor<std::int64_t *> const at("at", count);
  Tensor<std::int32_t *> const room("room", 2 * count);
  check::put(in, numbers);
  sort_slices<Order>(
      "test::slices", space, count, length, count, room, KOKKOS_LAMBDA(int i, int k)->T { return in(i, k); },
      KOKKOS_LAMBDA(int place, int i) { at(place) = i; });
  space.fence();
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  auto const isLess = [&](T a, T b) { return isBefore(a, b, descending); };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    T const *const l = &numbers[std::size_t(a) * length], *const r = &numbers[std::size_t(b) * length];
    return std::lexicographical_compare(l, l + length, r, r + length, isLess);
  });
  check::compare("slices " + std::to_string(count) + "x" + std::to_string(length), check::get(at),
                 std::vector<double>(order.begin(), order.end()));
}
template <int count> void firstOfParts(int rows, int length, int most) {
  auto values = check::numbers<float>(std::size_t(rows) * length, 7);
  for (float &x : values)
    x = std::floor(200 * x);
  ExecutionSpace const space;
  Tensor<float **> const in("in", rows, length), out("out", rows, count), firsts("firsts", rows, most * count);
  Tensor<std::int64_t **> const at("at", rows, count);
  Tensor<std::int32_t **> const places("places", rows, most * count);
  check::put(in, values);
  top_k_of_parts<float, count>(
      "test::top_k_of_parts", space, rows, length, firsts, places,
      KOKKOS_LAMBDA(int row, int i)->float { return in(row, i); }, KOKKOS_LAMBDA(float a, float b) { return a > b; },
      KOKKOS_LAMBDA(int row, int place, float value, int i) {
        out(row, place) = value;
        at(row, place) = i;
      });
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row) {
    float const *const line = &values[std::size_t(row) * length];
    std::vector<int> order(length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return line[a] > line[b]; });
    expected.insert(expected.end(), order.begin(), order.begin() + count);
  }
  check::compare("first " + std::to_string(count) + " of parts of " + std::to_string(length), check::get(at), expected);
}
} // namespace

void testSorts() {
  for (Values const values : {Values::Few, Values::Many, Values::Rising, Values::Falling}) {
    for (int const length : {1, 2, 7, 64, 65, 100, 1000, 2048, 2049})
      sorted<Descending<float>>(3, length, length, values);
    sorted<Ascending<float>>(1, 20000, 20000, values);
    sorted<Ascending<float>>(1, 20000, 9000, values);
    sorted<Descending<float>>(2, 5000, 70, values);
    sorted<Descending<double>>(1, 9001, 9001, values);
    sorted<Ascending<double>>(2, 3001, 300, values);
    sorted<Ascending<std::int64_t>>(1, 12345, 12345, values);
    sorted<Descending<std::int64_t>>(2, 3000, 1500, values);
    sorted<Descending<std::int32_t>>(2, 3000, 3000, values);
    sorted<Ascending<std::int8_t>>(2, 3000, 2000, values);
    sorted<Descending<std::int16_t>>(1, 300, 300, values);
  }
  sorted<Descending<std::uint8_t>>(2, 3000, 2000, Values::Rising);
  sorted<Ascending<std::uint64_t>>(2, 300, 200, Values::Falling);
  for (int const count : {1, 2, 33, 1000, 4097, 20000})
    slices<Ascending<float>>(count, 3);
  slices<Descending<std::int64_t>>(300, 5);
  firstOfParts<1>(1, 10007, 9);
  firstOfParts<10>(2, 20011, 19);
}
