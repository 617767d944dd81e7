// A position that is computed for a dimension with one element is 0: no variable of the printed code is left unused.
// RUN: ml2kokkos-opt --ml2k-idioms %s | FileCheck %s
// CHECK: tensor.extract %{{.*}}[%c0, %{{.*}}] : tensor<1x4xf32>
func.func @forward(%table: tensor<1x4xf32>, %i: index, %j: index) -> f32 {
  %x = tensor.extract %table[%i, %j] : tensor<1x4xf32>
  return %x : f32
}
