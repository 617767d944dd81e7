// Which operations join the one that reads them, where they have other readers, too.
// RUN: ml2kokkos-opt %s --ml2k-fuse-elementwise --cse | FileCheck %s
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#back = affine_map<(d0, d1) -> (d0, -d1 + 2)>
#column = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$FLIP:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 7)>

// A reduction has one result: it does not hand on the elements.
// CHECK-LABEL: func.func @reduced
// CHECK: %[[LARGER:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} ins(%[[LARGER]] : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[LARGER]] : tensor<4x8xf32>)
func.func @reduced(%x: tensor<4x8xf32>, %init: tensor<8xf32>) -> (tensor<8xf32>, tensor<8x4xf32>) {
  %c = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %larger = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %c : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %largest = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%larger : tensor<4x8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %other = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%larger : tensor<4x8xf32>) outs(%e1 : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  return %largest, %other : tensor<8xf32>, tensor<8x4xf32>
}

// One that reads only some of the elements does not hand on all of them either.
// CHECK-LABEL: func.func @reversed
// CHECK: %[[MOVED:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[MOVED]] : tensor<4x8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[MOVED]] : tensor<4x8xf32>)
func.func @reversed(%x: tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<8x4xf32>) {
  %c = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %moved = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %c : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %e0 = tensor.empty() : tensor<4x3xf32>
  %front = linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]}
      ins(%moved : tensor<4x8xf32>) outs(%e0 : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x3xf32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %other = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%moved : tensor<4x8xf32>) outs(%e1 : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8x4xf32>
  return %front, %other : tensor<4x3xf32>, tensor<8x4xf32>
}

// A flip and the transposes around it are one copy.
// CHECK-LABEL: func.func @flipped
// CHECK: linalg.generic {indexing_maps = [#[[$FLIP]], #{{.*}}]{{.*}} ins(%arg0 : tensor<4x8xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @flipped(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %first = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %flip = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (-d0 + 7, d1)>, #id],
                          iterator_types = ["parallel", "parallel"]}
      ins(%first : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x4xf32>
  %e1 = tensor.empty() : tensor<4x8xf32>
  %last = linalg.transpose ins(%flip : tensor<8x4xf32>) outs(%e1 : tensor<4x8xf32>) permutation = [1, 0]
  return %last : tensor<4x8xf32>
}
