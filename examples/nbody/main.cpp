// Bodies that fall towards each other: forces that they exert on one another add up to nothing, and energy stays.
#include "nbody.hpp"

#include <cmath>
#include <cstdio>

using Vectors = Kokkos::View<double *[3], Kokkos::LayoutRight, nbody::ExecutionSpace>;
using Numbers = Kokkos::View<double *, Kokkos::LayoutRight, nbody::ExecutionSpace>;

static constexpr int bodies = 500;
static constexpr double softening = 1e-2, step = 1e-4;

static void place(Vectors const &position, Numbers const &mass) {
  auto const p = Kokkos::create_mirror_view(position);
  auto const m = Kokkos::create_mirror_view(mass);
  for (int i = 0; i < bodies; ++i) {
    m(i) = 1.0 / bodies;
    for (int k = 0; k < 3; ++k)
      p(i, k) = std::sin(1.0 + 12.9898 * i + 78.233 * k);
  }
  Kokkos::deep_copy(position, p);
  Kokkos::deep_copy(mass, m);
}

static double energy(nbody::ExecutionSpace const &space, Vectors const &position, Vectors const &velocity,
                     Numbers const &mass) {
  double total = 0;
  Kokkos::parallel_reduce(
      "energy", Kokkos::RangePolicy(space, 0, bodies),
      KOKKOS_LAMBDA(int i, double &sum) {
        for (int k = 0; k < 3; ++k)
          sum += 0.5 * mass(i) * velocity(i, k) * velocity(i, k);
        for (int j = 0; j < i; ++j) {
          double squared = softening;
          for (int k = 0; k < 3; ++k)
            squared += (position(i, k) - position(j, k)) * (position(i, k) - position(j, k));
          sum -= mass(i) * mass(j) / Kokkos::sqrt(squared);
        }
      },
      total);
  return total;
}

static void advance(nbody::ExecutionSpace const &space, Vectors const &by, Vectors const &to, double factor) {
  Kokkos::parallel_for(
      "advance", Kokkos::RangePolicy(space, 0, bodies), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 3; ++k)
          to(i, k) += factor * by(i, k);
      });
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  nbody::ExecutionSpace const space;
  Vectors const position("position", bodies), velocity("velocity", bodies), acceleration("acceleration", bodies);
  Numbers const mass("mass", bodies);
  place(position, mass);
  double const before = energy(space, position, velocity, mass);
  nbody::forward(space, position, mass, acceleration, softening);
  for (int t = 0; t < 200; ++t) {
    advance(space, acceleration, velocity, step / 2);
    advance(space, velocity, position, step);
    nbody::forward(space, position, mass, acceleration, softening);
    advance(space, acceleration, velocity, step / 2);
  }
  double const after = energy(space, position, velocity, mass);
  std::printf("energy %.8f before, %.8f after\n", before, after);
  return std::abs(after - before) < 1e-6 * std::abs(before) ? 0 : 1;
}
