#!/bin/bash
# Is a committed output what the tool prints today?  check.sh ML2KOKKOS MODEL FOLDER/NAME.cpp [SIDECAR [options]]
# A sidecar that is too large for the repository is given as built from the model; -: there is none.
set -euo pipefail
tool=$1 model=$2 output=$3 sidecar=${4:-}
shift $(($# < 4 ? $# : 4))
stem=${output%.cpp}
if [ -z "$sidecar" ] || [ "$sidecar" = - ]; then
  exec "$tool" "$model" -o "$output" --check "$@"
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cp "$stem.cpp" "$stem.hpp" "$folder"
cp "$(dirname "$output")/../../.clang-format" "$folder"
ln -s "$(realpath "$sidecar")" "$folder/$(basename "$stem").safetensors"
"$tool" "$model" -o "$folder/$(basename "$output")" --check "$@"
