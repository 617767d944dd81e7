// Rows of ones times the weights, 17 * row + column: every output is the sum of a column.
#include "wide.hpp"

#include <cstdio>

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  wide::ExecutionSpace const space;
  auto const weights = wide::load_weights(space, argv[1]);
  wide::Workspace const workspace(space);
  Kokkos::View<float[2][16], Kokkos::LayoutRight, wide::ExecutionSpace> const x("x");
  Kokkos::View<float[2][17], Kokkos::LayoutRight, wide::ExecutionSpace> const y("y");
  Kokkos::deep_copy(space, x, 1.0f);
  wide::forward(space, weights, workspace, x, y);
  auto const results = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int column = 0; column < 17; ++column)
    if (results(1, column) != 16 * 15 / 2 * 17 + 16 * column)
      return std::printf("column %d: %f\n", column, results(1, column)), 1;
}
