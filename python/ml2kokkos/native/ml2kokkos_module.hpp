// What the Python modules that ml2kokkos builds have in common: arrays of Python as views of forward(), results, workspaces,
// and the life of Kokkos. binding.py writes the file that includes this and the printed source of one model.
//
// An array that lies in host memory in C order with the right element type is used where it is. For everything else the
// Python side (arrays.py, `face`) is asked: it copies once, or raises with the name of the argument.
#ifndef ML2KOKKOS_PYTHON_MODULE_HPP
#define ML2KOKKOS_PYTHON_MODULE_HPP

#include "ml2kokkos_profile.hpp"

#include <Kokkos_Core.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <initializer_list>
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

/// By axis: an extent, or ~i where the i-th run-time size is one.
using Shape = std::initializer_list<std::int64_t>;

template <class Element> using Array = nb::ndarray<Element, nb::c_contig, nb::device::cpu>;

/// An argument of forward() and what keeps its memory alive during the call.
template <class View> struct Held {
  Array<typename View::value_type> array;
  View view;
  nb::object object; // the array as Python has it
};

// Tensors have their extents from the arrays; a view of one dimension stands for more than Kokkos has.
template <class View, class Array> View viewOf(Array const &array) {
  Kokkos::LayoutRight layout;
  if (array.ndim() == View::rank)
    for (std::size_t i = 0; i < array.ndim(); ++i)
      layout.dimension[i] = array.shape(i);
  else
    layout.dimension[0] = array.size();
  return View(array.data(), layout);
}

/// The arguments of one call: checks their shapes against each other and against the model.
template <int Sizes> class Call {
public:
  Call(nb::handle face, nb::handle ndarray, nb::handle empty, nb::handle dtypes)
      : face(face), ndarray(ndarray), empty(empty), dtypes(dtypes) {
    sizes.fill(-1);
  }

  int size(int i) const { return int(sizes[i]); }
  void compute(int i, std::int64_t value) { sizes[i] = value; }

  /// Read only: in place, or a copy that Python makes.
  template <class View> Held<View> input(int number, nb::handle given, Shape shape) {
    Held<View> held;
    held.object = readable(number, given);
    if (!nb::try_cast(held.object, held.array, false) || !isAligned(held.array)) {
      held.object = face.attr("prepare")(number, held.object);
      if (!nb::try_cast(held.object, held.array, false))
        throw std::runtime_error("ml2kokkos: an array that Python prepared cannot be read");
    }
    return finish<View>(number, std::move(held), shape, false);
  }

  /// Written, and read where the model updates it: only in place.
  template <class View> Held<View> updated(int number, nb::handle given, Shape shape) {
    Held<View> held;
    held.object = nb::borrow(given);
    if (!given.type().is(ndarray))
      face.attr("check_mutable")(number, given);
    if (!nb::try_cast(readable(number, given), held.array, false) || !isAligned(held.array)) {
      face.attr("refuse_output")(number, given);
      throw std::runtime_error("ml2kokkos: an array cannot be written");
    }
    return finish<View>(number, std::move(held), shape, true);
  }

  /// A new array of NumPy's where Python gives none.
  template <class View> Held<View> output(int number, nb::handle given, Shape shape) {
    if (!given.is_none())
      return updated<View>(number, given, shape);
    nb::object const made = allocate(number, shape);
    return updated<View>(number, made, shape);
  }

  template <class Number> Number number(int number, nb::handle given) const {
    Number value{};
    if (!nb::try_cast(given, value))
      face.attr("refuse_number")(number, given);
    return value;
  }

  /// Results that overlap inputs or one another would depend on the order of kernels.
  void refuseSharedMemory() const {
    for (auto const &written : ranges)
      for (auto const &other : ranges)
        if (written.isWritten && &written != &other && written.begin < other.end && other.begin < written.end)
          face.attr("refuse_shared")(written.number, other.number);
  }

private:
  struct Range {
    std::uintptr_t begin, end;
    int number;
    bool isWritten;
  };

  // nanobind reads what has DLPack; everything else only NumPy, because ctypes' buffers, which have no strides, end nanobind's
  // reader (3.1.0)
  nb::object readable(int number, nb::handle given) const {
    if (given.type().is(ndarray) || nb::hasattr(given, "__dlpack__"))
      return nb::borrow(given);
    return face.attr("as_array")(number, given);
  }

  template <class Array> static bool isAligned(Array const &array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(typename Array::Scalar) == 0;
  }

  template <class View> Held<View> finish(int number, Held<View> held, Shape shape, bool isWritten) {
    if (!fits(held.array, shape))
      face.attr("refuse_shape")(number, shapeOf(held.array), known());
    held.view = viewOf<View>(held.array);
    auto const begin = reinterpret_cast<std::uintptr_t>(held.array.data());
    ranges.push_back({begin, begin + held.array.nbytes(), number, isWritten});
    return held;
  }

  // Sizes that the array decides are known from here on.
  template <class Array> bool fits(Array const &array, Shape shape) {
    if (array.ndim() != shape.size())
      return false;
    std::size_t axis = 0;
    for (std::int64_t const wanted : shape) {
      std::int64_t const given = array.shape(axis++);
      std::int64_t fixed = wanted;
      std::int64_t &extent = wanted < 0 ? sizes[~wanted] : fixed;
      if (given > INT_MAX)
        return false;
      if (extent < 0)
        extent = given;
      if (extent != given)
        return false;
    }
    return true;
  }

  template <class Array> static nb::object shapeOf(Array const &array) {
    nb::list shape;
    for (std::size_t i = 0; i < array.ndim(); ++i)
      shape.append(array.shape(i));
    return shape;
  }

  nb::object known() const {
    nb::list list;
    for (std::int64_t const size : sizes)
      list.append(size);
    return list;
  }

  nb::object allocate(int number, Shape shape) {
    nb::object const extents = nb::steal(PyTuple_New(Py_ssize_t(shape.size())));
    Py_ssize_t axis = 0;
    for (std::int64_t const wanted : shape) {
      std::int64_t const extent = wanted < 0 ? sizes[~wanted] : wanted;
      if (extent < 0)
        face.attr("refuse_size")(number, known());
      PyTuple_SET_ITEM(extents.ptr(), axis++, PyLong_FromLongLong(extent));
    }
    PyObject *const arguments[] = {extents.ptr(), PyTuple_GET_ITEM(dtypes.ptr(), number)};
    PyObject *const made = PyObject_Vectorcall(empty.ptr(), arguments, 2, nullptr);
    if (!made)
      throw nb::python_error();
    return nb::steal(made);
  }

  nb::handle face, ndarray, empty, dtypes;
  std::array<std::int64_t, Sizes == 0 ? 1 : Sizes> sizes;
  std::vector<Range> ranges;
};

/// A model with its weights, as Python holds it. `Printed` names what the printed header declares.
template <class Printed> class Model {
  using Space = typename Printed::Space;
  using Workspace = typename Printed::Workspace;
  using Sizes = typename Printed::Sizes; // run-time sizes of a Workspace
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible,
                "ml2kokkos: Python modules need a Kokkos whose default execution space is one of the host");

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
      : face(std::move(givenFace)), ndarray(face.attr("ndarray")), empty(face.attr("empty")), dtypes(face.attr("dtypes")),
        state(std::make_shared<std::optional<State>>()) {
    requireKokkos();
    state->emplace();
    (*state)->weights = Printed::load((*state)->space, path);
    states().push_back(state);
  }

  Call<Printed::sizes> call() const { return {face, ndarray, empty, dtypes}; }

  /// forward(space, weights, workspace), without Python's lock; waits for the results.
  template <class Call, class Forward> void run(Call const &call, Sizes const &sizes, Forward const &forward) const {
    if (!state->has_value())
      requireKokkos();
    call.refuseSharedMemory();
    nb::gil_scoped_release const others;
    Slot slot = take(**state, sizes);
    forward((*state)->space, (*state)->weights, *slot.workspace);
    (*state)->space.fence("ml2kokkos: Python reads the results");
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

  nb::object face, ndarray, empty, dtypes;
  std::shared_ptr<std::optional<State>> state;
};

/// Starts Kokkos unless the program or another module has done so; who starts it ends it with the interpreter.
template <class Printed> void liveWithKokkos(nb::module_ &module) {
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
  module.def("finalize", finalize);
  defineProfile<typename Printed::Space>(module);
  module.attr("execution_space") = Printed::Space::name();
  module.attr("threads") = typename Printed::Space().concurrency();
}

} // namespace ml2k_python

#endif
