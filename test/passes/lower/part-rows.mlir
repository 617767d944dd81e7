// RUN: ml2kokkos-opt %s --ml2k-part-rows --cse | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#cube = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Mirrored at both ends: the inside is a copy of the row.
// CHECK-LABEL: func.func @mirrored
// CHECK: %[[FRONT:.*]] = nest.map "pad.front" outs(%{{.*}} : tensor<512x2xf32>)
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[INSIDE:.*]] = nest.map "pad" outs(%{{.*}} : tensor<512x56xf32>)
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: -> tensor<512x56xf32>
// CHECK: %[[BACK:.*]] = nest.map "pad.back" outs(%{{.*}} : tensor<512x3xf32>)
// CHECK: tensor.concat dim(1) %[[FRONT]], %[[INSIDE]], %[[BACK]]
func.func @mirrored(%x: tensor<512x56xf32>) -> tensor<512x61xf32> {
  %c2 = arith.constant 2 : index
  %c110 = arith.constant 110 : index
  %empty = tensor.empty() : tensor<512x61xf32>
  %y = nest.map "pad" outs(%empty : tensor<512x61xf32>) maps [#id] {
    %n = nest.index 0
    %i = nest.index 1
    %right = arith.subi %i, %c2 : index
    %left = arith.subi %c2, %i : index
    %distance = arith.maxsi %right, %left : index
    %behind = arith.subi %c110, %distance : index
    %place = arith.minsi %distance, %behind : index
    %value = tensor.extract %x[%n, %place] : tensor<512x56xf32>
    nest.yield %value : f32
  } -> tensor<512x61xf32>
  return %y : tensor<512x61xf32>
}

// At one end only: two parts
// CHECK-LABEL: func.func @edge
// CHECK: nest.map "pad" outs(%{{.*}} : tensor<?x64x255xf32>)
// CHECK: nest.map "pad.back" outs(%{{.*}} : tensor<?x64x1xf32>)
func.func @edge(%x: tensor<?x64x255xf32>, %rows: index) -> tensor<?x64x256xf32> {
  %c254 = arith.constant 254 : index
  %empty = tensor.empty(%rows) : tensor<?x64x256xf32>
  %y = nest.map "pad" outs(%empty : tensor<?x64x256xf32>) maps [#cube] {
    %n = nest.index 0
    %i = nest.index 1
    %j = nest.index 2
    %place = arith.minsi %j, %c254 : index
    %value = tensor.extract %x[%n, %i, %place] : tensor<?x64x255xf32>
    nest.yield %value : f32
  } -> tensor<?x64x256xf32>
  return %y : tensor<?x64x256xf32>
}

// Clamped along the rows, not inside them, and too few elements
// CHECK-LABEL: func.func @rows
// CHECK-NOT: tensor.concat
func.func @rows(%x: tensor<510x64xf32>, %z: tensor<8x60xf32>) -> (tensor<512x64xf32>, tensor<8x64xf32>) {
  %c509 = arith.constant 509 : index
  %c59 = arith.constant 59 : index
  %empty = tensor.empty() : tensor<512x64xf32>
  %y = nest.map "rows" outs(%empty : tensor<512x64xf32>) maps [#id] {
    %n = nest.index 0
    %i = nest.index 1
    %place = arith.minsi %n, %c509 : index
    %value = tensor.extract %x[%place, %i] : tensor<510x64xf32>
    nest.yield %value : f32
  } -> tensor<512x64xf32>
  %few = tensor.empty() : tensor<8x64xf32>
  %w = nest.map "few" outs(%few : tensor<8x64xf32>) maps [#id] {
    %n = nest.index 0
    %i = nest.index 1
    %place = arith.minsi %i, %c59 : index
    %value = tensor.extract %z[%n, %place] : tensor<8x60xf32>
    nest.yield %value : f32
  } -> tensor<8x64xf32>
  return %y, %w : tensor<512x64xf32>, tensor<8x64xf32>
}
