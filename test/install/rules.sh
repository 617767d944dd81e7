#!/bin/bash
# rules.sh GENERATOR ML2KOKKOS PYTHON: what ml2kokkos_add_model() makes runs when it has to, and only then.
set -euo pipefail
generator=$1 tool=$2 python=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here/Inputs/rules" "$work/project"
cd "$work/project"
cp "$here/../../cmake/ml2kokkosAddModel.cmake" .
mkdir source
"$python" "$here/../tool/Inputs/wide.py" >wide.mlir

failed() { echo "failed: $*"; cat "$work/log"; exit 1; }
configure() { cmake -S . -B "$work/$1" -G "$generator" "${@:2}" >"$work/log" 2>&1 || failed configure "$@"; }
# built N COMMENT: the build ends well and prints COMMENT on N lines.
built() { cmake --build "$work/build" >"$work/log" 2>&1 || failed build; [ "$(grep -c "$2" "$work/log")" = "$1" ] || failed "$@"; }
idle() { built 0 "Translating"; built 0 "Weights of"; }

configure build -DML2KOKKOS="$tool"
generated=$work/build/generated
built 1 "Translating wide"
for file in "$generated"/{wide,embedded}.{cpp,hpp} "$generated/wide.safetensors" source/mine.{cpp,hpp,safetensors}; do
  [ -s "$file" ] || failed "no $file"
done
[ ! -s "$generated/embedded.safetensors" ] || failed "weights twice"
idle

# A model that is newer: once, for each file that is made of it
touch wide.mlir
built 1 "Translating wide"
grep -q "Translating mine" "$work/log" || failed "committed code is not printed again"
idle

# Files that were deleted come back
rm "$generated/wide.safetensors"
built 1 "Weights of wide"
[ -s "$generated/wide.safetensors" ] || failed "no sidecar"
idle
rm "$generated/wide.cpp" source/mine.hpp source/mine.safetensors
built 1 "Translating wide"
[ -s "$generated/wide.cpp" ] && [ -s source/mine.hpp ] && [ -s source/mine.safetensors ] || failed "files are missing"
idle

# Cleaning takes nothing out of the source folder
cmake --build "$work/build" --target clean >/dev/null
[ ! -e "$generated/wide.cpp" ] && [ -s source/mine.cpp ] || failed clean

# The test sees an edited file
check() { ctest --test-dir "$work/$1" "${@:2}" >"$work/log" 2>&1; }
check build || failed "the check of fresh files"
sed -i 's/void forward/void backward/' source/mine.cpp
configure build -DML2KOKKOS_REGENERATE=OFF
! check build || failed "an edited file passes"
grep -q backward source/mine.cpp || failed "written without leave"

# Where there is no tool, committed code is taken as it is, and the test is not run
configure elsewhere -DML2KOKKOS=OFF
cmake --build "$work/elsewhere" >"$work/log" 2>&1 || failed "build without the tool"
check elsewhere || failed "test without the tool"
grep -q backward source/mine.cpp || failed "changed without the tool"
grep -q "Disabled" "$work/log" || failed "the test ran without the tool"

# What somebody else wrote stays
echo mine >source/mine.cpp && touch wide.mlir
! cmake -S . -B "$work/build" -DML2KOKKOS_REGENERATE=ON >"$work/log" 2>&1 || failed "somebody's file"
grep -q "was not written by ml2kokkos" "$work/log" || failed "message"
[ "$(cat source/mine.cpp)" = mine ] || failed "somebody's file was replaced"
