// forward() decides about kernels by arithmetic on numbers of the caller, too.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: void forward(ExecutionSpace const &space, A const &a, B const &b, std::int64_t count) {
// CHECK: for (int r = 0; r < n; ++r) {
// CHECK-NEXT: if (count % 3 == 1) {
// CHECK-NEXT: compute_a(space, a, b, n, r);
func.func @f(%a: memref<?xf64> {nest.name = "a", nest.dims = ["N"]}, %b: memref<?xf64> {nest.name = "b", nest.dims = ["N"]},
             %count: i64 {nest.name = "count"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %N = memref.dim %a, %c0 : memref<?xf64>
  %rest = arith.remsi %count, %three : i64
  %isOne = arith.cmpi eq, %rest, %one : i64
  scf.for %r = %c0 to %N step %c1 {
    scf.if %isOne {
      scf.parallel (%i) = (%c0) to (%N) step (%c1) {
        %x = memref.load %b[%r] : memref<?xf64>
        %y = memref.load %a[%i] : memref<?xf64>
        %z = arith.mulf %x, %y : f64
        memref.store %z, %a[%i] : memref<?xf64>
        scf.reduce
      }
    }
    %w = memref.load %a[%r] : memref<?xf64>
    memref.store %w, %b[%r] : memref<?xf64>
  }
  return
}
