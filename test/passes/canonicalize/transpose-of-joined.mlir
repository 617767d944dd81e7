// What orders directions, joins them and orders the batch is one transpose.

// RUN: ml2kokkos %s --emit=canonical -o - | FileCheck %s

// CHECK-LABEL: func.func @both_directions
// CHECK: linalg.transpose {{.*}} permutation = [2, 0, 1, 3]
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape {{.*}} {{\[\[}}0], [1], [2, 3]]
func.func @both_directions(%x: tensor<12x2x5x32xf32>) -> tensor<5x12x64xf32> {
  %0 = tensor.empty() : tensor<12x5x2x32xf32>
  %1 = linalg.transpose ins(%x : tensor<12x2x5x32xf32>) outs(%0 : tensor<12x5x2x32xf32>) permutation = [0, 2, 1, 3]
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<12x5x2x32xf32> into tensor<12x5x64xf32>
  %3 = tensor.empty() : tensor<5x12x64xf32>
  %4 = linalg.transpose ins(%2 : tensor<12x5x64xf32>) outs(%3 : tensor<5x12x64xf32>) permutation = [1, 0, 2]
  return %4 : tensor<5x12x64xf32>
}
