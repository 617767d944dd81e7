// Decisions about buffers and the file as a whole; those that stand already are kept.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-to-prepared | FileCheck %s

// CHECK-LABEL: func.func @small
// CHECK-SAME: nest.output
// CHECK-SAME: nest.launches = #nest.launches<never>, nest.placement = #nest.placement<own>, nest.weights = #nest.storage<embedded>
// CHECK: nest.buffer "b" form tensor
// CHECK: nest.buffer "nine" form flat
func.func @small(%y: memref<3xf32>) {
  %w = nest.weight "w" : memref<3xf32> = dense<1.0> : tensor<3xf32>
  %b = nest.buffer "b" : memref<3xf32>
  %nine = nest.buffer "nine" : memref<1x1x1x1x1x1x1x1x3xf32>
  nest.map "copy" ins(%w : memref<3xf32>) outs(%y : memref<3xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// -----
// CHECK-LABEL: func.func @large
// CHECK-SAME: nest.placement = #nest.placement<arena>, nest.weights = #nest.storage<file>
func.func @large() {
  %w = nest.weight "w" : memref<257xf32> = dense<1.0> : tensor<257xf32>
  %b = nest.buffer "b" : memref<65537xf32>
  return
}

// -----
// CHECK-LABEL: func.func @given
// CHECK-SAME: nest.launches = #nest.launches<always>, nest.placement = #nest.placement<own>, nest.weights = #nest.storage<embedded>
// CHECK: form tensor
func.func @given() attributes {nest.launches = #nest.launches<always>, nest.placement = #nest.placement<own>, nest.weights = #nest.storage<embedded>} {
  %w = nest.weight "w" : memref<257xf32> = dense<1.0> : tensor<257xf32>
  %b = nest.buffer "b" border [0, 0] form tensor : memref<1x256x256x4xf32>
  return
}

// -----
// A pool on a slice of channels makes an image of the whole; its width is known at run time only.
// CHECK-LABEL: func.func @images
// CHECK-SAME: nest.sized_images
// CHECK: nest.buffer "b"({{.*}}) form image
func.func @images(%x: memref<1x4x?x2xf32>, %n: index) {
  %b = nest.buffer "b"(%n) : memref<1x4x?x4xf32>
  %s = memref.subview %b[0, 0, 0, 2] [1, 4, %n, 2] [1, 1, 1, 1] : memref<1x4x?x4xf32> to memref<1x4x?x2xf32, strided<[?, ?, 4, 1], offset: 2>>
  nest.window "pool" <max> kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0]
      ins(%x : memref<1x4x?x2xf32>) outs(%s : memref<1x4x?x2xf32, strided<[?, ?, 4, 1], offset: 2>>) finish {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// -----
// A collapsed argument is indexed by its extents, which the function asks for.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x?xf32>
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: memref.dim %[[X]], %[[ONE]]
func.func @sizes(%x: memref<4x?xf32>, %y: memref<?xf32>) {
  %flat = memref.collapse_shape %x [[0, 1]] : memref<4x?xf32> into memref<?xf32>
  nest.map "copy" ins(%flat : memref<?xf32>) outs(%y : memref<?xf32>) maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}
