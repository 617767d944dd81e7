#!/bin/bash
# verify_calls.sh PYTHON: products by KokkosBlas and KokkosSparse, beside upstream's lowering of the same programs. Exit 77 where
# KokkosKernels is neither named by KokkosKernels_ROOT nor can be built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
project=$here/../..
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat >"$folder/calls.mlir" <<'END'
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#LONG = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64 }>
#row = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @layer(%x: tensor<?x256xf32>, %w: tensor<320x256xf32>, %bias: tensor<320xf32>) -> tensor<?x320xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%n) : tensor<?x320xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x320xf32>) -> tensor<?x320xf32>
  %p = linalg.matmul_transpose_b ins(%x, %w : tensor<?x256xf32>, tensor<320x256xf32>) outs(%z : tensor<?x320xf32>) -> tensor<?x320xf32>
  %h = linalg.generic {indexing_maps = [#row, #column, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x320xf32>, tensor<320xf32>) outs(%e : tensor<?x320xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x320xf32>
  return %h : tensor<?x320xf32>
}
func.func @transposed(%a: tensor<257x256xf64>, %b: tensor<257x300xf64>, %c: tensor<256x300xf64>) -> tensor<256x300xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<256x300xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<256x300xf64>) -> tensor<256x300xf64>
  %p = linalg.matmul_transpose_a ins(%a, %b : tensor<257x256xf64>, tensor<257x300xf64>) outs(%z : tensor<256x300xf64>) -> tensor<256x300xf64>
  %s = linalg.add ins(%p, %c : tensor<256x300xf64>, tensor<256x300xf64>) outs(%e : tensor<256x300xf64>) -> tensor<256x300xf64>
  return %s : tensor<256x300xf64>
}
func.func @vector(%a: tensor<1024x1030xf32>, %x: tensor<1030xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %y = linalg.matvec ins(%a, %x : tensor<1024x1030xf32>, tensor<1030xf32>) outs(%z : tensor<1024xf32>) -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}
func.func @vector_left(%a: tensor<1030x1024xf64>, %x: tensor<1030xf64>) -> tensor<1024xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<1024xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<1024xf64>) -> tensor<1024xf64>
  %y = linalg.vecmat ins(%x, %a : tensor<1030xf64>, tensor<1030x1024xf64>) outs(%z : tensor<1024xf64>) -> tensor<1024xf64>
  return %y : tensor<1024xf64>
}
func.func @sparse(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %z = linalg.matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %z : tensor<?xf64>
}
func.func @sparse_long(%A: tensor<5000x40xf32, #LONG>, %x: tensor<40xf32>) -> tensor<5000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5000xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5000xf32>) -> tensor<5000xf32>
  %r = linalg.matvec ins(%A, %x : tensor<5000x40xf32, #LONG>, tensor<40xf32>) outs(%z : tensor<5000xf32>) -> tensor<5000xf32>
  return %r : tensor<5000xf32>
}
END
# verify ENTRY FUNCTION [OPTIONS]: the entry calls that function of the library, and is right
verify() {
  local entry=$1 function=$2
  shift 2
  "${ML2KOKKOS:-$project/build/release/bin/ml2kokkos}" "$folder/calls.mlir" "--entry=$entry" --calls=kokkoskernels -o - | grep -q "$function(space" ||
    { echo "$entry does not call $function"; exit 1; }
  cp "$folder/calls.mlir" "$folder/calls_$entry.mlir"
  said=$("$python" "$project/scripts/verify.py" "$folder/calls_$entry.mlir" --tolerance 1e-5 "$@" -- "--entry=$entry" --calls=kokkoskernels 2>&1) || { echo "$said"; exit 1; }
  [ "$(grep -c '^ok' <<<"$said")" -eq 1 ] || { echo "$said"; exit 1; }
}
python=$1
if [ -z "${KokkosKernels_ROOT:-}" ]; then
  KokkosKernels_ROOT=$("$project/scripts/build_kokkos_kernels.sh") || { echo "no KokkosKernels here"; exit 77; }
  export KokkosKernels_ROOT
fi
verify layer KokkosBlas::gemm --dim batch=70
verify transposed KokkosBlas::gemm
verify vector KokkosBlas::gemv
verify vector_left KokkosBlas::gemv
verify sparse KokkosSparse::spmv --dim y_size=300
verify sparse_long KokkosSparse::spmv
