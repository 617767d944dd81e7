// A last dimension of a few positions, such as the components of points: hosts take rows whole, vectors go across them.
// RUN: ml2kokkos --entry=points %s -o - | FileCheck %s
// RUN: ml2kokkos --entry=rotated %s -o - | FileCheck --check-prefix=ROTATED %s
// RUN: ml2kokkos --entry=few %s -o - | FileCheck --check-prefix=FEW %s

// CHECK: template <int width, class Body>
// CHECK-NEXT: void for_short_rows(
// CHECK: for_short_rows<3>(
// CHECK-NEXT: "few_positions::y", space, Span{0, n}, KOKKOS_LAMBDA(int i, int c) {
func.func @points(%x: memref<?x3xf64>, %y: memref<?x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?x3xf64>
  scf.parallel (%i, %c) = (%c0, %c0) to (%n, %c3) step (%c1, %c1) {
    %v = memref.load %x[%i, %c] : memref<?x3xf64>
    %s = arith.addf %v, %v : f64
    memref.store %s, %y[%i, %c] : memref<?x3xf64>
    scf.reduce
  }
  return
}

// ROTATED: for_short_rows<3>(
// ROTATED: for (int k = 0; k < 3; ++k)
func.func @rotated(%m: memref<?x3x3xf64>, %x: memref<?x3xf64>, %y: memref<?x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?x3xf64>
  scf.parallel (%i, %c) = (%c0, %c0) to (%n, %c3) step (%c1, %c1) {
    %sum = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %zero) -> (f64) {
      %a = memref.load %m[%i, %c, %k] : memref<?x3x3xf64>
      %b = memref.load %x[%i, %k] : memref<?x3xf64>
      %p = arith.mulf %a, %b : f64
      %u = arith.addf %t, %p : f64
      scf.yield %u : f64
    }
    memref.store %sum, %y[%i, %c] : memref<?x3xf64>
    scf.reduce
  }
  return
}

// Few others: all of them are the grid.
// FEW-NOT: for_short_rows
func.func @few(%x: memref<8x3xf64>, %y: memref<8x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i, %c) = (%c0, %c0) to (%c8, %c3) step (%c1, %c1) {
    %v = memref.load %x[%i, %c] : memref<8x3xf64>
    %s = arith.addf %v, %v : f64
    memref.store %s, %y[%i, %c] : memref<8x3xf64>
    scf.reduce
  }
  return
}
