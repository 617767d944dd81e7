// A KokkosSparse::CrsMatrix goes into the printed solver as it is: its arrays are the arguments. KokkosSparse::spmv
// says whether the result solves the system.
#include "solve.hpp"

#include <KokkosBlas.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>

#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
using Numbers = Kokkos::View<double *, Kokkos::LayoutRight, Space>;

// The 5-point operator of a square with 0 around it
static Matrix makeMatrix(int edge) {
  int const rows = edge * edge, stored = 5 * rows - 4 * edge;
  Kokkos::View<int *, Kokkos::LayoutRight, Space> const positions("positions", rows + 1), entries("entries", stored);
  Numbers const values("values", stored);
  Kokkos::parallel_scan(
      "matrix", Kokkos::RangePolicy<Space>(0, rows), KOKKOS_LAMBDA(int row, int &at, bool isFinal) {
        int const i = row / edge, j = row % edge;
        int const columns[] = {row - edge, row - 1, row, row + 1, row + edge};
        bool const isThere[] = {i > 0, j > 0, true, j < edge - 1, i < edge - 1};
        for (int k = 0; k < 5; ++k)
          if (isThere[k]) {
            if (isFinal) {
              entries(at) = columns[k];
              values(at) = columns[k] == row ? 4 : -1;
            }
            ++at;
          }
        if (isFinal)
          positions(row + 1) = at;
      });
  return Matrix("A", rows, rows, stored, values, positions, entries);
}

int main(int count, char **arguments) {
  Kokkos::ScopeGuard const guard(count, arguments);
  Space const space;
  Matrix const a = makeMatrix(64);
  int const rows = a.numRows();
  Numbers const b("b", rows), d("d", rows), x("x", rows), residual("residual", rows);
  Kokkos::deep_copy(b, 1.);
  Kokkos::deep_copy(d, 1. / 4.);
  if (int const wrong = solve::first_wrong_row(space, a.graph.row_map, a.graph.entries, rows); wrong >= 0)
    return std::printf("row %d is wrong\n", wrong), 1;
  solve::Workspace const work(space, rows);
  solve::forward(space, work, a.graph.row_map, a.graph.entries, a.values, d, b, 1e-20, x);
  Kokkos::deep_copy(residual, b);
  KokkosSparse::spmv("N", -1., a, x, 1., residual);
  double const error = KokkosBlas::nrm2(residual) / KokkosBlas::nrm2(b);
  std::printf("%d rows, %d entries, |b - A x| / |b| = %.1e\n", rows, int(a.nnz()), error);
  return error < 1e-10 ? 0 : 1;
}
