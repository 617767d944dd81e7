#!/bin/bash
# Whether printed files are right as HIP: clang 19 checks the code for hosts and for an MI200, and makes nothing of it.
#   check_hip.sh FILE.cpp...     Kokkos_ROOT: an installed Kokkos 4 (default: the wheel's); its back ends do not matter
# Needs clang-19 and libamdhip64-dev; exit code 77 without them.
set -euo pipefail
project=$(cd "$(dirname "$0")/.." && pwd)
command -v clang++-19 >/dev/null && [ -e /usr/include/hip/hip_runtime.h ] || { echo "no clang-19 or libamdhip64-dev here"; exit 77; }
root=${Kokkos_ROOT:-$project/build/venv/lib}
[[ $root != */cmake/Kokkos ]] || root=${root%/*/cmake/Kokkos} # the folder of its CMake package
config=$(find -L "$root" -name KokkosCore_config.h 2>/dev/null | head -1)
[ -n "$config" ] || { echo "no Kokkos here: set Kokkos_ROOT"; exit 77; }
headers=$(dirname "$config")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# What CMake writes for HIP, in front of what it wrote for the Kokkos at hand
mkdir -p "$folder/desul/atomics"
echo '#define DESUL_ATOMICS_ENABLE_HIP' >"$folder/desul/atomics/Config.hpp"
{
  grep -vE '#define KOKKOS_ENABLE_(OPENMP|CUDA|THREADS|SERIAL)\b' "$config"
  printf '#define %s\n' KOKKOS_ENABLE_HIP KOKKOS_ENABLE_SERIAL KOKKOS_ARCH_AMD_GPU KOKKOS_ARCH_AMD_GFX90A
} >"$folder/KokkosCore_config.h"
for part in Fwd Declare Setup; do
  place=$(tr '[:upper:]' '[:lower:]' <<<"${part/Declare/decl}")
  printf '#include <%s/Kokkos_%s_%s.hpp>\n' "$place" "$part" HIP >"$folder/KokkosCore_Config_${part}Backend.hpp"
  [ "$part" = Setup ] || printf '#include <%s/Kokkos_%s_%s.hpp>\n' "$place" "$part" SERIAL >>"$folder/KokkosCore_Config_${part}Backend.hpp"
done
for file; do
  clang++-19 -x hip --rocm-path=/usr --offload-arch=gfx90a -nogpulib -std=c++17 -fsyntax-only -D__HIP_PLATFORM_AMD__ \
    -Wall -Wextra -Wno-unknown-pragmas -I"$folder" -isystem "$headers" -isystem "$(dirname "$headers")" "$file"
  echo "$file is right as HIP"
done
