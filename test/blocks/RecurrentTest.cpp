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

/// The sums of one to four gates, then an input, as next() takes them
template <class T, int Hidden> struct Next {
  Tensor<T *[Hidden]> state, cell;
  Tensor<T **[Hidden]> x, sequence;

  KOKKOS_FUNCTION T operator()(T a, T in, int t, int n, int j) const { return finish(a, in, t, n, j); }
  KOKKOS_FUNCTION T operator()(T a, T b, T c, T in, int t, int n, int j) const {
    return finish((a + 2 * b + 3 * c) / 3, in, t, n, j);
  }
  KOKKOS_FUNCTION T operator()(T a, T b, T c, T d, T in, int t, int n, int j) const {
    return finish((a + 2 * b + 3 * c + 4 * d) / 4, in, t, n, j);
  }
  KOKKOS_FUNCTION T finish(T total, T in, int t, int n, int j) const {
    T const next = squash(total / Hidden + in) + cell(n, j) / 4 + state(n, j) / 8;
    cell(n, j) = cell(n, j) / 2 + next;
    sequence(t, n, j) = next;
    return next;
  }
};

/// A layer with its data: what it starts from, what it computes, what that should be
template <class T, int Gates, int Hidden> struct Layer {
  std::vector<T> weight, x, first;
  GateWeights<T, Gates, Hidden> packed;
  Next<T, Hidden> next;
  Tensor<T *[Hidden]> start;

  Layer(int steps, int rows, int seed)
      : weight(check::numbers<T>(std::size_t(Gates) * Hidden * Hidden, seed)),
        x(check::numbers<T>(std::size_t(steps) * rows * Hidden, seed + 1)),
        first(check::numbers<T>(std::size_t(rows) * Hidden, seed + 2)),
        next{{"state", std::size_t(rows)},
             {"cell", std::size_t(rows)},
             {"x", std::size_t(steps), std::size_t(rows)},
             {"sequence", std::size_t(steps), std::size_t(rows)}},
        start("start", std::size_t(rows)) {
    auto file = check::opened(weight);
    read_gates(file, packed);
    check::put(next.x, x);
    check::put(start, first);
    Kokkos::deep_copy(next.state, std::numeric_limits<T>::quiet_NaN()); // the block sets it
    Kokkos::deep_copy(next.cell, T(.5));
  }

  void compare(std::string const &name, int steps, int rows) const {
    Reference<T, Gates, Hidden> const expected(steps, rows, weight, x, first);
    check::compare(name + ": state", check::get(next.state), expected.state);
    check::compare(name + ": cell", check::get(next.cell), expected.cell);
    check::compare(name + ": sequence", check::get(next.sequence), expected.sequence);
  }
};

template <class T, int Hidden> struct First {
  Tensor<T *[Hidden]> start;
  KOKKOS_FUNCTION T operator()(int n, int j) const { return start(n, j); }
};

template <class T, int Hidden> struct Taken {
  Tensor<T **[Hidden]> x;
  KOKKOS_FUNCTION T operator()(int, int t, int n, int j) const { return x(t, n, j); }
};

template <class T, int Gates, int Hidden> void recurrence(int steps, int rows) {
  std::string const name = "recurrent " + std::to_string(steps) + " steps of " + std::to_string(rows) + "x" +
                           std::to_string(Hidden) + ", " + std::to_string(Gates) + " gates";
  ExecutionSpace const space;
  Layer<T, Gates, Hidden> const one(steps, rows, 1), forward(steps, rows, 4), reverse(steps, rows, 7);
  recurrent<1>("test::recurrent", space, steps, one.next.state, one.packed, First<T, Hidden>{one.start},
               Taken<T, Hidden>{one.next.x}, one.next);
  recurrent_both<1>("test::recurrent_both", space, steps, forward.next.state, forward.packed, reverse.next.state,
                    reverse.packed, First<T, Hidden>{forward.start}, Taken<T, Hidden>{forward.next.x}, forward.next,
                    First<T, Hidden>{reverse.start}, Taken<T, Hidden>{reverse.next.x}, reverse.next);
  space.fence();
  one.compare(name, steps, rows);
  forward.compare(name + ", forward", steps, rows);
  reverse.compare(name + ", reverse", steps, rows);
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
