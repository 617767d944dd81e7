// RUN: ml2kokkos-opt %s --ml2k-plan-memory | FileCheck %s

#id = affine_map<(a) -> (a)>
#id4 = affine_map<(n, h, w, c) -> (n, h, w, c)>

// a and c are never alive together, b is alive with both; 64-byte steps.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:  nest.arena_bytes = 896 : i64, nest.live_bytes = 848 : i64
func.func @chain(%x: memref<100xf32>, %y: memref<100xf32>) {
  // CHECK: nest.buffer "a" offset 0 : memref<100xf32>
  // CHECK: nest.buffer "b" offset 448 : memref<112xf32>
  // CHECK: nest.buffer "c" offset 0 : memref<100xf32>
  // CHECK: nest.buffer "runtime"(%{{.*}}) : memref<?xf32>
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

// Borders hold zeros for good: equal buffers take turns in the same slots, others stay away.
// CHECK-LABEL: func.func @borders
func.func @borders(%x: memref<1x2x2x4xf32>, %y: memref<1x2x2x4xf32>) {
  // CHECK: nest.buffer "a" offset 0 border [1, 1]
  // CHECK: nest.buffer "b" offset 256 border [1, 1]
  // CHECK: nest.buffer "c" offset 0 border [1, 1]
  // CHECK: nest.buffer "d" offset 512 border [0, 0]
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
