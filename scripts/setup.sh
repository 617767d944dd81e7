#!/bin/bash
# Makes a Debian 12 machine ready: packages, Python environment, Kokkos, configured and built tool. quickstart.sh and
# test.sh source this file and call set_up; run by itself it does just that. Each step first looks whether there is
# anything to do, so that a second run takes seconds. Everything that is built or fetched lies in build/.
#   Kokkos_ROOT  an installed Kokkos 4 or 5 to use instead of the OpenMP one from PyPI
#   JOBS         compile jobs (default: one per GiB of free memory, at most one per processor)
set -Eeuo pipefail

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$project/build
venv=$build/venv
tool_build=$build/release
ml2kokkos=$tool_build/bin/ml2kokkos

packages=(
  g++ cmake ninja-build ccache git
  llvm-19-dev llvm-19-tools libmlir-19-dev mlir-19-tools clang-19 libclang-19-dev libclang-cpp19-dev libclang-rt-19-dev
  libomp-19-dev
  clang-format-19 clang-tidy-19
  nlohmann-json3-dev libboost-program-options-dev libkainjow-mustache-dev
  libonnx-dev libprotobuf-dev protobuf-compiler libonnx-testdata
  libgtest-dev python3 python3-venv man-db
  libopenmpi-dev openmpi-bin gfortran
)

say() { printf '[%4ds] %s\n' "$SECONDS" "$*" >&2; }
trap 'say "stopped at line $LINENO of ${BASH_SOURCE[0]}"' ERR

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Runs a command quietly; shows what it wrote only if it fails.
quietly() {
  local log=$build/log/$1.log
  shift
  mkdir -p "$build/log"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    say "failed: $* (whole output: $log)"
    return 1
  fi
}

install_packages() {
  local missing=() name
  for name in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${Status}' "$name" 2>/dev/null) == 'install ok'* ]] || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing Debian packages: ${missing[*]}"
  quietly apt-update as_root apt-get update
  quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

make_venv() {
  local wanted
  wanted=$(cat "$project/scripts/requirements.txt"; echo "${Kokkos_ROOT:-pygenten==0.1.5}")
  [ -x "$venv/bin/python" ] && [ "$(cat "$venv/installed" 2>/dev/null)" = "$wanted" ] && return
  say "installing Python packages into build/venv: $(grep -v '^#' "$project/scripts/requirements.txt" | tr '\n' ' ')"
  [ -x "$venv/bin/pip" ] || python3 -m venv "$venv"
  quietly pip "$venv/bin/pip" install --disable-pip-version-check -r "$project/scripts/requirements.txt"
  if [ -z "${Kokkos_ROOT:-}" ]; then
    say "installing Kokkos 4.7 (OpenMP) from the wheel pygenten==0.1.5 into build/venv"
    quietly kokkos "$venv/bin/pip" install --disable-pip-version-check --no-deps pygenten==0.1.5
  fi
  printf '%s\n' "$wanted" >"$venv/installed"
}

find_kokkos() {
  if [ -z "${Kokkos_ROOT:-}" ]; then
    Kokkos_ROOT=$(dirname "$(find "$venv"/lib/ -path '*pygenten*' -name KokkosConfig.cmake)")
  fi
  export Kokkos_ROOT
}

# One job per GiB: that is what a source with MLIR's headers takes.
choose_jobs() {
  local memory processors
  memory=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  processors=$(nproc)
  JOBS=${JOBS:-$((memory < 1 ? 1 : memory < processors ? memory : processors))}
}

build_tool() {
  choose_jobs
  export CCACHE_BASEDIR=$project CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  if [ ! -f "$tool_build/build.ninja" ]; then
    say "configuring in build/release"
    (cd "$project" && quietly configure cmake --preset release -DKokkos_ROOT="$Kokkos_ROOT")
  fi
  say "building $* ($JOBS jobs)"
  if [ -t 1 ]; then
    ninja -C "$tool_build" -j "$JOBS" "$@" >&2
  else
    quietly build ninja -C "$tool_build" -j "$JOBS" "$@"
  fi
}

set_up() {
  mkdir -p "$build"
  install_packages
  make_venv
  find_kokkos
  build_tool "$@"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set_up ml2kokkos ml2kokkos-opt
  say "ready: $ml2kokkos"
fi
