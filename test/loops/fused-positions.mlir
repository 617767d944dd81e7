// Loops over the same positions become one where what one writes is the other's at the same iteration only, or never.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// Elements behind an offset, and a column that the step does not write: one kernel that takes all steps.
// CHECK-LABEL: @columns(
// CHECK-COUNT-1: nest.kernel
// CHECK: scf.for
// CHECK-NOT: nest.kernel
func.func @columns(%p: memref<?x?xf64> {nest.name = "p"}, %q: memref<?x?xf64> {nest.name = "q"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %j = %c1 to %m step %c1 {
    %before = arith.subi %j, %c1 : index
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %next = arith.addi %i, %c1 : index
      %x = memref.load %p[%next, %before] : memref<?x?xf64>
      memref.store %x, %p[%next, %j] : memref<?x?xf64>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %next = arith.addi %i, %c1 : index
      %x = memref.load %p[%next, %before] : memref<?x?xf64>
      %y = memref.load %p[%next, %j] : memref<?x?xf64>
      %z = arith.addf %x, %y : f64
      memref.store %z, %q[%next, %j] : memref<?x?xf64>
    }
  }
  return
}

// -----

// The element beside it is another iteration's.
// CHECK-LABEL: @neighbours(
// CHECK: nest.kernel
// CHECK: nest.kernel
func.func @neighbours(%p: memref<?xf64> {nest.name = "p"}, %q: memref<?xf64> {nest.name = "q"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %q[%i] : memref<?xf64>
    memref.store %x, %p[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %next = arith.addi %i, %c1 : index
    %x = memref.load %p[%next] : memref<?xf64>
    memref.store %x, %q[%i] : memref<?xf64>
  }
  return
}

// -----

// One element for all iterations is no one's own.
// CHECK-LABEL: @shared(
// CHECK: nest.kernel
// CHECK: nest.kernel
func.func @shared(%p: memref<?x?xf64> {nest.name = "p"}, %q: memref<?xf64> {nest.name = "q"}, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %x = memref.load %q[%i] : memref<?xf64>
    memref.store %x, %p[%i, %j] : memref<?x?xf64>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %x = memref.load %p[%i, %k] : memref<?x?xf64>
    %y = arith.addf %x, %x : f64
    memref.store %y, %p[%i, %j] : memref<?x?xf64>
  }
  return
}

// -----

// Sums along rows and sums of columns are two kernels: the second one takes columns side by side.
// CHECK-LABEL: @directions(
// CHECK: nest.kernel
// CHECK: nest.kernel
func.func @directions(%a: memref<?x?xf64> {nest.name = "a"}, %x: memref<?xf64> {nest.name = "x"}, %y: memref<?xf64> {nest.name = "y"},
                      %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%before = %zero) -> f64 {
      %v = memref.load %a[%i, %j] : memref<?x?xf64>
      %after = arith.addf %before, %v : f64
      scf.yield %after : f64
    }
    memref.store %sum, %x[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%before = %zero) -> f64 {
      %v = memref.load %a[%j, %i] : memref<?x?xf64>
      %after = arith.addf %before, %v : f64
      scf.yield %after : f64
    }
    memref.store %sum, %y[%i] : memref<?xf64>
  }
  return
}
