// Heats one edge of a plate and steps until it is at rest.
#include "heat.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

static constexpr int side = 66;

// Fixed edges: 1 at the top, 0 elsewhere.
static auto makePlate(char const *label) {
  Kokkos::View<double **, Kokkos::LayoutRight, heat::ExecutionSpace> plate(label, side, side);
  Kokkos::deep_copy(Kokkos::subview(plate, 0, Kokkos::ALL), 1.0);
  return plate;
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  heat::ExecutionSpace const space;
  auto plate = makePlate("plate"), next = makePlate("next");
  heat::Change const change("change");
  double largest = 1;
  int steps = 0;
  for (; largest > 1e-7 && steps < 50000; ++steps) {
    heat::forward(space, plate, next, change);
    std::swap(plate, next);
    if (steps % 100 == 0)
      Kokkos::deep_copy(space, largest, change);
  }
  double middle = 0;
  Kokkos::deep_copy(middle, Kokkos::subview(plate, side / 2, side / 2));
  // By symmetry four plates, each with another edge heated, add up to 1 everywhere
  std::printf("at rest after %d steps; middle of the plate: %.4f (exact: about 0.25)\n", steps, middle);
  return std::abs(middle - 0.25) < 0.01 ? 0 : 1;
}
