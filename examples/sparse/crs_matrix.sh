#!/bin/bash
# crs_matrix.sh FOLDER: builds crs_matrix.cpp with Debian's KokkosKernels and runs it; 77 where that is not installed
set -e
here=$(cd "$(dirname "$0")" && pwd)
include=${TRILINOS_INCLUDE:-/usr/include/trilinos}
for header in KokkosSparse_CrsMatrix.hpp Kokkos_Core.hpp; do
  if [ ! -e "$include/$header" ]; then
    echo "no $header: libtrilinos-kokkos-kernels-dev and libtrilinos-kokkos-dev are not installed"
    exit 77
  fi
done
libraries=()
for name in trilinos_kokkoskernels trilinos_kokkoscore; do
  found=$(find /usr/lib -name "lib$name.so*" | sort | head -1)
  [ -n "$found" ] || { echo "no lib$name"; exit 77; }
  libraries+=("$found")
done
mkdir -p "$1"
${CXX:-g++} -std=c++17 -O1 -isystem "$include" -include "$here/kokkos3.hpp" "$here/solve.cpp" "$here/crs_matrix.cpp" "${libraries[@]}" -o "$1/app"
"$1/app"
