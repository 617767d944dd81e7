// Reads held-out digits and prints how many each network recognises: digits_app FOLDER (of held_out.bin and the
// weights)
#include "digits_cnn.hpp"
#include "digits_mlp.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

static constexpr int pixels = 64;
static constexpr int classes = 10;

struct Digits {
  std::vector<float> images; // [count][64], from 0 to 1
  std::vector<int> labels;

  int count() const { return int(labels.size()); }
};

static Digits readDigits(std::string const &path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> const bytes{std::istreambuf_iterator<char>(file), {}};
  Digits digits;
  for (std::size_t i = 0; i + pixels < bytes.size(); i += pixels + 1) {
    for (int j = 0; j < pixels; ++j)
      digits.images.push_back(float(bytes[i + j]) / 16);
    digits.labels.push_back(bytes[i + pixels]);
  }
  if (digits.labels.empty())
    throw std::runtime_error(path + ": holds no digits");
  return digits;
}

// The share of the digits whose logit is the largest of their row.
static double accuracy(std::vector<float> const &logits, std::vector<int> const &labels) {
  int right = 0;
  for (std::size_t n = 0; n < labels.size(); ++n) {
    auto const row = logits.begin() + n * classes;
    right += std::max_element(row, row + classes) - row == labels[n];
  }
  return double(right) / labels.size();
}

// Runs all digits as one batch; Images and Logits are the types that the header of a network names.
template <class Images, class Logits, class Forward>
static std::vector<float> logitsOf(Digits const &digits, Forward const &forward) {
  using Space = typename Images::execution_space;
  using Flat = Kokkos::View<float *, typename Images::device_type, Kokkos::MemoryUnmanaged>;
  Kokkos::View<typename Images::non_const_data_type, Kokkos::LayoutRight, Space> const images("images", digits.count());
  Logits const logits("logits", digits.count());
  std::vector<float> result(digits.count() * classes);
  using Host = Kokkos::View<float *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  using ConstHost = Kokkos::View<float const *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(Flat(images.data(), images.size()), ConstHost(digits.images.data(), digits.images.size()));
  forward(images, logits);
  Kokkos::deep_copy(Host(result.data(), result.size()), Flat(logits.data(), logits.size()));
  return result;
}

static void recognise(std::string const &folder) {
  Digits const digits = readDigits(folder + "/held_out.bin");
  Kokkos::DefaultExecutionSpace const space;

  auto const mlpWeights = digits_mlp::load_weights(space, folder + "/digits_mlp.safetensors");
  digits_mlp::Workspace const mlpWorkspace(space, digits.count());
  auto const mlp = logitsOf<digits_mlp::Image, digits_mlp::Logits>(digits, [&](auto const &images, auto const &logits) {
    digits_mlp::forward(space, mlpWeights, mlpWorkspace, images, logits);
  });

  auto const cnnWeights = digits_cnn::load_weights(space, folder + "/digits_cnn.safetensors");
  digits_cnn::Workspace const cnnWorkspace(space, digits.count());
  auto const cnn = logitsOf<digits_cnn::Image, digits_cnn::Logits>(digits, [&](auto const &images, auto const &logits) {
    digits_cnn::forward(space, cnnWeights, cnnWorkspace, images, logits);
  });

  std::printf("mlp: accuracy %.4f on %d held-out digits\n", accuracy(mlp, digits.labels), digits.count());
  std::printf("cnn: accuracy %.4f on %d held-out digits\n", accuracy(cnn, digits.labels), digits.count());
}

int main(int argc, char **argv) try {
  Kokkos::ScopeGuard const guard(argc, argv);
  if (argc < 2)
    throw std::runtime_error("usage: digits_app FOLDER");
  recognise(argv[1]);
} catch (std::exception const &error) {
  std::fprintf(stderr, "digits_app: %s\n", error.what());
  return 1;
}
