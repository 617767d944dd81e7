// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-hoist-buffers | FileCheck %s

// Out of the loop with its size; weights first.
// CHECK-LABEL: func.func @loop
func.func @loop(%x: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // CHECK-NEXT: nest.weight "w"
  // CHECK: memref.dim
  // CHECK: memref.alloc(%{{.*}}) : memref<?x4xf32>
  // CHECK: scf.for
  // CHECK-NOT: memref.alloc
  scf.for %i = %c0 to %c5 step %c1 {
    %w = nest.weight "w" : memref<4xf32> = dense<1.0> : tensor<4xf32>
    %n = memref.dim %x, %c0 : memref<?x4xf32>
    %b = memref.alloc(%n) : memref<?x4xf32>
    memref.copy %x, %b : memref<?x4xf32> to memref<?x4xf32>
  }
  return
}

// -----

func.func @computed(%counts: memref<4xindex>, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.load %counts[%c0] : memref<4xindex>
  // expected-error @below {{a tensor whose size depends on computed values cannot be part of the workspace}}
  %b = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %b : memref<?xf32> to memref<?xf32>
  return
}
