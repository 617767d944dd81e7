// Weights that are standardized in the graph are so at translation: sums, reshapes and arithmetic of constants alone.
// RUN: ml2kokkos-opt %s --ml2k-name-weights --ml2k-inline-scalars --ml2k-fold-weights --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @centred
// CHECK-NEXT: %[[W:.*]] = nest.weight "conv.weight" : tensor<2x3xf32> = dense<{{\[\[}}-1.000000e+00, -2.000000e+00, 3.000000e+00], [-4.000000e+00, 0.000000e+00, 4.000000e+00]]>
// CHECK-NEXT: return %[[W]]
func.func @centred() -> tensor<2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %three = arith.constant 3.0 : f32
  %w = arith.constant dense<[[1.0, 0.0, 5.0], [3.0, 7.0, 11.0]]> : tensor<2x3xf32> loc("conv.weight")
  %rows = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%rows : tensor<2xf32>) -> tensor<2xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]} ins(%w : tensor<2x3xf32>) outs(%start : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %column = tensor.expand_shape %sum [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
  %init = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w, %column : tensor<2x3xf32>, tensor<2x1xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %mean = arith.divf %total, %three : f32
    %d = arith.subf %in, %mean : f32
    linalg.yield %d : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// What would be larger than its weights is left to run time: a file stays as large as the model's.
// CHECK-LABEL: func.func @outer
// CHECK: linalg.generic
func.func @outer() -> tensor<2x3xf32> {
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("a")
  %b = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32> loc("b")
  %init = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2xf32>, tensor<3xf32>) outs(%init : tensor<2x3xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
