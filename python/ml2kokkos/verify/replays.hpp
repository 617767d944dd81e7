// forward() on an NVIDIA GPU as a captured graph: 100 replays, then their times and those of its kernels.
#ifndef ML2K_VERIFY_REPLAYS_HPP
#define ML2K_VERIFY_REPLAYS_HPP

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ml2k_run {

inline void checkCuda(cudaError_t error) {
  if (error != cudaSuccess)
    throw std::runtime_error(cudaGetErrorString(error));
}

/// Times between events of a stream
class StreamClock {
public:
  explicit StreamClock(cudaStream_t stream) : stream(stream) {
    checkCuda(cudaEventCreate(&begin));
    checkCuda(cudaEventCreate(&end));
  }
  void start() { checkCuda(cudaEventRecord(begin, stream)); }
  void stop() { checkCuda(cudaEventRecord(end, stream)); }
  double microseconds() {
    float milliseconds;
    checkCuda(cudaEventSynchronize(end));
    checkCuda(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1e3;
  }

private:
  cudaStream_t stream;
  cudaEvent_t begin, end;
};

class Replays {
public:
  template <class Call> Replays(Kokkos::Cuda const &space, Call const &call) : stream(space.cuda_stream()) {
    cudaGraph_t graph;
    checkCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    call();
    checkCuda(cudaStreamEndCapture(stream, &graph));
    checkCuda(cudaGraphGetNodes(graph, nullptr, &nodes));
    checkCuda(cudaGraphInstantiate(&executable, graph, 0));
    checkCuda(cudaGraphDestroy(graph));
  }
  Replays(Replays const &) = delete;
  ~Replays() { cudaGraphExecDestroy(executable); }

  void replay() const { checkCuda(cudaGraphLaunch(executable, stream)); }
  std::size_t kernels() const { return nodes; }

private:
  cudaStream_t stream;
  cudaGraphExec_t executable;
  std::size_t nodes = 0;
};

template <class Work> double medianOf(int count, StreamClock &clock, Work const &work) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    clock.start();
    work();
    clock.stop();
    times.push_back(clock.microseconds());
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[count / 2];
}

/// Microseconds of every kernel by its label, the least of some calls
class KernelTimes {
public:
  template <class Call> static std::vector<std::pair<double, std::string>> of(Kokkos::Cuda const &space, Call const &call) {
    StreamClock own(space.cuda_stream());
    clock() = &own;
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(begin);
    tools::set_end_parallel_for_callback(end);
    std::map<std::string, double> least;
    for (int i = 0; i < 5; ++i) {
      times().clear();
      call();
      for (auto const &[label, time] : times())
        least[label] = i ? std::min(least[label], time) : time;
    }
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_end_parallel_for_callback(nullptr);
    std::vector<std::pair<double, std::string>> sorted;
    for (auto const &[label, time] : least)
      sorted.emplace_back(time, label);
    std::sort(sorted.rbegin(), sorted.rend());
    return sorted;
  }

private:
  static StreamClock *&clock() {
    static StreamClock *instance = nullptr;
    return instance;
  }
  static std::map<std::string, double> &times() {
    static std::map<std::string, double> instance;
    return instance;
  }
  static std::string &label() {
    static std::string instance;
    return instance;
  }
  static void begin(char const *name, std::uint32_t, std::uint64_t *) {
    label() = name;
    clock()->start();
  }
  static void end(std::uint64_t) {
    clock()->stop();
    times()[label()] += clock()->microseconds();
  }
};

/// One line of JSON: microseconds of a replay and of a call in the stream, the kernels, the slowest of them
template <class Call> void reportReplays(Kokkos::Cuda const &space, Call const &forward) {
  Replays const replays(space, forward);
  for (int i = 0; i < 100; ++i)
    replays.replay();
  space.fence();
  StreamClock clock(space.cuda_stream());
  double const once = medianOf(5, clock, [&] { replays.replay(); });
  int const together = std::clamp(int(2000 / once), 1, 20);
  double const replayed = medianOf(15, clock, [&] {
    for (int i = 0; i < together; ++i)
      replays.replay();
  }) / together;
  double const streamed = medianOf(15, clock, [&] {
    for (int i = 0; i < together; ++i)
      forward();
  }) / together;
  auto const kernels = KernelTimes::of(space, forward);
  std::printf("{\"replayed_us\": %.2f, \"stream_us\": %.2f, \"kernels\": %zu, \"slowest\": [", replayed, streamed, replays.kernels());
  for (std::size_t i = 0; i < std::min<std::size_t>(12, kernels.size()); ++i)
    std::printf("%s[\"%s\", %.1f]", i ? ", " : "", kernels[i].second.c_str(), kernels[i].first);
  std::printf("]}\n");
  replays.replay(); // the results are those of a replay
  space.fence();
}

} // namespace ml2k_run
#endif
#endif
