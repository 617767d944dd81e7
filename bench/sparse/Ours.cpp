// The cases of the sparse suite by printed code; naive kernels where the library has none.
#include <Kokkos_Core.hpp>

#include "Matrices.h"

#include "add.hpp"
#include "chebyshev.hpp"
#include "multiply.hpp"
#include "pcg.hpp"
#include "residual.hpp"
#include "sddmm32.hpp"
#include "sddmm64.hpp"
#include "sddmm8.hpp"
#include "spmm64.hpp"
#include "spmm8.hpp"
#include "spmv.hpp"
#include "spmvt.hpp"

using Space = Kokkos::DefaultExecutionSpace;
template <class T> using View = Kokkos::View<T, Kokkos::LayoutRight, Space>;

template <class T> static View<T *> viewOf(std::vector<T> const &values) {
  View<T *> view("v", values.size());
  std::copy(values.begin(), values.end(), view.data());
  return view;
}

struct Csr {
  View<int *> positions, columns;
  View<double *> values;
  int width;
  explicit Csr(Matrix const &m)
      : positions(viewOf(m.positions)), columns(viewOf(m.columns)), values(viewOf(m.values)), width(m.width) {}
  int rows() const { return positions.extent_int(0) - 1; }
};

static View<double *> vector(size_t size, unsigned seed) { return viewOf(makeVector(size, seed)); }

template <int Width, class Forward> static void timeSpmm(Arguments const &arguments, std::string const &kind, Forward const &forward) {
  std::string const name = "spmm" + std::to_string(Width) + "/" + kind;
  if (!arguments.wants(name))
    return;
  Space const space;
  Csr const a(makeMatrix(kind, arguments.scale * (Width == 8 ? .5 : .1)));
  View<double *> const flat = vector(size_t(a.width) * Width, 3);
  View<double *[Width]> const x(flat.data(), a.width), y("y", a.rows());
  time(name, arguments.seconds, [&] { forward(space, a, x, y), space.fence(); }, [&] { return sumOf(y.data(), y.size()); });
  time("naive_" + name, arguments.seconds,
       [&] {
         Kokkos::parallel_for(
             "naive", Kokkos::MDRangePolicy<Space, Kokkos::Rank<2>>(space, {0, 0}, {a.rows(), Width}),
             KOKKOS_LAMBDA(int row, int j) {
               double sum = 0;
               for (int e = a.positions(row); e < a.positions(row + 1); ++e)
                 sum += a.values(e) * x(a.columns(e), j);
               y(row, j) = sum;
             });
         space.fence();
       },
       [&] { return sumOf(y.data(), y.size()); });
}

template <int Width, class Forward> static void timeSddmm(Arguments const &arguments, std::string const &kind, Forward const &forward) {
  std::string const name = "sddmm" + std::to_string(Width) + "/" + kind;
  if (!arguments.wants(name))
    return;
  Space const space;
  Csr const a(makeMatrix(kind, arguments.scale * (Width == 8 ? .5 : .1)));
  View<double *> const flatU = vector(size_t(a.rows()) * Width, 3), flatV = vector(size_t(a.width) * Width, 4);
  View<double *[Width]> const u(flatU.data(), a.rows()), v(flatV.data(), a.width);
  View<double *> const out("out", a.values.size());
  time(name, arguments.seconds, [&] { forward(space, a, u, v, out), space.fence(); },
       [&] { return sumOf(out.data(), out.size()); });
  time("naive_" + name, arguments.seconds,
       [&] {
         Kokkos::parallel_for(
             "naive", Kokkos::RangePolicy(space, 0, a.rows()), KOKKOS_LAMBDA(int row) {
               for (int e = a.positions(row); e < a.positions(row + 1); ++e) {
                 double sum = 0;
                 for (int j = 0; j < Width; ++j)
                   sum += u(row, j) * v(a.columns(e), j);
                 out(e) = a.values(e) * sum;
               }
             });
         space.fence();
       },
       [&] { return sumOf(out.data(), out.size()); });
}

static void timeStreams(Arguments const &arguments) {
  Space const space;
  int const n = int(8e6 * arguments.scale);
  View<double *> const a("a", n), b("b", n), c("c", n);
  time("triad", arguments.seconds,
       [&] {
         Kokkos::parallel_for("triad", Kokkos::RangePolicy(space, 0, n), KOKKOS_LAMBDA(int i) { a(i) = b(i) + 3 * c(i); });
         space.fence();
       },
       [&] { return 24. * n; });
}

static void timeTransposed(Arguments const &arguments, std::string const &kind) {
  if (!arguments.wants("spmvt/" + kind))
    return;
  Space const space;
  Csr const a(makeMatrix(kind, arguments.scale));
  View<double *> const x = vector(a.rows(), 2), y("y", a.width);
  auto const check = [&] { // of one call: the others have added, too
    Kokkos::deep_copy(space, y, 0.);
    spmvt::forward(space, a.positions, a.columns, a.values, x, y);
    space.fence();
    return sumOf(y.data(), y.size());
  };
  time("spmvt/" + kind, arguments.seconds, [&] { spmvt::forward(space, a.positions, a.columns, a.values, x, y), space.fence(); }, check);
}

int main(int count, char **values) {
  Kokkos::ScopeGuard const guard(count, values);
  Arguments const arguments(count, values);
  double const seconds = arguments.seconds, scale = arguments.scale;
  Space const space;
  timeStreams(arguments);
  for (std::string const &kind : allKinds)
    if (arguments.wants("spmv/" + kind)) {
      Csr const a(makeMatrix(kind, scale));
      View<double *> const x = vector(a.width, 2), y("y", a.rows());
      auto const check = [&] { return sumOf(y.data(), y.size()); };
      time("spmv/" + kind, seconds, [&] { spmv::forward(space, a.positions, a.columns, a.values, x, y), space.fence(); }, check);
      time("rows_spmv/" + kind, seconds,
           [&] {
             Kokkos::parallel_for(
                 "rows", Kokkos::RangePolicy(space, 0, a.rows()), KOKKOS_LAMBDA(int row) {
                   double sum = 0;
                   for (int e = a.positions(row); e < a.positions(row + 1); ++e)
                     sum += a.values(e) * x(a.columns(e));
                   y(row) = sum;
                 });
             space.fence();
           },
           check);
      double total = 0;
      time("gather/" + kind, seconds,
           [&] {
             int const parts = 64, entries = a.values.extent_int(0);
             Kokkos::parallel_reduce(
                 "gather", Kokkos::RangePolicy(space, 0, parts),
                 KOKKOS_LAMBDA(int part, double &joined) {
                   double sum[4] = {};
                   int e = int(std::int64_t(entries) * part / parts);
                   int const end = int(std::int64_t(entries) * (part + 1) / parts);
                   for (; e + 4 <= end; e += 4)
                     for (int k = 0; k < 4; ++k)
                       sum[k] += a.values(e + k) * x(a.columns(e + k));
                   for (; e < end; ++e)
                     sum[0] += a.values(e) * x(a.columns(e));
                   joined += sum[0] + sum[1] + sum[2] + sum[3];
                 },
                 total);
           },
           [&] { return 12. * a.values.size() + 20. * a.rows(); });
    }
  for (std::string const &kind : fewKinds) {
    timeTransposed(arguments, kind);
    timeSpmm<8>(arguments, kind, [](auto const &s, Csr const &a, auto const &x, auto const &y) { spmm8::forward(s, a.positions, a.columns, a.values, x, y); });
    timeSpmm<64>(arguments, kind, [](auto const &s, Csr const &a, auto const &x, auto const &y) { spmm64::forward(s, a.positions, a.columns, a.values, x, y); });
    timeSddmm<8>(arguments, kind, [](auto const &s, Csr const &a, auto const &...o) { sddmm8::forward(s, a.positions, a.columns, a.values, o...); });
    timeSddmm<32>(arguments, kind, [](auto const &s, Csr const &a, auto const &...o) { sddmm32::forward(s, a.positions, a.columns, a.values, o...); });
    timeSddmm<64>(arguments, kind, [](auto const &s, Csr const &a, auto const &...o) { sddmm64::forward(s, a.positions, a.columns, a.values, o...); });
    if (arguments.wants("add/" + kind)) {
      Csr const a(makeMatrix(kind, scale * .5)), b(makeMatrix(kind, scale * .5, 9));
      size_t const room = a.values.size() + b.values.size();
      View<int *> const positions("positions", a.rows() + 1), columns("columns", room);
      View<double *> const c("values", room);
      time("add/" + kind, seconds,
           [&] {
             add::forward(space, a.positions, a.columns, a.values, b.positions, b.columns, b.values, positions, columns, c);
             space.fence();
           },
           [&] { return sumOf(c.data(), positions(a.rows())); });
    }
    if (arguments.wants("multiply/" + kind)) {
      Csr const a(makeMatrix(kind, scale * .1)), b(makeMatrix(kind, scale * .1, 9));
      size_t room = 0;
      for (size_t e = 0; e < a.columns.size(); ++e)
        room += b.positions(a.columns(e) + 1) - b.positions(a.columns(e));
      View<int *> const positions("positions", a.rows() + 1), columns("columns", room);
      View<double *> const c("values", room);
      multiply::Workspace const work(space, a.values.extent_int(0));
      time("multiply/" + kind, seconds,
           [&] {
             multiply::forward(space, work, a.positions, a.columns, a.values, b.positions, b.columns, b.values, positions, columns, c);
             space.fence();
           },
           [&] { return double(positions(a.rows())); });
    }
    for (std::string const name : {"residual", "chebyshev"})
      if (arguments.wants(name + "/" + kind)) {
        Csr const a(makeMatrix(kind, scale));
        View<double *> const x = vector(a.width, 2), b = vector(a.rows(), 4), r("r", a.rows());
        View<double> const norm("norm");
        bool const isStep = name == "chebyshev";
        time(name + "/" + kind, seconds,
             [&] {
               if (isStep)
                 chebyshev::forward(space, a.positions, a.columns, a.values, x, b, r, norm);
               else
                 residual::forward(space, a.positions, a.columns, a.values, x, b, r);
               space.fence();
             },
             [&] { return (isStep ? norm() : 0) + sumOf(r.data(), r.size()); });
      }
  }
  for (int edge : {32, 100, 300, 1000})
    if (std::string const name = "pcg/" + std::to_string(edge * edge); arguments.wants(name)) {
      Matrix const m = makeOperator(edge);
      Csr const a(m);
      View<double *> const b = vector(a.rows(), 5), x("x", a.rows()), d("d", a.rows());
      for (int i = 0; i < m.rows(); ++i)
        d(i) = 1 / (4 + (i % 17) / 17.);
      pcg::Workspace const work(space, a.rows());
      time(name, seconds, [&] { pcg::forward(space, work, a.positions, a.columns, a.values, d, b, 20, x), space.fence(); },
           [&] { return sumOf(x.data(), x.size()); });
    }
}
