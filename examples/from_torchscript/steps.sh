#!/bin/bash
# steps.sh PYTHON ML2KOKKOS KOKKOS FOLDER: exports net.py with the PyTorch of PYTHON in the old ways and in the new one, builds and
# runs the programs before and after, and compares what they print. Exits with 77 where PYTHON has no PyTorch.
set -euo pipefail
python=$1 tool=$2 kokkos=$3 folder=$4
here=$(cd "$(dirname "$0")" && pwd)
"$python" -c 'import torch' 2>/dev/null || { echo "no PyTorch"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export PYTHONPATH=$here/../../python ML2KOKKOS=$tool OMP_NUM_THREADS=1 KOKKOS_DISABLE_WARNINGS=1

# The new way: printed for Kokkos, and as a runner without Kokkos for Fortran
names=(--inputs state --outputs tendency)
"$python" -m ml2kokkos translate "$here/net.py:trained" --example 1,4 --dynamic "${names[@]}" -o net.cpp
"$python" -m ml2kokkos translate "$here/net.py:trained" --example 1,4 --dynamic "${names[@]}" -o runner.cpp -- --form=runner
cmake -S "$here" -B build -G Ninja -DCMAKE_CXX_EXTENSIONS=OFF -DCMAKE_BUILD_TYPE=Release -DKokkos_DIR="$kokkos" -DFOLDER="$folder" >configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build build >build.log || { cat build.log; exit 1; }
build/after net.safetensors >after

# same NAME: its output is that of `after` to 5 digits, of which the last may round otherwise
same() {
  paste after "$1" | awk -v name="$1" '{ for (i = 1; i <= 2; ++i) { d = $i - $(i + 2); if (d > 2e-5 || d < -2e-5) exit 1 } } END { if (NR != 5) exit 1 }' ||
    { echo "$1 differs:"; cat after "$1"; exit 1; }
  echo "$1 and after agree"
}
if [ -x build/after_fortran ]; then build/after_fortran >fortran; same fortran; else echo "no Fortran compiler"; fi

# Before: TorchScript through libtorch, where its headers are
cat >export.py <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
import net, torch
model = net.trained().eval()
torch.jit.trace(model, torch.ones(1, 4)).save("net.pt")
if hasattr(torch, "export"):
    batch = torch.export.Dim("batch", min=1, max=1024)
    program = torch.export.export(model, (torch.ones(5, 4),), dynamic_shapes=({0: batch},))
    torch._inductor.aoti_compile_and_package(program, package_path="net.pt2")
PY
"$python" export.py "$here" >export.log 2>&1 || { cat export.log; exit 1; }
if [ -e net.pt2 ]; then
  "$python" "$here/before_aoti.py" net.pt2 >aoti
  same aoti
fi
"$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))' >torch
root=$(cat torch)
flags=()
if [ -d "$root/include/torch" ]; then
  flags=(-isystem "$root/include" -isystem "$root/include/torch/csrc/api/include" -L"$root/lib" "-Wl,-rpath,$root/lib"
    -Wl,--unresolved-symbols=ignore-in-shared-libs)
elif [ ! -d /usr/include/torch ]; then
  echo "no headers of libtorch: the program before is not run"
  exit 0
fi
g++ -std=c++20 -O1 "$here/before_libtorch.cpp" -o before_libtorch "${flags[@]}" -ltorch -ltorch_cpu -lc10
./before_libtorch net.pt >libtorch
same libtorch
