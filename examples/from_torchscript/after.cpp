// After: the printed code. after net.safetensors
#include "net.hpp"

#include <cmath>
#include <cstdio>

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  net::ExecutionSpace const space;
  net::Weights const weights = net::load_weights(space, argv[1]);
  constexpr int cells = 5;
  net::Workspace const work(space, cells);
  Kokkos::View<float *[4], Kokkos::LayoutRight, net::ExecutionSpace> const state("state", cells);
  Kokkos::View<float *[2], Kokkos::LayoutRight, net::ExecutionSpace> const tendency("tendency", cells);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy(space, 0, cells), KOKKOS_LAMBDA(int i) {
        for (int k = 0; k < 4; ++k)
          state(i, k) = Kokkos::sin(float(4 * i + k));
      });
  net::forward(space, weights, work, state, tendency);
  auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tendency); // waits
  for (int i = 0; i < cells; ++i)
    std::printf("%.5f %.5f\n", result(i, 0), result(i, 1));
}
