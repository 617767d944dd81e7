//===- Speed.cpp - how fast the building blocks are ---------------------------------------------------------------===//
//
// Prints microseconds and, on a host, the share of one core's multiply-add peak. Host: one thread's CPU time, the least
// of many; run with OMP_NUM_THREADS=1. Device: mean of launches in a stream.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "blocks.hpp"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>

using namespace blocks;

namespace {
double peak = 0; // multiply-adds x 2 per second

double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double seconds(std::function<void()> const &run) {
  run();
  if constexpr (on_host) {
    double best = 1e9;
    double const begin = cpuSeconds();
    for (int i = 0; i < 5 || cpuSeconds() - begin < .3; ++i) {
      double const start = cpuSeconds();
      run();
      best = std::min(best, cpuSeconds() - start);
    }
    return best;
  }
  Kokkos::fence();
  constexpr int launches = 200;
  auto const start = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i)
    run();
  Kokkos::fence();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / launches;
}

void report(char const *name, double operations, double bytes, std::function<void()> const &run) {
  double const time = seconds(run);
  std::printf("%-26s %9.1f us", name, time * 1e6);
  if (operations > 0)
    std::printf(" %9.1f GF/s", operations / time * 1e-9);
  if (operations > 0 && peak > 0)
    std::printf(" %5.1f %% of peak", operations / time / peak * 100);
  if (bytes > 0)
    std::printf(" %8.1f GB/s", bytes / time * 1e-9);
  std::puts("");
}

double measurePeak() {
#if defined(__GNUC__) && defined(__x86_64__)
  using Vector = float __attribute__((vector_size(vector_bytes)));
  constexpr int rounds = 100000;
  Vector sums[12] = {};
  double const time = seconds([&] {
    Vector local[12];
    for (int i = 0; i < 12; ++i)
      local[i] = sums[i];
    Vector factor = Vector{} + .999f, term = Vector{} + .001f;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 12; ++i)
        local[i] = local[i] * factor + term;
      asm volatile("" : "+x"(factor));
    }
    for (int i = 0; i < 12; ++i)
      sums[i] = local[i];
  });
  return 2. * 12 * rounds * (vector_bytes / 4) / time;
#else
  return 0;
#endif
}

template <class Weight> Weight weights() {
  using Packing = PackingOf<Weight>;
  Tensor<typename Weight::value_type *> const values("weights", Packing::size);
  Kokkos::deep_copy(values, .01f);
  return {values, decltype(Weight::bias)(typename decltype(Weight::bias)::non_const_type("bias"))};
}

template <int Size, int Channels, int Outputs, int Kernel, int Stride, int Pad>
void convolution(char const *name, int n) {
  constexpr int size = (Size + 2 * Pad - Kernel) / Stride + 1;
  Activation<float, Size, Size, Channels, Pad> const in{{"in", std::size_t(n)}};
  Activation<float, size, size, Outputs, 1> const out{{"out", std::size_t(n)}};
  auto const weight = weights<Panels<float, Outputs, Kernel * Kernel * Channels>>();
  ExecutionSpace const space;
  SplitSums<float> const split("split", space);
  report(name, 2. * n * size * size * Outputs * Channels * Kernel * Kernel, 0, [&] {
    conv<Square<Kernel, Stride, Pad>>(
        "speed::conv", space, in, weight, out, split,
        KOKKOS_LAMBDA(float sum, Pixel, int) { return Kokkos::max(sum, 0.f); });
  });
}

template <int Tile, int Size, int Channels, int Outputs> void winogradConvolution(char const *name, int n) {
  Activation<float, Size, Size, Channels, 1> const in{{"in", std::size_t(n)}};
  Activation<float, Size, Size, Outputs, 1> const out{{"out", std::size_t(n)}};
  constexpr int elements = (Tile + 2) * (Tile + 2);
  Tensor<float *> const values("weights", elements * Channels * Outputs);
  Kokkos::deep_copy(values, .01f);
  Panels<float, Outputs, 9 * Channels> const weight{values, Tensor<float[Outputs]>("bias")};
  ExecutionSpace const space;
  SplitSums<float> const split("split", space);
  Tensor<float *> const scratch("scratch", space.concurrency() * 28 * elements * (Channels + Outputs));
  report(name, 2. * n * Size * Size * Outputs * Channels * 9, 0, [&] {
    winograd<Tile, Square<3, 1, 1>>(
        "speed::winograd", space, in, weight, out, scratch, split,
        KOKKOS_LAMBDA(float sum, Pixel, int) { return Kokkos::max(sum, 0.f); });
  });
}

template <int K, int N> void contraction(char const *name, int rows) {
  Tensor<float *[K]> const a("a", rows);
  Tensor<float *[N]> const out("out", rows);
  auto const weight = weights<Panels<float, N, K>>();
  ExecutionSpace const space;
  SplitSums<float> const split("split", space);
  report(name, 2. * rows * K * N, rows < 8 ? 4. * K * N : 0, [&] {
    contract(
        "speed::contract", space, rows, a, weight, out, split,
        KOKKOS_LAMBDA(float sum, int, int) { return Kokkos::max(sum, 0.f); });
  });
}

void attention() {
  Tensor<float[128][768]> const q("q"), k("k");
  Tensor<float[12][128][128]> const scores("scores");
  ExecutionSpace const space;
  report("attention scores 12x128x64", 2. * 12 * 128 * 128 * 64, 0, [&] {
    batched_contract<Columns::adjacent, Columns::apart>(
        "speed::scores", space, 12, 128, 128, 64,
        KOKKOS_LAMBDA(int b, int m, int i)->float const & { return q(m, b * 64 + i); },
        KOKKOS_LAMBDA(int b, int i, int n) { return k(n, b * 64 + i); },
        KOKKOS_LAMBDA(float sum, int b, int m, int n) { scores(b, m, n) = sum * .125f; });
  });
  report("attention values", 2. * 12 * 128 * 128 * 64, 0, [&] {
    batched_contract<Columns::adjacent, Columns::adjacent>(
        "speed::values", space, 12, 128, 64, 128,
        KOKKOS_LAMBDA(int b, int m, int i)->float const & { return scores(b, m, i); },
        KOKKOS_LAMBDA(int b, int i, int n)->float const & { return k(i, b * 64 + n); },
        KOKKOS_LAMBDA(float sum, int b, int m, int n) { q(m, b * 64 + n) = sum; });
  });
}

template <int Size> void smallProducts(char const *name, int batches) {
  Tensor<float *[Size][Size]> const a("a", batches), b("b", batches), out("out", batches);
  ExecutionSpace const space;
  report(name, 2. * batches * Size * Size * Size, 0, [&] {
    batched_contract<Columns::adjacent, Columns::adjacent>(
        "speed::batched", space, batches, Size, Size, Size,
        KOKKOS_LAMBDA(int n, int i, int k)->float const & { return a(n, i, k); },
        KOKKOS_LAMBDA(int n, int k, int j)->float const & { return b(n, k, j); },
        KOKKOS_LAMBDA(float sum, int n, int i, int j) { out(n, i, j) = sum; });
  });
}

void memoryBound() {
  ExecutionSpace const space;
  Activation<float, 112, 112, 64, 1> const image{{"image", 1}};
  Activation<float, 56, 56, 64, 1> const pooled{{"pooled", 1}};
  report("maxpool 112 -> 56, 64", 0, 4. * 64 * (112 * 112 + 56 * 56), [&] {
    pool<Square<3, 2, 1>, Max>(
        "speed::pool", space, image, pooled, KOKKOS_LAMBDA(float x, int, Pixel, int) { return x; });
  });
  Activation<float, 56, 56, 144, 1> const a{{"a", 1}}, b{{"b", 1}};
  Tensor<float[9][144]> const taps("taps");
  Activation<float, 14, 14, 384, 1> const c{{"c", 1}}, d{{"d", 1}};
  Tensor<float[9][384]> const taps2("taps");
  report("depthwise 3x3, 384 @14", 2. * 9 * 14 * 14 * 384, 4. * 2 * 14 * 14 * 384, [&] {
    depthwise<Square<3, 1, 1>>(
        "speed::depthwise", space, c, taps2, d, KOKKOS_LAMBDA(float x, Pixel, int) { return x; });
  });
  report("depthwise 3x3, 144 @56", 2. * 9 * 56 * 56 * 144, 4. * 2 * 56 * 56 * 144, [&] {
    depthwise<Square<3, 1, 1>>("speed::depthwise", space, a, taps, b, KOKKOS_LAMBDA(float x, Pixel, int) { return x; });
  });
  Tensor<float[1536][768]> const x("x"), y("y");
  report("layer norm 1536x768", 0, 4. * 2 * 1536 * 768, [&] {
    for_rows(
        "speed::norm", space, 1536, 768, KOKKOS_LAMBDA(int row, Row const &along) {
          float const mean = along.fold<Sum>(768, [&](int i) { return x(row, i); }) / 768;
          float const variance =
              along.fold<Sum>(768, [&](int i) { return (x(row, i) - mean) * (x(row, i) - mean); }) / 768;
          float const scale = 1 / Kokkos::sqrt(variance + 1e-5f);
          along.each(768, [&](int i) { y(row, i) = (x(row, i) - mean) * scale; });
        });
  });
  report("add 1536x768", 0, 4. * 3 * 1536 * 768,
         [&] { for_each("speed::add", space, 1536, 768, KOKKOS_LAMBDA(int row, int i) { y(row, i) += x(row, i); }); });
}
} // namespace

int main(int argc, char *argv[]) {
  Kokkos::ScopeGuard const guard(argc, argv);
  int const n = argc > 1 ? std::atoi(argv[1]) : 1; // images
  if constexpr (on_host) {
    peak = measurePeak();
    std::printf("peak %.1f GF/s\n", peak * 1e-9);
  }
  convolution<224, 3, 64, 7, 2, 3>("7x7s2 3-64 @224", n);
  convolution<56, 64, 64, 3, 1, 1>("3x3 64 @56", n);
  convolution<56, 64, 128, 3, 2, 1>("3x3s2 64-128", n);
  convolution<56, 64, 128, 1, 2, 0>("1x1s2 64-128", n);
  convolution<28, 128, 128, 3, 1, 1>("3x3 128 @28", n);
  convolution<28, 128, 256, 3, 2, 1>("3x3s2 128-256", n);
  convolution<28, 128, 256, 1, 2, 0>("1x1s2 128-256", n);
  convolution<14, 256, 256, 3, 1, 1>("3x3 256 @14", n);
  convolution<14, 256, 512, 3, 2, 1>("3x3s2 256-512", n);
  convolution<14, 256, 512, 1, 2, 0>("1x1s2 256-512", n);
  convolution<7, 512, 512, 3, 1, 1>("3x3 512 @7", n);
  convolution<112, 32, 16, 1, 1, 0>("1x1 32-16 @112", n);
  convolution<112, 16, 96, 1, 1, 0>("1x1 16-96 @112", n);
  convolution<56, 24, 144, 1, 1, 0>("1x1 24-144 @56", n);
  convolution<56, 144, 24, 1, 1, 0>("1x1 144-24 @56", n);
  convolution<28, 32, 192, 1, 1, 0>("1x1 32-192 @28", n);
  convolution<14, 64, 384, 1, 1, 0>("1x1 64-384 @14", n);
  convolution<14, 384, 64, 1, 1, 0>("1x1 384-64 @14", n);
  convolution<7, 160, 960, 1, 1, 0>("1x1 160-960 @7", n);
  winogradConvolution<4, 56, 64, 64>("winograd 4, 64 @56", n);
  winogradConvolution<4, 28, 128, 128>("winograd 4, 128 @28", n);
  winogradConvolution<4, 14, 256, 256>("winograd 4, 256 @14", n);
  winogradConvolution<2, 14, 256, 256>("winograd 2, 256 @14", n);
  winogradConvolution<4, 7, 512, 512>("winograd 4, 512 @7", n);
  winogradConvolution<2, 7, 512, 512>("winograd 2, 512 @7", n);
  contraction<1024, 1024>("contract 256x1024x1024", 256);
  contraction<1024, 1024>("contract 4x1024x1024", 4);
  contraction<1024, 1024>("contract 1x1024x1024", 1);
  contraction<512, 1000>("contract 1x1000x512", 1);
  contraction<768, 3072>("contract 128x3072x768", 128);
  attention();
  smallProducts<64>("batch 100 x 64^3", 100);
  smallProducts<16>("batch 1000 x 16^3", 1000);
  memoryBound();
}
