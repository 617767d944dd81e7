// Seconds of forward(), or of one of its kernels through the callbacks of Kokkos Tools.

#ifndef ML2K_VERIFY_STOPWATCH_HPP
#define ML2K_VERIFY_STOPWATCH_HPP

#include <Kokkos_Core.hpp>

#include <chrono>
#include <ctime>
#include <string>

namespace ml2k_run {
// Processor time of this thread and time on the clock, summed over all from start() to stop().
struct StopWatch {
  double worked = 0, passed = 0;

  void start() { worked -= processorTime(), passed -= clock(); }
  void stop() { worked += processorTime(), passed += clock(); }

  static StopWatch &ofKernel() {
    static StopWatch watch;
    return watch;
  }
  // From now on ofKernel() runs while a kernel of this label does.
  static void watch(std::string const &wanted) {
    label() = wanted;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback([](char const *name, std::uint32_t, std::uint64_t *id) {
      *id = label() == name;
      if (*id)
        ofKernel().start();
    });
    Kokkos::Tools::Experimental::set_end_parallel_for_callback([](std::uint64_t id) {
      if (id)
        ofKernel().stop();
    });
  }

private:
  static std::string &label() {
    static std::string text;
    return text;
  }
  static double processorTime() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }
  static double clock() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};
} // namespace ml2k_run

#endif
