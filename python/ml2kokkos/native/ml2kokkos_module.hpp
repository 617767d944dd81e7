// What the Python modules that ml2kokkos builds have in common: weights, workspaces, and the life of Kokkos. binding.py writes
// the file that includes this and the printed source of one model.
#ifndef ML2KOKKOS_PYTHON_MODULE_HPP
#define ML2KOKKOS_PYTHON_MODULE_HPP

#include "ml2kokkos_call.hpp"
#include "ml2kokkos_profile.hpp"

#include <Kokkos_Core.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ml2k_python {
namespace nb = nanobind;

struct Nothing {}; // in place of weights or a workspace that a model does not have

/// A model with its weights, as Python holds it. `Printed` names what the printed header declares.
template <class Printed> class Model {
  using Space = typename Printed::Space;
  using Workspace = typename Printed::Workspace;
  using Sizes = typename Printed::Sizes; // run-time sizes of a Workspace
  static_assert(computesOnHost<Space> || deviceType<Space> != 0, "ml2kokkos: DLPack has no number for this memory");

  struct Slot {
    Sizes sizes;
    std::unique_ptr<Workspace> workspace;
  };

  struct State {
    Space space;
    typename Printed::Weights weights;
    std::mutex access;
    std::vector<Slot> idle; // workspaces: as many as there were calls at once
  };

public:
  Model(std::string const &path, nb::object givenFace)
      : face(std::move(givenFace)), state(std::make_shared<std::optional<State>>()) {
    requireKokkos();
    state->emplace();
    (*state)->weights = Printed::load((*state)->space, path);
    states().push_back(state);
  }

  Call<Space, Printed::arguments, Printed::sizes> call() const { return {face}; }

  /// forward(space, weights, workspace), without Python's lock; waits for the results.
  template <class Call, class Forward> void run(Call const &call, Sizes const &sizes, Forward const &forward) const {
    if (!state->has_value())
      requireKokkos();
    call.refuseSharedMemory();
    nb::gil_scoped_release const others;
    Slot slot = take(**state, sizes);
    forward((*state)->space, (*state)->weights, *slot.workspace);
    call.copyBack((*state)->space);
    static std::string const reason = "ml2kokkos: Python reads the results";
    (*state)->space.fence(reason);
    std::lock_guard const lock((*state)->access);
    (*state)->idle.push_back(std::move(slot));
  }

  /// Kokkos ends: memory that it allocated has to be released before.
  static void release() {
    for (auto const &weak : states())
      if (auto const held = weak.lock())
        held->reset();
    states().clear();
  }

private:
  static std::vector<std::weak_ptr<std::optional<State>>> &states() {
    static std::vector<std::weak_ptr<std::optional<State>>> all;
    all.erase(std::remove_if(all.begin(), all.end(), [](auto const &weak) { return weak.expired(); }), all.end());
    return all;
  }

  static void requireKokkos() {
    if (!Kokkos::is_initialized() || Kokkos::is_finalized())
      throw std::runtime_error("ml2kokkos: Kokkos has been finalized; models cannot be used any more");
  }

  // The last one returned, made larger where it is too small for this call.
  static Slot take(State &state, Sizes const &sizes) {
    Slot slot{sizes, nullptr};
    {
      std::lock_guard const lock(state.access);
      if (!state.idle.empty()) {
        slot = std::move(state.idle.back());
        state.idle.pop_back();
      }
    }
    Sizes larger = slot.sizes;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      larger[i] = std::max(larger[i], sizes[i]);
    if (slot.workspace && larger == slot.sizes)
      return slot;
    slot.workspace.reset(); // before the larger one is allocated
    slot.workspace = Printed::allocate(state.space, larger);
    slot.sizes = larger;
    return slot;
  }

  nb::object face;
  std::shared_ptr<std::optional<State>> state;
};

/// Starts Kokkos unless the program or another module has done so; who starts it ends it with the interpreter.
template <class Printed> void liveWithKokkos(nb::module_ &module) {
  loadNumPy();
  nb::set_leak_warnings(false); // a model may live as long as the interpreter
  if (Kokkos::is_finalized())
    throw nb::import_error("ml2kokkos: Kokkos has been finalized; models cannot be loaded any more");
  auto const finalize = [] {
    if (Kokkos::is_initialized() && !Kokkos::is_finalized())
      Kokkos::finalize();
  };
  if (!Kokkos::is_initialized()) {
    Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(finalize));
  }
  Kokkos::push_finalize_hook([] { Model<Printed>::release(); });
  if constexpr (!computesOnHost<typename Printed::Space>)
    defineMemory<typename Printed::Space>(module);
  module.def("finalize", finalize);
  defineProfile<typename Printed::Space>(module);
  module.attr("execution_space") = Printed::Space::name();
  module.attr("threads") = typename Printed::Space().concurrency();
  module.attr("device_type") = deviceType<typename Printed::Space>;
  module.attr("device_number") = deviceNumber<typename Printed::Space>();
  module.attr("device_family") = deviceFamily;
}

} // namespace ml2k_python

#endif
