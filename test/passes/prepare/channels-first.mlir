// A convolution reads the image of the caller as it lies: the copy with channels last is gone, and the weights are packed in their own
// order. Not where something else reads that copy, where the rows or the weights are too many to stay in a cache, or where the caller's
// memory is also written.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-to-prepared | FileCheck %s

#planes = affine_map<(n, h, w, c) -> (n, c, h, w)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
// CHECK-LABEL: func.func @first
func.func @first(%x: memref<1x3x8x9xf32>, %y: memref<1x4x5x4xf32>) {
  // CHECK-NEXT: nest.weight "w" packing <panels, outputs = 4, depth = 27>
  %w = nest.weight "w" packing <panels> : memref<4x3x3x3xf32> = dense<1.0> : tensor<4x3x3x3xf32>
  %b = nest.buffer "b" border [1, 1] : memref<1x8x9x3xf32>
  nest.map "arranged" ins(%x : memref<1x3x8x9xf32>) outs(%b : memref<1x8x9x3xf32>) maps [#planes, #image] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  // CHECK-NEXT: nest.conv "conv" strides [2, 2] dilations [1, 1] pads [1, 1, 1, 1] groups 1 ins(%arg0,
  // CHECK-SAME: attributes {channels_first, nest.schedule = #nest.schedule<conv_channels_first>}
  nest.conv "conv" strides [2, 2] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%b, %w : memref<1x8x9x3xf32>, memref<4x3x3x3xf32>) outs(%y : memref<1x4x5x4xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
#planes = affine_map<(n, h, w, c) -> (n, c, h, w)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
// CHECK-LABEL: func.func @two_readers
func.func @two_readers(%x: memref<1x3x8x8xf32>, %y: memref<1x8x8x4xf32>, %z: memref<1x8x8x3xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x3x3x3xf32> = dense<1.0> : tensor<4x3x3x3xf32>
  %b = nest.buffer "b" border [1, 1] : memref<1x8x8x3xf32>
  // CHECK: #nest.schedule<channels_last>
  nest.map "arranged" ins(%x : memref<1x3x8x8xf32>) outs(%b : memref<1x8x8x3xf32>) maps [#planes, #image] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  // CHECK: #nest.schedule<conv>
  nest.conv "conv" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%b, %w : memref<1x8x8x3xf32>, memref<4x3x3x3xf32>) outs(%y : memref<1x8x8x4xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.map "other" ins(%b : memref<1x8x8x3xf32>) outs(%z : memref<1x8x8x3xf32>) maps [#image, #image] {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    nest.yield %s : f32
  }
  return
}

// -----
#planes = affine_map<(n, h, w, c) -> (n, c, h, w)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
// 3 * 3 rows of 1002 floats are 36 KB
// CHECK-LABEL: func.func @wide
func.func @wide(%x: memref<1x3x8x1000xf32>, %y: memref<1x8x1000x4xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x3x3x3xf32> = dense<1.0> : tensor<4x3x3x3xf32>
  %b = nest.buffer "b" border [1, 1] : memref<1x8x1000x3xf32>
  // CHECK: #nest.schedule<channels_last>
  nest.map "arranged" ins(%x : memref<1x3x8x1000xf32>) outs(%b : memref<1x8x1000x3xf32>) maps [#planes, #image] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  nest.conv "conv" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%b, %w : memref<1x8x1000x3xf32>, memref<4x3x3x3xf32>) outs(%y : memref<1x8x1000x4xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
#planes = affine_map<(n, h, w, c) -> (n, c, h, w)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
// 1024 outputs of 8 * 3 * 3 terms are 288 KB
// CHECK-LABEL: func.func @many_weights
func.func @many_weights(%x: memref<1x8x6x6xf32>, %y: memref<1x4x4x1024xf32>) {
  %w = nest.weight "w" packing <panels> : memref<1024x8x3x3xf32> = dense<1.0> : tensor<1024x8x3x3xf32>
  %b = nest.buffer "b" : memref<1x6x6x8xf32>
  // CHECK: #nest.schedule<channels_last>
  nest.map "arranged" ins(%x : memref<1x8x6x6xf32>) outs(%b : memref<1x6x6x8xf32>) maps [#planes, #image] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%b, %w : memref<1x6x6x8xf32>, memref<1024x8x3x3xf32>) outs(%y : memref<1x4x4x1024xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
#planes = affine_map<(n, h, w, c) -> (n, c, h, w)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
// CHECK-LABEL: func.func @written
func.func @written(%x: memref<1x4x8x8xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x4x3x3xf32> = dense<1.0> : tensor<4x4x3x3xf32>
  %b = nest.buffer "b" border [1, 1] : memref<1x8x8x4xf32>
  %r = nest.buffer "r" : memref<1x8x8x4xf32>
  // CHECK: #nest.schedule<channels_last>
  nest.map "arranged" ins(%x : memref<1x4x8x8xf32>) outs(%b : memref<1x8x8x4xf32>) maps [#planes, #image] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  nest.conv "conv" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%b, %w : memref<1x8x8x4xf32>, memref<4x4x3x3xf32>) outs(%r : memref<1x8x8x4xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.map "back" ins(%r : memref<1x8x8x4xf32>) outs(%x : memref<1x4x8x8xf32>) maps [#image, #planes] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  return
}
