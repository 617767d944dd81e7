#!/bin/bash
# crs_matrix.sh FOLDER: builds crs_matrix.cpp with Debian's KokkosKernels and runs it; 77 where that is not installed
set -e
here=$(cd "$(dirname "$0")" && pwd)
include=${TRILINOS_INCLUDE:-/usr/include/trilinos}
if [ ! -e "$include/KokkosSparse_CrsMatrix.hpp" ]; then
  echo "no KokkosKernels: libtrilinos-kokkos-kernels-dev is not installed"
  exit 77
fi
libraries=()
for name in trilinos_kokkoskernels trilinos_kokkoscore; do
  found=$(find /usr/lib -name "lib$name.so*" | sort | head -1)
  [ -n "$found" ] || { echo "no lib$name"; exit 77; }
  libraries+=("$found")
done
mkdir -p "$1"
${CXX:-g++} -std=c++17 -O1 -isystem "$include" -include "$here/kokkos3.hpp" "$here/solve.cpp" "$here/crs_matrix.cpp" "${libraries[@]}" -o "$1/app"
"$1/app"
