// Elementwise operations read the vector, or the number, that another one has spread for several of them.
// RUN: ml2kokkos-opt %s --ml2k-to-canonical | FileCheck %s

#whole = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>

// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @bias
// CHECK-NOT: linalg.generic {indexing_maps = [#[[$C]],
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$C]], #[[$ALL]]]
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$C]], #[[$ALL]]]
// CHECK: return
func.func @bias(%x: tensor<1x8x6x6xf32>, %y: tensor<1x8x6x6xf32>, %b: tensor<8xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %e = tensor.empty() : tensor<1x8x6x6xf32>
  %image = linalg.generic {indexing_maps = [#channel, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  } -> tensor<1x8x6x6xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %image : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%v: f32, %w: f32, %out: f32):
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<1x8x6x6xf32>
  %q = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %image : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%v: f32, %w: f32, %out: f32):
    %s = arith.mulf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<1x8x6x6xf32>
  return %p, %q : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// CHECK-LABEL: func.func @number
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ALL]]]
// CHECK: arith.mulf %{{.*}}, %[[TWO]]
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ALL]]]
// CHECK: arith.divf %{{.*}}, %[[TWO]]
// CHECK: return
func.func @number(%x: tensor<1x8x6x6xf32>, %y: tensor<1x8x6x6xf32>) -> (tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<1x8x6x6xf32>
  %image = linalg.generic {indexing_maps = [#whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%out: f32):
    linalg.yield %two : f32
  } -> tensor<1x8x6x6xf32>
  %p = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %image : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%v: f32, %w: f32, %out: f32):
    %s = arith.mulf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<1x8x6x6xf32>
  %q = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %image : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>) outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%v: f32, %w: f32, %out: f32):
    %s = arith.divf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<1x8x6x6xf32>
  return %p, %q : tensor<1x8x6x6xf32>, tensor<1x8x6x6xf32>
}

// What is spread takes its other shape first: a bias of groups.
// CHECK-LABEL: func.func @groups
// CHECK: %[[B:.*]] = tensor.expand_shape %arg1 {{\[\[}}0, 1]] output_shape [2, 4]
// CHECK-NEXT: linalg.generic {{.*}} ins(%arg0, %[[B]] : tensor<1x2x4x6x6xf32>, tensor<2x4xf32>)
func.func @groups(%x: tensor<1x2x4x6x6xf32>, %b: tensor<8xf32>) -> tensor<1x2x4x6x6xf32> {
  %e = tensor.empty() : tensor<1x8x6x6xf32>
  %image = linalg.generic {indexing_maps = [#channel, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<1x8x6x6xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  } -> tensor<1x8x6x6xf32>
  %groups = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 4, 6, 6] : tensor<1x8x6x6xf32> into tensor<1x2x4x6x6xf32>
  %s = linalg.add ins(%x, %groups : tensor<1x2x4x6x6xf32>, tensor<1x2x4x6x6xf32>) outs(%x : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  return %s : tensor<1x2x4x6x6xf32>
}
