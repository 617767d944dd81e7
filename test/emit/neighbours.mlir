// `i + 1` of a loop's index is written where it is used, and what is only stored is stored, however long it is.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK:      KOKKOS_LAMBDA(int i) {
// CHECK-NEXT: after(i) = diffusivity * (before(i + 1) * attenuation(i + 1) + before(i - 1) * attenuation(i - 1)) +
// CHECK-NEXT: before(i) * attenuation(i);
func.func @neighbours(%x: memref<?xf64> {nest.name = "before"}, %y: memref<?xf64> {nest.name = "attenuation"}, %factor: f64 {nest.name = "diffusivity"},
                      %out: memref<?xf64> {nest.name = "after"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %end = arith.subi %n, %c1 : index
  scf.parallel (%i) = (%c1) to (%end) step (%c1) {
    %0 = arith.addi %i, %c1 : index
    %1 = arith.subi %i, %c1 : index
    %2 = memref.load %x[%0] : memref<?xf64>
    %3 = memref.load %y[%0] : memref<?xf64>
    %4 = memref.load %x[%1] : memref<?xf64>
    %5 = memref.load %y[%1] : memref<?xf64>
    %6 = arith.mulf %2, %3 : f64
    %7 = arith.mulf %4, %5 : f64
    %8 = arith.addf %6, %7 : f64
    %9 = arith.mulf %factor, %8 : f64
    %10 = memref.load %x[%i] : memref<?xf64>
    %11 = memref.load %y[%i] : memref<?xf64>
    %12 = arith.mulf %10, %11 : f64
    %13 = arith.addf %9, %12 : f64
    memref.store %13, %out[%i] : memref<?xf64>
    scf.reduce
  }
  return
}
