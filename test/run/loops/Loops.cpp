// The values of the loop programs in programs.mlir and spmv.mlir against the same loops written by hand.
#include "axpy.hpp"
#include "both.hpp"
#include "cg.hpp"
#include "cube.hpp"
#include "descent.hpp"
#include "dot.hpp"
#include "flat.hpp"
#include "heat.hpp"
#include "integers.hpp"
#include "matmul.hpp"
#include "pcg_loops.hpp"
#include "pcg_memrefs.hpp"
#include "pcg_tensors.hpp"
#include "product.hpp"
#include "slices.hpp"
#include "solve.hpp"
#include "solve_sparse.hpp"
#include "spmv.hpp"
#include "swap.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static int failures = 0;

static void expect(bool ok, char const *what) {
  std::printf("%-40s %s\n", what, ok ? "ok" : "WRONG");
  failures += !ok;
}

using Space = Kokkos::DefaultExecutionSpace;
template <class T> using View = Kokkos::View<T, Kokkos::LayoutRight, Space>;

template <class T> static View<T *> viewOf(std::vector<T> const &values) {
  View<T *> view("values", values.size());
  Kokkos::deep_copy(view,
                    Kokkos::View<T const *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()));
  return view;
}

template <class T> static std::vector<T> valuesOf(View<T *> const &view) {
  std::vector<T> values(view.extent(0));
  Kokkos::deep_copy(Kokkos::View<T *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), values.size()), view);
  return values;
}

template <class T> static T valueOf(View<T> const &view) {
  T value;
  Kokkos::deep_copy(value, view);
  return value;
}

static void heatByHand(std::vector<double> &plate, int rows, int columns, double alpha, int steps) {
  for (int step = 0; step < steps; ++step) {
    std::vector<double> const old = plate;
    for (int i = 1; i < rows - 1; ++i)
      for (int j = 1; j < columns - 1; ++j) {
        double const here = old[i * columns + j];
        double const around = (old[(i - 1) * columns + j] + old[(i + 1) * columns + j]) +
                              (old[i * columns + j - 1] + old[i * columns + j + 1]);
        plate[i * columns + j] = here + (around - here * 4.0) * alpha;
      }
  }
}

static void testHeat(Space const &space, int rows, int columns) {
  std::vector<double> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(double(i));
  View<double *> const flat = viewOf(values);
  View<double **> const plate(flat.data(), rows, columns);
  heat::Workspace const work(space, rows, columns);
  heat::forward(space, work, plate, 0.2, 7);
  heatByHand(values, rows, columns, 0.2, 7);
  std::vector<double> const got = valuesOf(flat);
  double worst = 0;
  for (size_t i = 0; i < values.size(); ++i)
    worst = std::max(worst, std::abs(values[i] - got[i]));
  expect(worst < 1e-14, rows ? "heat" : "heat of nothing");
}

static void testDot(Space const &space) {
  View<double> const total("total");
  dot::Workspace const work(space);
  dot::forward(space, work, viewOf<double>({1, 2, 3}), viewOf<double>({4, 5, 6}), total);
  expect(valueOf(total) == 32.5, "dot with an initial value");
  dot::forward(space, work, viewOf<double>({}), viewOf<double>({}), total);
  expect(valueOf(total) == 0.5, "dot of nothing");
}

static void testSwap(Space const &space) {
  View<float[4]> const out("out");
  View<float> const p("p"), q("q");
  swap::forward(space, out, 3, p, q);
  expect(valueOf(p) == 2 && valueOf(q) == 1, "carried values swap");
  // The last round starts with p = 1, q = 2 and swaps three times inside
  float first;
  Kokkos::deep_copy(first, Kokkos::subview(out, 0));
  expect(first == 2, "carried values swap in a kernel");
}

static void testIntegers(Space const &space) {
  View<int *> const x = viewOf<int>({-7, 2, 3, 2000000000, 2000000000});
  View<int[2]> const quotients("quotients");
  View<int> const sum("sum");
  integers::forward(space, x, quotients, sum);
  std::vector<unsigned> byHand = {unsigned(-7), 2u, 3u, 2000000000u, 2000000000u};
  for (int i = 1; i < 5; ++i)
    byHand[i] += byHand[i - 1];
  unsigned total = 0;
  for (int i = 0; i < 5; ++i)
    total += byHand[i] *= i % 2 ? 1 : 3;
  std::vector<int> const got = valuesOf(x);
  bool same = true;
  for (int i = 0; i < 5; ++i)
    same = same && unsigned(got[i]) == byHand[i];
  expect(same && unsigned(valueOf(sum)) == total, "integers wrap, recurrence keeps its order");
  int two[2];
  Kokkos::deep_copy(Kokkos::View<int[2], Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(two), quotients);
  expect(two[0] == -7 && unsigned(two[1]) == unsigned(-21) / 3, "signed and unsigned division");
}

static void testCube(Space const &space) {
  View<float *[3][5]> const a("a", 2), b("b", 2);
  auto const host = Kokkos::create_mirror_view(a);
  for (int i = 0; i < 30; ++i)
    host.data()[i] = i % 2 ? -float(i) : float(i);
  Kokkos::deep_copy(a, host);
  View<float> const largest("largest");
  cube::forward(space, a, b, largest);
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  bool same = valueOf(largest) == 29;
  for (int i = 0; i < 30; ++i)
    same = same && got.data()[i] == (i / 5 % 3 ? float(i) : 0);
  expect(same, "three loops, a branch, a local array");
  host(1, 1, 3) = NAN;
  Kokkos::deep_copy(a, host);
  cube::forward(space, a, b, largest);
  expect(std::isnan(valueOf(largest)), "the maximum propagates NaN");
}

static void testMatmul(Space const &space) {
  View<float[4][3]> const a("a");
  View<float[3][5]> const b("b");
  View<float[4][5]> const c("c");
  Kokkos::deep_copy(a, 2.f);
  Kokkos::deep_copy(b, 3.f);
  matmul::forward(space, a, b, c);
  float last;
  Kokkos::deep_copy(last, Kokkos::subview(c, 3, 4));
  expect(last == 18, "affine loops and linalg on memrefs");
}

static void testSpmv(Space const &space) {
  // [1 0 2; 0 0 0; 0 3 0] * [1 2 3] + [10 20 30]
  View<double *> const y = viewOf<double>({10, 20, 30});
  spmv::forward(space, viewOf<int>({0, 2, 2, 3}), viewOf<int>({0, 2, 1}), viewOf<double>({1, 2, 3}),
                viewOf<double>({1, 2, 3}), y);
  expect(valuesOf(y) == std::vector<double>{17, 20, 36}, "sparse matrix times vector");
}

/// Solves a tridiagonal system with 4 on the diagonal and -1 beside it, whose solution is known.
static void testConjugateGradient(Space const &space, int n) {
  View<double **> const a("a", n, n);
  View<double *> const b("b", n), x("x", n);
  auto const hostA = Kokkos::create_mirror_view(a);
  auto const hostB = Kokkos::create_mirror_view(b);
  auto const solution = [&](int i) { return i < 0 || i >= n ? 0.0 : std::cos(double(i)); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      hostA(i, j) = i == j ? 4 : std::abs(i - j) == 1 ? -1 : 0;
    hostB(i) = 4 * solution(i) - solution(i - 1) - solution(i + 1);
  }
  Kokkos::deep_copy(a, hostA);
  Kokkos::deep_copy(b, hostB);
  Kokkos::deep_copy(x, 7.0);
  cg::Workspace const work(space, n);
  cg::forward(space, work, a, b, x, 25);
  std::vector<double> const got = valuesOf(x);
  double worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(got[i] - solution(i)));
  expect(worst < 1e-12, "conjugate gradient");

  // The same until it is there, which a kernel says
  Kokkos::deep_copy(x, 7.0);
  View<std::int64_t> const rounds("rounds");
  descent::Workspace const until(space, n);
  descent::forward(space, until, a, b, x, 1e-28, rounds);
  std::vector<double> const close = valuesOf(x);
  worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(close[i] - solution(i)));
  expect(worst < 1e-12 && valueOf(rounds) > 5 && valueOf(rounds) < 60, "conjugate gradient to a tolerance");
  descent::forward(space, until, a, b, x, 1e30, rounds);
  expect(valueOf(rounds) == 0 && valuesOf(x)[0] == 0, "no round at all");

  View<double *> const result("result", n);
  solve::Workspace const tensors(space, n);
  solve::forward(space, tensors, a, b, 1e-28, result);
  std::vector<double> const solved = valuesOf(result);
  worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(solved[i] - solution(i)));
  expect(worst < 1e-12, "conjugate gradient on tensors");

  std::vector<int> positions = {0}, columns;
  std::vector<double> entries;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(0, i - 1); j < std::min(n, i + 2); ++j) {
      columns.push_back(j);
      entries.push_back(i == j ? 4 : -1);
    }
    positions.push_back(int(columns.size()));
  }
  Kokkos::deep_copy(result, 7.0);
  solve_sparse::Workspace const sparse(space, n);
  solve_sparse::forward(space, sparse, viewOf(positions), viewOf(columns), viewOf(entries), b, 1e-28, result);
  std::vector<double> const same = valuesOf(result);
  worst = 0;
  for (int i = 0; i < n; ++i)
    worst = std::max(worst, std::abs(same[i] - solution(i)));
  expect(worst < 1e-12, "conjugate gradient on a sparse matrix");

  // With a preconditioner, on tensors, on memrefs and as loops
  std::vector<double> const diagonal(n, .25);
  auto const precondition = [&](char const *name, auto const &forward) {
    Kokkos::deep_copy(result, 7.0);
    forward(viewOf(positions), viewOf(columns), viewOf(entries), viewOf(diagonal));
    std::vector<double> const found = valuesOf(result);
    worst = 0;
    for (int i = 0; i < n; ++i)
      worst = std::max(worst, std::abs(found[i] - solution(i)));
    expect(worst < 1e-12, name);
  };
  precondition("preconditioned, on tensors", [&](auto const &...a) {
    pcg_tensors::forward(space, pcg_tensors::Workspace(space, n), a..., b, 1e-28, result);
  });
  precondition("preconditioned, on memrefs", [&](auto const &...a) {
    pcg_memrefs::forward(space, pcg_memrefs::Workspace(space, n), a..., b, 1e-28, result);
  });
  precondition("preconditioned, as loops", [&](auto const &...a) {
    pcg_loops::forward(space, pcg_loops::Workspace(space, n), a..., b, 1e-28, result);
  });
}

static void testBoth(Space const &space) {
  View<double **> const a("a", 5, 7);
  auto const host = Kokkos::create_mirror_view(a);
  double sum = 100;
  for (int i = 0; i < 35; ++i)
    sum += host.data()[i] = i * 11 % 35 - 40;
  Kokkos::deep_copy(a, host);
  View<double> const total("total"), largest("largest");
  Kokkos::deep_copy(total, 100.0);
  Kokkos::deep_copy(largest, -100.0);
  both::Workspace const work(space);
  both::forward(space, work, a, total, largest);
  expect(valueOf(total) == sum && valueOf(largest) == -6, "a sum and a maximum of one operation");
  Kokkos::deep_copy(largest, 3.0);
  both::forward(space, work, View<double **>("none", 0, 7), total, largest);
  expect(valueOf(total) == sum && valueOf(largest) == 3, "of nothing");
}

template <class Call> static std::string refusalOf(Call const &call) {
  try {
    call();
  } catch (std::invalid_argument const &error) {
    return error.what();
  }
  return "none";
}

static void testSlices(Space const &space) {
  View<std::int64_t> const rounds("rounds");
  auto const x = viewOf<float>({1, 2, 3, 4}), y = viewOf<float>({10, 20, 30, 40}), s = viewOf<float>({0, 0, 0});
  slices::forward(space, x, y, s);
  expect(valuesOf(s) == std::vector<float>{21, 32, 43}, "slices of two arguments");
  auto const refusal = [&](auto const &first, auto const &second, auto const &result) {
    return refusalOf([&] { slices::forward(space, first, second, result); });
  };
  expect(refusal(x, s, s) == "slices: y_size has to be at least batch", "a slice that reaches beyond its tensor");
  expect(refusal(x, y, y) == "slices: the sizes of the arguments differ", "a result of another size than the slices");
  expect(valuesOf(y) == std::vector<float>{10, 20, 30, 40}, "nothing is written then");
  View<double **> const a("a", 4, 5);
  View<double *> const b("b", 5), solution("x", 5);
  expect(refusalOf([&] { descent::forward(space, descent::Workspace(space, 5), a, b, solution, 1e-9, rounds); }) ==
             "descent: the sizes of the arguments differ",
         "what a loop reads that goes on while its numbers say so");
}

static void testSizes(Space const &space) {
  View<float *> const y = viewOf<float>({1, 2, 3}), shorter = viewOf<float>({1, 2});
  axpy::forward(space, 2, viewOf<float>({10, 20, 30}), y);
  expect(valuesOf(y) == std::vector<float>{21, 42, 63}, "a loop over two arguments");
  expect(refusalOf([&] { axpy::forward(space, 2, viewOf<float>({1, 2, 3}), shorter); }) ==
             "axpy: y_size has to be at least n",
         "an argument that is too short");
  expect(valuesOf(shorter) == std::vector<float>{1, 2}, "nothing is written then");
  View<float **> const a("a", 4, 3), b("b", 3, 5), c("c", 4, 5), other("other", 4, 4);
  std::string const differ = "product: the sizes of the arguments differ";
  expect(refusalOf([&] { product::forward(space, a, b, c); }) == "none", "equal extents");
  expect(refusalOf([&] { product::forward(space, a, c, c); }) == differ, "extents of a sum differ");
  expect(refusalOf([&] { product::forward(space, a, b, other); }) == differ, "extents of a result differ");
  testSlices(space);
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Space const space;
  testHeat(space, 9, 12);
  testHeat(space, 0, 0);
  testDot(space);
  testSwap(space);
  testIntegers(space);
  testCube(space);
  testMatmul(space);
  testSpmv(space);
  testConjugateGradient(space, 64);
  testBoth(space);
  testSizes(space);
  return failures != 0;
}
