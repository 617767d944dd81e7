// Poisson's equation on a triangulated square: the elements of a mesh give triplets, which the device assembles to a
// matrix in CSR, with which it solves.
#include "assemble.hpp"
#include "solve.hpp"

#include <cmath>
#include <cstdio>

using Space = Kokkos::DefaultExecutionSpace;
using Integers = Kokkos::View<int *, Kokkos::LayoutRight, Space>;
using Numbers = Kokkos::View<double *, Kokkos::LayoutRight, Space>;

// The mesh of a simulation code: three vertices a triangle, counterclockwise
struct Mesh {
  int edge; // squares along an edge, of two triangles each
  Kokkos::View<int *[3], Kokkos::LayoutRight, Space> triangles;
  int vertices() const { return (edge + 1) * (edge + 1); }
};

static Mesh makeMesh(int edge) {
  Mesh mesh{edge, decltype(Mesh::triangles)("triangles", 2 * edge * edge)};
  auto const triangles = mesh.triangles;
  Kokkos::parallel_for(
      "mesh", edge * edge, KOKKOS_LAMBDA(int square) {
        int const corner = square / edge * (edge + 1) + square % edge, above = corner + edge + 1;
        int const both[2][3] = {{corner, corner + 1, above}, {corner + 1, above + 1, above}};
        for (int t = 0; t < 2; ++t)
          for (int v = 0; v < 3; ++v)
            triangles(2 * square + t, v) = both[t][v];
      });
  return mesh;
}

// The element matrices of linear triangles of a uniform mesh, and 1 on the diagonal of the boundary's vertices
static void makeTriplets(Mesh const &mesh, Integers const &rows, Integers const &columns, Numbers const &values) {
  int const edge = mesh.edge, elements = mesh.triangles.extent_int(0), vertices = mesh.vertices();
  auto const triangles = mesh.triangles;
  auto const isInside = KOKKOS_LAMBDA(int vertex) {
    int const i = vertex / (edge + 1), j = vertex % (edge + 1);
    return i > 0 && i < edge && j > 0 && j < edge;
  };
  Kokkos::parallel_for(
      "triplets", elements, KOKKOS_LAMBDA(int t) {
        // The right angle is at vertex 0 of even triangles and at vertex 1 of odd ones
        int const corner = t % 2;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) {
            int const at = 9 * t + 3 * a + b, row = triangles(t, a), column = triangles(t, b);
            double const own = a == corner ? 1 : .5, other = a == corner || b == corner ? -.5 : 0;
            rows(at) = row;
            columns(at) = column;
            values(at) = isInside(row) && isInside(column) ? (a == b ? own : other) : 0;
          }
      });
  Kokkos::parallel_for(
      "boundary", vertices, KOKKOS_LAMBDA(int vertex) {
        rows(9 * elements + vertex) = columns(9 * elements + vertex) = vertex;
        values(9 * elements + vertex) = isInside(vertex) ? 0 : 1;
      });
}

int main(int count, char **arguments) {
  Kokkos::ScopeGuard const guard(count, arguments);
  Space const space;
  Mesh const mesh = makeMesh(64);
  int const vertices = mesh.vertices(), triplets = 9 * mesh.triangles.extent_int(0) + vertices;
  Integers const rows("rows", triplets), columns("columns", triplets);
  Numbers const values("values", triplets);
  makeTriplets(mesh, rows, columns, values);

  // There are at most as many entries as triplets; how many is known on the device
  Integers const positions("A.positions", vertices + 1), coordinates("A.coordinates", triplets);
  Numbers const entries("A.values", triplets);
  assemble::Workspace const assembling(space, triplets, positions.extent_int(0));
  assemble::forward(space, assembling, rows, columns, values, positions, coordinates, entries);
  if (int const wrong = assemble::first_wrong_row(space, positions, coordinates, vertices); wrong >= 0)
    return std::printf("row %d is wrong\n", wrong), 1;
  int stored = 0;
  Kokkos::deep_copy(space, stored, Kokkos::subview(positions, vertices));
  space.fence();

  // A x = b with x = sin(pi i) sin(pi j)
  Numbers const expected("expected", vertices), b("b", vertices), d("d", vertices), x("x", vertices);
  int const edge = mesh.edge;
  Kokkos::parallel_for(
      "expected", vertices, KOKKOS_LAMBDA(int vertex) {
        double const pi = 3.14159265358979323846, h = 1. / edge;
        expected(vertex) = Kokkos::sin(pi * h * (vertex / (edge + 1))) * Kokkos::sin(pi * h * (vertex % (edge + 1)));
      });
  Kokkos::parallel_for(
      "product", vertices, KOKKOS_LAMBDA(int row) {
        for (int e = positions(row); e < positions(row + 1); ++e) {
          b(row) += entries(e) * expected(coordinates(e));
          if (coordinates(e) == row)
            d(row) = 1 / entries(e);
        }
      });
  solve::Workspace const solving(space, vertices);
  auto const all = Kokkos::pair(0, stored);
  solve::forward(space, solving, positions, Kokkos::subview(coordinates, all), Kokkos::subview(entries, all), d, b,
                 1e-20, x);
  double error = 0;
  Kokkos::parallel_reduce(
      "error", vertices,
      KOKKOS_LAMBDA(int row, double &largest) { largest = Kokkos::max(largest, Kokkos::abs(x(row) - expected(row))); },
      Kokkos::Max<double>(error));
  std::printf("%d triplets, %d entries, error %.1e\n", triplets, stored, error);
  return error < 1e-8 ? 0 : 1;
}
