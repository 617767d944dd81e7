// A number of the caller keeps its name; a size that is called the same gets another one.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: static void compute_a(ExecutionSpace const &space, A const &a, std::int64_t n, int n_size) {
// CHECK: Span{0, n_size}, KOKKOS_LAMBDA(int i) { a(i) = double(n); }
// CHECK: void forward(ExecutionSpace const &space, A const &a, std::int64_t n) {
// CHECK-NEXT: int const n_size = a.extent_int(0);
func.func @f(%a: memref<?xf64> {nest.name = "a", nest.dims = ["N"]}, %n: i64 {nest.name = "n"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %N = memref.dim %a, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%N) step (%c1) {
    %x = arith.sitofp %n : i64 to f64
    memref.store %x, %a[%i] : memref<?xf64>
    scf.reduce
  }
  return
}
