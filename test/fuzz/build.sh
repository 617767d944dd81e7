#!/bin/bash
# build.sh SOURCE BUILD CLANG++: builds the fuzzers and, instrumented, what they exercise.
set -e
source=$1 build=$2 compiler=$3
# The vectors of LLVM's and ONNX's libraries are not annotated, ours are: container checks would report their mixture.
export ASAN_OPTIONS=detect_container_overflow=0
build() { # so many files compile as one
  cmake -S "$source" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$ML2K_LAUNCHER" -DCMAKE_CXX_FLAGS_RELEASE="-O1 -gline-tables-only" \
    -DCMAKE_CXX_FLAGS="-fsanitize=fuzzer-no-link,address" -DML2K_FUZZERS=ON -DML2K_WARNINGS_AS_ERRORS=OFF \
    -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON -DML2K_PYTHON="$ML2K_PYTHON" -DML2K_LIT="$ML2K_LIT" \
    -DML2K_UNITY="$1" >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
  ninja -C "$build" fuzz-onnx fuzz-mlir
}
# The instrumented inline functions of headers take most of the time, so neighbours in a library's list compile as one
# file. That fails where they share a local name, which is no defect: then each compiles alone.
build 16 || { echo "neighbours share a name: each file alone, which takes twice as long"; build 0; }
