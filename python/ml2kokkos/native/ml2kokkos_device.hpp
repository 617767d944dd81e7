// Where forward() computes: on the host, or on a device with memory of its own. Arrays of the host have copies there during a call.
#ifndef ML2KOKKOS_PYTHON_DEVICE_HPP
#define ML2KOKKOS_PYTHON_DEVICE_HPP

#include <Kokkos_Core.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ml2k_python {
namespace nb = nanobind;

template <class Space>
inline constexpr bool computesOnHost = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;

/// What DLPack calls the memory; 0 for what it does not know.
template <class Space> constexpr int deviceTypeOf() {
  if constexpr (computesOnHost<Space>)
    return nb::device::cpu::value;
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>)
    return nb::device::cuda::value;
#endif
#if defined(KOKKOS_ENABLE_HIP)
  if constexpr (std::is_same_v<Space, Kokkos::HIP>)
    return nb::device::rocm::value;
#endif
  return 0;
}
template <class Space> inline constexpr int deviceType = deviceTypeOf<Space>();

/// Which of several devices of that type it is.
template <class Space> int deviceNumber() {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>)
    return Space().cuda_device();
#endif
#if defined(KOKKOS_ENABLE_HIP)
  if constexpr (std::is_same_v<Space, Kokkos::HIP>)
    return Space().hip_device();
#endif
  return 0;
}

/// Whether an array lies in the memory of that device. CUDA's managed memory does, too.
template <class Space, class Array> bool isInOwnMemory(Array const &array) {
  if (deviceType<Space> == nb::device::cuda::value && array.device_type() == nb::device::cuda_managed::value)
    return true;
  return array.device_type() == deviceType<Space> && array.device_id() == deviceNumber<Space>();
}

/// As ml2kokkos-tune calls a line of devices; empty for a host and for those that it does not know.
inline constexpr char deviceFamily[] =
#if defined(KOKKOS_ARCH_HOPPER90)
    "hopper";
#elif defined(KOKKOS_ARCH_AMPERE80)
    "ampere";
#elif defined(KOKKOS_ARCH_VOLTA70)
    "volta";
#elif defined(KOKKOS_ARCH_AMD_GFX942)
    "cdna3";
#elif defined(KOKKOS_ARCH_AMD_GFX90A)
    "cdna2";
#else
    "";
#endif

/// A type of 16 bits, which Kokkos has on devices; elsewhere its halves are floats.
template <class Element>
inline constexpr bool isHalf = sizeof(Element) == 2 && (std::is_same_v<Element, Kokkos::Experimental::half_t> ||
                                                        std::is_same_v<Element, Kokkos::Experimental::bhalf_t>);

/// Memory of a device in the place of arrays of the host, for one call.
template <class Space, bool = computesOnHost<Space>> class Mirrors {};

template <class Space> class Mirrors<Space, false> {
  using Bytes = Kokkos::View<char *, typename Space::memory_space>;
  using HostBytes = Kokkos::View<char *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

public:
  /// A copy of the array; of one that is written, results go back by copyBack().
  template <class Element> Element *of(Element *array, std::size_t count) {
    HostBytes const host(reinterpret_cast<char *>(const_cast<std::remove_const_t<Element> *>(array)), count * sizeof(Element));
    Bytes const copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ml2kokkos: argument"), host.size());
    Kokkos::deep_copy(Space(), copy, host);
    all.push_back({copy, host, !std::is_const_v<Element>});
    return reinterpret_cast<Element *>(copy.data());
  }

  void copyBack(Space const &space) const {
    for (auto const &mirror : all)
      if (mirror.isWritten)
        Kokkos::deep_copy(space, mirror.host, mirror.copy);
  }

private:
  struct Mirror {
    Bytes copy;
    HostBytes host;
    bool isWritten;
  };
  std::vector<Mirror> all;
};

// --- Arrays of a device, for calls that copy nothing ---

/// Memory that Python holds. Kokkos has to release it before it ends, whatever Python still has.
template <class Space> struct DeviceMemory {
  using Bytes = Kokkos::View<char *, typename Space::memory_space>;
  using Held = std::shared_ptr<Bytes>;

  static std::vector<std::weak_ptr<Bytes>> &all() {
    static std::vector<std::weak_ptr<Bytes>> all;
    return all;
  }

  static Held allocate(std::size_t bytes) {
    auto &known = all();
    known.erase(std::remove_if(known.begin(), known.end(), [](auto const &weak) { return weak.expired(); }), known.end());
    auto held = std::make_shared<Bytes>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ml2kokkos: array"), bytes);
    known.push_back(held);
    return held;
  }

  static void release() {
    for (auto const &weak : all())
      if (auto const held = weak.lock())
        *held = Bytes();
    all().clear();
  }
};

template <class Space> void defineMemory(nb::module_ &module) {
  using Memory = DeviceMemory<Space>;
  using HostBytes = Kokkos::View<char *, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::push_finalize_hook(Memory::release);
  module.def("to_device", [](nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu> const &array) {
    auto *const held = new typename Memory::Held(Memory::allocate(array.nbytes()));
    nb::capsule const owner(held, [](void *given) noexcept { delete static_cast<typename Memory::Held *>(given); });
    Kokkos::deep_copy(**held, HostBytes(static_cast<char *>(const_cast<void *>(array.data())), array.nbytes()));
    std::vector<std::size_t> const shape(array.shape_ptr(), array.shape_ptr() + array.ndim());
    return nb::ndarray<nb::array_api>((*held)->data(), shape.size(), shape.data(), owner, nullptr, array.dtype(), deviceType<Space>, deviceNumber<Space>());
  });
  module.def("to_host", [](nb::ndarray<nb::ro, nb::c_contig> const &array) {
    using DeviceBytes = Kokkos::View<char const *, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    if (!isInOwnMemory<Space>(array))
      throw nb::type_error("ml2kokkos: the array does not lie in the memory that the model computes in");
    auto *const copy = new std::vector<char>(array.nbytes());
    nb::capsule const owner(copy, [](void *given) noexcept { delete static_cast<std::vector<char> *>(given); });
    Kokkos::deep_copy(HostBytes(copy->data(), copy->size()), DeviceBytes(static_cast<char const *>(array.data()), copy->size()));
    std::vector<std::size_t> const shape(array.shape_ptr(), array.shape_ptr() + array.ndim());
    return nb::ndarray<nb::numpy>(copy->data(), shape.size(), shape.data(), owner, nullptr, array.dtype(), nb::device::cpu::value, 0);
  });
}

} // namespace ml2k_python

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)
#if !KOKKOS_HALF_T_IS_FLOAT
template <> struct dtype_traits<Kokkos::Experimental::half_t> {
  static constexpr dlpack::dtype value{std::uint8_t(dlpack::dtype_code::Float), 16, 1};
  static constexpr auto name = const_name("float16");
};
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
template <> struct dtype_traits<Kokkos::Experimental::bhalf_t> {
  static constexpr dlpack::dtype value{std::uint8_t(dlpack::dtype_code::Bfloat), 16, 1};
  static constexpr auto name = const_name("bfloat16");
};
#endif
NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)
#endif

#endif
