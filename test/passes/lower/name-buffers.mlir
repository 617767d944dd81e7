// RUN: ml2kokkos-opt %s --ml2k-name-buffers | FileCheck %s

#id = affine_map<(a) -> (a)>

// After the kernel that writes it; after the layer that joins several; states of a loop; the second output of a kernel.
// CHECK-LABEL: func.func @names
func.func @names(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: nest.buffer "join" : memref<8xf32>
  // CHECK: nest.buffer "step.state" : memref<4xf32>
  // CHECK: nest.buffer "pair" : memref<4xf32>
  // CHECK: nest.buffer "pair.1" : memref<4xf32>
  // CHECK-NOT: memref.alloc
  %join = memref.alloc() : memref<8xf32> loc("Concat \"/join/Concat\"")
  %state = memref.alloc() : memref<4xf32>
  %p = memref.alloc() : memref<4xf32>
  %q = memref.alloc() : memref<4xf32>
  %unused = memref.alloc() : memref<4xf32>
  %left = memref.subview %join[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %right = memref.subview %join[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  nest.map "left" ins(%x : memref<4xf32>) outs(%left : memref<4xf32, strided<[1]>>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "right" ins(%x : memref<4xf32>) outs(%right : memref<4xf32, strided<[1], offset: 4>>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "zero" outs(%state : memref<4xf32>) maps [#id] {
    %c = arith.constant 0.0 : f32
    nest.yield %c : f32
  }
  scf.for %i = %c0 to %c1 step %c1 {
    nest.map "step" ins(%state : memref<4xf32>) outs(%state : memref<4xf32>) maps [#id, #id] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    }
  }
  nest.map "pair" ins(%state : memref<4xf32>) outs(%p, %q : memref<4xf32>, memref<4xf32>) maps [#id, #id, #id] {
  ^bb0(%v: f32):
    nest.yield %v, %v : f32, f32
  }
  return
}
