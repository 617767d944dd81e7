// What pads images by reading them at computed positions writes channels last itself, also where others ask for its size.
// RUN: ml2kokkos-opt %s --ml2k-propagate-layout | FileCheck %s
// CHECK-LABEL: func.func @forward
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<?x10x10x16xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @forward(%x: tensor<?x8x8x16xf32>) -> (tensor<?x10x10x16xf32>, index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?x8x8x16xf32>
  %e0 = tensor.empty(%n) : tensor<?x16x10x10xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e0 : tensor<?x16x10x10xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %r = linalg.index 2 : index
    %c = linalg.index 3 : index
    %row = arith.remsi %r, %c8 : index
    %column = arith.remsi %c, %c8 : index
    %v = tensor.extract %x[%i, %row, %column, %k] : tensor<?x8x8x16xf32>
    linalg.yield %v : f32
  } -> tensor<?x16x10x10xf32>
  %size = tensor.dim %0, %c0 : tensor<?x16x10x10xf32>
  %e1 = tensor.empty(%size) : tensor<?x10x10x16xf32>
  %1 = linalg.transpose ins(%0 : tensor<?x16x10x10xf32>) outs(%e1 : tensor<?x10x10x16xf32>) permutation = [0, 2, 3, 1]
  return %1, %size : tensor<?x10x10x16xf32>, index
}
