// What a loop inside a kernel carries is no number of the host: the size of the same name stays an int.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: static void compute_w(ExecutionSpace const &space, W const &w, int n) {
// CHECK: Kokkos::RangePolicy(space, 0, n)
// CHECK: std::int64_t carried = 0;
func.func @counts(%w: memref<?xi64> {nest.name = "w", nest.dims = ["N"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %N = memref.dim %w, %c0 : memref<?xi64>
  %most = arith.index_cast %N : index to i64
  scf.parallel (%i) = (%c0) to (%N) step (%c1) {
    %n = scf.while (%n = %zero) : (i64) -> i64 {
      %goes = arith.cmpi slt, %n, %most : i64
      scf.condition(%goes) %n : i64
    } do {
    ^bb0(%n: i64):
      %twice = arith.addi %n, %n : i64
      %next = arith.addi %twice, %one : i64
      scf.yield %next : i64
    }
    memref.store %n, %w[%i] : memref<?xi64>
    scf.reduce
  }
  return
}
