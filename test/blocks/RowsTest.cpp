//===- RowsTest.cpp - for_rows, fold_rows, fold_columns, for_strips, for_each, pool and the combiners -------------===//

#include "Check.h"

#include <cstdint>
#include <numeric>

using namespace blocks;

namespace {
template <class T> void softmax(int rows, int length) {
  std::string const name = "softmax " + std::to_string(rows) + "x" + std::to_string(length);
  auto const values = check::numbers<T>(std::size_t(rows) * length, 5);
  ExecutionSpace const space;
  Tensor<T **> const in("in", rows, length);
  Tensor<T **> const out("out", rows, length);
  Tensor<T *> const mean("mean", rows);
  check::put(in, values);
  for_rows(
      "test::softmax", space, rows, length, KOKKOS_LAMBDA(int row, Row const &along) {
        T const largest = along.fold<Max>(length, [&](int i) { return in(row, i); });
        along.each(length, [&](int i) { out(row, i) = Kokkos::exp(in(row, i) - largest); });
        T const total = along.fold<Sum>(length, [&](int i) { return out(row, i); });
        along.each(length, [&](int i) { out(row, i) = out(row, i) / total; });
        along.once([&] { mean(row) = total / length; });
      });
  space.fence();
  std::vector<double> expected, means;
  for (int row = 0; row < rows; ++row) {
    double largest = -INFINITY, total = 0;
    for (int i = 0; i < length; ++i)
      largest = std::max(largest, double(values[std::size_t(row) * length + i]));
    for (int i = 0; i < length; ++i)
      total += std::exp(values[std::size_t(row) * length + i] - largest);
    for (int i = 0; i < length; ++i)
      expected.push_back(std::exp(values[std::size_t(row) * length + i] - largest) / total);
    means.push_back(total / length);
  }
  check::compare(name, check::get(out), expected);
  check::compare(name + " (mean)", check::get(mean), means);
}

/// Many equal elements, every tenth not a number; or all of them in the order that costs most.
template <class T, int Count> void firstElements(int rows, int length, bool isRising) {
  std::string const name =
      "top " + std::to_string(Count) + " of " + std::to_string(rows) + "x" + std::to_string(length);
  auto values = check::numbers<T>(std::size_t(rows) * length, 5);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = isRising ? T(i) : std::is_floating_point_v<T> && i % 10 == 3 ? T(NAN) : T(std::floor(9 * values[i]));
  ExecutionSpace const space;
  Tensor<T **> const in("in", rows, length), out("out", rows, Count);
  Tensor<std::int64_t **> const at("at", rows, Count);
  check::put(in, values);
  top_k<T, Count>(
      "test::top_k", space, rows, length, KOKKOS_LAMBDA(int row, int i)->T { return in(row, i); },
      KOKKOS_LAMBDA(T a, T b) { return a == a && !(a <= b); },
      KOKKOS_LAMBDA(int row, int place, T value, int i) {
        out(row, place) = value;
        at(row, place) = i;
      });
  space.fence();
  std::vector<double> expected, places;
  for (int row = 0; row < rows; ++row) {
    T const *const line = &values[std::size_t(row) * length];
    std::vector<int> order(length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return line[a] == line[a] && (line[b] != line[b] || line[a] > line[b]); });
    for (int place = 0; place < Count; ++place) {
      expected.push_back(double(line[order[place]]));
      places.push_back(order[place]);
    }
  }
  check::compare(name, check::get(out), expected);
  check::compare(name + " (positions)", check::get(at), places);
}

/// The result is read back; rows of another array stay as they are
template <int Length> void wideRows(int rows) {
  std::string const name = "wide rows " + std::to_string(rows) + "x" + std::to_string(Length);
  auto const values = check::numbers<float>(std::size_t(rows) * Length, 5);
  ExecutionSpace const space;
  Tensor<float **> const in("in", rows, Length), out("out", rows, Length);
  Tensor<float *> const mean("mean", rows);
  check::put(in, values);
  for_wide_rows<Length>(
      "test::wide_rows", space, rows, KOKKOS_LAMBDA(int row, WideRow<Length> const &along) {
        auto const kept = along.keep(&out(row, 0));
        float const total = along.template fold<Sum>(Length + 0, [&](int i) {
          kept(i) = in(row, i) * 2;
          return in(row, i);
        });
        along.each(Length + 0, [&](int i) { kept(i) = kept(i) - total; });
        along.each(Length + 0, [&](int i) { out(row, i) = kept(i) + in(row, i); });
        along.once([&] { mean(row) = total / Length; });
      });
  space.fence();
  std::vector<double> expected, means;
  for (int row = 0; row < rows; ++row) {
    double total = 0;
    for (int i = 0; i < Length; ++i)
      total += values[std::size_t(row) * Length + i];
    for (int i = 0; i < Length; ++i)
      expected.push_back(3 * double(values[std::size_t(row) * Length + i]) - total);
    means.push_back(total / Length);
  }
  check::compare(name, check::get(out), expected);
  check::compare(name + " (mean)", check::get(mean), means);
}

/// Every combiner over rows with and without a NaN, and of integers
template <class Join, class T> T folded(std::vector<T> const &values) {
  ExecutionSpace const space;
  int const length = int(values.size());
  Tensor<T *> const in("in", length);
  Tensor<T> const out("out");
  check::put(in, values);
  for_rows(
      "test::fold", space, 1, length, KOKKOS_LAMBDA(int, Row const &along) {
        T const result = along.fold<Join>(length, [&](int i) { return in(i); });
        along.once([&] { out() = result; });
      });
  space.fence();
  return check::get(out)[0];
}

void combiners() {
  float const nan = NAN;
  for (int const length : {1, 3, 31, 32, 70, 1500}) {
    std::string const name = "fold of " + std::to_string(length);
    auto values = check::numbers<float>(length, 9);
    float const largest = *std::max_element(values.begin(), values.end());
    float const smallest = *std::min_element(values.begin(), values.end());
    check::report(name + " Max", folded<Max>(values) == largest);
    check::report(name + " Min", folded<Min>(values) == smallest);
    values[length / 2] = values[length - 1];
    values[length - 1] = nan;
    check::report(name + " Max with NaN", std::isnan(folded<Max>(values)));
    check::report(name + " Min with NaN", std::isnan(folded<Min>(values)));
    check::report(name + " MaxNum", length == 1 || !std::isnan(folded<MaxNum>(values)));
    check::report(name + " MinNum", length == 1 || !std::isnan(folded<MinNum>(values)));
    values[length - 1] = values[0];
    values[0] = nan;
    check::report(name + " Max with NaN first", std::isnan(folded<Max>(values)));
    check::report(name + " MaxNum with NaN first", length == 1 || !std::isnan(folded<MaxNum>(values)));
    std::vector<int> integers(length, -7);
    integers[length - 1] = 5;
    check::report(name + " Max of int", folded<Max>(integers) == 5);
    check::report(name + " Min of int", folded<Min>(integers) == (length == 1 ? 5 : -7));
    check::report(name + " Sum of int", folded<Sum>(integers) == 5 - 7 * (length - 1));
    check::report(name + " And", folded<And>(integers) == (length == 1 ? 5 : (-7 & 5)));
    check::report(name + " Or", folded<Or>(integers) == (length == 1 ? 5 : (-7 | 5)));
    check::report(name + " Xor", folded<Xor>(integers) == ((length - 1) % 2 ? -7 ^ 5 : 5));
    std::vector<double> factors(length, -1);
    factors[0] = 3;
    check::report(name + " Prod", folded<Prod>(factors) == (length % 2 ? 3 : -3));
  }
  check::report("Max of -infinity", folded<Max>(std::vector<float>(5, -INFINITY)) == -INFINITY);
  check::report("maximum", std::isnan(maximum(nan, 1.f)) && std::isnan(maximum(1.f, nan)) && maximum(2, 1) == 2);
  check::report("minimum", std::isnan(minimum(nan, 1.f)) && std::isnan(minimum(1.f, nan)) && minimum(2, 1) == 1);
  check::report("Kokkos::max keeps a NaN of its first operand", std::isnan(Kokkos::max(nan, 0.f)));
}

/// Rows that a host takes eight at once, and those that are left over; a factor for each column is shared by all rows
template <class Join, class T> void foldRows(std::string const &join, int rows, int length) {
  auto const values = check::numbers<T>(std::size_t(rows) * length, 4), factors = check::numbers<T>(length, 6);
  ExecutionSpace const space;
  Tensor<T **> const in("in", rows, length);
  Tensor<T *> const factor("factor", length), out("out", rows);
  check::put(in, values);
  check::put(factor, factors);
  fold_rows<Join>(
      "test::fold_rows", space, rows, length, KOKKOS_LAMBDA(int row, int i) { return in(row, i) * factor(i); },
      KOKKOS_LAMBDA(T folded, int row) { out(row) = folded + row; });
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row) {
    double folded = Join::template neutral<T>();
    for (int i = 0; i < length; ++i)
      folded = Join::template join<double>(folded, values[std::size_t(row) * length + i] * factors[i]);
    expected.push_back(folded + row);
  }
  check::compare("fold_rows " + join + " " + std::to_string(rows) + "x" + std::to_string(length), check::get(out),
                 expected);
}

/// Strips that are full and the one that is not, terms that are left over, matrices one behind the other
template <class Join, class T> void foldColumns(std::string const &join, int rows, int columns, int length) {
  auto const values = check::numbers<T>(std::size_t(rows) * length * columns, 4),
             factors = check::numbers<T>(length, 6);
  ExecutionSpace const space;
  Tensor<T ***> const in("in", rows, length, columns);
  Tensor<T *> const factor("factor", length);
  Tensor<T **> const out("out", rows, columns);
  check::put(in, values);
  check::put(factor, factors);
  auto const term = KOKKOS_LAMBDA(int row, int k, int column) { return in(row, k, column) * factor(k); };
  auto const finish = KOKKOS_LAMBDA(T folded, int row, int column) { out(row, column) = folded + row - column; };
  bool const isPair = rows == 2 && columns == 5, isOne = rows == 1 && columns == 1;
  if (isPair)
    fold_few_columns<Join, 2, 5>("test::fold_few_columns", space, length, term, finish);
  else if (isOne)
    fold_few_columns<Join, 1, 1>("test::fold_few_columns", space, length, term, finish);
  else
    fold_columns<Join>("test::fold_columns", space, rows, columns, length, term, finish);
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      double folded = Join::template neutral<T>();
      for (int k = 0; k < length; ++k)
        folded = Join::template join<double>(folded,
                                             values[(std::size_t(row) * length + k) * columns + column] * factors[k]);
      expected.push_back(folded + row - column);
    }
  check::compare((isPair || isOne ? "fold_few_columns " : "fold_columns ") + join + " " + std::to_string(rows) + "x" +
                     std::to_string(length) + "x" + std::to_string(columns),
                 check::get(out), expected);
}

/// Down the columns of several matrices: running sums, of which each third is kept and added on the way back.
template <class T, int most> void strips(int rows, int columns, int length) {
  constexpr int kept = 3;
  auto const values = check::numbers<T>(std::size_t(rows) * length * columns, 5);
  ExecutionSpace const space;
  Tensor<T ***> const in("in", rows, length, columns), out("out", rows, length, columns);
  check::put(in, values);
  for_strips<most>(
      "test::strips", space, Span{0, rows}, Span{1, columns}, KOKKOS_LAMBDA(int row, Strip<most> const &strip) {
        typename Strip<most>::template Of<T> sum(strip);
        typename Strip<most>::template Of<T, kept, 2> last(strip);
        for_columns(strip, [&](int i) {
          sum(i) = T(row);
          for (int k = 0; k < kept; ++k)
            last(i, k, 0) = last(i, k, 1) = T(i);
        });
        for (int k = 0; k < length; ++k)
          for_columns(strip, [&](int i) {
            sum(i) += in(row, k, i);
            last(i, k % kept, k % 2) = sum(i);
          });
        for (int k = length - 1; k >= 0; --k)
          for_columns(strip,
                      [&](int i) { out(row, k, i) = last(i, k % kept, 0) - last(i, k % kept, 1) + in(row, k, i - 1); });
      });
  for_strips<most>(
      "test::first", space, Span{0, columns}, KOKKOS_LAMBDA(Strip<most> const &strip) {
        for (int row = 0; row < rows; ++row)
          for_columns(strip, [&](int i) {
            if (i == 0 && length > 0)
              out(row, 0, i) = 7;
          });
      });
  space.fence();
  std::vector<double> expected(values.size());
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < columns; ++i) {
      double sum = row, last[kept][2];
      for (auto &pair : last)
        pair[0] = pair[1] = i;
      auto const at = [&](int k, int column) { return (std::size_t(row) * length + k) * columns + column; };
      for (int k = 0; k < length; ++k)
        last[k % kept][k % 2] = sum += values[at(k, i)];
      for (int k = length - 1; k >= 0; --k)
        expected[at(k, i)] = i ? last[k % kept][0] - last[k % kept][1] + values[at(k, i - 1)] : k ? 0 : 7;
    }
  check::compare("for_strips " + std::to_string(rows) + "x" + std::to_string(length) + "x" + std::to_string(columns),
                 check::get(out), expected);
}

/// A x of a sparse matrix: lengths(row) entries in each row, in the way of rows and in that of entries.
/// No template: nvcc takes no kernel of one that a local type made.
void sparseProduct(std::string const &name, int rows, int (*lengths)(int row)) {
  constexpr int width = 1000;
  std::vector<int> begins{0}, places;
  for (int row = 0; row < rows; ++row) {
    begins.push_back(begins.back() + lengths(row));
    for (int entry = begins[row]; entry < begins[row + 1]; ++entry)
      places.push_back((entry * 37 + row) % width);
  }
  int const entries = begins.back();
  auto const numbers = check::numbers<double>(entries, 3), factors = check::numbers<double>(width, 4);
  ExecutionSpace const space;
  Tensor<int *> const positions("positions", rows + 1), columns("columns", entries);
  Tensor<double *> const values("values", entries), x("x", width), y("y", rows), z("z", rows);
  check::put(positions, begins);
  check::put(columns, places);
  check::put(values, numbers);
  check::put(x, factors);
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int entry = begins[row]; entry < begins[row + 1]; ++entry)
      sum += numbers[entry] * factors[places[entry]];
    expected.push_back(sum);
  }
  for_stored_rows(
      "test::stored", space, rows, entries, positions, KOKKOS_LAMBDA(int row, StoredRow const &along) {
        double const sum = along.fold<Sum>([&](int entry) { return values(entry) * x(columns(entry)); });
        along.once([&] { y(row) = sum; });
      });
  for_streamed_rows(
      "test::streamed", space, rows, entries, positions, KOKKOS_LAMBDA(int row, StoredRow const &along) {
        double const sum = along.fold<Sum>([&](int entry) { return values(entry) * x(columns(entry)); });
        along.once([&] { z(row) = sum; });
      });
  space.fence();
  check::compare("for_stored_rows " + name, check::get(y), expected);
  check::compare("for_streamed_rows " + name, check::get(z), expected);
}

template <class Window, class Join, class In, class Out> void pooling(std::string const &name, int images, bool mean) {
  auto const values = check::numbers<float>(std::size_t(images) * In::height * In::width * In::channels, 3);
  ExecutionSpace const space;
  auto const in = check::activation<In>(images, values);
  Out const out{{"out", std::size_t(images)}};
  pool<Window, Join>(
      "test::pool", space, in, out, KOKKOS_LAMBDA(float joined, int taps, Pixel at, int c) {
        return (mean ? joined / taps : joined) + .01f * at.n + .02f * at.p + .03f * at.q + .04f * c;
      });
  space.fence();
  std::vector<double> expected;
  for (int n = 0; n < images; ++n)
    for (int p = 0; p < Out::height; ++p)
      for (int q = 0; q < Out::width; ++q)
        for (int c = 0; c < Out::channels; ++c) {
          double joined = Join::template neutral<double>();
          int taps = 0;
          for (int r = 0; r < Window::kernel_rows; ++r)
            for (int s = 0; s < Window::kernel_columns; ++s) {
              int const h = Window::row(p) + r * Window::dilation_rows;
              int const w = Window::column(q) + s * Window::dilation_columns;
              if (h < 0 || w < 0 || h >= In::height || w >= In::width)
                continue;
              ++taps;
              joined = Join::template join<double>(
                  joined, values[((std::size_t(n) * In::height + h) * In::width + w) * In::channels + c]);
            }
          expected.push_back((mean ? joined / taps : joined) + .01 * n + .02 * p + .03 * q + .04 * c);
        }
  check::compare("pool " + name, check::pixels("pool " + name, out), expected);
}

void elementwise(int rows, int length) {
  ExecutionSpace const space;
  Tensor<float **> const out("out", rows, length);
  for (int repeat = 0; repeat < 2; ++repeat)
    for_each(
        "test::for_each", space, rows, length, KOKKOS_LAMBDA(int row, int i) { out(row, i) += 1 + row + .5f * i; });
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < length; ++i)
      expected.push_back(2 * (1 + row + .5f * i));
  check::compare("for_each " + std::to_string(rows) + "x" + std::to_string(length), check::get(out), expected);
}

void assigned(int rows, int length) {
  ExecutionSpace const space;
  auto const values = check::numbers<float>(std::size_t(rows) * length, 6);
  Tensor<float **> const x("x", rows, length);
  check::put(x, values);
  assign_each( // in place
      "test::assign_each", space, rows, length, KOKKOS_LAMBDA(int row, int i) { return x(row, i) * 2 + row + .5f * i; },
      KOKKOS_LAMBDA(int row, int i)->float & { return x(row, i); });
  space.fence();
  std::vector<double> expected;
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < length; ++i)
      expected.push_back(values[std::size_t(row) * length + i] * 2. + row + .5 * i);
  check::compare("assign_each " + std::to_string(rows) + "x" + std::to_string(length), check::get(x), expected);
}

void squares(int outer, int rows, int columns) {
  ExecutionSpace const space;
  Tensor<float ***> const out("out", outer, rows, columns);
  for (int repeat = 0; repeat < 2; ++repeat)
    for_squares(
        "test::for_squares", space, outer, rows, columns,
        KOKKOS_LAMBDA(int n, int row, int i) { out(n, row, i) += 1 + n + 10 * row + .5f * i; });
  space.fence();
  std::vector<double> expected;
  for (int n = 0; n < outer; ++n)
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < columns; ++i)
        expected.push_back(2 * (1 + n + 10 * row + .5f * i));
  check::compare("for_squares " + std::to_string(rows) + "x" + std::to_string(columns), check::get(out), expected);
}

/// From a part of a larger tensor, so that rows lie at other distances than their length
template <class T> void transposed(int outer, int rows, int columns) {
  ExecutionSpace const space;
  Tensor<T ***> const from("from", outer, columns, rows + 3), to("to", outer, rows, columns);
  auto const values = check::numbers<T>(from.size(), 8);
  check::put(from, values);
  transposed_copy(
      "test::transposed_copy", space, outer, rows, columns,
      KOKKOS_LAMBDA(int n, int i, int j)->T const & { return from(n, j, i + 3); },
      KOKKOS_LAMBDA(int n, int i, int j)->T & { return to(n, i, j); });
  space.fence();
  std::vector<double> expected;
  for (int n = 0; n < outer; ++n)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        expected.push_back(double(values[(std::size_t(n) * columns + j) * (rows + 3) + i + 3]));
  check::compare("transposed_copy " + std::to_string(rows) + "x" + std::to_string(columns), check::get(to), expected);
}
} // namespace

void testRows() {
  firstElements<float, 1>(3, 1000, false);
  firstElements<float, 10>(5, 2000, false);
  firstElements<double, 64>(2, 5000, false);
  firstElements<int, 7>(40, 7, false);
  firstElements<float, 64>(1, 20000, true);
  for (int const rows : {0, 1, 7, 16, 32, 45})
    for (int const columns : {1, 8, 64, 131}) {
      transposed<float>(2, rows, columns);
      transposed<double>(1, rows, columns);
    }
  squares(1, 32, 16);
  squares(2, 33, 47);
  squares(3, 64, 5);
  squares(1, 0, 9);
  for (int const rows : {0, 1, 2, 7, 100})
    for (int const length : {1, 10, 31, 64, 128, 1000, 1025})
      softmax<float>(rows, length);
  softmax<double>(3, 77);
  for (int const rows : {0, 1, 9}) {
    wideRows<1025>(rows);
    wideRows<4096>(rows);
    wideRows<8190>(rows);
  }
  combiners();
  for (int const rows : {0, 1, 7, 8, 41, 100})
    for (int const length : {1, 15, 64, 1001, 2501}) { // 1001: four rows at a time, 2501: eight
      foldRows<Sum, float>("sum", rows, length);
      foldRows<Max, double>("max", rows, length);
    }
  foldRows<Sum, float>("sum", 9, 0);
  for (int columns : {1, 3, 64, 100, 4097, 9000})
    for (int length : {1, 7, 12, 130}) {
      foldColumns<Sum, float>("sum", 1, columns, length);
      foldColumns<Max, double>("max", 3, columns, length);
    }
  for (int const length : {0, 1, 100, 5000}) {
    foldColumns<Sum, float>("sum", 2, 5, length);
    foldColumns<Max, double>("max", 1, 1, length);
  }
  for (int const columns : {1, 2, 17, 129, 1000})
    for (int const length : {0, 1, 50}) {
      strips<float, 64>(1, columns, length);
      strips<double, 256>(3, columns, length);
      strips<double, 16>(3, columns, length);
    }
  sparseProduct("of alike rows", 700, [](int) { return 12; });
  sparseProduct("of short rows", 900, [](int row) { return row % 5; });
  sparseProduct("of rows in wide blocks", 200, [](int) { return 40; });
  sparseProduct("with empty rows", 3000, [](int row) { return row % 3 == 0 ? 25 : 0; });
  sparseProduct("of growing rows", 400, [](int row) { return row / 12; });
  sparseProduct("with long rows", 1000, [](int row) { return row % 400 == 7 ? 2500 : row % 90 == 5 ? 300 : 3; });
  sparseProduct("of few rows", 3, [](int row) { return 10 + row; });
  sparseProduct("with nothing", 5, [](int) { return 0; });
  pooling<Square<3, 2, 1>, Max, Activation<float, 14, 14, 64, 1>, Activation<float, 7, 7, 64, 1>>("max", 2, false);
  pooling<Square<3, 2, 1>, Max, Activation<float, 13, 7, 5>, Activation<float, 7, 4, 5>>("max, no border", 3, false);
  pooling<Square<2, 2>, Max, Activation<float, 7, 7, 96>, Activation<float, 4, 4, 96>>("max, ceil", 1, false);
  pooling<Square<3, 1, 1>, Sum, Activation<float, 7, 7, 100>, Activation<float, 7, 7, 100>>("mean", 1, true);
  pooling<Square<3, 2, 1>, Max, Activation<float, 13, 57, 1>, Activation<float, 7, 29, 1, 1>>("max of planes", 5,
                                                                                              false);
  pooling<Square<3, 1, 1>, Sum, Activation<float, 20, 1100, 1>, Activation<float, 20, 1100, 1>>("mean of wide planes",
                                                                                                2, true);
  pooling<Window<2, 3, 2, 1, 1, 2, 2, 3>, Max, Activation<float, 19, 23, 1, 1>, Activation<float, 9, 21, 1>>(
      "max of planes, dilated", 3, false);
  pooling<Square<2, 3, 1>, Sum, Activation<float, 5, 4, 1>, Activation<float, 2, 2, 1>>("mean of small planes", 3,
                                                                                        true);
  pooling<Square<9>, Sum, Activation<float, 9, 9, 512>, Activation<float, 1, 1, 512>>("global", 2, true);
  pooling<Square<9>, Max, Activation<float, 9, 9, 100>, Activation<float, 1, 1, 100>>("global, 100 channels", 1, false);
  pooling<Square<9>, Sum, Activation<float, 9, 9, 5>, Activation<float, 1, 1, 5>>("global, 5 channels", 3, true);
  pooling<Square<56>, Sum, Activation<float, 56, 56, 16, 1>, Activation<float, 1, 1, 16>>("global, large", 2, true);
  pooling<Square<9, 2, 4>, Sum, Activation<float, 14, 11, 36>, Activation<float, 7, 6, 36, 1>>("mean, large", 2, true);
  pooling<Window<9, 9, 3, 3, 8, 8, 2, 2>, Max, Activation<float, 14, 11, 12>, Activation<float, 5, 4, 12>>(
      "dilated, large", 2, false);
  pooling<Window<1, 3, 1, 2, 0, 1, 1, 2>, Min, Activation<float, 1, 56, 3>, Activation<float, 1, 27, 3>>("1-d", 2,
                                                                                                         false);
  for (int const rows : {0, 1, 2, 7, 100})
    for (int const length : {0, 1, 3, 64, 5000})
      elementwise(rows, length);
  for (int const rows : {0, 1, 3})
    for (int const length : {0, 5, 1000, 1024, 3333})
      assigned(rows, length);
}
