// What printed code uses of Kokkos 4 and Kokkos 3.4 does not have: included in front of it where Debian's KokkosKernels, which
// is made for 3.4, is all that there is. On hosts.
#include <Kokkos_Core.hpp>

#include <cmath>
#include <utility>

namespace Kokkos {
template <class T> KOKKOS_INLINE_FUNCTION T max(T a, T b) { return a < b ? b : a; }
template <class T> KOKKOS_INLINE_FUNCTION T min(T a, T b) { return b < a ? b : a; }
} // namespace Kokkos
#define fence(...) fence() // takes no label there
