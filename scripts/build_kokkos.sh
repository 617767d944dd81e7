#!/bin/bash
# Builds Kokkos 4.7 from the source distribution of pygenten into build/kokkos-BACKEND, once; prints where it is.
#   build_kokkos.sh --backend serial|openmp|cuda
#   KOKKOS_ARCH    of the GPU (default: HOPPER90)
#   KOKKOS_SOURCE  Kokkos' sources, where nothing can be fetched
# CUDA 13 changed two functions that Kokkos 4.7 calls: overloads with the old parameters go into every source.
. "$(dirname "$0")/setup.sh"

usage() {
  sed -n '2,6s/^# \?//p' "$0" >&2
  exit 2
}

backend=
while [ $# -gt 0 ]; do
  case $1 in
    --backend) backend=${2-}; shift 2 || usage ;;
    *) usage ;;
  esac
done
case $backend in
  serial) options=(-DKokkos_ENABLE_SERIAL=ON) ;;
  openmp) options=(-DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON) ;;
  cuda) options=(-DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_CUDA=ON "-DKokkos_ARCH_${KOKKOS_ARCH:-HOPPER90}=ON") ;;
  *) usage ;;
esac

fetch_sources() {
  local folder=$build/kokkos-source
  [ -z "${KOKKOS_SOURCE:-}" ] || { echo "$KOKKOS_SOURCE"; return; }
  if [ ! -e "$folder/pygenten-0.1.5/tpls/kokkos/CMakeLists.txt" ]; then
    mkdir -p "$folder"
    make_venv
    quietly kokkos-source "$venv/bin/pip" download --no-deps --no-binary pygenten -d "$folder" pygenten==0.1.5
    tar -xzf "$folder/pygenten-0.1.5.tar.gz" -C "$folder"
  fi
  echo "$folder/pygenten-0.1.5/tpls/kokkos"
}

# The compiler of CUDA, with the overloads and without the architecture that CUDA 13 no longer has
make_wrapper() {
  sed -e '1a export NVCC_PREPEND_FLAGS="-include $(cd "$(dirname "${BASH_SOURCE[0]}")" \&\& pwd)/cuda13.hpp ${NVCC_PREPEND_FLAGS:-}"' \
    -e 's/^default_arch="sm_70"/default_arch="sm_90"/' "$1/bin/nvcc_wrapper" >"$2"
  chmod +x "$2"
}

prefix=$build/kokkos-$backend
if [ ! -e "$prefix/lib/cmake/Kokkos/KokkosConfig.cmake" ]; then
  say "building Kokkos 4.7 ($backend) in build/kokkos-$backend"
  choose_jobs
  sources=$(fetch_sources)
  if [ "$backend" = cuda ]; then
    mkdir -p "$prefix/bin"
    make_wrapper "$sources" "$prefix/bin/nvcc_for_kokkos"
    cp "$project/scripts/cuda13.hpp" "$prefix/bin/"
    options+=("-DCMAKE_CXX_COMPILER=$prefix/bin/nvcc_for_kokkos")
  fi
  quietly "kokkos-$backend-configure" cmake -G Ninja -S "$sources" -B "$build/kokkos-$backend-build" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$prefix" "${options[@]}"
  quietly "kokkos-$backend-build" ninja -C "$build/kokkos-$backend-build" -j "$JOBS" install
fi
echo "$prefix"
