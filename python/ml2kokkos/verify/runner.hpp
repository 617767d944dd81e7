// What the programs that verify/build.py writes have in common: arguments of forward() from a file, results into one.
//
// A file of arguments begins with the sizes that the workspace is made for, where they are not those of the arguments: a
// 64-bit count, then the sizes. It holds one record per argument of forward(), in its order: one 64-bit count of
// dimensions, the dimensions, and for inputs the elements. Outputs come as dimensions only; they are written as a record with elements.
#ifndef ML2K_VERIFY_RUNNER_HPP
#define ML2K_VERIFY_RUNNER_HPP

#include "gates.hpp"
#include "replays.hpp"
#include "stopwatch.hpp"

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ml2k_run {

struct Argument {
  std::vector<std::int64_t> shape;
  std::vector<char> data;
};

class Run {
public:
  Run(std::string weightsPath, std::string const &arguments, std::string const &results, int timed)
      : weights(std::move(weightsPath)), in(arguments, std::ios::binary), out(results, std::ios::binary), timed(timed) {
    if (!in || !out)
      throw std::runtime_error("cannot open " + (in ? results : arguments));
    rooms = readShape();
  }

  std::string weights; // path of the sidecar

  // The size number `index` of the workspace, if it is made for its arguments.
  int room(std::size_t index, std::int64_t size) const { return static_cast<int>(rooms.empty() ? size : rooms.at(index)); }

  // Views of memory that was made for other sizes do not lie where they would in memory of their own.
  template <class Workspace> void prepare(Workspace const &workspace) const;

  // The next argument of forward(): a view that owns its memory, or a number.
  template <class Parameter> auto argument() {
    arguments.push_back({readShape(), {}});
    if constexpr (Kokkos::is_view_v<Parameter>)
      return makeView<Parameter>(arguments.back());
    else
      return readNumber<Parameter>();
  }

  std::int64_t extent(int argument, int dim) const { return arguments.at(argument).shape.at(dim); }

  // Every argument whose elements are not const is a result.
  template <class Parameter> void result(int index, Parameter const &parameter) {
    if constexpr (Kokkos::is_view_v<Parameter>)
      if constexpr (!std::is_const_v<typename Parameter::value_type>)
        writeView(arguments.at(index), parameter);
  }

  template <class Space, class Call> void call(Space const &space, Call const &forward) {
    space.fence();
    if (std::getenv("ML2K_GATES"))
      checkGates(space, forward);
    else
      forward();
    space.fence();
#if defined(KOKKOS_ENABLE_CUDA)
    if constexpr (std::is_same_v<Space, Kokkos::Cuda>)
      if (timed == -2)
        return reportReplays(space, forward);
#endif
    if (timed < 0)
      return serve(space, forward);
    std::vector<double> times;
    for (int i = 0; i < timed; ++i) {
      auto const start = std::chrono::steady_clock::now();
      forward();
      space.fence();
      times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    if (!times.empty())
      std::printf("forward %.6f ms, median of %d\n", times[times.size() / 2] * 1e3, timed);
  }

private:
  // For bench/: every line of standard input is a number of calls; the answer is what one of them took, in the processor
  // time of this thread and on the clock.
  // With ML2K_KERNEL, the label of a kernel, of the calls of that alone.
  template <class Space, class Call> void serve(Space const &space, Call const &forward) {
    char const *const kernel = std::getenv("ML2K_KERNEL");
    if (kernel)
      StopWatch::watch(kernel);
    for (int calls = 0; std::cin >> calls;) {
      StopWatch all;
      StopWatch::ofKernel() = {};
      all.start();
      for (int i = 0; i < calls; ++i)
        forward();
      space.fence();
      all.stop();
      StopWatch const &watch = kernel ? StopWatch::ofKernel() : all;
      std::cout << watch.worked / calls << " " << watch.passed / calls << std::endl;
    }
  }

  template <class Space, class Call> void checkGates(Space const &space, Call const &forward) {
    Watch const watch(Kokkos::Tools::Experimental::device_id(space));
    forward();
    std::string text;
    for (std::string const &breach : watch.breaches())
      text += "\n  " + breach;
    if (!text.empty())
      throw std::runtime_error("forward() breaks its promises:" + text);
  }

  template <class View>
  using Mutable = Kokkos::View<typename View::non_const_data_type, typename View::array_layout, typename View::device_type>;
  template <class View>
  using Flat = Kokkos::View<typename View::non_const_value_type *, typename View::device_type, Kokkos::MemoryUnmanaged>;
  template <class View>
  using HostFlat = Kokkos::View<typename View::non_const_value_type *, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

  // A count and so many numbers.
  std::vector<std::int64_t> readShape() {
    std::int64_t rank = 0;
    in.read(reinterpret_cast<char *>(&rank), sizeof rank);
    std::vector<std::int64_t> shape(rank);
    in.read(reinterpret_cast<char *>(shape.data()), rank * sizeof rank);
    if (!in)
      throw std::runtime_error("the file of arguments ends early");
    return shape;
  }

  template <class Number> Number readNumber() {
    Number number;
    in.read(reinterpret_cast<char *>(&number), sizeof number);
    return number;
  }

  template <class View> View makeView(Argument &argument) {
    Kokkos::LayoutRight layout;
    std::size_t size = 1;
    for (std::size_t i = 0; i < argument.shape.size(); ++i)
      size *= argument.shape[i];
    if (argument.shape.size() == View::rank)
      std::copy(argument.shape.begin(), argument.shape.end(), layout.dimension);
    else
      layout.dimension[0] = size; // more dimensions than a view can have
    Mutable<View> view(Kokkos::view_alloc("argument"), layout);
    if (view.size() != size)
      throw std::runtime_error("an argument has another shape than forward() takes");
    argument.data.resize(size * sizeof(typename View::non_const_value_type));
    if (!std::is_const_v<typename View::value_type> && !isUpdated())
      return view;
    in.read(argument.data.data(), argument.data.size());
    HostFlat<View> const host(reinterpret_cast<typename View::non_const_value_type *>(argument.data.data()), size);
    Kokkos::deep_copy(Flat<View>(view.data(), size), host);
    return view;
  }

  // An output may have initial values: loop programs update their arguments.
  bool isUpdated() {
    char given = 0;
    in.read(&given, 1);
    return given != 0;
  }

  template <class View> void writeView(Argument &argument, View const &view) {
    std::int64_t const rank = argument.shape.size();
    HostFlat<View> const host(reinterpret_cast<typename View::non_const_value_type *>(argument.data.data()), view.size());
    Kokkos::deep_copy(host, Flat<View>(view.data(), view.size()));
    out.write(reinterpret_cast<char const *>(&rank), sizeof rank);
    out.write(reinterpret_cast<char const *>(argument.shape.data()), rank * sizeof rank);
    out.write(argument.data.data(), argument.data.size());
  }

  std::ifstream in;
  std::ofstream out;
  int timed;
  std::vector<std::int64_t> rooms;
  std::vector<Argument> arguments;
};

// With ML2K_GATES set not the default instance, so that a kernel that forgets its instance is seen.
template <class Space> Space ownInstance() {
  if (!std::getenv("ML2K_GATES") || Space().concurrency() < 2)
    return Space();
  return Kokkos::Experimental::partition_space(Space(), 1, 1)[1];
}

/// Bytes of floating-point NaN in the shared buffers of a Workspace, where it has some: what reads an element before
/// forward() has written it is found out.
template <class Workspace> auto fillWithNan(Workspace const &workspace, int) -> decltype(workspace.arena, void()) {
  Kokkos::deep_copy(workspace.arena, char(-1));
}
template <class Workspace> void fillWithNan(Workspace const &, long) {}

template <class Workspace> void Run::prepare(Workspace const &workspace) const {
  if (!rooms.empty())
    fillWithNan(workspace, 0);
}

using Model = void (*)(Run &);

// program MODEL WEIGHTS ARGUMENTS RESULTS [times], -1 times for serve(), -2 for reportReplays(), any number of such groups separated by "--"
inline int runModels(std::map<std::string, Model> const &models, int argc, char **argv) {
  Kokkos::ScopeGuard const guard(argc, argv);
  int failures = 0;
  for (int i = 1; i + 3 < argc;) {
    std::string const name = argv[i];
    bool const timed = i + 4 < argc && std::string(argv[i + 4]) != "--";
    try {
      Run run(argv[i + 1], argv[i + 2], argv[i + 3], timed ? std::atoi(argv[i + 4]) : 0);
      models.at(name)(run);
    } catch (std::exception const &error) {
      std::cerr << name << ": " << error.what() << "\n";
      ++failures;
    }
    i += timed ? 6 : 5;
  }
  return failures != 0;
}

} // namespace ml2k_run

#endif
