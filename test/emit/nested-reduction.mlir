// A parallel reduction inside a parallel loop becomes a loop of one thread; its index and what it joins keep their names.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: double total = 0.0;
// CHECK-NEXT: for (int column = 0; column < columns; ++column) {
// CHECK-NEXT: total = total + x(row, column);
func.func @rows(%x: memref<?x?xf64> {nest.dims = ["rows", "columns"]}, %sums: memref<?xf64> {nest.dims = ["rows"]}) {
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
  return
}
