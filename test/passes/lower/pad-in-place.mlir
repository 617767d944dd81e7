// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-pad-in-place | FileCheck %s

// CHECK-LABEL: func.func @pad
// CHECK-SAME:  (%[[A:.*]]: tensor<2x3xf32>)
func.func @pad(%a: tensor<2x3xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.5 : f32
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<5x4xf32>
  // CHECK: %[[F:.*]] = nest.map "stem.fill" outs(%[[E]] : tensor<5x4xf32>)
  // CHECK-NEXT: %[[C:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK-NEXT: nest.yield %[[C]]
  // CHECK: %[[R:.*]] = tensor.insert_slice %[[A]] into %[[F]][1, 0] [2, 3] [1, 1]
  %p = tensor.pad %a low[1, 0] high[2, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x3xf32> to tensor<5x4xf32> loc("Pad \"/stem/Pad\"")
  // CHECK: return %[[R]]
  return %p : tensor<5x4xf32>
}

// -----

func.func @varying(%a: tensor<2xindex>) -> tensor<3xindex> {
  // expected-error @below {{pads with a value that is computed for every element}}
  %p = tensor.pad %a low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<2xindex> to tensor<3xindex>
  return %p : tensor<3xindex>
}

// -----

// The fill stands in front of what makes the source, which can then be made in its place.
// CHECK-LABEL: func.func @made
// CHECK: %[[FILL:.*]] = nest.map "pad.fill"
// CHECK: %[[MADE:.*]] = nest.map "made"
// CHECK: tensor.insert_slice %[[MADE]] into %[[FILL]][1, 1] [2, 3] [1, 1]
func.func @made(%x: tensor<2x3xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %made = nest.map "made" ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    nest.yield %s : f32
  } -> tensor<2x3xf32>
  %y = tensor.pad %made low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x3xf32> to tensor<4x5xf32> loc("Pad \"pad\"")
  return %y : tensor<4x5xf32>
}
