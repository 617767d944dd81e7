// What looks up a part of a tensor is read with its halves swapped: the position is arithmetic in the joined kernel.
// RUN: ml2kokkos-opt %s --ml2k-fuse-chains | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (i, (j + 4) mod 8)>

// CHECK-LABEL: func.func @forward
// CHECK-NOT: affine.apply
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[MOVED:.*]] = arith.addi %[[J]], %c4
// CHECK: %[[AT:.*]] = arith.remsi %[[MOVED]], %c8
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %c2, %[[AT]]]
func.func @forward(%x: tensor<5x6x8xf32>) -> tensor<5x8xf32> {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<5x8xf32>
  %part = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x8xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %c2, %j] : tensor<5x6x8xf32>
    linalg.yield %v : f32
  } -> tensor<5x8xf32>
  %0 = linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel"]} ins(%part : tensor<5x8xf32>) outs(%e : tensor<5x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %n = arith.negf %v : f32
    linalg.yield %n : f32
  } -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}
