// Loops with atomic updates become one: the load of a second update of one element stays a part of it.
// RUN: ml2kokkos-opt --ml2k-lower-loops %s | FileCheck %s

// CHECK: nest.kernel "a"
// CHECK: memref.load %arg1
// CHECK: memref.store {{.*}} {nest.atomic
// CHECK: memref.load %arg1
// CHECK: memref.store {{.*}} {nest.atomic
func.func @updates(%a: memref<?xf64> {nest.name = "a", nest.dims = ["N"]}, %b: memref<?xf64> {nest.name = "b", nest.dims = ["N"]}, %m: memref<?x?xf64> {nest.name = "m", nest.dims = ["N", "M"]}, %q: memref<?x?xf64> {nest.name = "q", nest.dims = ["N", "M"]}, %k: memref<?xi64> {nest.name = "k", nest.dims = ["N"]}, %s: f64 {nest.name = "s"}, %n: i64 {nest.name = "n"}) {
  %c0 = arith.constant 0 : index
  %N = memref.dim %a, %c0 : memref<?xf64>
  %c1 = arith.constant 1 : index
  %M = memref.dim %m, %c1 : memref<?x?xf64>
  %c3 = arith.constant 3 : index
  %c3_f64 = arith.constant 0.1 : f64
  %c4_f64 = arith.constant 0.9675 : f64
  scf.parallel (%r1) = (%c0) to (%N) step (%c1) {
    scf.for %j2 = %c0 to %M step %c1 {
      %1 = memref.load %q[%r1, %c3] : memref<?x?xf64>
      %2 = memref.atomic_rmw addf %1, %a[%c1] : (f64, memref<?xf64>) -> f64
    }
    scf.reduce
  }
  scf.parallel (%r3, %j4) = (%c0, %c0) to (%N, %M) step (%c1, %c1) {
    %3 = memref.atomic_rmw addf %s, %b[%c1] : (f64, memref<?xf64>) -> f64
    %4 = memref.load %m[%r3, %c3] : memref<?x?xf64>
    %5 = arith.maximumf %s, %4 : f64
    %6 = arith.mulf %5, %5 : f64
    %7 = arith.mulf %6, %c3_f64 : f64
    %8 = memref.atomic_rmw addf %7, %b[%c1] : (f64, memref<?xf64>) -> f64
    scf.reduce
  }
  scf.parallel (%r5, %j6) = (%c0, %c0) to (%N, %M) step (%c1, %c1) {
    %9 = memref.load %a[%r5] : memref<?xf64>
    %10 = arith.subf %9, %s : f64
    %11 = arith.negf %10 : f64
    %12 = arith.addf %c4_f64, %11 : f64
    memref.store %12, %m[%r5, %j6] : memref<?x?xf64>
    scf.reduce
  }
  return
}
