// RUN: not ml2kokkos %s --emit=imported 2>&1 | FileCheck %s
// CHECK: stablehlo.mlir:[[@LINE+3]]:8: error: 'stablehlo.tanh': the dialect 'stablehlo' is not read; convert the file first:
// CHECK-SAME: torch-mlir-opt {{.*}}stablehlo.mlir --stablehlo-legalize-to-linalg --canonicalize -o
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = stablehlo.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
