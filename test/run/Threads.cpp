//===- Threads.cpp - two models in one program, used by eight threads at once -------------------------------------===//
//
// Every thread has its own execution space instance where the back end has several, its own workspaces and its own
// images; the weights are shared. All must compute what one thread alone computes, bit for bit.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "digits_cnn.hpp"
#include "digits_mlp.hpp"

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

static constexpr int threads = 8;
static constexpr int batch = 5;
static constexpr int rounds = 20;

using Space = Kokkos::DefaultExecutionSpace;

struct Shared {
  digits_mlp::Weights mlp;
  digits_cnn::Weights cnn;
};

using Logits = std::vector<float>;

template <class View> static void append(Logits &logits, View const &view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  logits.insert(logits.end(), host.data(), host.data() + host.size());
}

// Both models on images that depend on the thread.
static Logits runBoth(Space const &space, Shared const &shared, int thread) {
  Kokkos::View<float *[64], Kokkos::LayoutRight, Space> const flat("flat", batch);
  Kokkos::View<float *[1][8][8], Kokkos::LayoutRight, Space> const images("images", batch);
  auto const values = Kokkos::create_mirror_view(flat);
  for (int i = 0; i < batch * 64; ++i)
    values.data()[i] = float((i * (thread + 3)) % 17) / 16;
  Kokkos::deep_copy(space, flat, values);
  std::memcpy(images.data(), values.data(), values.size() * sizeof(float)); // the tests run on the host
  digits_mlp::Workspace const mlpWorkspace(space, batch);
  digits_cnn::Workspace const cnnWorkspace(space, batch);
  digits_mlp::Logits const mlp("mlp", batch);
  digits_cnn::Logits const cnn("cnn", batch);
  for (int round = 0; round < rounds; ++round) {
    digits_mlp::forward(space, shared.mlp, mlpWorkspace, flat, mlp);
    digits_cnn::forward(space, shared.cnn, cnnWorkspace, images, cnn);
  }
  space.fence("run_threads: results");
  Logits logits;
  append(logits, mlp);
  append(logits, cnn);
  return logits;
}

int main(int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  Space const space;
  std::string const folder = argc > 1 ? argv[1] : ".";
  Shared const shared{digits_mlp::load_weights(space, folder + "/digits_mlp.safetensors"),
                      digits_cnn::load_weights(space, folder + "/digits_cnn.safetensors")};
  std::vector<Logits> alone, together(threads);
  for (int i = 0; i < threads; ++i)
    alone.push_back(runBoth(space, shared, i));
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&, i] { together[i] = runBoth(Space(), shared, i); });
  for (std::thread &thread : running)
    thread.join();
  int wrong = 0;
  for (int i = 0; i < threads; ++i)
    wrong += alone[i] != together[i];
  std::printf("%d of %d threads computed something else than one alone\n", wrong, threads);
  return wrong != 0;
}
