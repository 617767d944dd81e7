// Each of several numbers that a branch decides has its own name, also where another one is a choice of two.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: double recovery_after;
// CHECK-NEXT: if (fires) {
// CHECK-NEXT: count(i) = wrapping_add(count(i), 1);
// CHECK-NEXT: recovery_after = w_i + 8.0;
// CHECK-NEXT: } else {
// CHECK-NEXT: recovery_after = w_i;
// CHECK-NEXT: }
// CHECK-NEXT: v(i) = fires ? -65.0 : v_i;
// CHECK-NEXT: w(i) = recovery_after;
func.func @neurons(%v: memref<?xf64>, %w: memref<?xf64>, %count: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %peak = arith.constant 30.0 : f64
  %reset = arith.constant -65.0 : f64
  %jump = arith.constant 8.0 : f64
  %one = arith.constant 1 : i32
  %n = memref.dim %v, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %0 = memref.load %v[%i] : memref<?xf64>
    %1 = memref.load %w[%i] : memref<?xf64>
    %fires = arith.cmpf oge, %0, %peak : f64
    %potential, %recovery = scf.if %fires -> (f64, f64) {
      %recovery_after = arith.addf %1, %jump : f64
      %2 = memref.load %count[%i] : memref<?xi32>
      %3 = arith.addi %2, %one : i32
      memref.store %3, %count[%i] : memref<?xi32>
      scf.yield %reset, %recovery_after : f64, f64
    } else {
      scf.yield %0, %1 : f64, f64
    }
    memref.store %potential, %v[%i] : memref<?xf64>
    memref.store %recovery, %w[%i] : memref<?xf64>
  }
  return
}
