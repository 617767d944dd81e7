#!/bin/bash
# Makes the model, the photograph and, by translating, the weights file: prepare.sh ML2KOKKOS FOLDER [PYTHON]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tool=$1 folder=$2 python=${3:-python3}
mkdir -p "$folder"
"$python" "$here/make_model.py" "$folder/resnet18.onnx"
"$python" "$here/photograph.py" "$folder/image.bin"
cp "$here/../../.clang-format" "$folder"
"$tool" "$folder/resnet18.onnx" -o "$folder/resnet18.cpp"
