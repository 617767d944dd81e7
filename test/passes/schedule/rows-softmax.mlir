// Softmax with the reductions' dimension kept by expand_shape: one kernel. The exponential, needed by the sum and by the
// result, is kept in the row of the result by the pass that sums; the division by the total is one per row.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-NOT: linalg.
// CHECK: nest.row {{.*}} ins(%{{.*}} : tensor<8x10xf32>) outs(%{{.*}} : tensor<8x10xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: !nest.row<f32>, %[[OUT:.*]]: !nest.row<f32>):
// CHECK: %[[LARGEST:.*]] = nest.fold <max> "largest"
// CHECK: nest.get %[[IN]]
// CHECK: %[[TOTAL:.*]] = nest.fold <sum> "total"
// CHECK: arith.subf %{{.*}}, %[[LARGEST]]
// CHECK: %[[EXP:.*]] = math.exp %{{.*}} {nest.not_positive}
// CHECK: nest.set %[[EXP]], %[[OUT]]
// CHECK: nest.yield %[[EXP]]
// CHECK-NOT: math.exp
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[TOTAL]] {nest.name = "inverse_total"}
// CHECK: nest.each
// CHECK: nest.get %[[OUT]]
// CHECK: arith.mulf %{{.*}}, %[[INVERSE]]
// CHECK: nest.set %{{.*}}, %[[OUT]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#keep = affine_map<(d0, d1) -> (d0, 0)>
func.func @softmax(%x: tensor<8x10xf32>) -> tensor<8x10xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8x10xf32>
  %f0 = linalg.fill ins(%ninf : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x10xf32>) outs(%f0 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %mk = tensor.expand_shape %m [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mk : tensor<8x10xf32>, tensor<8x1xf32>) outs(%e1 : tensor<8x10xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.subf %in, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x10xf32>
  %e = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x10xf32>) outs(%e1 : tensor<8x10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8x10xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<8x10xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %tk = tensor.expand_shape %t [[0, 1]] output_shape [8, 1] : tensor<8xf32> into tensor<8x1xf32>
  %r = linalg.generic {indexing_maps = [#id, #keep, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %tk : tensor<8x10xf32>, tensor<8x1xf32>) outs(%e1 : tensor<8x10xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.divf %in, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x10xf32>
  return %r : tensor<8x10xf32>
}

// Less the largest of other values: an exponent may be positive.
// CHECK-LABEL: func.func @other
// CHECK: math.exp %{{[^ ]*}} : f32
// CHECK-NOT: inverse_total
func.func @other(%x: tensor<8x10xf32>, %y: tensor<8x10xf32>) -> tensor<8x10xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8x10xf32>
  %f0 = linalg.fill ins(%ninf : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<8x10xf32>) outs(%f0 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<8x10xf32>, tensor<8xf32>) outs(%e1 : tensor<8x10xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.subf %in, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x10xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<8x10xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%e, %t : tensor<8x10xf32>, tensor<8xf32>) outs(%e1 : tensor<8x10xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.divf %in, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x10xf32>
  return %r : tensor<8x10xf32>
}
