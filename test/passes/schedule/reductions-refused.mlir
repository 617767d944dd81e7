// A recurrence is no reduction.
// RUN: ml2kokkos-opt %s --ml2k-form-reductions --verify-diagnostics

#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func @recurrence(%x: tensor<8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  // expected-error @below {{a reduction that is no sum, product, smallest or largest value, or bit operation}}
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %out : f32
    %1 = arith.addf %0, %in : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
