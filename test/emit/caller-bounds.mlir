// Of a bound of 64 bits braces make no int; one of type index, and a counter of forward(), is an int as it is.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: "caller_bounds::y", space, Span{0, int(count - 6)},
// CHECK: "caller_bounds::y_update", space, Span{0, few},
// CHECK: space, Span{0, step},
func.func @caller_bounds(%x: memref<?xf64>, %y: memref<?xf64>, %count: i64, %few: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %long = arith.index_cast %count : i64 to index
  %last = arith.subi %long, %c6 : index
  scf.parallel (%i) = (%c0) to (%last) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf64>
    memref.store %v, %y[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%few) step (%c1) {
    %v = memref.load %y[%i] : memref<?xf64>
    %w = arith.addf %v, %v : f64
    memref.store %w, %y[%i] : memref<?xf64>
  }
  scf.for %step = %c0 to %c6 step %c1 {
    scf.parallel (%i) = (%c0) to (%step) step (%c1) {
      %v = memref.load %y[%i] : memref<?xf64>
      %w = arith.addf %v, %v : f64
      memref.store %w, %y[%i] : memref<?xf64>
    }
  }
  return
}
