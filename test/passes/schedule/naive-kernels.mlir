// --schedule=naive: padding and generated tensors get a structured form, every fill has one user, all have labels.
// RUN: ml2kokkos-opt %s --pass-pipeline='builtin.module(func.func(ml2k-naive-kernels,ml2k-label-kernels))' | FileCheck %s

#row = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (i)>

// CHECK-LABEL: @sums
// CHECK-SAME: attributes {nest.naive}
// CHECK: linalg.fill {nest.label = "map1.fill"
// CHECK-NOT: tensor.pad
// CHECK: tensor.insert_slice
// CHECK: %[[FIRST:.*]] = linalg.fill {nest.label = "map2.fill"
// CHECK: linalg.generic {{.*}} outs(%[[FIRST]] : {{.*}} {nest.label = "reduce1"}
// CHECK: %[[SECOND:.*]] = linalg.fill {nest.label = "map3.fill"
// CHECK: linalg.generic {{.*}} outs(%[[SECOND]] : {{.*}} {nest.label = "reduce2"}
func.func @sums(%x: tensor<3x4xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x4xf32> to tensor<5x6xf32>
  %empty = tensor.empty() : tensor<5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5xf32>) -> tensor<5xf32>
  %a = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["parallel", "reduction"]}
      ins(%padded : tensor<5x6xf32>) outs(%start : tensor<5xf32>) {
  ^bb0(%e: f32, %sum: f32):
    %next = arith.addf %sum, %e : f32
    linalg.yield %next : f32
  } -> tensor<5xf32>
  %b = linalg.generic {indexing_maps = [#row, #column], iterator_types = ["parallel", "reduction"]}
      ins(%padded : tensor<5x6xf32>) outs(%start : tensor<5xf32>) {
  ^bb0(%e: f32, %largest: f32):
    %next = arith.maximumf %largest, %e : f32
    linalg.yield %next : f32
  } -> tensor<5xf32>
  return %a, %b : tensor<5xf32>, tensor<5xf32>
}
