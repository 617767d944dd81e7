// Teams of devices read the entries of all their rows together where the terms need nothing of the row.
// RUN: ml2kokkos %s --entry=scaled -o - | FileCheck %s --check-prefix=SCALED
// RUN: ml2kokkos %s --entry=scaled --target=host -o - | FileCheck %s --check-prefix=HOST
// RUN: ml2kokkos %s --entry=differences -o - | FileCheck %s --check-prefix=DIFFERENCES
// SCALED: static void compute_y(
// SCALED: for_streamed_rows(
// SCALED-NEXT: "streamed_rows::y"
// HOST-NOT: streamed_rows(
// HOST: static void compute_y(
// HOST: for_stored_rows(
// HOST-NEXT: "streamed_rows::y"
// DIFFERENCES-NOT: for_streamed_rows
// DIFFERENCES: static void compute_y(
// DIFFERENCES: for_stored_rows(
// DIFFERENCES-NEXT: "streamed_rows::y"
func.func @scaled(%p: memref<?xi32>, %c: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %k: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %y, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %b0 = memref.load %p[%i] : memref<?xi32>
    %b = arith.index_cast %b0 : i32 to index
    %i1 = arith.addi %i, %c1 : index
    %e0 = memref.load %p[%i1] : memref<?xi32>
    %e = arith.index_cast %e0 : i32 to index
    %xi = memref.load %x[%i] : memref<?xf64>
    %s = scf.for %j = %b to %e step %c1 iter_args(%acc = %zero) -> f64 {
      %cc = memref.load %c[%j] : memref<?xi32>
      %col = arith.index_cast %cc : i32 to index
      %v = memref.load %a[%j] : memref<?xf64>
      %xc = memref.load %x[%col] : memref<?xf64>
      %d = arith.subf %xc, %k : f64
      %t = arith.mulf %v, %d : f64
      %r = arith.addf %acc, %t fastmath<reassoc> : f64
      scf.yield %r : f64
    }
    memref.store %s, %y[%i] : memref<?xf64>
  }
  return
}
func.func @differences(%p: memref<?xi32>, %c: memref<?xi32>, %a: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %y, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %b0 = memref.load %p[%i] : memref<?xi32>
    %b = arith.index_cast %b0 : i32 to index
    %i1 = arith.addi %i, %c1 : index
    %e0 = memref.load %p[%i1] : memref<?xi32>
    %e = arith.index_cast %e0 : i32 to index
    %xi = memref.load %x[%i] : memref<?xf64>
    %s = scf.for %j = %b to %e step %c1 iter_args(%acc = %zero) -> f64 {
      %cc = memref.load %c[%j] : memref<?xi32>
      %col = arith.index_cast %cc : i32 to index
      %v = memref.load %a[%j] : memref<?xf64>
      %xc = memref.load %x[%col] : memref<?xf64>
      %d = arith.subf %xc, %xi : f64
      %t = arith.mulf %v, %d : f64
      %r = arith.addf %acc, %t fastmath<reassoc> : f64
      scf.yield %r : f64
    }
    memref.store %s, %y[%i] : memref<?xf64>
  }
  return
}
