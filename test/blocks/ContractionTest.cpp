//===- ContractionTest.cpp - contract, contract_in_turn and batched_contract against plain loops
//------------------------------------===//

#include "Check.h"

using namespace blocks;

namespace {
template <class T> struct Slope {
  KOKKOS_FUNCTION T operator()(T sum, int row, int o) const { return sum + T(.01) * row - T(.02) * o; }
};

/// The tiles of large products, which contract() takes for such only
template <class Tile, class A, class Weight, class Out>
void largeTiles(std::string const &name, int rows, A const &a, Weight const &weight, Out const &out,
                SplitSums<float> const &split, std::vector<double> const &expected) {
  ExecutionSpace const space;
  for (int const splits : {1, 3}) {
    Kokkos::deep_copy(out, NAN);
    large_tiles<Tile>("test::large", space, Contraction<A, Weight, Out, Slope<float>>{rows, a, weight, out, {}}, splits,
                      split);
    space.fence();
    check::compare(name + " in large tiles", check::get(out), expected);
  }
}

/// Both orders of the weight in the file: [o][k] and [k][o]
template <class T, int K, int N, bool IsBfloat> void contraction(int rows) {
  using Weight = std::conditional_t<IsBfloat && on_host, BfloatPanels<N, K>, Panels<T, N, K>>;
  std::string const name = "contract " + std::to_string(rows) + "x" + std::to_string(N) + "x" + std::to_string(K) +
                           (sizeof(T) == 8 ? "d"
                            : IsBfloat     ? " bfloat16"
                                           : "");
  auto left = check::numbers<T>(std::size_t(rows) * K, 1);
  auto weight = check::numbers<T>(std::size_t(K) * N, 2); // k o
  if constexpr (IsBfloat) {
    check::makeBfloats(left);
    check::makeBfloats(weight);
  }
  ExecutionSpace const space;
  Tensor<T *[K]> const a("a", rows);
  check::put(a, left);
  SplitSums<T> const split("split", space);
  std::vector<T> transposed(weight.size());
  std::vector<double> expected(std::size_t(rows) * N);
  for (int k = 0; k < K; ++k)
    for (int o = 0; o < N; ++o)
      transposed[std::size_t(o) * K + k] = weight[std::size_t(k) * N + o];
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < N; ++o) {
      double sum = 0;
      for (int k = 0; k < K; ++k)
        sum += double(left[std::size_t(row) * K + k]) * transposed[std::size_t(o) * K + k];
      expected[std::size_t(row) * N + o] = sum + .01 * row - .02 * o;
    }
  for (bool const outputs_first : {true, false}) {
    Weight packed;
    auto file = check::opened(outputs_first ? transposed : weight);
    if (outputs_first)
      read_panels<1>(file, packed);
    else
      read_panels_kn(file, packed);
    Tensor<T *[N]> const out("out", rows);
    for (int repeat = 0; repeat < 2; ++repeat)
      contract(
          "test::contract", space, rows, a, packed, out, split,
          KOKKOS_LAMBDA(T sum, int row, int o) { return sum + T(.01) * row - T(.02) * o; });
    space.fence();
    check::compare(name, check::get(out), expected);
    // What is added of a row, looked up: the same values by way of its place
    contract_gathered(
        "test::contract_gathered", space, rows, a, packed, out, split, KOKKOS_LAMBDA(int row) { return 2 * row; },
        KOKKOS_LAMBDA(T sum, int, int o, int place) { return sum + T(.005) * place - T(.02) * o; });
    space.fence();
    check::compare(name + " gathered", check::get(out), expected);
    if constexpr (!on_host && std::is_same_v<T, float> && PackingOf<Weight>::panel == 64) {
      if (rows == 0)
        continue;
      largeTiles<LargeTile<32, 64, 32, 4, 8, 4, 3>>(name, rows, a, packed, out, split, expected);
      largeTiles<LargeTile<64, 64, 16, 8, 8, 3, 4>>(name, rows, a, packed, out, split, expected);
      largeTiles<LargeTile<128, 128, 16, 16, 8, 2, 2>>(name, rows, a, packed, out, split, expected);
    }
  }
}

/// Sums of integers of which an epilogue makes floats
template <class T, int K, int N, class Stored = T> void integers(int rows, int lowest = -255, int range = 511) {
  std::string const name = "contract " + std::to_string(rows) + "x" + std::to_string(N) + "x" + std::to_string(K) +
                           (sizeof(T) == 2 ? " integers of 16 bits from " + std::to_string(lowest) : " integers");
  std::vector<T> left(rows * K);
  std::vector<Stored> weight(K * N); // k o
  for (std::size_t i = 0; i < left.size(); ++i)
    left[i] = T(int(i * 37 % range) + lowest);
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = Stored(int(i * 61 % 255) - 127);
  ExecutionSpace const space;
  Tensor<T *[K]> const a("a", rows);
  check::put(a, left);
  std::conditional_t<sizeof(T) == 2, ShortPanels<Stored, N, K>, Panels<int, N, K>> packed;
  auto file = check::opened(weight);
  read_panels_kn(file, packed);
  SplitSums<int> const split("split", space);
  Tensor<float *[N]> const out("out", rows);
  contract(
      "test::contract", space, rows, a, packed, out, split,
      KOKKOS_LAMBDA(int sum, int row, int o) { return float(sum) * .0001f + .01f * row - .02f * o; });
  space.fence();
  std::vector<double> expected(std::size_t(rows) * N);
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < N; ++o) {
      double sum = 0;
      for (int k = 0; k < K; ++k)
        sum += double(left[std::size_t(row) * K + k]) * weight[std::size_t(k) * N + o];
      expected[std::size_t(row) * N + o] = sum * .0001 + .01 * row - .02 * o;
    }
  check::compare(name, check::get(out), expected);
}

/// Columns of Parts heads, which lie one behind the other in a cache of more rows
template <int Parts, int Columns> void inParts(int rows) {
  constexpr int depth = 40, first = 3, all = Parts * Columns;
  std::string const name = "contract_parts " + std::to_string(rows) + "x" + std::to_string(all);
  auto const left = check::numbers<float>(std::size_t(rows) * depth, 1);
  auto const weight = check::numbers<float>(std::size_t(depth) * all, 2); // k o
  ExecutionSpace const space;
  Tensor<float *[depth]> const a("a", rows);
  check::put(a, left);
  Panels<float, all, depth, Parts> packed;
  auto file = check::opened(weight);
  read_panels_kn(file, packed);
  Tensor<float ***> const cache("cache", Parts, rows + first, Columns);
  SplitSums<float> const split("split", space);
  contract_parts(
      "test::contract_parts", space, rows, a, packed, split,
      KOKKOS_LAMBDA(int row, int part)->float & { return cache(part, row + first, 0); },
      KOKKOS_LAMBDA(float sum, int row, int o) { return sum + .01f * row - .02f * o; });
  space.fence();
  std::vector<double> expected(std::size_t(rows + first) * all);
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < all; ++o) {
      double sum = .01 * row - .02 * o;
      for (int k = 0; k < depth; ++k)
        sum += double(left[std::size_t(row) * depth + k]) * weight[std::size_t(k) * all + o];
      expected[(std::size_t(o / Columns) * (rows + first) + row + first) * Columns + o % Columns] = sum;
    }
  check::compare(name, check::get(cache), expected);
}

/// Products of extents that are known: a left operand with far columns, results by reference beside guards and through
/// an epilogue that adds to what is there.
template <class T, int Rows, int OfRow, int Depth> void fixed(int batches) {
  std::string const name = "fixed " + std::to_string(batches) + "x" + std::to_string(Rows) + "x" +
                           std::to_string(OfRow) + "x" + std::to_string(Depth);
  auto const left = check::numbers<T>(std::size_t(batches) * Depth * Rows, 1); // b k m: transposed
  auto const right = check::numbers<T>(std::size_t(batches) * Depth * OfRow, 2);
  auto const before = check::numbers<T>(std::size_t(batches) * Rows * OfRow, 3);
  ExecutionSpace const space;
  Tensor<T ***> const a("a", batches, Depth, Rows), b("b", batches, Depth, OfRow);
  Tensor<T ***> const guarded("guarded", batches, Rows, OfRow + 2), added("added", batches, Rows, OfRow);
  check::put(a, left);
  check::put(b, right);
  check::put(added, before);
  batched_contract<Columns::apart, Columns::adjacent, Rows, OfRow, Depth>(
      "test::guarded", space, batches, KOKKOS_LAMBDA(int n, int i, int k) { return a(n, k, i); },
      KOKKOS_LAMBDA(int n, int k, int j)->T const & { return b(n, k, j); },
      KOKKOS_LAMBDA(int n, int i, int j)->T & { return guarded(n, i, j + 1); });
  batched_contract<Columns::apart, Columns::adjacent, Rows, OfRow, Depth>(
      "test::added", space, batches, KOKKOS_LAMBDA(int n, int i, int k) { return a(n, k, i); },
      KOKKOS_LAMBDA(int n, int k, int j)->T const & { return b(n, k, j); },
      KOKKOS_LAMBDA(T sum, int n, int i, int j) { added(n, i, j) += sum; });
  space.fence();
  std::vector<double> expected, expected_guarded;
  for (int n = 0; n < batches; ++n)
    for (int i = 0; i < Rows; ++i)
      for (int j = -1; j <= OfRow; ++j) {
        double sum = 0;
        for (int k = 0; k < Depth && j >= 0 && j < OfRow; ++k)
          sum +=
              double(left[(std::size_t(n) * Depth + k) * Rows + i]) * right[(std::size_t(n) * Depth + k) * OfRow + j];
        expected_guarded.push_back(sum);
        if (j >= 0 && j < OfRow)
          expected.push_back(sum + before[(std::size_t(n) * Rows + i) * OfRow + j]);
      }
  check::compare(name + " by reference", check::get(guarded), expected_guarded);
  check::compare(name + " added", check::get(added), expected);
}

/// Few results of many terms, which the threads of a team share: out += a^T b
template <class T> void byTeams(int batches, int rows, int columns, int depth) {
  if constexpr (!on_host) {
    std::string const name = "batched_by_teams " + std::to_string(batches) + "x" + std::to_string(rows) + "x" +
                             std::to_string(columns) + "x" + std::to_string(depth);
    auto const left = check::numbers<T>(std::size_t(batches) * depth * rows, 1); // b k m
    auto const right = check::numbers<T>(std::size_t(batches) * depth * columns, 2);
    auto const before = check::numbers<T>(std::size_t(batches) * rows * columns, 3);
    ExecutionSpace const space;
    Tensor<T ***> const a("a", batches, depth, rows), b("b", batches, depth, columns),
        out("out", batches, rows, columns);
    check::put(a, left);
    check::put(b, right);
    check::put(out, before);
    batched_by_teams(
        "test::by_teams", space, batches, rows, columns, depth,
        KOKKOS_LAMBDA(int n, int i, int k) { return a(n, k, i); },
        KOKKOS_LAMBDA(int n, int k, int j)->T const & { return b(n, k, j); },
        KOKKOS_LAMBDA(T sum, int n, int i, int j) { out(n, i, j) += sum; });
    space.fence();
    std::vector<double> expected;
    for (int n = 0; n < batches; ++n)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) {
          double sum = before[expected.size()];
          for (int k = 0; k < depth; ++k)
            sum += double(left[(std::size_t(n) * depth + k) * rows + i]) *
                   right[(std::size_t(n) * depth + k) * columns + j];
          expected.push_back(sum);
        }
    check::compare(name, check::get(out), expected);
  }
}

/// scores = q * k^T, then out = scores * v with the heads of v side by side
template <class T> void batched(int batches, int rows, int columns, int depth) {
  std::string const name = "batched_contract " + std::to_string(batches) + "x" + std::to_string(rows) + "x" +
                           std::to_string(columns) + "x" + std::to_string(depth);
  auto const left = check::numbers<T>(std::size_t(batches) * rows * depth, 1);     // b m k
  auto const right = check::numbers<T>(std::size_t(batches) * columns * depth, 2); // b n k: transposed
  ExecutionSpace const space;
  Tensor<T ***> const a("a", batches, rows, depth);
  Tensor<T ***> const b("b", batches, columns, depth);
  Tensor<T ***> const out("out", batches, rows, columns);
  Tensor<T ***> const flipped("flipped", batches, columns, rows), turned("turned", batches, columns, rows);
  Tensor<T ***> const squares("squares", batches, depth, depth), thirds("thirds", batches, rows, depth);
  Tensor<T ***> const fourths("fourths", batches, rows, depth + 2), unscaled("unscaled", batches, rows, columns);
  check::put(a, left);
  check::put(b, right);
  batched_contract<Columns::adjacent, Columns::apart>(
      "test::scores", space, batches, rows, columns, depth,
      KOKKOS_LAMBDA(int n, int i, int k)->T const & { return a(n, i, k); },
      KOKKOS_LAMBDA(int n, int k, int j) { return b(n, j, k); },
      KOKKOS_LAMBDA(T sum, int n, int i, int j) { out(n, i, j) = sum + T(.01) * n; });
  // Neither operand in place
  batched_contract<Columns::apart, Columns::apart>(
      "test::flipped", space, batches, columns, rows, depth, KOKKOS_LAMBDA(int n, int j, int k) { return b(n, j, k); },
      KOKKOS_LAMBDA(int n, int k, int i) { return a(n, i, k); },
      KOKKOS_LAMBDA(T sum, int n, int j, int i) { flipped(n, j, i) = sum + T(.01) * n; });
  // a^T * a: rows of the left operand far apart, the right one in place
  batched_contract<Columns::apart, Columns::adjacent>(
      "test::squares", space, batches, depth, depth, rows, KOKKOS_LAMBDA(int n, int j, int i) { return a(n, i, j); },
      KOKKOS_LAMBDA(int n, int i, int k)->T const & { return a(n, i, k); },
      KOKKOS_LAMBDA(T sum, int n, int j, int k) { squares(n, j, k) = sum; });
  // a * (a^T * a): both in place
  batched_contract<Columns::adjacent, Columns::adjacent>(
      "test::thirds", space, batches, rows, depth, depth,
      KOKKOS_LAMBDA(int n, int i, int k)->T const & { return a(n, i, k); },
      KOKKOS_LAMBDA(int n, int k, int j)->T const & { return squares(n, k, j); },
      KOKKOS_LAMBDA(T sum, int n, int i, int j) { thirds(n, i, j) = sum; });
  // The same with results by reference, beside guards
  batched_contract<Columns::adjacent, Columns::adjacent>(
      "test::fourths", space, batches, rows, depth, depth,
      KOKKOS_LAMBDA(int n, int i, int k)->T const & { return a(n, i, k); },
      KOKKOS_LAMBDA(int n, int k, int j)->T const & { return squares(n, k, j); },
      KOKKOS_LAMBDA(int n, int i, int j)->T & { return fourths(n, i, j + 1); });
  batched_contract<Columns::adjacent, Columns::apart>(
      "test::unscaled", space, batches, rows, columns, depth,
      KOKKOS_LAMBDA(int n, int i, int k)->T const & { return a(n, i, k); },
      KOKKOS_LAMBDA(int n, int k, int j) { return b(n, j, k); },
      KOKKOS_LAMBDA(int n, int i, int j)->T & { return unscaled(n, i, j); });
  batched_contract<Columns::apart, Columns::apart>(
      "test::turned", space, batches, columns, rows, depth, KOKKOS_LAMBDA(int n, int j, int k) { return b(n, j, k); },
      KOKKOS_LAMBDA(int n, int k, int i) { return a(n, i, k); },
      KOKKOS_LAMBDA(int n, int j, int i)->T & { return turned(n, j, i); });
  space.fence();
  std::vector<double> expected;
  std::vector<double> expected_flipped(left.empty() && depth ? 0 : std::size_t(batches) * rows * columns);
  expected_flipped.resize(std::size_t(batches) * rows * columns);
  for (int n = 0; n < batches; ++n)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        double sum = .01 * n;
        for (int k = 0; k < depth; ++k)
          sum +=
              double(left[(std::size_t(n) * rows + i) * depth + k]) * right[(std::size_t(n) * columns + j) * depth + k];
        expected.push_back(sum);
        expected_flipped[(std::size_t(n) * columns + j) * rows + i] = sum;
      }
  check::compare(name, check::get(out), expected);
  check::compare(name + " flipped", check::get(flipped), expected_flipped);
  auto const at = [&](int n, int i, int k) { return double(left[(std::size_t(n) * rows + i) * depth + k]); };
  std::vector<double> expected_squares, expected_thirds;
  for (int n = 0; n < batches; ++n)
    for (int j = 0; j < depth; ++j)
      for (int k = 0; k < depth; ++k) {
        double sum = 0;
        for (int i = 0; i < rows; ++i)
          sum += at(n, i, j) * at(n, i, k);
        expected_squares.push_back(sum);
      }
  for (int n = 0; n < batches; ++n)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < depth; ++j) {
        double sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += at(n, i, k) * expected_squares[(std::size_t(n) * depth + k) * depth + j];
        expected_thirds.push_back(sum);
      }
  check::compare(name + " squares", check::get(squares), expected_squares);
  check::compare(name + " thirds", check::get(thirds), expected_thirds);
  std::vector<double> expected_fourths(std::size_t(batches) * rows * (depth + 2)); // zeros on both sides of every row
  for (std::size_t i = 0; i < expected_thirds.size(); ++i)
    expected_fourths[i / depth * (depth + 2) + i % depth + 1] = expected_thirds[i];
  check::compare(name + " by reference", check::get(fourths), expected_fourths);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::vector<double> *values : {&expected, &expected_flipped})
      (*values)[i] -= .01 * double(i / (std::size_t(rows) * columns));
  check::compare(name + " unscaled", check::get(unscaled), expected);
  check::compare(name + " turned", check::get(turned), expected_flipped);
}

/// weight(k, o), packed, and as it is
template <int N, int K> Panels<float, N, K> packedWeight(int seed, std::vector<float> &weight) {
  weight = check::numbers<float>(std::size_t(K) * N, seed);
  Panels<float, N, K> packed;
  auto file = check::opened(weight);
  read_panels_kn(file, packed);
  return packed;
}

/// max(in * weight + .01 o, 0)
std::vector<double> activated(std::vector<double> const &in, std::vector<float> const &weight, int depth) {
  int const rows = int(in.size()) / depth, columns = int(weight.size()) / depth;
  std::vector<double> out(std::size_t(rows) * columns);
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < columns; ++o) {
      double sum = .01 * o;
      for (int k = 0; k < depth; ++k)
        sum += in[std::size_t(row) * depth + k] * weight[std::size_t(k) * columns + o];
      out[std::size_t(row) * columns + o] = std::max(sum, 0.);
    }
  return out;
}

/// Three products, the last without an epilogue
template <int K, int First, int Second, int N> void inTurn(int rows) {
  std::string const name = "contract_in_turn " + std::to_string(rows) + "x" + std::to_string(K) + "x" +
                           std::to_string(First) + "x" + std::to_string(Second) + "x" + std::to_string(N);
  ExecutionSpace const space;
  auto const in = check::numbers<float>(std::size_t(rows) * K, 1);
  std::vector<float> weights[3];
  auto const first = packedWeight<First, K>(2, weights[0]);
  auto const second = packedWeight<Second, First>(3, weights[1]);
  auto const last = packedWeight<N, Second>(4, weights[2]);
  Tensor<float *[K]> const x("x", rows);
  check::put(x, in);
  Tensor<float *[First]> const a("a", rows);
  Tensor<float *[Second]> const b("b", rows);
  Tensor<float *[N]> const y("y", rows);
  Kokkos::deep_copy(y, NAN);
  SplitSums<float> const split("split", space);
  contract_in_turn(
      "test::in_turn", space, rows, split,
      std::tuple(Linear{"test::a", x, first, a}, Linear{"test::b", a, second, b}, Linear{"test::y", b, last, y}),
      KOKKOS_LAMBDA(float sum, int, int o) { return Kokkos::max(sum + .01f * o, 0.f); },
      KOKKOS_LAMBDA(float sum, int, int o) { return Kokkos::max(sum + .01f * o, 0.f); });
  space.fence();
  auto const hidden = activated(activated(std::vector<double>(in.begin(), in.end()), weights[0], K), weights[1], First);
  std::vector<double> expected(std::size_t(rows) * N);
  for (int row = 0; row < rows; ++row)
    for (int o = 0; o < N; ++o)
      for (int k = 0; k < Second; ++k)
        expected[std::size_t(row) * N + o] +=
            hidden[std::size_t(row) * Second + k] * weights[2][std::size_t(k) * N + o];
  check::compare(name, check::get(y), expected);
}

template <class T, int K, int N, bool IsBfloat = false> void contractions() {
  for (int const rows : {0, 1, 2, 3, 5, 7, 13, 50, 100})
    contraction<T, K, N, IsBfloat>(rows);
}
} // namespace

void testContractions() {
  contractions<float, 1, 1>();
  contractions<float, 5, 3>();
  contractions<float, 24, 5>();
  contractions<float, 96, 24>();
  contractions<float, 512, 96>();
  contractions<float, 17, 1000>();
  contractions<float, 1024, 256>();
  contractions<float, 1, 5, true>();
  contractions<float, 17, 40, true>();
  contractions<float, 1024, 256, true>();
  contractions<double, 24, 40>();
  contractions<double, 40, 64>();
  contractions<double, 300, 10>();
  for (int const rows : {1, 5, 64}) {
    integers<int, 300, 70>(rows);
    integers<int, 512, 256>(rows);
    integers<std::int16_t, 300, 70>(rows);
    integers<std::int16_t, 301, 71>(rows); // pairs are copied
    integers<std::int16_t, 512, 256>(rows);
    integers<std::int16_t, 1, 1>(rows);
    integers<std::int16_t, 301, 71, std::int8_t>(rows);
    integers<std::int16_t, 512, 256, std::int8_t>(rows);
    integers<std::int16_t, 512, 256, std::int8_t>(rows, 0, 256);
    integers<std::int16_t, 64, 17, std::int8_t>(rows, -128, 256);
    integers<std::int16_t, 200, 33, std::int8_t>(rows, -32768, 65536);
  }
  for (int const rows : {1, 2, 9, 50}) {
    inParts<4, 64>(rows);
    inParts<3, 16>(rows);
  }
  for (int const rows : {0, 1, 5, 33, 100}) {
    inTurn<91, 100, 100, 11>(rows);
    inTurn<5, 64, 3, 72>(rows);
    inTurn<72, 1, 100, 10>(rows);
  }
  batched<float>(12, 128, 128, 64);
  batched<float>(2, 64, 64, 300);
  batched<float>(3, 7, 13, 5);
  batched<float>(1, 1, 1, 1);
  batched<float>(2, 50, 17, 513);
  batched<float>(2, 5, 3, 0);
  batched<float>(0, 5, 3, 4);
  batched<double>(2, 33, 65, 24);
  // By copies of panels: whole ones, and columns that fill a half or more of one
  batched<float>(1, 77, 515, 333);
  batched<float>(2, 101, 97, 200);
  batched<float>(1, 18, 1100, 257);
  batched<double>(1, 33, 200, 129);
  batched<double>(1, 600, 70, 260);
  byTeams<float>(1, 5, 7, 2000);
  byTeams<double>(2, 3, 8, 777);
  byTeams<double>(1, 1, 1, 3);
  fixed<float, 4, 4, 4>(7);
  fixed<float, 8, 8, 8>(3);
  fixed<float, 17, 29, 13>(3);
  fixed<float, 1, 1, 1>(5);
  fixed<float, 24, 24, 24>(2);
  fixed<float, 5, 64, 64>(2);
  fixed<float, 3, 20, 6>(2); // vectors of 16 and 4 with AVX-512
  fixed<float, 7, 37, 9>(2);
  fixed<float, 9, 12, 12>(2);
  fixed<double, 5, 12, 8>(2);
  fixed<float, 64, 63, 7>(2);
  fixed<float, 3, 2, 40>(2);
  fixed<float, 2, 3, 5>(0);
  fixed<double, 9, 33, 48>(2);
  fixed<double, 8, 3, 2>(4);
}
