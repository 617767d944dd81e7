// Layer norm as ONNX spells it, after a residual that is used elsewhere too: one kernel with two outputs. The unit batch
// vanishes from the loops; the dimension that a reduction keeps does not break the group.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// CHECK: #[[$ROW:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-LABEL: func.func @layer_norm
// CHECK-NOT: linalg.
// CHECK: nest.row {{.*}} maps [#[[$ROW]], #[[$ROW]],
// CHECK: %[[TOTAL:.*]] = nest.fold <sum> "total"
// CHECK: %[[MEAN:.*]] = arith.divf %[[TOTAL]], %{{.*}} {nest.name = "mean"}
// CHECK: %[[SQUARES:.*]] = nest.fold <sum> "squares"
// CHECK: arith.subf %{{.*}}, %[[MEAN]]
// CHECK: arith.divf %[[SQUARES]], %{{.*}} {nest.name = "variance"}
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[ROOT]] {nest.name = "inverse_root"}
// CHECK-COUNT-1: nest.each
// CHECK: arith.mulf %{{.*}}, %[[INVERSE]]
// CHECK-NOT: arith.divf
// CHECK: nest.set
// CHECK: nest.set
// CHECK-NOT: nest.each
// CHECK: return
// ONNX layer norm: ReduceMean keepdims, Sub, Pow(2), ReduceMean, Add eps, Sqrt, Div, Mul, Add
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#in = affine_map<(d0, d1, d2) -> (0, d1, d2)>
#red = affine_map<(d0, d1, d2) -> (d0, d1)>
#keep = affine_map<(d0, d1, d2) -> (0, d1, 0)>
#vec = affine_map<(d0, d1, d2) -> (d2)>
func.func @layer_norm(%a: tensor<1x128x312xf32>, %b: tensor<1x128x312xf32>, %gamma: tensor<312xf32>, %beta: tensor<312xf32>) -> (tensor<1x128x312xf32>, tensor<1x128x312xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 312.0 : f32
  %eps = arith.constant 1.0e-12 : f32
  %big = tensor.empty() : tensor<1x128x312xf32>
  %x = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %b : tensor<1x128x312xf32>, tensor<1x128x312xf32>) outs(%big : tensor<1x128x312xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %0 = arith.addf %in, %in2 : f32
    linalg.yield %0 : f32
  } -> tensor<1x128x312xf32>
  %e0 = tensor.empty() : tensor<1x128xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x128xf32>) -> tensor<1x128xf32>
  %s = linalg.generic {indexing_maps = [#id, #red], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<1x128x312xf32>) outs(%f0 : tensor<1x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1x128xf32>
  %sk = tensor.expand_shape %s [[0], [1, 2]] output_shape [1, 128, 1] : tensor<1x128xf32> into tensor<1x128x1xf32>
  %e1 = tensor.empty() : tensor<1x128x1xf32>
  %mean = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sk : tensor<1x128x1xf32>) outs(%e1 : tensor<1x128x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    linalg.yield %0 : f32
  } -> tensor<1x128x1xf32>
  %d = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<1x128x312xf32>, tensor<1x128x1xf32>) outs(%big : tensor<1x128x312xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %0 = arith.subf %in, %in2 : f32
    linalg.yield %0 : f32
  } -> tensor<1x128x312xf32>
  %sq = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<1x128x312xf32>) outs(%big : tensor<1x128x312xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<1x128x312xf32>
  %v = linalg.generic {indexing_maps = [#id, #red], iterator_types = ["parallel", "parallel", "reduction"]} ins(%sq : tensor<1x128x312xf32>) outs(%f0 : tensor<1x128xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<1x128xf32>
  %vk = tensor.expand_shape %v [[0], [1, 2]] output_shape [1, 128, 1] : tensor<1x128xf32> into tensor<1x128x1xf32>
  %var = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%vk : tensor<1x128x1xf32>) outs(%e1 : tensor<1x128x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.divf %in, %n : f32
    linalg.yield %0 : f32
  } -> tensor<1x128x1xf32>
  %std = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%var : tensor<1x128x1xf32>) outs(%e1 : tensor<1x128x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %eps : f32
    %1 = math.sqrt %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x128x1xf32>
  %q = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %std : tensor<1x128x312xf32>, tensor<1x128x1xf32>) outs(%big : tensor<1x128x312xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %0 = arith.divf %in, %in2 : f32
    linalg.yield %0 : f32
  } -> tensor<1x128x312xf32>
  %r = linalg.generic {indexing_maps = [#in, #vec, #vec, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %gamma, %beta : tensor<1x128x312xf32>, tensor<312xf32>, tensor<312xf32>) outs(%big : tensor<1x128x312xf32>) {
  ^bb0(%in: f32, %g: f32, %be: f32, %out: f32):
    %0 = arith.mulf %in, %g : f32
    %1 = arith.addf %0, %be : f32
    linalg.yield %1 : f32
  } -> tensor<1x128x312xf32>
  return %x, %r : tensor<1x128x312xf32>, tensor<1x128x312xf32>
}
