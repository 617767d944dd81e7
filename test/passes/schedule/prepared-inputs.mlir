// Elementwise work on an input of the model happens in the copy that changes its order, where pixels have few channels.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-propagate-layout | FileCheck %s

// CHECK-DAG: #[[$SWAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-DAG: #[[$MEANS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @normalised
// CHECK-NOT: linalg.transpose
// CHECK: %[[SHIFTED:.*]] = linalg.generic {indexing_maps = [#[[$SWAP]], #[[$MEANS]], #{{.*}}]{{.*}} ins(%arg0, %arg1 {{.*}} outs({{.*}} : tensor<?x8x8x3xf32>)
// CHECK: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[SHIFTED]] : tensor<?x8x8x3xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return %[[SCALED]]
#all = affine_map<(a, b, c, d) -> (a, b, c, d)>
#channel = affine_map<(a, b, c, d) -> (b)>
func.func @normalised(%x: tensor<?x3x8x8xf32>, %mean: tensor<3xf32>) -> tensor<?x8x8x3xf32> {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %n = tensor.dim %x, %c0 : tensor<?x3x8x8xf32>
  %e = tensor.empty(%n) : tensor<?x3x8x8xf32>
  %shifted = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %mean : tensor<?x3x8x8xf32>, tensor<3xf32>) outs(%e : tensor<?x3x8x8xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<?x3x8x8xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%shifted : tensor<?x3x8x8xf32>) outs(%e : tensor<?x3x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.mulf %a, %half : f32
    linalg.yield %d : f32
  } -> tensor<?x3x8x8xf32>
  %t = tensor.empty(%n) : tensor<?x8x8x3xf32>
  %turned = linalg.transpose ins(%scaled : tensor<?x3x8x8xf32>) outs(%t : tensor<?x8x8x3xf32>) permutation = [0, 2, 3, 1]
  return %turned : tensor<?x8x8x3xf32>
}

// -----

// Many channels are copied tile by tile, and what others read, too, is there anyhow.
// CHECK-LABEL: func.func @wide
// CHECK: linalg.transpose
// CHECK-LABEL: func.func @shared
// CHECK: linalg.transpose
#all = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @wide(%x: tensor<1x64x8x8xf32>) -> tensor<1x8x8x64xf32> {
  %e = tensor.empty() : tensor<1x64x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x64x8x8xf32>) outs(%e : tensor<1x64x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = math.tanh %a : f32
    linalg.yield %d : f32
  } -> tensor<1x64x8x8xf32>
  %t = tensor.empty() : tensor<1x8x8x64xf32>
  %1 = linalg.transpose ins(%0 : tensor<1x64x8x8xf32>) outs(%t : tensor<1x8x8x64xf32>) permutation = [0, 2, 3, 1]
  return %1 : tensor<1x8x8x64xf32>
}

func.func @shared(%x: tensor<1x3x8x8xf32>) -> (tensor<1x8x8x3xf32>, tensor<1x3x8x8xf32>) {
  %e = tensor.empty() : tensor<1x3x8x8xf32>
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x3x8x8xf32>) outs(%e : tensor<1x3x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = math.tanh %a : f32
    linalg.yield %d : f32
  } -> tensor<1x3x8x8xf32>
  %t = tensor.empty() : tensor<1x8x8x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<1x3x8x8xf32>) outs(%t : tensor<1x8x8x3xf32>) permutation = [0, 2, 3, 1]
  return %1, %0 : tensor<1x8x8x3xf32>, tensor<1x3x8x8xf32>
}

// Memory is left as it is.
// CHECK-LABEL: func.func @memory
// CHECK: linalg.transpose
func.func @memory(%x: memref<3x8xf32>, %y: memref<8x3xf32>) {
  linalg.transpose ins(%x : memref<3x8xf32>) outs(%y : memref<8x3xf32>) permutation = [1, 0]
  return
}
