#!/bin/bash
# installed.sh install|deb BUILD KOKKOS_ROOT PYTHON: a project of a user against what `cmake --install` or the package holds.
set -euo pipefail
kind=$1 build=$2 kokkos=$3 python=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

if [ "$kind" = deb ]; then
  cpack --config "$build/CPackConfig.cmake" -B "$work" >cpack.log || { cat cpack.log; exit 1; }
  dpkg-deb -x ml2kokkos_*.deb root
  root=$work/root/usr
  dpkg-deb -f ml2kokkos_*.deb Depends | tee depends
  grep -q libc6 depends
else
  root=$work/root
  cmake --install "$build" --prefix "$root" --component ml2kokkos >/dev/null
fi
export PATH=$root/bin:$PATH
[ "$(command -v ml2kokkos)" = "$root/bin/ml2kokkos" ]
man --warnings -l "$root/share/man/man1/ml2kokkos.1" 2>&1 >manual.txt | tee warnings || true
[ ! -s warnings ]
bash -c ". $root/share/bash-completion/completions/ml2kokkos"

cp -r "$here/Inputs/project" app
"$python" "$here/../tool/Inputs/wide.py" >app/wide.mlir
cmake -S app -B app/build -G Ninja -DCMAKE_PREFIX_PATH="$root" -DKokkos_ROOT="$kokkos" >configure.log || { cat configure.log; exit 1; }
cmake --build app/build
app/build/app app/build/generated/wide.safetensors
cmake --build app/build | grep 'no work to do'
