// The note says why a loop keeps its order: y = x[i] + a * y is no sum.
// RUN: ml2kokkos %s --entry=recurrence -o - | FileCheck %s --check-prefix=RECURRENCE
// RUN: ml2kokkos %s --entry=sum -o - | FileCheck %s --check-prefix=SUM

// RECURRENCE: sequential: an iteration needs a value of the one before
func.func @recurrence(%x: memref<?xf64>, %a: f64, %y: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %zero) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.mulf %carried, %a : f64
    %s = arith.addf %v, %p : f64
    scf.yield %s : f64
  }
  memref.store %last, %y[] : memref<f64>
  return
}

// SUM: sequential: terms of a floating-point sum keep their order
func.func @sum(%x: memref<?xf64>, %y: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%carried = %zero) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %s = arith.addf %carried, %v : f64
    scf.yield %s : f64
  }
  memref.store %last, %y[] : memref<f64>
  return
}
