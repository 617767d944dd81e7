// What loops carry changes as a set: a value that uses one assigned before goes through a constant, one that only looks alike does
// not. Bounds that are no numbers are compared, so that no range has a negative length.
// RUN: ml2kokkos %s -o %t.cpp --namespace carried && FileCheck %s < %t.cpp

func.func @carry(%out: memref<?xf64> {nest.name = "out"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %end = arith.subi %c16, %n : index
  // CHECK: Kokkos::RangePolicy(space, 1, Kokkos::max(1, 16 - n))
  scf.parallel (%i) = (%c1) to (%end) step (%c1) {
    // CHECK: double s = 0.0;
    // CHECK-NEXT: double sum = 1.0;
    // CHECK-NEXT: for (int k = 0; k < m; ++k) {
    // CHECK-NEXT: s += 1.0;
    // CHECK-NEXT: sum *= sum;
    // CHECK-NEXT: }
    %r:2 = scf.for %k = %c0 to %m step %c1 iter_args(%s = %zero, %sum = %one) -> (f64, f64) {
      %s1 = arith.addf %s, %one : f64
      %sum1 = arith.mulf %sum, %sum : f64
      scf.yield %s1, %sum1 : f64, f64
    }
    %v = arith.addf %r#0, %r#1 : f64
    memref.store %v, %out[%i] : memref<?xf64>
  }
  return
}
