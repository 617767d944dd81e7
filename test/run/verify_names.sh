#!/bin/bash
# verify_names.sh PYTHON: functions with the names of the C library's are the program's, also in the upstream reference.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for name in glob index signal; do
  cat >"$folder/$name.mlir" <<END
func.func @$name(%x: tensor<5xf32>) -> tensor<5xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %y = linalg.add ins(%x, %x : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}
END
  said=$("$1" "$(dirname "$0")/../../scripts/verify.py" "$folder/$name.mlir" 2>&1) || { echo "$said"; exit 1; }
  [ "$(grep -c '^ok' <<<"$said")" -eq 1 ] || { echo "$said"; exit 1; }
done
