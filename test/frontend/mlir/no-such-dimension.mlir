// RUN: not ml2kokkos %s --emit=imported 2>&1 | FileCheck %s
// CHECK: no-such-dimension.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: asks for dimension -1 of 'tensor<?x4xf32>'
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c = arith.constant -1 : index
  %n = tensor.dim %x, %c : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  return %e : tensor<?x4xf32>
}
