#!/bin/bash
# verify_sparse.sh PYTHON: seeded sparse matrices, beside upstream's lowering of the same program on dense ones.
set -eu
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat >"$folder/sparse_sum.mlir" <<'END'
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), crdWidth = 32 }>
#both = affine_map<(i, j) -> (i, j)>
func.func @sum(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %m = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  %C = linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  return %C : tensor<?x?xf64, #CSR>
}
func.func @chain(%A: tensor<9x9xf64, #CSR>, %x: tensor<9xf64>, %y: tensor<9xf64>) -> tensor<9xf64> {
  %e = tensor.empty() : tensor<9x9xf64, #CSR>
  %S = linalg.matmul ins(%A, %A : tensor<9x9xf64, #CSR>, tensor<9x9xf64, #CSR>) outs(%e : tensor<9x9xf64, #CSR>) -> tensor<9x9xf64, #CSR>
  %z = linalg.matvec ins(%S, %x : tensor<9x9xf64, #CSR>, tensor<9xf64>) outs(%y : tensor<9xf64>) -> tensor<9xf64>
  return %z : tensor<9xf64>
}
func.func @product(%A: tensor<?x?xf32, #COO>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = linalg.matvec ins(%A, %x : tensor<?x?xf32, #COO>, tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
END
verify() {
  said=$("$python" "$here/../../scripts/verify.py" "$folder/sparse_sum.mlir" ${2:+--dim "$2=13"} -- --entry="$1") || { echo "$said"; exit 1; }
  [ "$(grep -c '^ok' <<<"$said")" -eq "$3" ] || { echo "$said"; exit 1; }
}
python=$1
verify sum A_size_0 3
verify chain "" 1
verify product y_size 1
