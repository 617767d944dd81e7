// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// CHECK-NOT: tosa.
// CHECK: linalg.batch_matmul
// CHECK: linalg.generic
// CHECK-NOT: tosa.
func.func @net(%x: tensor<1x2x3xf32>, %w: tensor<1x3x4xf32>) -> tensor<1x2x4xf32> {
  %y = tosa.matmul %x, %w : (tensor<1x2x3xf32>, tensor<1x3x4xf32>) -> tensor<1x2x4xf32>
  %z = tosa.sigmoid %y : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %z : tensor<1x2x4xf32>
}
