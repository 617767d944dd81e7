// Constants without names that blocks read at computed positions have names of their own, each after the kernel that reads it.
// RUN: ml2kokkos %s -o - --style=llvm | FileCheck %s
// CHECK: struct Weights {
// CHECK-NEXT: Tensor<float const[8]> {{(y|map1)}}_constant;
// CHECK-NEXT: Tensor<float const[4]> {{(z|map2)}}_constant;
// CHECK-NEXT: };
#id = affine_map<(d0) -> (d0)>
func.func @forward(%a: tensor<8xf32> {nest.name = "a"}, %b: tensor<4xf32> {nest.name = "b"}) -> (tensor<8xf32> {nest.name = "y"}, tensor<4xf32> {nest.name = "z"}) {
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %1 = arith.constant dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>
  %c7 = arith.constant 7 : index
  %c3 = arith.constant 3 : index
  %2 = tensor.empty() : tensor<8xf32>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%2 : tensor<8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %w = tensor.extract %0[%j] : tensor<8xf32>
    %r = arith.mulf %x, %w : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %4 = tensor.empty() : tensor<4xf32>
  %5 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%b : tensor<4xf32>) outs(%4 : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c3, %i : index
    %w = tensor.extract %1[%j] : tensor<4xf32>
    %r = arith.mulf %x, %w : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %3, %5 : tensor<8xf32>, tensor<4xf32>
}
