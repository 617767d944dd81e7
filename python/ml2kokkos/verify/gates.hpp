// What forward() promises, watched through Kokkos Tools: every kernel has a label, runs on the given instance, and nothing
// is allocated and nothing fenced.
#ifndef ML2K_VERIFY_GATES_HPP
#define ML2K_VERIFY_GATES_HPP

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>

namespace ml2k_run {

class Watch {
public:
  /// From here to the destructor. Kernels must run on `device`.
  explicit Watch(std::uint32_t device) {
    state() = {device, {}, 0};
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(seeKernel);
    tools::set_begin_parallel_reduce_callback(seeKernel);
    tools::set_begin_parallel_scan_callback(seeKernel);
    tools::set_begin_fence_callback(seeFence);
    tools::set_allocate_data_callback(seeAllocation);
    tools::set_begin_deep_copy_callback(seeCopy);
  }
  Watch(Watch const &) = delete;
  ~Watch() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_begin_parallel_reduce_callback(nullptr);
    tools::set_begin_parallel_scan_callback(nullptr);
    tools::set_begin_fence_callback(nullptr);
    tools::set_allocate_data_callback(nullptr);
    tools::set_begin_deep_copy_callback(nullptr);
  }

  std::set<std::string> const &breaches() const { return state().breaches; }
  int kernels() const { return state().kernels; }

private:
  struct State {
    std::uint32_t device = 0;
    std::set<std::string> breaches;
    int kernels = 0;
  };
  static State &state() {
    static State instance;
    return instance;
  }

  // Labels that say nothing are the names of types, which Kokkos makes up.
  static void seeKernel(char const *name, std::uint32_t device, std::uint64_t *) {
    std::string const label = name;
    ++state().kernels;
    if (label.find("::") == std::string::npos || label.find("lambda") != std::string::npos ||
        label.find('<') != std::string::npos || label.find('(') != std::string::npos)
      state().breaches.insert("a kernel has no label: " + label);
    if (device != state().device)
      state().breaches.insert("not on the given instance: " + label);
  }
  // Kokkos itself fences around a kernel while a tool listens.
  static void seeFence(char const *name, std::uint32_t, std::uint64_t *) {
    std::string const label = name;
    if (label.find("Profile Tool Fence") == std::string::npos)
      state().breaches.insert("a fence: " + label);
  }
  // Every CUDA team launch reports an allocation of no bytes; the first reduction on an instance makes Kokkos' own scratch.
  static void seeAllocation(Kokkos::Tools::SpaceHandle, char const *label, void const *, std::uint64_t size) {
    if (size > 0 && std::string(label).find("scratch_mem") == std::string::npos)
      state().breaches.insert("an allocation: " + std::string(label));
  }
  static void seeCopy(Kokkos::Tools::SpaceHandle, char const *to, void const *, Kokkos::Tools::SpaceHandle, char const *,
                      void const *, std::uint64_t) {
    state().breaches.insert("a deep copy to: " + std::string(to));
  }
};

} // namespace ml2k_run

#endif
