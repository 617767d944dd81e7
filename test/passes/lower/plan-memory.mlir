// RUN: ml2kokkos-opt %s --ml2k-plan-memory | FileCheck %s

#id = affine_map<(a) -> (a)>
#id4 = affine_map<(n, h, w, c) -> (n, h, w, c)>

// a and c are never alive together, b is alive with both; 64-byte steps.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:  nest.arena_bytes = 896 : i64, nest.live_bytes = 848 : i64
func.func @chain(%x: memref<100xf32>, %y: memref<100xf32>) {
  // CHECK: nest.buffer "a" offset 448 {nest.alive = array<i64: 6, 8>} : memref<100xf32>
  // CHECK: nest.buffer "b" offset 0 {nest.alive = array<i64: 8, 9>} : memref<112xf32>
  // CHECK: nest.buffer "c" offset 448 {nest.alive = array<i64: 9, 10>} : memref<100xf32>
  // CHECK: nest.buffer "runtime"(%{{.*}}) {nest.alive = array<i64: 5, 5>} : memref<?xf32>
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<100xf32>
  %a = nest.buffer "a" : memref<100xf32>
  %b = nest.buffer "b" : memref<112xf32>
  %c = nest.buffer "c" : memref<100xf32>
  %r = nest.buffer "runtime"(%n) : memref<?xf32>
  nest.map "f" ins(%x : memref<100xf32>) outs(%a : memref<100xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %bb = memref.subview %b[0] [100] [1] : memref<112xf32> to memref<100xf32, strided<[1]>>
  nest.map "g" ins(%a : memref<100xf32>) outs(%bb : memref<100xf32, strided<[1]>>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "h" ins(%bb : memref<100xf32, strided<[1]>>) outs(%c : memref<100xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "i" ins(%c : memref<100xf32>) outs(%y : memref<100xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// A border counts as part of its buffer; who writes an image closes the border, so that anybody may have had its place.
// CHECK-LABEL: func.func @borders
func.func @borders(%x: memref<1x2x2x4xf32>, %y: memref<1x2x2x4xf32>) {
  // CHECK: nest.buffer "a" offset 0 border [1, 1]
  // CHECK: nest.buffer "b" offset 256 border [1, 1]
  // CHECK: nest.buffer "c" offset 0 border [1, 1]
  // CHECK: nest.buffer "d" offset 256 border [0, 0]
  %a = nest.buffer "a" border [1, 1] : memref<1x2x2x4xf32>
  %b = nest.buffer "b" border [1, 1] : memref<1x2x2x4xf32>
  %c = nest.buffer "c" border [1, 1] : memref<1x2x2x4xf32>
  %d = nest.buffer "d" border [0, 0] : memref<1x2x2x4xf32>
  nest.map "a" ins(%x : memref<1x2x2x4xf32>) outs(%a : memref<1x2x2x4xf32>) maps [#id4, #id4] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "b" ins(%a : memref<1x2x2x4xf32>) outs(%b : memref<1x2x2x4xf32>) maps [#id4, #id4] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "c" ins(%b : memref<1x2x2x4xf32>) outs(%c : memref<1x2x2x4xf32>) maps [#id4, #id4] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "d" ins(%c : memref<1x2x2x4xf32>) outs(%d : memref<1x2x2x4xf32>) maps [#id4, #id4] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "y" ins(%d : memref<1x2x2x4xf32>) outs(%y : memref<1x2x2x4xf32>) maps [#id4, #id4] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// What a loop uses is alive during all of it.
// CHECK-LABEL: func.func @loop
// CHECK-SAME:  nest.arena_bytes = 128 : i64
func.func @loop(%x: memref<4xf32>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = nest.buffer "a" : memref<4xf32>
  %b = nest.buffer "b" : memref<4xf32>
  scf.for %i = %c0 to %c1 step %c1 {
    nest.map "a" ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) maps [#id, #id] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    }
    nest.map "b" ins(%x : memref<4xf32>) outs(%b : memref<4xf32>) maps [#id, #id] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    }
  }
  return
}

// 3, 2, 2, 3 lines of memory, neighbours alive together: the largest first piles up seven where five would do. Both are told.
// CHECK-LABEL: func.func @chain_of_four
// CHECK-SAME:  nest.arena_bytes = 448 : i64, nest.live_bytes = 320 : i64
func.func @chain_of_four(%x: memref<32xf32>, %y: memref<32xf32>) {
  %a = nest.buffer "a" : memref<48xf32>
  %b = nest.buffer "b" : memref<32xf32>
  %c = nest.buffer "c" : memref<32xf32>
  %d = nest.buffer "d" : memref<48xf32>
  %aa = memref.subview %a[0] [32] [1] : memref<48xf32> to memref<32xf32, strided<[1]>>
  %dd = memref.subview %d[0] [32] [1] : memref<48xf32> to memref<32xf32, strided<[1]>>
  nest.map "a" ins(%x : memref<32xf32>) outs(%aa : memref<32xf32, strided<[1]>>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "b" ins(%aa : memref<32xf32, strided<[1]>>) outs(%b : memref<32xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "c" ins(%b : memref<32xf32>) outs(%c : memref<32xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "d" ins(%c : memref<32xf32>) outs(%dd : memref<32xf32, strided<[1]>>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "y" ins(%dd : memref<32xf32, strided<[1]>>) outs(%y : memref<32xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}
