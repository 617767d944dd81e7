#!/bin/bash
# build-sidecar.sh SOURCE BUILD CLANG++ TOOLS: prints a small net with a sidecar and builds the fuzzer of its loader.
# Exit code 77 (skipped) without Kokkos.
set -e
source=$1 build=$2 compiler=$3 tools=$4
[ -n "$Kokkos_ROOT" ] || { echo "no Kokkos_ROOT"; exit 77; }
mkdir -p "$build/model"
"$tools/onnx-encode" "$source/test/fuzz/seeds/cnn.textproto" >"$build/model/net.onnx"
"$tools/ml2kokkos" "$build/model/net.onnx" -o "$build/model/net.cpp" --weights=file
cmake -S "$source/test/fuzz/programs/sidecar" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_CXX_COMPILER_LAUNCHER="$ML2K_LAUNCHER" -DCMAKE_BUILD_TYPE=None -DMODEL="$build/model" >"$build/log" 2>&1 ||
  { cat "$build/log"; exit 1; }
ninja -C "$build" fuzz-sidecar
