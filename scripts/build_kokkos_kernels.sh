#!/bin/bash
# Builds KokkosBlas and KokkosSparse 4.7 from the source distribution of pygenten into build/kokkos-kernels, once; prints where they
# are. No operation is instantiated beforehand: programs compile what they call. Kokkos is that of Kokkos_ROOT, or of the wheel.
. "$(dirname "$0")/setup.sh"

prefix=$build/kokkos-kernels
if [ ! -e "$prefix/lib/cmake/KokkosKernels/KokkosKernelsConfig.cmake" ]; then
  say "building KokkosKernels 4.7 in build/kokkos-kernels"
  [ -n "${Kokkos_ROOT:-}" ] || make_venv
  find_kokkos
  sources=$build/kokkos-source
  if [ ! -e "$sources/pygenten-0.1.5/tpls/kokkos-kernels/CMakeLists.txt" ]; then
    mkdir -p "$sources"
    quietly kokkos-source "$venv/bin/pip" download --no-deps --no-binary pygenten -d "$sources" pygenten==0.1.5
    tar -xzf "$sources/pygenten-0.1.5.tar.gz" -C "$sources"
  fi
  quietly kokkos-kernels-configure cmake -G Ninja -S "$sources/pygenten-0.1.5/tpls/kokkos-kernels" -B "$build/kokkos-kernels-build" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF -DKokkosKernels_ENABLE_COMPONENT_SPARSE=ON -DKokkosKernels_ADD_DEFAULT_ETI=OFF \
    "-DKokkos_ROOT=$Kokkos_ROOT"
  quietly kokkos-kernels-build ninja -C "$build/kokkos-kernels-build" install
fi
echo "$prefix"
