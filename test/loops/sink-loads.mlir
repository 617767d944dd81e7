// An element that kernels need is loaded by them, not by a kernel in front of them.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// The pivot: what the kernel writes lies behind its row.
// CHECK-LABEL: @pivot(
// CHECK: scf.for
// CHECK: nest.kernel
// CHECK-COUNT-2: memref.load
// CHECK-NOT: nest.kernel
func.func @pivot(%a: memref<?x?xf64> {nest.name = "a"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %pivot = memref.load %a[%k, %k] : memref<?x?xf64>
    %next = arith.addi %k, %c1 : index
    scf.parallel (%i) = (%next) to (%n) step (%c1) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %ratio = arith.divf %x, %pivot : f64
      memref.store %ratio, %a[%i, %c0] : memref<?x?xf64>
    }
  }
  return
}

// -----

// If the pivot is among them, it is loaded before.
// CHECK-LABEL: @own(
// CHECK: nest.kernel
// CHECK: memref.store {{.*}} : memref<f64>
// CHECK: nest.kernel
func.func @own(%a: memref<?x?xf64> {nest.name = "a"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %pivot = memref.load %a[%k, %k] : memref<?x?xf64>
    scf.parallel (%i) = (%k) to (%n) step (%c1) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %ratio = arith.divf %x, %pivot : f64
      memref.store %ratio, %a[%i, %c0] : memref<?x?xf64>
    }
  }
  return
}

// -----

// Behind a sum that does not change it.
// CHECK-LABEL: @dot(
// CHECK: scf.for
// CHECK-NEXT: nest.kernel {{.*}} reduce
// CHECK: nest.kernel
// CHECK-COUNT-2: memref.load
// CHECK: memref.store {{.*}} : memref<?xf64>
// CHECK-NOT: nest.kernel
func.func @dot(%x: memref<?xf64> {nest.name = "x"}, %l: memref<?x?xf64> {nest.name = "l"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %before = memref.load %x[%i] : memref<?xf64>
    %sum = scf.parallel (%k) = (%c0) to (%i) step (%c1) init (%zero) -> f64 {
      %a = memref.load %l[%i, %k] : memref<?x?xf64>
      %b = memref.load %x[%k] : memref<?xf64>
      %product = arith.mulf %a, %b : f64
      scf.reduce(%product : f64) {
      ^bb0(%p: f64, %q: f64):
        %both = arith.addf %p, %q : f64
        scf.reduce.return %both : f64
      }
    }
    %after = arith.subf %before, %sum : f64
    memref.store %after, %x[%i] : memref<?xf64>
  }
  return
}
