// A number made of the index of a loop around kernels has another name than the index, which is a parameter.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: static void compute_x({{.*}}int r) {
// CHECK: std::int64_t const word = std::int64_t({{[a-z]+}});
func.func @rows(%x: memref<?x?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xi64>
  %columns = memref.dim %x, %c1 : memref<?x?xi64>
  scf.for %r = %c1 to %rows step %c1 {
    scf.parallel (%j) = (%c1) to (%columns) step (%c1) {
      %left = arith.subi %j, %c1 : index
      %before = arith.subi %r, %c1 : index
      %v = memref.load %x[%before, %left] : memref<?x?xi64>
      %word = arith.index_cast %r : index to i64
      %a = arith.muli %word, %word : i64
      %b = arith.addi %v, %a : i64
      memref.store %b, %x[%r, %j] : memref<?x?xi64>
      scf.reduce
    }
  }
  return
}
