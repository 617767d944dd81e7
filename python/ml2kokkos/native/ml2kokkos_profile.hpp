// What module.report(...) measures: the time of every kernel, through the callbacks that Kokkos has for tools, and what the machine
// can do at most: the roofline.
#ifndef ML2KOKKOS_PYTHON_PROFILE_HPP
#define ML2KOKKOS_PYTHON_PROFILE_HPP

#include "ml2kokkos_device.hpp"

#include <Kokkos_Core.hpp>

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ml2k_python {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Kernels by name with their seconds, in the order of their launches. One recording at a time.
struct Recording {
  struct Launch {
    std::string name;
    Clock::time_point begin;
    double seconds;
  };
  std::vector<Launch> launches;
  Kokkos::Tools::Experimental::EventSet others; // of a tool that the program has loaded
};

inline Recording &recording() {
  static Recording own;
  return own;
}

// Execution spaces of the host run a kernel between the two calls; for a tool, Kokkos waits for a device before each of them.
inline void beginLaunch(char const *name, std::uint32_t, std::uint64_t *id) {
  auto &launches = recording().launches;
  *id = launches.size();
  launches.push_back({name, Clock::now(), 0});
}

inline void endLaunch(std::uint64_t id) {
  auto &launches = recording().launches;
  if (id < launches.size())
    launches[id].seconds = since(launches[id].begin);
}

inline void record() {
  namespace tools = Kokkos::Tools::Experimental;
  recording().launches.clear();
  recording().others = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(beginLaunch);
  tools::set_end_parallel_for_callback(endLaunch);
  tools::set_begin_parallel_reduce_callback(beginLaunch);
  tools::set_end_parallel_reduce_callback(endLaunch);
  tools::set_begin_parallel_scan_callback(beginLaunch);
  tools::set_end_parallel_scan_callback(endLaunch);
}

inline nanobind::list recorded() {
  Kokkos::Tools::Experimental::set_callbacks(recording().others);
  nanobind::list all;
  for (auto const &launch : recording().launches)
    all.append(nanobind::make_tuple(launch.name, launch.seconds));
  return all;
}

/// Bytes per second of a = b + c on arrays beyond all caches.
template <class Space> double bandwidth() {
  constexpr int count = 1 << 24;
  Space const space;
  using View = Kokkos::View<double *, Space>;
  View const a("a", count), b("b", count), c("c", count);
  double best = 1e9;
  for (int round = 0; round < 10; ++round) {
    auto const begin = Clock::now();
    Kokkos::parallel_for(
        "ml2kokkos: bandwidth", Kokkos::RangePolicy<Space>(space, 0, count), KOKKOS_LAMBDA(int i) { a(i) = b(i) + c(i); });
    space.fence("ml2kokkos: bandwidth");
    best = std::min(best, since(begin));
  }
  return 3.0 * count * sizeof(double) / best;
}

/// Vectors of a host's registers, numbers of a device's.
template <class Number, bool OnHost> struct Lanes {
  typedef Number type __attribute__((vector_size(64)));
  static constexpr int count = 64 / sizeof(Number);
  static Number first(type const &lanes) { return lanes[0]; }
};
template <class Number> struct Lanes<Number, false> {
  using type = Number;
  static constexpr int count = 1;
  static KOKKOS_FUNCTION Number first(Number lane) { return lane; }
};

/// Operations per second of multiplications and additions in registers: 16 chains of vectors of 64 bytes in each thread.
template <class Space, class Number> double peak() {
  using Vector = typename Lanes<Number, computesOnHost<Space>>::type;
  constexpr int chains = 16, rounds = 20000, lanes = Lanes<Number, computesOnHost<Space>>::count;
  Space const space;
  int const threads = space.concurrency();
  Kokkos::View<Number *, Space> const sums("sums", threads);
  double best = 1e9;
  for (int round = 0; round < 30; ++round) {
    auto const begin = Clock::now();
    Kokkos::parallel_for(
        "ml2kokkos: peak", Kokkos::RangePolicy<Space>(space, 0, threads), KOKKOS_LAMBDA(int thread) {
          Vector x[chains];
          Vector const factor = Vector{} + (Number(0.999) + sums(thread) * Number(1e-9));
#pragma GCC unroll 16
          for (int i = 0; i < chains; ++i)
            x[i] = Vector{} + Number(i);
          for (int n = 0; n < rounds; ++n)
#pragma GCC unroll 16
            for (int i = 0; i < chains; ++i)
              x[i] = x[i] * factor + Number(0.5);
          Number total = 0;
          for (int i = 0; i < chains; ++i)
            total += Lanes<Number, computesOnHost<Space>>::first(x[i]);
          sums(thread) = total;
        });
    space.fence("ml2kokkos: peak");
    best = std::min(best, since(begin));
  }
  return 2.0 * chains * lanes * rounds * threads / best;
}

/// Seconds that a kernel without work takes for a tool: what a device's kernels seem to take longer than they do.
template <class Space> double launch() {
  if constexpr (computesOnHost<Space>)
    return 0;
  double best = 1e9;
  record();
  for (int round = 0; round < 100; ++round)
    Kokkos::parallel_for("ml2kokkos: launch", Kokkos::RangePolicy<Space>(Space(), 0, 32), KOKKOS_LAMBDA(int) {});
  for (auto const &done : recording().launches)
    best = std::min(best, done.seconds);
  Kokkos::Tools::Experimental::set_callbacks(recording().others);
  return best;
}

template <class Space> void defineProfile(nanobind::module_ &module) {
  module.def("record", record);
  module.def("recorded", recorded);
  module.def("launch", launch<Space>);
  module.def("bandwidth", bandwidth<Space>);
  module.def("peak_f32", peak<Space, float>);
  module.def("peak_f64", peak<Space, double>);
}

} // namespace ml2k_python

#endif
