// The extents of collapsed memory are products of those of its source: a buffer of that size is made before the view is.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: Span{0, v_size_1 * v_size_0}, Span{0, v_size_2}
// CHECK: allocate(at, "collapsed_sizes::at", v_size_1 * v_size_0, v_size_2);
func.func @reversed(%v: memref<?x?x?xf64>, %o: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = memref.collapse_shape %v [[0, 1], [2]] : memref<?x?x?xf64> into memref<?x?xf64>
  %n = memref.dim %w, %c0 : memref<?x?xf64>
  %m = memref.dim %w, %c1 : memref<?x?xf64>
  %at = memref.alloc(%n, %m) : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %x = memref.load %w[%i, %j] : memref<?x?xf64>
    memref.store %x, %at[%i, %j] : memref<?x?xf64>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %r = arith.subi %n, %i : index
    %last = arith.subi %r, %c1 : index
    %x = memref.load %at[%last, %j] : memref<?x?xf64>
    memref.store %x, %o[%i, %j] : memref<?x?xf64>
  }
  return
}
