// Local densities of states on a plane of grid points: mala_app WEIGHTS.safetensors DESCRIPTORS LDOS
//   DESCRIPTORS   float32 [points][91]; read
//   LDOS          float32 [points][11]; written
#include "mala.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
constexpr int descriptors = 91;

template <class View> static void read(char const *path, View const &host) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char *>(host.data()), std::streamsize(host.size() * sizeof(float))))
    throw std::runtime_error(std::string(path) + " cannot be read");
}

static int pointsIn(char const *path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  return file ? int(file.tellg() / std::streamoff(descriptors * sizeof(float))) : 0;
}

int main(int argc, char **argv) try {
  Kokkos::ScopeGuard const guard(argc, argv);
  if (argc != 4)
    throw std::runtime_error("usage: mala_app WEIGHTS.safetensors DESCRIPTORS LDOS");
  ExecutionSpace const space;
  int const points = pointsIn(argv[2]);
  mala::Descriptors::non_const_type const x("descriptors", points);
  mala::Ldos const y("ldos", points);
  auto const host = Kokkos::create_mirror_view(x);
  read(argv[2], host);
  Kokkos::deep_copy(x, host);

  auto const weights = mala::load_weights(space, argv[1]);
  mala::Workspace const workspace(space, points);
  double best = 1e30;
  for (int repeat = 0; repeat < 10; ++repeat) {
    space.fence();
    Kokkos::Timer const timer;
    mala::forward(space, weights, workspace, x, y);
    space.fence();
    best = std::min(best, timer.seconds());
  }
  double const work = 2. * points * (91. * 400 + 400. * 400 + 400. * 11);
  std::printf("%d points: %.3f ms, %.1f GFLOP/s\n", points, best * 1e3, work / best * 1e-9);

  auto const ldos = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  std::ofstream file(argv[3], std::ios::binary);
  file.write(reinterpret_cast<char const *>(ldos.data()), std::streamsize(ldos.size() * sizeof(float)));
  return file.flush() ? 0 : 1;
} catch (std::exception const &error) {
  std::fprintf(stderr, "mala_app: %s\n", error.what());
  return 1;
}
