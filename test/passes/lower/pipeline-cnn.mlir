// Two levels of concatenation and a residual: convolutions write their channels at once, images have the border that their
// readers need, the image of the caller is turned into a bordered buffer by the one kernel that changes its layout.
// RUN: ml2kokkos-opt %s --ml2k-lower | FileCheck %s

// CHECK-LABEL: func.func @cnn
// CHECK-SAME: %[[IMAGE:.*]]: memref<1x3x8x8xf32> {{.*}}, %[[Y:.*]]: memref<1x28xf32> {nest.name = "y", nest.output})
// CHECK-SAME: nest.arena_bytes = {{[0-9]+}} : i64, nest.live_bytes = {{[0-9]+}} : i64
func.func @cnn(%image: tensor<1x3x8x8xf32> {nest.name = "image"}) -> (tensor<1x28xf32> {nest.name = "y"}) {
  %ws = nest.weight "squeeze.weight" : tensor<8x3x1x1xf32> = dense<1.0> : tensor<8x3x1x1xf32>
  %w1 = nest.weight "expand1.weight" : tensor<8x8x1x1xf32> = dense<1.0> : tensor<8x8x1x1xf32>
  %w3 = nest.weight "expand3.weight" : tensor<8x8x3x3xf32> = dense<1.0> : tensor<8x8x3x3xf32>
  %w5 = nest.weight "expand5.weight" : tensor<12x16x5x5xf32> = dense<1.0> : tensor<12x16x5x5xf32>
  %w6 = nest.weight "last.weight" : tensor<28x28x3x3xf32> = dense<1.0> : tensor<28x28x3x3xf32>
  // CHECK-DAG: %[[X:.*]] = nest.buffer "image.layout" offset {{[0-9]+}} border [0, 0]{{.*}} : memref<1x8x8x3xf32>
  // CHECK-DAG: %[[S:.*]] = nest.buffer "squeeze" offset {{[0-9]+}} border [1, 1]{{.*}} : memref<1x8x8x8xf32>
  // CHECK-DAG: %[[C:.*]] = nest.buffer "outer" offset {{[0-9]+}} border [2, 2]{{.*}} : memref<1x8x8x28xf32>
  // CHECK-DAG: %[[L:.*]] = nest.buffer "last" offset {{[0-9]+}} border [0, 0]{{.*}} : memref<1x8x8x28xf32>
  // CHECK-NOT: nest.buffer
  %e0 = tensor.empty() : tensor<1x8x8x3xf32>
  // CHECK: nest.map "image.layout" ins(%[[IMAGE]] : {{.*}}) outs(%[[X]]
  %x = nest.map "image.layout" ins(%image : tensor<1x3x8x8xf32>) outs(%e0 : tensor<1x8x8x3xf32>)
      maps [affine_map<(n, h, w, c) -> (n, c, h, w)>, affine_map<(n, h, w, c) -> (n, h, w, c)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } -> tensor<1x8x8x3xf32>
  %e1 = tensor.empty() : tensor<1x8x8x8xf32>
  // CHECK: nest.conv "squeeze"
  // CHECK-SAME: outs(%[[S]]
  %s = nest.conv "squeeze" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %ws : tensor<1x8x8x3xf32>, tensor<8x3x1x1xf32>) outs(%e1 : tensor<1x8x8x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x8x8x8xf32>
  // CHECK-DAG: %[[INNER:.*]] = memref.subview %[[C]][0, 0, 0, 0] [1, 8, 8, 16]
  // CHECK-DAG: %[[A:.*]] = memref.subview %[[C]][0, 0, 0, 0] [1, 8, 8, 8]
  // CHECK: nest.conv "expand1"
  // CHECK-SAME: outs(%[[A]]
  %a = nest.conv "expand1" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%s, %w1 : tensor<1x8x8x8xf32>, tensor<8x8x1x1xf32>) outs(%e1 : tensor<1x8x8x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x8x8x8xf32>
  // CHECK: %[[B:.*]] = memref.subview %[[C]][0, 0, 0, 8] [1, 8, 8, 8]
  // CHECK: nest.conv "expand3"
  // CHECK-SAME: outs(%[[B]]
  %b = nest.conv "expand3" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%s, %w3 : tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) outs(%e1 : tensor<1x8x8x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x8x8x8xf32>
  %inner = tensor.concat dim(3) %a, %b : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x16xf32> loc("Concat \"/inner/Concat\"")
  %e5 = tensor.empty() : tensor<1x8x8x12xf32>
  // CHECK: %[[D:.*]] = memref.subview %[[C]][0, 0, 0, 16] [1, 8, 8, 12]
  // CHECK: nest.conv "expand5"
  // CHECK-SAME: ins(%[[INNER]], {{.*}} outs(%[[D]]
  %d = nest.conv "expand5" strides [1, 1] dilations [1, 1] pads [2, 2, 2, 2] groups 1
      ins(%inner, %w5 : tensor<1x8x8x16xf32>, tensor<12x16x5x5xf32>) outs(%e5 : tensor<1x8x8x12xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x8x8x12xf32>
  %outer = tensor.concat dim(3) %a, %b, %d : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>, tensor<1x8x8x12xf32>) -> tensor<1x8x8x28xf32> loc("Concat \"/outer/Concat\"")
  %e6 = tensor.empty() : tensor<1x8x8x28xf32>
  // CHECK: nest.conv "last"
  // CHECK-SAME: ins(%[[C]], {{.*}} extras(%[[C]] {{.*}} outs(%[[L]]
  %l = nest.conv "last" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%outer, %w6 : tensor<1x8x8x28xf32>, tensor<28x28x3x3xf32>) extras(%outer : tensor<1x8x8x28xf32>) maps [affine_map<(n, p, q, o) -> (n, p, q, o)>] outs(%e6 : tensor<1x8x8x28xf32>) epilogue {
  ^bb0(%sum: f32, %r: f32):
    %t = arith.addf %sum, %r : f32
    nest.yield %t : f32
  } -> tensor<1x8x8x28xf32>
  %e7 = tensor.empty() : tensor<1x28xf32>
  // CHECK: nest.reduce "mean" {{.*}} outs(%[[Y]]
  %y = nest.reduce "mean" <sum> from 0.0 : f32 over [1, 2] ins(%l : tensor<1x8x8x28xf32>) outs(%e7 : tensor<1x28xf32>)
      maps [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, c)>] term {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } finish {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x28xf32>
  // CHECK-NOT: nest.map
  // CHECK: return
  return %y : tensor<1x28xf32>
}
