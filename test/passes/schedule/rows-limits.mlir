// What a row kernel may and may not take.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// What the sum starts with counts once.
// CHECK-LABEL: func.func @initial
// CHECK: nest.row
// CHECK: %[[START:.*]] = nest.get %{{.*}} : <f32> -> f32
// CHECK: %[[TOTAL:.*]] = nest.fold <sum>
// CHECK: arith.addf %[[TOTAL]], %[[START]]

// Columns are not contiguous: no rows.
// CHECK-LABEL: func.func @strided
// CHECK-NOT: nest.row
// CHECK: linalg.generic

// The last addition waits for the product, which waits for the rows: it stays outside.
// CHECK-LABEL: func.func @cycle
// CHECK: nest.row
// CHECK: linalg.matmul
// CHECK: linalg.generic
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func @initial(%x: tensor<?x10xf32>, %start: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x10xf32>) outs(%start : tensor<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}
func.func @strided(%x: tensor<8x10xf32>) -> tensor<8x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<10xf32>
  %e1 = tensor.empty() : tensor<8x10xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<10xf32>) -> tensor<10xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x10xf32>) outs(%f0 : tensor<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<10xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x10xf32>, tensor<10xf32>) outs(%e1 : tensor<8x10xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.subf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<8x10xf32>
  return %r : tensor<8x10xf32>
}
func.func @cycle(%x: tensor<10x10xf32>) -> tensor<10x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<10xf32>
  %e1 = tensor.empty() : tensor<10x10xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<10xf32>) -> tensor<10xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<10x10xf32>) -> tensor<10x10xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<10x10xf32>) outs(%f0 : tensor<10xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<10xf32>
  %c = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<10x10xf32>, tensor<10xf32>) outs(%e1 : tensor<10x10xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.subf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<10x10xf32>
  %m = linalg.matmul ins(%c, %c : tensor<10x10xf32>, tensor<10x10xf32>) outs(%f1 : tensor<10x10xf32>) -> tensor<10x10xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %m : tensor<10x10xf32>, tensor<10x10xf32>) outs(%e1 : tensor<10x10xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<10x10xf32>
  return %r : tensor<10x10xf32>
}
