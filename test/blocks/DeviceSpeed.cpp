//===- DeviceSpeed.cpp - how fast the building blocks are on a GPU ------------------------------------------------===//
//
// For bench/run.py --suite gpu: one JSON object a line. A time is that of a call inside a captured graph, the median of
// replays. Values are checked at random places against sums in double; results of 100 replays must be the same bits.
//
//===----------------------------------------------------------------------------------------------------------------===//

#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace blocks;

#define CHECK_CUDA(call)                                                                                               \
  if (cudaError_t const error = (call); error != cudaSuccess)                                                          \
  std::printf("%s\n", cudaGetErrorString(error)), std::exit(3)

namespace {
std::string wanted;
ExecutionSpace const *instance;

/// Some calls as one launch
class Captured {
public:
  template <class Call> Captured(Call const &call, int calls) {
    cudaStream_t const stream = instance->cuda_stream();
    cudaGraph_t graph;
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < calls; ++i)
      call();
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));
  }
  ~Captured() { cudaGraphExecDestroy(executable); }
  void replay() const { CHECK_CUDA(cudaGraphLaunch(executable, instance->cuda_stream())); }
  double microseconds() const {
    float time;
    CHECK_CUDA(cudaEventRecord(begin, instance->cuda_stream()));
    replay();
    CHECK_CUDA(cudaEventRecord(end, instance->cuda_stream()));
    CHECK_CUDA(cudaEventSynchronize(end));
    CHECK_CUDA(cudaEventElapsedTime(&time, begin, end));
    return time * 1e3;
  }

private:
  cudaGraphExec_t executable;
  cudaEvent_t begin, end;
};

template <class Call> double timeOf(Call const &call) {
  call();
  double const once = std::max(.5, Captured(call, 1).microseconds());
  int const calls = std::clamp(int(1000 / once), 1, 20);
  Captured const captured(call, calls);
  std::vector<double> times;
  captured.microseconds();
  for (int i = 0; i < std::clamp(int(2e4 / (once * calls)), 5, 21); ++i)
    times.push_back(captured.microseconds() / calls);
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

template <class View> std::vector<float> values(View const &view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return {host.data(), host.data() + host.size()};
}
template <class View> void fill(View const &view, unsigned seed) {
  auto const host = Kokkos::create_mirror_view(view);
  unsigned state = seed * 2654435761u + 12345;
  for (std::size_t i = 0; i < host.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    host.data()[i] = float(int(state >> 8 & 0xffff) - 0x8000) / 0x8000;
  }
  Kokkos::deep_copy(view, host);
}

/// Runs and times a case; expected(i) is result element i
template <class Out, class Call, class Expected>
void report(std::string const &name, Out const &out, Call const &call, Expected const &expected) {
  if (name.find(wanted) == std::string::npos)
    return;
  call();
  instance->fence();
  auto const first = values(out);
  double largest = 1e-30, error = 0;
  unsigned state = 1;
  for (int n = 0; n < 400; ++n) {
    state = state * 1664525u + 1013904223u;
    std::size_t const i = n == 0 ? first.size() - 1 : std::size_t(double(state) / 4294967296. * double(first.size()));
    double const wantedValue = expected(i);
    largest = std::max(largest, std::abs(wantedValue));
    double const difference = std::abs(first[i] - wantedValue);
    error = std::isnan(difference) ? 1 : std::max(error, difference);
  }
  Captured const once(call, 1);
  for (int i = 0; i < 100; ++i)
    once.replay();
  instance->fence();
  auto const last = values(out);
  bool const same = std::memcmp(first.data(), last.data(), first.size() * sizeof(float)) == 0;
  std::printf("{\"case\": \"%s\", \"ours_us\": %.3f, \"max_error\": %.2e, \"same_bits\": %s}\n", name.c_str(),
              timeOf(call), error / largest, same ? "true" : "false");
  std::fflush(stdout);
}

std::string sizes(char const *name, std::vector<int> const &extents) {
  std::string text = name;
  for (std::size_t i = 0; i < extents.size(); ++i)
    text += (i ? "x" : "_") + std::to_string(extents[i]);
  return text;
}

template <int N, int K> Panels<float, N, K> packed(std::vector<float> &weights) {
  Tensor<float *> const plain("plain", std::size_t(N) * K); // k o
  fill(plain, 2);
  weights = values(plain);
  using Packing = PackingOf<Panels<float, N, K>>;
  Tensor<float *> const panels("panels", Packing::size);
  auto const host = Kokkos::create_mirror_view(panels);
  for (int k = 0; k < K; ++k)
    for (int o = 0; o < N; ++o)
      host(o / Packing::panel * Packing::panel_size + k * Packing::panel + o % Packing::panel) =
          weights[std::size_t(k) * N + o];
  Kokkos::deep_copy(panels, host);
  Panels<float, N, K> result;
  result.values = panels;
  result.bias = Tensor<float const[N]>(Tensor<float[N]>("bias"));
  return result;
}

template <int M, int K, int N> void gemm() {
  std::string const name = sizes("gemm", {M, K, N});
  if (name.find(wanted) == std::string::npos)
    return;
  std::vector<float> w;
  auto const weight = packed<N, K>(w);
  Tensor<float[M][K]> const a("a");
  Tensor<float[M][N]> const out("out");
  fill(a, 1);
  auto const x = values(a);
  SplitSums<float> const split("split", *instance);
  report(
      name, out, [&] { contract("gemm", *instance, M, a, weight, out, split, Unchanged{}); },
      [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < K; ++k)
          sum += double(x[i / N * K + k]) * w[std::size_t(k) * N + i % N];
        return sum;
      });
}

constexpr int edge = 4096;
using Square = Tensor<float[edge][edge]>;

void softmax(Square const &x, Square const &y) {
  auto const in = values(x);
  report(
      "softmax_4096x4096", y,
      [&] {
        for_wide_rows<edge>(
            "softmax", *instance, edge, KOKKOS_LAMBDA(int n, WideRow<edge> const &along) {
              auto const kept = along.keep(&y(n, 0));
              float const largest = along.fold<Max>(4096, [&](int i) { return x(n, i); });
              float const total = along.fold<Sum>(4096, [&](int i) {
                float const exponential = exp_of_negative(x(n, i) - largest);
                kept(i) = exponential;
                return exponential;
              });
              float const inverse = 1.f / total;
              along.each(4096, [&](int i) { y(n, i) = kept(i) * inverse; });
            });
      },
      [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < edge; ++k)
          sum += std::exp(double(in[i / edge * edge + k]));
        return std::exp(double(in[i])) / sum;
      });
}

void layerNorm(Square const &x, Square const &y) {
  auto const in = values(x);
  report(
      "layer_norm_4096x4096", y,
      [&] {
        for_wide_rows<edge>(
            "layer_norm", *instance, edge, KOKKOS_LAMBDA(int n, WideRow<edge> const &along) {
              auto const kept = along.keep(&y(n, 0));
              float const mean = along.fold<Sum>(4096, [&](int i) { return x(n, i); }) / 4096;
              float const squares = along.fold<Sum>(4096, [&](int i) {
                float const difference = x(n, i) - mean;
                kept(i) = difference;
                return difference * difference;
              });
              float const inverse = 1.f / Kokkos::sqrt(squares / 4096 + 1e-5f);
              along.each(4096, [&](int i) { y(n, i) = kept(i) * inverse; });
            });
      },
      [&](std::size_t i) {
        double sum = 0, squares = 0;
        for (int k = 0; k < edge; ++k)
          sum += in[i / edge * edge + k];
        for (int k = 0; k < edge; ++k)
          squares += std::pow(in[i / edge * edge + k] - sum / edge, 2);
        return (in[i] - sum / edge) / std::sqrt(squares / edge + 1e-5);
      });
}

void elementwise() {
  constexpr int rows = 8192;
  Tensor<float[rows][rows]> const x("x"), z("z"), y("y");
  fill(x, 1);
  fill(z, 2);
  auto const a = values(x), b = values(z);
  report(
      "add_relu_8192x8192", y,
      [&] {
        assign_each(
            "add_relu", *instance, rows, rows,
            KOKKOS_LAMBDA(int n, int i) { return Kokkos::max(x(n, i) + z(n, i), 0.f); },
            KOKKOS_LAMBDA(int n, int i)->float & { return y(n, i); });
      },
      [&](std::size_t i) { return std::max(double(a[i]) + b[i], 0.); });
  report(
      "gelu_8192x8192", y,
      [&] {
        assign_each(
            "gelu", *instance, rows, rows,
            KOKKOS_LAMBDA(int n, int i) {
              float const v = x(n, i);
              return v * (fast_erf(v * .70710677f) + 1.f) * .5f;
            },
            KOKKOS_LAMBDA(int n, int i)->float & { return y(n, i); });
      },
      [&](std::size_t i) { return a[i] * (std::erf(a[i] * std::sqrt(.5)) + 1) / 2; });
  report(
      "transpose_8192x8192", y,
      [&] {
        transposed_copy(
            "transpose", *instance, 1, rows, rows, KOKKOS_LAMBDA(int, int n, int i)->float const & { return x(i, n); },
            KOKKOS_LAMBDA(int, int n, int i)->float & { return y(n, i); });
      },
      [&](std::size_t i) { return a[i % rows * rows + i / rows]; });
}

template <int N> void batched(int pairs) {
  std::string const name = sizes("batched_gemm", {pairs, N, N, N});
  if (name.find(wanted) == std::string::npos)
    return;
  Tensor<float *[N][N]> const a("a", pairs), b("b", pairs), y("y", pairs);
  fill(a, 1);
  fill(b, 2);
  auto const l = values(a), r = values(b);
  report(
      name, y,
      [&] {
        batched_contract<Columns::adjacent, Columns::adjacent>(
            "batched", *instance, pairs, N, N, N,
            KOKKOS_LAMBDA(int p, int n, int k)->float const & { return a(p, n, k); },
            KOKKOS_LAMBDA(int p, int k, int o)->float const & { return b(p, k, o); },
            KOKKOS_LAMBDA(int p, int n, int o)->float & { return y(p, n, o); });
      },
      [&](std::size_t i) {
        double sum = 0;
        for (int k = 0; k < N; ++k)
          sum += double(l[i / N * N + k]) * r[(i / (N * N)) * N * N + k * N + i % N];
        return sum;
      });
}

/// A layer of ResNet18, without bias
template <int Kernel, int Stride, int Channels, int Size, int Outputs> void convolution(int images) {
  constexpr int pad = Kernel / 2, results = (Size + 2 * pad - Kernel) / Stride + 1, pitch = Size + 2 * pad;
  using In = Activation<float, Size, Size, Channels, pad>;
  using Out = Activation<float, results, results, Outputs>;
  using Weight = Panels<float, Outputs, Kernel * Kernel * Channels>;
  std::string const name = "conv_b" + std::to_string(images) + "_" + std::to_string(Kernel) + "x" +
                           std::to_string(Kernel) + "s" + std::to_string(Stride) + "_" + std::to_string(Channels) +
                           "-" + std::to_string(Outputs) + "@" + std::to_string(Size);
  if (name.find(wanted) == std::string::npos)
    return;
  std::vector<float> w;
  auto const weight = packed<Outputs, Weight::depth>(w);
  In const in{{"in", std::size_t(images)}};
  Out const out{{"out", std::size_t(images)}};
  fill(in.rows, 1);
  auto const x = values(in.rows);
  SplitSums<float> const split("split", *instance);
  report(
      name, out.rows,
      [&] { conv<blocks::Square<Kernel, Stride, pad>>("conv", *instance, in, weight, out, split, Unchanged{}); },
      [&](std::size_t i) {
        std::size_t const pixel = i / Outputs, q = pixel % results, p = pixel / results % results;
        std::size_t const image = pixel / results / results;
        double sum = 0;
        for (int k = 0; k < Weight::depth; ++k) {
          std::size_t const tap = k / Channels, row = p * Stride + tap / Kernel, column = q * Stride + tap % Kernel;
          sum += double(x[((image * pitch + row) * pitch + column) * Channels + k % Channels]) *
                 w[k * Outputs + i % Outputs];
        }
        return sum;
      });
}

void convolutions(int images) {
  convolution<7, 2, 3, 224, 64>(images);
  convolution<3, 1, 64, 56, 64>(images);
  convolution<3, 2, 64, 56, 128>(images);
  convolution<3, 1, 128, 28, 128>(images);
  convolution<1, 2, 64, 56, 128>(images);
  convolution<3, 2, 128, 28, 256>(images);
  convolution<3, 1, 256, 14, 256>(images);
  convolution<1, 2, 128, 28, 256>(images);
  convolution<3, 2, 256, 14, 512>(images);
  convolution<3, 1, 512, 7, 512>(images);
  convolution<1, 2, 256, 14, 512>(images);
}

void measure() {
  gemm<4096, 4096, 4096>();
  gemm<2048, 2048, 2048>();
  gemm<1024, 1024, 1024>();
  gemm<512, 512, 512>();
  gemm<256, 1024, 1024>();
  gemm<128, 768, 768>();
  gemm<128, 768, 2304>();
  gemm<128, 768, 3072>();
  gemm<128, 3072, 768>();
  gemm<8192, 512, 512>();
  gemm<1000, 1001, 999>();
  gemm<77, 333, 515>();
  gemm<1, 4096, 4096>();
  gemm<8000, 91, 400>();
  gemm<8000, 400, 400>();
  gemm<8000, 400, 11>();
  {
    Square const x("x"), y("y");
    fill(x, 1);
    softmax(x, y);
    layerNorm(x, y);
  }
  elementwise();
  batched<8>(1 << 20);
  batched<16>(1 << 20);
  batched<32>(1 << 18);
  convolutions(1);
  convolutions(32);
}
} // namespace

int main(int argc, char *argv[]) {
  Kokkos::ScopeGuard const guard(argc, argv);
  wanted = argc > 1 ? argv[1] : "";
  ExecutionSpace const space;
  instance = &space;
  measure();
}
