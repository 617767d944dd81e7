// RUN: ml2kokkos-opt %s --ml2k-forward-copies | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#heads = affine_map<(h, t, d) -> (t, h, d)>
#id = affine_map<(h, t, d) -> (h, t, d)>
!slot = memref<2x3x32xf32, strided<[256, 32, 1], offset: 160>>

// Row m of the product: token 5 + m of the cache, 32 columns for each of two heads.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME: %[[X:.*]]: memref<3x8xf32>, %[[CACHE:.*]]: memref<2x8x32xf32>
// CHECK: %[[SLOT:.*]] = memref.subview %[[CACHE]][0, 5, 0]
// CHECK: nest.contract "v" [m, n, k] ins(%[[X]], %{{.*}}) outs(%[[SLOT]] : {{.*}}) maps [{{.*}}, #[[$PLACE:.*]]]
// CHECK-NOT: nest.map
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @heads(%x: memref<3x8xf32>, %cache: memref<2x8x32xf32>) {
  %weight = nest.weight "w" packing <panels> : memref<64x8xf32> = dense<1.0> : tensor<64x8xf32>
  %made = memref.alloc() : memref<3x64xf32>
  nest.contract "v" [m, n, k] ins(%x, %weight : memref<3x8xf32>, memref<64x8xf32>) outs(%made : memref<3x64xf32>)
      maps [#a, #w, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  %split = memref.expand_shape %made [[0], [1, 2]] output_shape [3, 2, 32] : memref<3x64xf32> into memref<3x2x32xf32>
  %slot = memref.subview %cache[0, 5, 0] [2, 3, 32] [1, 1, 1] : memref<2x8x32xf32> to !slot
  nest.map "turn" ins(%split : memref<3x2x32xf32>) outs(%slot : !slot) maps [#heads, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// A single token: its row is only cut.
// CHECK-LABEL: func.func @token(
// CHECK: nest.contract "v" {{.*}} outs(%{{.*}} : memref<2x32xf32, strided<[256, 1], offset: 224>>) maps [{{.*}}, #[[$ONE:.*]]]
// CHECK-NOT: memref.copy
// CHECK: return
func.func @token(%x: memref<1x8xf32>, %cache: memref<2x8x32xf32>) {
  %weight = nest.weight "w" packing <panels> : memref<64x8xf32> = dense<1.0> : tensor<64x8xf32>
  %made = memref.alloc() : memref<1x64xf32>
  nest.contract "v" [m, n, k] ins(%x, %weight : memref<1x8xf32>, memref<64x8xf32>) outs(%made : memref<1x64xf32>)
      maps [#a, #w, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  %row = memref.collapse_shape %made [[0, 1]] : memref<1x64xf32> into memref<64xf32>
  %split = memref.expand_shape %row [[0, 1]] output_shape [2, 32] : memref<64xf32> into memref<2x32xf32>
  %slot = memref.subview %cache[0, 7, 0] [2, 1, 32] [1, 1, 1] : memref<2x8x32xf32> to memref<2x32xf32, strided<[256, 1], offset: 224>>
  memref.copy %split, %slot : memref<2x32xf32> to memref<2x32xf32, strided<[256, 1], offset: 224>>
  return
}

// Heads of 16 columns would leave half of a panel unused.
// CHECK-LABEL: func.func @narrow(
// CHECK: memref.alloc
// CHECK: nest.map "turn"
func.func @narrow(%x: memref<3x8xf32>, %cache: memref<4x8x16xf32>) {
  %weight = nest.weight "w" packing <panels> : memref<64x8xf32> = dense<1.0> : tensor<64x8xf32>
  %made = memref.alloc() : memref<3x64xf32>
  nest.contract "v" [m, n, k] ins(%x, %weight : memref<3x8xf32>, memref<64x8xf32>) outs(%made : memref<3x64xf32>)
      maps [#a, #w, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  %split = memref.expand_shape %made [[0], [1, 2]] output_shape [3, 4, 16] : memref<3x64xf32> into memref<3x4x16xf32>
  %slot = memref.subview %cache[0, 5, 0] [4, 3, 16] [1, 1, 1] : memref<4x8x16xf32> to memref<4x3x16xf32, strided<[128, 16, 1], offset: 80>>
  nest.map "turn" ins(%split : memref<3x4x16xf32>) outs(%slot : memref<4x3x16xf32, strided<[128, 16, 1], offset: 80>>) maps [#heads, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// The cache is read before the copy.
// CHECK-LABEL: func.func @readBefore(
// CHECK: memref.alloc
// CHECK: nest.contract
// CHECK: nest.map "old"
// CHECK: nest.map "turn"
func.func @readBefore(%x: memref<3x8xf32>, %cache: memref<2x8x32xf32>, %old: memref<2x8x32xf32>) {
  %weight = nest.weight "w" packing <panels> : memref<64x8xf32> = dense<1.0> : tensor<64x8xf32>
  %made = memref.alloc() : memref<3x64xf32>
  nest.contract "v" [m, n, k] ins(%x, %weight : memref<3x8xf32>, memref<64x8xf32>) outs(%made : memref<3x64xf32>)
      maps [#a, #w, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.map "old" ins(%cache : memref<2x8x32xf32>) outs(%old : memref<2x8x32xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %split = memref.expand_shape %made [[0], [1, 2]] output_shape [3, 2, 32] : memref<3x64xf32> into memref<3x2x32xf32>
  %slot = memref.subview %cache[0, 5, 0] [2, 3, 32] [1, 1, 1] : memref<2x8x32xf32> to !slot
  nest.map "turn" ins(%split : memref<3x2x32xf32>) outs(%slot : !slot) maps [#heads, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}
