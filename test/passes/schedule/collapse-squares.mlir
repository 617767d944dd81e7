// Batch and sequence of any length: the squares of an RMS norm stay in the shape that their sum reads, and become a part of
// the row kernel; what other operations read moves to the product in front of it.
// RUN: ml2kokkos-opt %s --ml2k-collapse-loops | FileCheck %s

#id = affine_map<(b, s, c) -> (b, s, c)>

// CHECK-LABEL: func.func @forward
// CHECK: math.tanh
// CHECK: -> tensor<?x8xf32>
// CHECK: %[[X:.*]] = tensor.expand_shape
// CHECK: linalg.generic {{.*}} ins(%[[X]] : tensor<?x?x8xf32>)
// CHECK: arith.mulf
func.func @forward(%x: tensor<?x8xf32>, %b: index, %s: index) -> (tensor<?x?x8xf32>, tensor<?x?xf32>) {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%b, %s, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = math.tanh %v : f32
    linalg.yield %t : f32
  } -> tensor<?x?x8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1 : tensor<?x?x8xf32>) outs(%e : tensor<?x?x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.mulf %v, %v : f32
    linalg.yield %t : f32
  } -> tensor<?x?x8xf32>
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty(%b, %s) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %3 = linalg.generic {indexing_maps = [#id, affine_map<(b, s, c) -> (b, s)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%2 : tensor<?x?x8xf32>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %v, %o : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %1, %3 : tensor<?x?x8xf32>, tensor<?x?xf32>
}
