// Classifies a photograph: resnet18_app WEIGHTS.safetensors IMAGE.bin [LOGITS.bin]
#include "resnet18.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

// The image as the network takes it, from a file of floats.
static resnet18::Image readImage(std::string const &path) {
  Kokkos::View<float[1][3][224][224], Kokkos::LayoutRight, resnet18::ExecutionSpace> image("image");
  auto const host = Kokkos::create_mirror_view(image);
  if (!std::ifstream(path, std::ios::binary).read(reinterpret_cast<char *>(host.data()), host.size() * sizeof(float)))
    throw std::runtime_error(path + ": holds no image");
  Kokkos::deep_copy(image, host);
  return image;
}

// Median wall time of a forward pass in milliseconds.
template <class Call> static double medianTime(Call const &call) {
  std::vector<double> times(20);
  for (double &time : times) {
    Kokkos::Timer const timer;
    call();
    time = timer.seconds() * 1e3;
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

static void printTop5(float const *logits, int classes) {
  std::vector<int> order(classes);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 5, order.end(), [&](int a, int b) { return logits[a] > logits[b]; });
  std::printf("top 5:");
  for (int i = 0; i < 5; ++i)
    std::printf(" %d (%.4f)", order[i], logits[order[i]]);
  std::printf("\n");
}

static void classify(int argc, char **argv) {
  resnet18::ExecutionSpace const space;
  auto const weights = resnet18::load_weights(space, argv[1]);
  resnet18::Workspace const workspace(space);
  auto const image = readImage(argv[2]);
  resnet18::Logits const logits("logits");
  auto const run = [&] {
    resnet18::forward(space, weights, workspace, image, logits);
    space.fence();
  };
  run();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), logits);
  printTop5(host.data(), int(host.size()));
  std::printf("time: %.2f ms\n", medianTime(run));
  if (argc > 3)
    std::ofstream(argv[3], std::ios::binary)
        .write(reinterpret_cast<char const *>(host.data()), host.size() * sizeof(float));
}

int main(int argc, char **argv) try {
  Kokkos::ScopeGuard const guard(argc, argv);
  if (argc < 3)
    throw std::runtime_error("usage: resnet18_app WEIGHTS.safetensors IMAGE.bin [LOGITS.bin]");
  classify(argc, argv);
} catch (std::exception const &error) {
  std::fprintf(stderr, "resnet18_app: %s\n", error.what());
  return 1;
}
