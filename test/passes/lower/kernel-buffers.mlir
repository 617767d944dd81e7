// RUN: ml2kokkos-opt %s --ml2k-kernel-buffers | FileCheck %s

// An argument has no border: it is copied once for both convolutions that need one, and not for the one that does not.
// CHECK-LABEL: func.func @argument
// CHECK-SAME:  (%[[X:.*]]: memref<1x4x4x8xf32> {{.*}}, %[[Y:.*]]: memref<1x4x4x8xf32>
func.func @argument(%x: memref<1x4x4x8xf32> {nest.name = "x"}, %y: memref<1x4x4x8xf32> {nest.name = "y", nest.output}) {
  %w = nest.weight "w" : memref<8x8x3x3xf32> = dense<1.0> : tensor<8x8x3x3xf32>
  %v = nest.weight "v" : memref<8x8x1x1xf32> = dense<1.0> : tensor<8x8x1x1xf32>
  %a = memref.alloc() : memref<1x4x4x8xf32>
  %b = memref.alloc() : memref<1x4x4x8xf32>
  // CHECK: %[[I:.*]] = memref.alloc() {border = array<i64: 1, 1>} : memref<1x4x4x8xf32>
  // CHECK-NOT: nest.map
  // CHECK: nest.conv "pointwise" {{.*}} ins(%[[X]],
  nest.conv "pointwise" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%x, %v : memref<1x4x4x8xf32>, memref<8x8x1x1xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.map "x.image" ins(%[[X]] : {{.*}}) outs(%[[I]] :
  // CHECK: nest.conv "first" {{.*}} ins(%[[I]],
  nest.conv "first" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%x, %w : memref<1x4x4x8xf32>, memref<8x8x3x3xf32>) outs(%a : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK-NOT: nest.map
  // CHECK: nest.conv "second" {{.*}} ins(%[[I]],
  nest.conv "second" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%x, %w : memref<1x4x4x8xf32>, memref<8x8x3x3xf32>) outs(%b : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// The border is the largest padding of all readers, of slices too; rows and columns on their own.
// CHECK-LABEL: func.func @slices
func.func @slices(%y: memref<1x4x4x8xf32> {nest.name = "y", nest.output}) {
  %w = nest.weight "w" : memref<8x4x5x3xf32> = dense<1.0> : tensor<8x4x5x3xf32>
  // CHECK: memref.alloc() {border = array<i64: 2, 1>} : memref<1x4x4x8xf32>
  %a = memref.alloc() : memref<1x4x4x8xf32>
  %s = memref.subview %a[0, 0, 0, 4] [1, 4, 4, 4] [1, 1, 1, 1] : memref<1x4x4x8xf32> to memref<1x4x4x4xf32, strided<[128, 32, 8, 1], offset: 4>>
  nest.conv "tall" strides [1, 1] dilations [1, 1] pads [2, 1, 2, 1] groups 1
      ins(%s, %w : memref<1x4x4x4xf32, strided<[128, 32, 8, 1], offset: 4>>, memref<8x4x5x3xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// A matrix has no border: where a buffer is both, the convolution reads a copy.
// CHECK-LABEL: func.func @both
func.func @both(%y: memref<1x4x4x8xf32> {nest.name = "y", nest.output}, %z: memref<16x4xf32> {nest.name = "z", nest.output}) {
  %w = nest.weight "w" : memref<8x8x3x3xf32> = dense<1.0> : tensor<8x8x3x3xf32>
  %p = nest.weight "p" packing <panels> : memref<4x8xf32> = dense<1.0> : tensor<4x8xf32>
  // CHECK: %[[A:.*]] = memref.alloc() : memref<1x4x4x8xf32>
  // CHECK: %[[I:.*]] = memref.alloc() {border = array<i64: 1, 1>} : memref<1x4x4x8xf32>
  // CHECK: nest.map "a.image" ins(%[[A]] : {{.*}}) outs(%[[I]] :
  // CHECK: nest.conv "c" {{.*}} ins(%[[I]],
  %a = memref.alloc() : memref<1x4x4x8xf32>
  nest.map "a" outs(%a : memref<1x4x4x8xf32>) maps [affine_map<(n, h, w, c) -> (n, h, w, c)>] {
    %zero = arith.constant 0.0 : f32
    nest.yield %zero : f32
  }
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%a, %w : memref<1x4x4x8xf32>, memref<8x8x3x3xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  %m = memref.collapse_shape %a [[0, 1, 2], [3]] : memref<1x4x4x8xf32> into memref<16x8xf32>
  nest.contract "m" [m, n, k] ins(%m, %p : memref<16x8xf32>, memref<4x8xf32>) outs(%z : memref<16x4xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}
