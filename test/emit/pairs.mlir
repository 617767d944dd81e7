// Grids of pairs have more positions than an int counts: no product of their extents is an int. In order, one thread goes
// through the loops.
// RUN: ml2kokkos %s -o - | FileCheck %s
// RUN: ml2kokkos %s --updates=ordered -o - | FileCheck %s --check-prefix=ORDERED

// CHECK: static void compute_sums(
// CHECK: for_own_sums<double, 8>(
// CHECK-NEXT: "pairs::sums", space, Span{0, n}, Span{0, n},
// CHECK-NEXT: KOKKOS_LAMBDA(int i, int j, double *own, bool alone) {
// CHECK-NOT: n * n;
// ORDERED: static void compute_sums(
// ORDERED: RangePolicy(space, 0, 1)
// ORDERED-NEXT: for (int i = 0; i < n; ++i) {
// ORDERED-NEXT: for (int j = 0; j < n; ++j) {
// ORDERED-NOT: atomic
// ORDERED: void forward(
func.func @pairs(%x: memref<?xf64>, %bin: memref<?xindex>, %sums: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = memref.load %x[%j] : memref<?xf64>
    %p = arith.mulf %a, %b : f64
    %k = memref.load %bin[%i] : memref<?xindex>
    memref.atomic_rmw addf %p, %sums[%k] : (f64, memref<8xf64>) -> f64
    scf.reduce
  }
  return
}
