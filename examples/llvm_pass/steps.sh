#!/bin/bash
# Do the policy's decisions change the program, and keep its values?  steps.sh PLUGIN [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
plugin=$1 folder=${2:-$(mktemp -d)}
mkdir -p "$folder"
passes='sroa,instcombine,simplifycfg,loop(loop-rotate),instcombine'
clang-19 -O2 -Xclang -disable-llvm-passes -S -emit-llvm "$here/kernels.c" -o "$folder/kernels.ll"
opt-19 -S -passes="$passes,loop-unroll" "$folder/kernels.ll" -o "$folder/plain.ll"
opt-19 -S -load-pass-plugin="$plugin" -passes="$passes,advise-unroll,loop-unroll" -pass-remarks=advise-unroll \
  "$folder/kernels.ll" -o "$folder/advised.ll" 2>"$folder/remarks"

body() { sed -n "/^define .* @$1(/,/^}/p" "$2"; }
# How often a kernel's loop stores: once for each copy of its body
stores() { body "$1" "$2" | grep -c '^ *store ' || true; }
failures=0
for kernel in scale three call polynomial; do
  echo "$kernel: $(stores "$kernel" "$folder/plain.ll") stores without, $(stores "$kernel" "$folder/advised.ll") with the policy"
done
expect() {
  local found
  found=$(stores "$1" "$folder/advised.ll")
  [ "$found" "$2" "$3" ] || { echo "$1: $found stores, expected $2 $3"; failures=1; }
}
expect scale -ge 8
expect three -eq 1
expect call -eq 1
expect polynomial -lt 8
cmp -s "$folder/plain.ll" "$folder/advised.ll" && { echo "the decisions change nothing"; failures=1; }
cat "$folder/remarks"

for kind in plain advised; do
  clang-19 -O1 -fno-unroll-loops "$folder/$kind.ll" "$here/main.c" -o "$folder/$kind"
done
clang-19 -O2 -ffp-contract=off -fpass-plugin="$plugin" "$here/kernels.c" "$here/main.c" -o "$folder/by_clang"
echo "sums: $("$folder/plain") $("$folder/advised") $("$folder/by_clang")"
[ "$("$folder/plain")" = "$("$folder/advised")" ] || failures=1
[ "$("$folder/plain")" = "$("$folder/by_clang")" ] || failures=1
exit $failures
