// The cases of the sparse suite by KokkosSparse and KokkosBlas, on one thread.
#include "../Matrices.h"

#include <KokkosBlas.hpp>
#include <KokkosKernels_SparseUtils.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spadd.hpp>
#include <KokkosSparse_spgemm.hpp>
#include <KokkosSparse_spmv.hpp>

using Space = Kokkos::Serial;
using Crs = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Vector = Kokkos::View<double *, Kokkos::LayoutRight, Space>;
using Columns = Kokkos::View<double **, Kokkos::LayoutRight, Space>;
using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Space, Space::memory_space, Space::memory_space>;

static Crs crs(Matrix const &m) {
  Crs::row_map_type::non_const_type positions("positions", m.positions.size());
  Crs::index_type::non_const_type columns("columns", m.columns.size());
  Crs::values_type::non_const_type values("values", m.values.size());
  std::copy(m.positions.begin(), m.positions.end(), positions.data());
  std::copy(m.columns.begin(), m.columns.end(), columns.data());
  std::copy(m.values.begin(), m.values.end(), values.data());
  return Crs("A", m.rows(), m.width, int(m.columns.size()), values, positions, columns);
}

static Vector vector(size_t size, unsigned seed) {
  Vector view("v", size);
  std::vector<double> const values = makeVector(size, seed);
  std::copy(values.begin(), values.end(), view.data());
  return view;
}

struct Vectors {
  explicit Vectors(size_t n) : r("r", n), z("z", n), p("p", n), q("q", n) {}
  Vector r, z, p, q;
};

static void solve(Vectors const &work, Crs const &a, Vector const &d, Vector const &b, Vector const &x, int rounds) {
  auto const &[r, z, p, q] = work;
  Kokkos::deep_copy(x, 0.);
  Kokkos::deep_copy(r, b);
  KokkosBlas::mult(0., z, 1., d, r);
  Kokkos::deep_copy(p, z);
  double rz = KokkosBlas::dot(r, z), rr = KokkosBlas::dot(r, r);
  for (int round = 0; round < rounds && rr > 0; ++round) {
    KokkosSparse::spmv("N", 1., a, p, 0., q);
    double const alpha = rz / KokkosBlas::dot(p, q);
    KokkosBlas::axpy(alpha, p, x);
    KokkosBlas::axpy(-alpha, q, r);
    KokkosBlas::mult(0., z, 1., d, r);
    double const next = KokkosBlas::dot(r, z);
    rr = KokkosBlas::dot(r, r);
    KokkosBlas::axpby(1., z, next / rz, p);
    rz = next;
  }
}

int main(int count, char **values) {
  Kokkos::ScopeGuard const guard(count, values);
  Arguments const arguments(count, values);
  double const seconds = arguments.seconds, scale = arguments.scale;
  for (std::string const &kind : allKinds)
    if (arguments.wants("spmv/" + kind)) {
      Crs const a = crs(makeMatrix(kind, scale));
      Vector const x = vector(a.numCols(), 2), y("y", a.numRows());
      time("spmv/" + kind, seconds, [&] { KokkosSparse::spmv("N", 1., a, x, 0., y); },
           [&] { return sumOf(y.data(), y.size()); });
    }
  for (std::string const &kind : fewKinds)
    if (arguments.wants("spmvt/" + kind)) {
      Crs const a = crs(makeMatrix(kind, scale));
      Vector const x = vector(a.numRows(), 2), y("y", a.numCols());
      auto const check = [&] {
        KokkosSparse::spmv("T", 1., a, x, 0., y);
        return sumOf(y.data(), y.size());
      };
      time("spmvt/" + kind, seconds, [&] { KokkosSparse::spmv("T", 1., a, x, 1., y); }, check);
    }
  for (std::string const &kind : fewKinds)
    for (int width : {8, 64})
      if (std::string const name = "spmm" + std::to_string(width) + "/" + kind; arguments.wants(name)) {
        Crs const a = crs(makeMatrix(kind, scale * (width == 8 ? .5 : .1)));
        Vector const flat = vector(size_t(a.numCols()) * width, 3);
        Columns const x(flat.data(), a.numCols(), width), y("y", a.numRows(), width);
        time(name, seconds, [&] { KokkosSparse::spmv("N", 1., a, x, 0., y); }, [&] { return sumOf(y.data(), y.size()); });
      }
  for (std::string const &kind : fewKinds) {
    if (arguments.wants("add/" + kind)) {
      Crs const a = crs(makeMatrix(kind, scale * .5)), b = crs(makeMatrix(kind, scale * .5, 9));
      Crs c;
      time("add/" + kind, seconds,
           [&] {
             Handle handle;
             handle.create_spadd_handle(true);
             KokkosSparse::spadd_symbolic(&handle, a, b, c);
             KokkosSparse::spadd_numeric(&handle, 1., a, 1., b, c);
             handle.destroy_spadd_handle();
           },
           [&] { return sumOf(c.values.data(), c.nnz()); });
    }
    if (arguments.wants("multiply/" + kind)) {
      Crs const a = crs(makeMatrix(kind, scale * .1)), b = crs(makeMatrix(kind, scale * .1, 9));
      Crs c;
      time("multiply/" + kind, seconds,
           [&] {
             Handle handle;
             handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
             KokkosSparse::spgemm_symbolic(handle, a, false, b, false, c);
             KokkosSparse::spgemm_numeric(handle, a, false, b, false, c);
             handle.destroy_spgemm_handle();
           },
           [&] { return double(c.nnz()); });
      time("sorted_multiply/" + kind, seconds, // columns in order, as ours are and those above are not
           [&] {
             Handle handle;
             handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
             KokkosSparse::spgemm_symbolic(handle, a, false, b, false, c);
             KokkosSparse::spgemm_numeric(handle, a, false, b, false, c);
             handle.destroy_spgemm_handle();
             KokkosKernels::Impl::sort_crs_matrix(c);
           },
           [&] { return double(c.nnz()); });
    }
    if (arguments.wants("residual/" + kind)) {
      Crs const a = crs(makeMatrix(kind, scale));
      Vector const x = vector(a.numCols(), 2), b = vector(a.numRows(), 4), r("r", a.numRows());
      time("residual/" + kind, seconds,
           [&] {
             Kokkos::deep_copy(r, b);
             KokkosSparse::spmv("N", -1., a, x, 1., r);
           },
           [&] { return sumOf(r.data(), r.size()); });
    }
    if (arguments.wants("chebyshev/" + kind)) {
      Crs const a = crs(makeMatrix(kind, scale));
      Vector const x = vector(a.numCols(), 2), b = vector(a.numRows(), 4), r("r", a.numRows()), d("d", a.numRows());
      double norm = 0;
      time("chebyshev/" + kind, seconds,
           [&] {
             Kokkos::deep_copy(r, b);
             KokkosSparse::spmv("N", -1., a, x, 1., r);
             Kokkos::deep_copy(d, x);
             KokkosBlas::axpby(.25, r, .5, d);
             norm = KokkosBlas::dot(r, r);
           },
           [&] { return norm + sumOf(d.data(), d.size()); });
    }
  }
  for (int edge : {32, 100, 300, 1000})
    if (std::string const name = "pcg/" + std::to_string(edge * edge); arguments.wants(name)) {
      Matrix const m = makeOperator(edge);
      Crs const a = crs(m);
      Vector const b = vector(a.numRows(), 5), x("x", a.numRows()), d("d", a.numRows());
      for (int i = 0; i < m.rows(); ++i)
        d(i) = 1 / (4 + (i % 17) / 17.);
      Vectors const work(a.numRows());
      time(name, seconds, [&] { solve(work, a, d, b, x, 20); }, [&] { return sumOf(x.data(), x.size()); });
    }
}
