#!/bin/bash
# Makes the model and, by translating, its weights file: prepare.sh ML2KOKKOS FOLDER [PYTHON]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=$1 folder=$2 python=${3:-python3}
mkdir -p "$folder"
"$python" "$here/make_model.py" "$folder/mala.onnx"
cp "$here/../../.clang-format" "$folder"
"$tool" "$folder/mala.onnx" -o "$folder/mala.cpp"
