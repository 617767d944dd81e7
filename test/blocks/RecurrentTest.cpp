//===- RecurrentTest.cpp - recurrent against plain loops ----------------------------------------------------------===//

#include "Check.h"

#include <limits>

using namespace blocks;

namespace {
/// Keeps the state small, like the activations of real layers
template <class T> KOKKOS_INLINE_FUNCTION T squash(T x) { return x / (1 + Kokkos::abs(x)); }

template <class T> std::vector<double> wide(std::vector<T> const &values) { return {values.begin(), values.end()}; }

/// next = squash(Σ gates * (gate + 1) / gates / hidden + x) + cell / 4, the cell of the step before; the cell forgets
template <class T, int Gates, int Hidden> struct Reference {
  std::vector<double> state, cell, sequence;

  Reference(int steps, int rows, std::vector<T> const &weight, std::vector<T> const &x, std::vector<T> const &first)
      : state(wide(first)), cell(state.size(), .5) {
    for (int t = 0; t < steps; ++t) {
      std::vector<double> next(state.size());
      for (int n = 0; n < rows; ++n)
        for (int j = 0; j < Hidden; ++j) {
          double total = 0;
          for (int gate = 0; gate < Gates; ++gate)
            for (int k = 0; k < Hidden; ++k)
              total += state[n * Hidden + k] * weight[(gate * Hidden + j) * Hidden + k] * (gate + 1) / Gates / Hidden;
          double &c = cell[n * Hidden + j];
          next[n * Hidden + j] = squash(total + x[(t * rows + n) * Hidden + j]) + c / 4 + state[n * Hidden + j] / 8;
          c = c / 2 + next[n * Hidden + j];
        }
      state = next;
      sequence.insert(sequence.end(), state.begin(), state.end());
    }
  }
};

/// The sums of one to four gates as next() takes them
template <class T, int Hidden> struct Next {
  Tensor<T *[Hidden]> state, cell;
  Tensor<T **[Hidden]> x, sequence;

  KOKKOS_FUNCTION T operator()(T a, int t, int n, int j) const { return finish(a, t, n, j); }
  KOKKOS_FUNCTION T operator()(T a, T b, T c, int t, int n, int j) const {
    return finish((a + 2 * b + 3 * c) / 3, t, n, j);
  }
  KOKKOS_FUNCTION T operator()(T a, T b, T c, T d, int t, int n, int j) const {
    return finish((a + 2 * b + 3 * c + 4 * d) / 4, t, n, j);
  }
  KOKKOS_FUNCTION T finish(T total, int t, int n, int j) const {
    T const next = squash(total / Hidden + x(t, n, j)) + cell(n, j) / 4 + state(n, j) / 8;
    cell(n, j) = cell(n, j) / 2 + next;
    sequence(t, n, j) = next;
    return next;
  }
};

template <class T, int Gates, int Hidden> void recurrence(int steps, int rows) {
  std::string const name = "recurrent " + std::to_string(steps) + " steps of " + std::to_string(rows) + "x" +
                           std::to_string(Hidden) + ", " + std::to_string(Gates) + " gates";
  auto const weight = check::numbers<T>(std::size_t(Gates) * Hidden * Hidden, 1);
  auto const x = check::numbers<T>(std::size_t(steps) * rows * Hidden, 2);
  auto const first = check::numbers<T>(std::size_t(rows) * Hidden, 3);
  ExecutionSpace const space;
  GateWeights<T, Gates, Hidden> packed;
  auto file = check::opened(weight);
  read_gates(file, packed);
  Next<T, Hidden> const next{{"state", std::size_t(rows)},
                             {"cell", std::size_t(rows)},
                             {"x", std::size_t(steps), std::size_t(rows)},
                             {"sequence", std::size_t(steps), std::size_t(rows)}};
  check::put(next.x, x);
  Tensor<T *[Hidden]> const start("start", std::size_t(rows));
  check::put(start, first);
  Kokkos::deep_copy(next.state, std::numeric_limits<T>::quiet_NaN()); // the block sets it
  Kokkos::deep_copy(next.cell, T(.5));
  recurrent(
      "test::recurrent", space, steps, next.state, packed, KOKKOS_LAMBDA(int n, int j) { return start(n, j); }, next);
  space.fence();
  Reference<T, Gates, Hidden> const expected(steps, rows, weight, x, first);
  check::compare(name + ": state", check::get(next.state), expected.state);
  check::compare(name + ": cell", check::get(next.cell), expected.cell);
  check::compare(name + ": sequence", check::get(next.sequence), expected.sequence);
}

template <class T, int Gates, int Hidden> void recurrences() {
  for (int const rows : {0, 1, 2, 3, 5, 8, 17})
    recurrence<T, Gates, Hidden>(6, rows);
  recurrence<T, Gates, Hidden>(0, 2);
}
} // namespace

void testRecurrent() {
  recurrences<float, 4, 64>();
  recurrences<float, 4, 5>();
  recurrences<float, 3, 33>();
  recurrences<float, 3, 96>();
  recurrences<float, 1, 1>();
  recurrences<float, 1, 40>();
  recurrences<float, 4, 1100>();
  recurrences<double, 4, 24>();
}
