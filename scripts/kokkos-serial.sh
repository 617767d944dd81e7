#!/bin/bash
# Builds Kokkos 4.7 with the Serial back end, without OpenMP, from the source distribution of pygenten into
# build/kokkos-serial, once; prints where it is.
. "$(dirname "$0")/setup.sh"
prefix=$build/kokkos-serial
if [ ! -e "$prefix/lib/cmake/Kokkos/KokkosConfig.cmake" ]; then
  say "building Kokkos 4.7 (Serial) in build/kokkos-serial"
  choose_jobs
  mkdir -p "$build/kokkos-source"
  make_venv
  quietly kokkos-source "$venv/bin/pip" download --no-deps --no-binary pygenten -d "$build/kokkos-source" pygenten==0.1.5
  tar -xzf "$build"/kokkos-source/pygenten-0.1.5.tar.gz -C "$build/kokkos-source"
  quietly kokkos-serial-configure cmake -G Ninja -S "$build"/kokkos-source/pygenten-0.1.5/tpls/kokkos \
    -B "$build/kokkos-source/build" -DCMAKE_BUILD_TYPE=Release -DKokkos_ENABLE_SERIAL=ON -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_INSTALL_PREFIX="$prefix"
  quietly kokkos-serial-build ninja -C "$build/kokkos-source/build" -j "$JOBS" install
fi
echo "$prefix"
