// A parallel reduction inside a parallel loop is shared by a team, or a loop of one thread where it is short or lies across memory; its
// index and what it joins keep their names.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: double const sum = fold_threads<Sum>(team, Span{0, columns}, [&](int column) { return x(row, column); });
// CHECK: double total = 0.0;
// CHECK-NEXT: for (int column = 0; column < 8; ++column) {
// CHECK-NEXT: total = total + short_rows(row, column);
func.func @rows(%x: memref<?x?xf64> {nest.dims = ["rows", "columns"]}, %sums: memref<?xf64> {nest.dims = ["rows"]},
    %short_rows: memref<4x8xf64>, %short_sums: memref<4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %row = %c0 to %rows step %c1 {
    %sum = scf.parallel (%column) = (%c0) to (%columns) step (%c1) init (%zero) -> f64 {
      %term = memref.load %x[%row, %column] : memref<?x?xf64>
      scf.reduce(%term : f64) {
      ^bb0(%total: f64, %next: f64):
        %joined = arith.addf %total, %next : f64
        scf.reduce.return %joined : f64
      }
    }
    memref.store %sum, %sums[%row] : memref<?xf64>
  }
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %row = %c0 to %c4 step %c1 {
    %sum = scf.parallel (%column) = (%c0) to (%c8) step (%c1) init (%zero) -> f64 {
      %term = memref.load %short_rows[%row, %column] : memref<4x8xf64>
      scf.reduce(%term : f64) {
      ^bb0(%total: f64, %next: f64):
        %joined = arith.addf %total, %next : f64
        scf.reduce.return %joined : f64
      }
    }
    memref.store %sum, %short_sums[%row] : memref<4xf64>
  }
  return
}
