// A bias lies with its weights where nobody else reads either; the weights stand in the order of the sidecar.
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-settle-packings,ml2k-join-biases))' | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#n = affine_map<(m, n, k) -> (n)>
#m = affine_map<(m, n, k) -> (m)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @joined
// CHECK: nest.weight "other"
// CHECK-NEXT: nest.weight "fc.weight" packing <panels, outputs = 3, depth = 8>
// CHECK-NEXT: nest.weight "fc.bias"
// CHECK: nest.contract "fc" {{.*}} attributes {bias = 0 : i64}
func.func @joined(%x: memref<4x8xf32>, %y: memref<4x3xf32>, %z: memref<3xf32>) {
  %b = nest.weight "fc.bias" : memref<3xf32> = dense<1.0> : tensor<3xf32>
  %o = nest.weight "other" : memref<3xf32> = dense<1.0> : tensor<3xf32>
  %w = nest.weight "fc.weight" packing <panels> : memref<3x8xf32> = dense<1.0> : tensor<3x8xf32>
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<4x8xf32>, memref<3x8xf32>) extras(%b, %o : memref<3xf32>, memref<3xf32>)
      outs(%y : memref<4x3xf32>) maps [#mk, #nk, #n, #n, #mn] epilogue {
  ^bb0(%sum: f32, %bias: f32, %factor: f32):
    %s = arith.addf %sum, %bias : f32
    %p = arith.mulf %s, %factor : f32
    nest.yield %p : f32
  }
  return
}

// CHECK-LABEL: func.func @read_twice
// CHECK: nest.weight "fc.bias"
// CHECK-NEXT: nest.weight "fc.weight" packing <panels, outputs = 3, depth = 8, depth_first = true>
// CHECK-NOT: bias =
func.func @read_twice(%x: memref<4x8xf32>, %y: memref<4x3xf32>, %z: memref<3xf32>) {
  %b = nest.weight "fc.bias" : memref<3xf32> = dense<1.0> : tensor<3xf32>
  %w = nest.weight "fc.weight" packing <panels> : memref<8x3xf32> = dense<1.0> : tensor<8x3xf32>
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<4x8xf32>, memref<8x3xf32>) extras(%b : memref<3xf32>)
      outs(%y : memref<4x3xf32>) maps [#mk, #kn, #n, #mn] epilogue {
  ^bb0(%sum: f32, %bias: f32):
    %s = arith.addf %sum, %bias : f32
    nest.yield %s : f32
  }
  nest.map "copy" ins(%b : memref<3xf32>) outs(%z : memref<3xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// Along the rows it is no bias of the weights.
// CHECK-LABEL: func.func @along_rows
// CHECK-NOT: bias =
func.func @along_rows(%x: memref<4x8xf32>, %y: memref<4x3xf32>) {
  %b = nest.weight "b" : memref<4xf32> = dense<1.0> : tensor<4xf32>
  %w = nest.weight "w" packing <panels> : memref<3x8xf32> = dense<1.0> : tensor<3x8xf32>
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<4x8xf32>, memref<3x8xf32>) extras(%b : memref<4xf32>)
      outs(%y : memref<4x3xf32>) maps [#mk, #nk, #m, #mn] epilogue {
  ^bb0(%sum: f32, %bias: f32):
    %s = arith.addf %sum, %bias : f32
    nest.yield %s : f32
  }
  return
}

// -----
// CHECK-LABEL: func.func @conv
// CHECK: nest.weight "conv.weight" packing <panels, outputs = 4, depth = 2, rows = 3, columns = 3>
// CHECK-NEXT: nest.weight "conv.bias"
// CHECK: nest.conv "conv" {{.*}} attributes {bias = 0 : i64}
func.func @conv(%x: memref<1x5x5x2xf32>, %y: memref<1x3x3x4xf32>) {
  %b = nest.weight "conv.bias" : memref<4xf32> = dense<1.0> : tensor<4xf32>
  %w = nest.weight "conv.weight" packing <panels> : memref<4x2x3x3xf32> = dense<1.0> : tensor<4x2x3x3xf32>
  nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x5x5x2xf32>, memref<4x2x3x3xf32>) extras(%b : memref<4xf32>)
      maps [affine_map<(n, p, q, o) -> (o)>] outs(%y : memref<1x3x3x4xf32>) epilogue {
  ^bb0(%sum: f32, %bias: f32):
    %s = arith.addf %sum, %bias : f32
    nest.yield %s : f32
  }
  return
}

// -----
// bf16 that only bf16 is multiplied by lies in pairs; a bias that is added to the rounded sum is none of the method.
// CHECK-LABEL: func.func @rounded
// CHECK: nest.weight "conv.weight" packing <panels, outputs = 4, depth = 2, rows = 3, columns = 3, paired = true>
// CHECK-NOT: bias =
func.func @rounded(%x: memref<1x5x5x2xbf16>, %y: memref<1x3x3x4xbf16>) {
  %b = nest.weight "conv.bias" : memref<4xbf16> = dense<1.0> : tensor<4xbf16>
  %w = nest.weight "conv.weight" packing <panels> : memref<4x2x3x3xbf16> = dense<1.0> : tensor<4x2x3x3xbf16>
  nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x5x5x2xbf16>, memref<4x2x3x3xbf16>) extras(%b : memref<4xbf16>)
      maps [affine_map<(n, p, q, o) -> (o)>] outs(%y : memref<1x3x3x4xbf16>) epilogue {
  ^bb0(%sum: f32, %bias: bf16):
    %t = arith.truncf %sum : f32 to bf16
    %s = arith.addf %t, %bias : bf16
    nest.yield %s : bf16
  }
  return
}
