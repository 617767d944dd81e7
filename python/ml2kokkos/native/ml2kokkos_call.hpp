// The arguments of one call from Python: arrays as views of forward(), results, and the check of their sizes.
//
// An array of NumPy's that lies in C order with the right element type is used where it is, by NumPy's C interface: a call of a
// small network takes less than two microseconds. Arrays of others come by DLPack. For everything else the Python side
// (arrays.py, `face`) is asked: it copies once, or raises with the name of the argument. Where forward() computes on a device,
// arrays in its memory are used where they are, and those of the host are copied there and back.
#ifndef ML2KOKKOS_PYTHON_CALL_HPP
#define ML2KOKKOS_PYTHON_CALL_HPP

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include "ml2kokkos_device.hpp"

#include <Kokkos_Core.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace ml2k_python {
namespace nb = nanobind;

/// By axis: an extent, or ~i where the i-th run-time size is one.
using Shape = std::initializer_list<std::int64_t>;
static_assert(std::is_same_v<npy_intp, std::int64_t>, "ml2kokkos: Python modules need 64 bits");

/// An array that another package gives by DLPack.
template <class Element, class Space>
using Foreign = std::conditional_t<computesOnHost<Space>, nb::ndarray<Element, nb::c_contig, nb::device::cpu>, nb::ndarray<Element, nb::c_contig>>;

/// An argument of forward() and what keeps its memory alive during the call.
template <class View> struct Held {
  View view;
  nb::object object; // the array as Python has it
  Foreign<typename View::value_type, typename View::execution_space> foreign;
};

inline void loadNumPy() {
  if (_import_array() < 0)
    throw nb::python_error();
}

template <class Element> constexpr int numpyType() {
  if constexpr (std::is_same_v<Element, bool>)
    return NPY_BOOL;
  else if constexpr (isHalf<Element>)
    return std::is_same_v<Element, Kokkos::Experimental::half_t> ? NPY_FLOAT16 : NPY_NOTYPE; // NumPy has no bfloat16
  else if constexpr (std::is_floating_point_v<Element>)
    return sizeof(Element) == 4 ? NPY_FLOAT32 : NPY_FLOAT64;
  else if constexpr (std::is_signed_v<Element>)
    return sizeof(Element) == 1 ? NPY_INT8 : sizeof(Element) == 2 ? NPY_INT16 : sizeof(Element) == 4 ? NPY_INT32 : NPY_INT64;
  else
    return sizeof(Element) == 1 ? NPY_UINT8 : sizeof(Element) == 2 ? NPY_UINT16 : sizeof(Element) == 4 ? NPY_UINT32 : NPY_UINT64;
}

/// The array where it can be used in place by a view of these elements, else null.
template <class Element> PyArrayObject *inPlace(nb::handle given) {
  if (!PyArray_CheckExact(given.ptr()))
    return nullptr;
  auto *const array = reinterpret_cast<PyArrayObject *>(given.ptr());
  constexpr int read = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED;
  constexpr int needed = std::is_const_v<Element> ? read : read | NPY_ARRAY_WRITEABLE;
  bool const fits = PyArray_TYPE(array) == numpyType<std::remove_const_t<Element>>() && PyArray_CHKFLAGS(array, needed) &&
                    PyArray_ISNOTSWAPPED(array);
  return fits ? array : nullptr;
}

template <class Space, int Arguments, int Sizes> class Call {
public:
  Call(nb::handle face) : face(face) { sizes.fill(-1); }

  int size(int i) const { return int(sizes[i]); }
  void compute(int i, std::int64_t value) { sizes[i] = value; }

  /// Read only: in place, or a copy that Python makes.
  template <class View> Held<View> input(int number, nb::handle given, Shape shape) {
    Held<View> held;
    if (fill(number, given, shape, held) || fillForeign(number, readable(number, given), shape, held))
      return held;
    refuseOnDevice(number, held.object);
    if (nb::object const prepared = face.attr("prepare")(number, held.object);
        fill(number, prepared, shape, held) || fillForeign(number, prepared, shape, held))
      return held;
    throw std::runtime_error("ml2kokkos: an array that Python prepared cannot be read");
  }

  /// Written, and read where the model updates it: only in place.
  template <class View> Held<View> updated(int number, nb::handle given, Shape shape) {
    Held<View> held;
    if (fill(number, given, shape, held))
      return held;
    if (!PyArray_CheckExact(given.ptr()))
      face.attr("check_mutable")(number, given);
    if (!fillForeign(number, readable(number, given), shape, held)) {
      refuseOnDevice(number, held.object);
      face.attr("refuse_output")(number, given);
      throw std::runtime_error("ml2kokkos: an array cannot be written");
    }
    held.object = nb::borrow(given);
    return held;
  }

  /// A new array of NumPy's where Python gives none, or of the package whose arrays of a device are inputs.
  template <class View> Held<View> output(int number, nb::handle given, Shape shape) {
    if (!given.is_none())
      return updated<View>(number, given, shape);
    std::array<npy_intp, 32> extents; // NumPy's limit
    if (shape.size() > extents.size())
      throw std::runtime_error("ml2kokkos: NumPy has no arrays of so many dimensions");
    std::transform(shape.begin(), shape.end(), extents.begin(), [&](std::int64_t wanted) {
      std::int64_t const extent = wanted < 0 ? sizes[~wanted] : wanted;
      if (extent < 0)
        face.attr("refuse_size")(number, known());
      return extent;
    });
    if (onDevice) {
      nb::list wanted;
      std::for_each_n(extents.begin(), shape.size(), [&](npy_intp extent) { wanted.append(extent); });
      return updated<View>(number, face.attr("empty_like")(number, onDevice, wanted), shape);
    }
    PyObject *const made = PyArray_SimpleNew(int(shape.size()), extents.data(), numpyType<typename View::value_type>());
    if (!made)
      throw nb::python_error();
    nb::object const array = nb::steal(made);
    Held<View> held;
    fill(number, array, shape, held);
    return held;
  }

  template <class Number> Number number(int number, nb::handle given) const {
    std::conditional_t<isHalf<Number>, float, Number> value{};
    if (!nb::try_cast(given, value))
      face.attr("refuse_number")(number, given);
    return Number(value);
  }

  /// Results from a device's memory to arrays of the host.
  void copyBack(Space const &space) const {
    if constexpr (!computesOnHost<Space>)
      mirrors.copyBack(space);
  }

  /// Results that overlap inputs or one another would depend on the order of kernels.
  void refuseSharedMemory() const {
    for (Range const *written = ranges.data(); written != ranges.data() + taken; ++written)
      for (Range const *other = ranges.data(); written->isWritten && other != ranges.data() + taken; ++other)
        if (written != other && written->begin < other->end && other->begin < written->end)
          face.attr("refuse_shared")(written->number, other->number);
  }

private:
  struct Range {
    std::uintptr_t begin, end;
    int number;
    bool isWritten;
  };

  template <class View> bool fill(int number, nb::handle given, Shape shape, Held<View> &held) {
    auto *const array = inPlace<typename View::value_type>(given);
    if (!array)
      return false;
    held.view = view<View>(number, PyArray_DATA(array), PyArray_DIMS(array), std::size_t(PyArray_NDIM(array)), shape, true);
    held.object = nb::borrow(given);
    return true;
  }

  template <class View> bool fillForeign(int number, nb::object given, Shape shape, Held<View> &held) {
    held.object = std::move(given);
    if (!nb::try_cast(held.object, held.foreign, false))
      return false;
    bool const ofHost = held.foreign.device_type() == nb::device::cpu::value;
    std::size_t const alignment = ofHost ? alignof(typename View::value_type) : 16; // kernels of a device read fours
    if ((!ofHost && !isInOwnMemory<Space>(held.foreign)) ||
        reinterpret_cast<std::uintptr_t>(held.foreign.data()) % alignment != 0)
      return false;
    if (!ofHost && !onDevice)
      onDevice = held.object;
    held.view = view<View>(number, held.foreign.data(), held.foreign.shape_ptr(), held.foreign.ndim(), shape, ofHost);
    return true;
  }

  // No kernel of ours converts what lies on a device.
  void refuseOnDevice(int number, nb::handle given) const {
    if constexpr (!computesOnHost<Space>)
      face.attr("refuse_on_device")(number, given);
  }

  // nanobind reads what has DLPack; everything else only NumPy, because ctypes' buffers, which have no strides, end nanobind's
  // reader (3.1.0)
  nb::object readable(int number, nb::handle given) const {
    if (PyArray_CheckExact(given.ptr()) || nb::hasattr(given, "__dlpack__"))
      return nb::borrow(given);
    return face.attr("as_array")(number, given);
  }

  // Tensors have their extents from the arrays; a view of one dimension stands for more than Kokkos has.
  template <class View, class Data>
  View view(int number, Data *data, std::int64_t const *extents, std::size_t rank, Shape shape, [[maybe_unused]] bool isOfHost) {
    if (!fits(extents, rank, shape))
      face.attr("refuse_shape")(number, listOf(extents, rank), known());
    std::int64_t size = 1;
    Kokkos::LayoutRight layout;
    for (std::size_t i = 0; i < rank; ++i) {
      size *= extents[i];
      if (rank == View::rank)
        layout.dimension[i] = std::size_t(extents[i]);
    }
    if (rank != View::rank)
      layout.dimension[0] = std::size_t(size);
    using Element = typename View::value_type;
    auto const begin = reinterpret_cast<std::uintptr_t>(data);
    ranges[taken++] = {begin, begin + std::size_t(size) * sizeof(Element), number, !std::is_const_v<Element>};
    auto *first = static_cast<Element *>(data);
    if constexpr (!computesOnHost<Space>)
      if (isOfHost)
        first = mirrors.of(first, std::size_t(size));
    return View(first, layout);
  }

  // Sizes that the array decides are known from here on.
  bool fits(std::int64_t const *extents, std::size_t rank, Shape shape) {
    if (rank != shape.size())
      return false;
    for (std::int64_t const wanted : shape) {
      std::int64_t const given = *extents++;
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

  static nb::object listOf(std::int64_t const *values, std::size_t count) {
    nb::list list;
    for (std::size_t i = 0; i < count; ++i)
      list.append(values[i]);
    return list;
  }

  nb::object known() const { return listOf(sizes.data(), sizes.size()); }

  nb::handle face;
  std::array<std::int64_t, Sizes == 0 ? 1 : Sizes> sizes;
  std::array<Range, Arguments == 0 ? 1 : Arguments> ranges;
  int taken = 0;
  nb::object onDevice; // the first array of a device's memory
  Mirrors<Space> mirrors;
};

} // namespace ml2k_python

#endif
