// The names of the text become names of the model: arguments, results, layers.
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// CHECK-LABEL: func.func @net(
// CHECK-SAME: {nest.name = "image"}, %{{.*}} {nest.name = "arg1"}) -> (tensor<4x3xf32> {nest.name = "logits"}, tensor<4x3xf32> {nest.name = "result1"})
func.func @net(%image: tensor<4x8xf32>, %arg1: tensor<8x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<4x3xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %logits = linalg.matmul ins(%image, %arg1 : tensor<4x8xf32>, tensor<8x3xf32>) outs(%1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = math.tanh %logits : tensor<4x3xf32>
  return %logits, %2 : tensor<4x3xf32>, tensor<4x3xf32>
}
