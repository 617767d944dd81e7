// The position of the largest element, as torch-mlir and ONNX decompose it: the largest value, then the first place that
// holds it. A row of NaN keeps the initial position.
// RUN: ml2kokkos-opt %s --ml2k-form-rows | FileCheck %s

// CHECK-LABEL: func.func @argmax
// CHECK-NOT: linalg.
// CHECK: %[[NONE:.*]] = arith.constant 0 : i64
// CHECK: nest.row {{.*}} outs(%{{.*}} : tensor<8xi64>)
// CHECK: %[[LARGEST:.*]] = nest.fold <max> "largest"
// CHECK: %[[NOWHERE:.*]] = arith.constant 9223372036854775807 : i64
// CHECK: %[[PLACE:.*]] = nest.fold <minsi> "position"
// CHECK: %[[HERE:.*]] = arith.cmpf oeq, %{{.*}}, %[[LARGEST]]
// CHECK: arith.select %[[HERE]], %{{.*}}, %[[NOWHERE]]
// CHECK: %[[MISSING:.*]] = arith.cmpi eq, %[[PLACE]], %[[NOWHERE]]
// CHECK: %[[POSITION:.*]] = arith.select %[[MISSING]], %[[NONE]], %[[PLACE]]
// CHECK: nest.set %[[POSITION]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @argmax(%x: tensor<8x10xf32>) -> tensor<8xi64> {
  %lowest = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %e0 = tensor.empty() : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xi64>
  %f0 = linalg.fill ins(%lowest : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %f1 = linalg.fill ins(%none : i64) outs(%e1 : tensor<8xi64>) -> tensor<8xi64>
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x10xf32>) outs(%f0, %f1 : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%in: f32, %largest: f32, %position: i64):
    %0 = linalg.index 1 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = arith.maximumf %in, %largest : f32
    %3 = arith.cmpf ogt, %in, %largest : f32
    %4 = arith.select %3, %1, %position : i64
    linalg.yield %2, %4 : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#1 : tensor<8xi64>
}
