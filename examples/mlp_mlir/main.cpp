// Evaluates the learned surrogate on a grid and prints how far it is from the function: mlp_app WEIGHTS.safetensors
#include "mlp.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

static constexpr int side = 101;

static double largestError(char const *weightsPath) {
  mlp::ExecutionSpace const space;
  Kokkos::View<float *[2], Kokkos::LayoutRight, mlp::ExecutionSpace> const points("points", side * side);
  auto const hostPoints = Kokkos::create_mirror_view(points);
  for (int i = 0; i < side * side; ++i) {
    hostPoints(i, 0) = -1 + 2.f * float(i % side) / (side - 1);
    hostPoints(i, 1) = -1 + 2.f * float(i / side) / (side - 1);
  }
  Kokkos::deep_copy(points, hostPoints);

  auto const weights = mlp::load_weights(space, weightsPath);
  mlp::Workspace const workspace(space, side * side);
  mlp::Field const field("field", side * side);
  mlp::forward(space, weights, workspace, points, field);
  auto const hostField = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), field);

  double largest = 0;
  for (int i = 0; i < side * side; ++i) {
    double const exact = std::sin(M_PI * hostPoints(i, 0)) * std::cos(M_PI * hostPoints(i, 1));
    largest = std::max(largest, std::abs(hostField(i, 0) - exact));
  }
  return largest;
}

int main(int argc, char **argv) try {
  Kokkos::ScopeGuard const guard(argc, argv);
  if (argc < 2)
    throw std::runtime_error("usage: mlp_app WEIGHTS.safetensors");
  double const error = largestError(argv[1]);
  std::printf("%d points, largest error against sin(pi x) cos(pi y): %.3f\n", side * side, error);
  return error < 0.1 ? 0 : 1;
} catch (std::exception const &error) {
  std::fprintf(stderr, "mlp_app: %s\n", error.what());
  return 1;
}
