// A store of an int might change an int of the closure, such as a subscript: the vector loop calls a copy of it.
// RUN: ml2kokkos %s --entry=ints -o - | FileCheck %s --check-prefix=INTS
// RUN: ml2kokkos %s --entry=longs -o - | FileCheck %s --check-prefix=LONGS
// RUN: ml2kokkos %s --entry=reals -o - | FileCheck %s --check-prefix=REALS

// INTS: Body const own = body; // a copy, which no store of the body can change
// INTS-NEXT: for (int row = begin; row < end; ++row) {
// INTS-NEXT: int from = first
// INTS-NEXT: for (int part
// INTS-NEXT: #pragma omp simd
// INTS-NEXT: for (int column = from; column < to; ++column)
// INTS-NEXT: own(row, column);
func.func @ints(%x: memref<?x?xi32>, %y: memref<?x?xi32>, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xi32>
  %m = memref.dim %x, %c1 : memref<?x?xi32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %a = memref.load %x[%i, %k] : memref<?x?xi32>
    %b = memref.load %x[%i, %j] : memref<?x?xi32>
    %s = arith.minsi %a, %b : i32
    memref.store %s, %y[%i, %j] : memref<?x?xi32>
    scf.reduce
  }
  return
}

// The strides of views are as long.
// LONGS: Body const own = body; // a copy, which no store of the body can change
func.func @longs(%x: memref<?x?xf64>, %y: memref<?x?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %a = memref.load %x[%i, %j] : memref<?x?xf64>
    %s = arith.fptosi %a : f64 to i64
    memref.store %s, %y[%i, %j] : memref<?x?xi64>
    scf.reduce
  }
  return
}

// REALS-NOT: Body const own
func.func @reals(%x: memref<?x?xf64>, %y: memref<?x?xf64>, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %a = memref.load %x[%i, %k] : memref<?x?xf64>
    %b = memref.load %x[%i, %j] : memref<?x?xf64>
    %s = arith.addf %a, %b : f64
    memref.store %s, %y[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}
