// The index of a loop around kernels hides no parameter of forward(), whatever the arguments are called.
// RUN: ml2kokkos %s --entry=levels -o - | FileCheck %s
// RUN: ml2kokkos %s --entry=named -o - | FileCheck %s --check-prefix=NAMED

// CHECK: void forward(ExecutionSpace const &space, T const &t, U const &u) {
// CHECK: for (int step = 1; step < k; ++step) {
// CHECK-NEXT: compute_u(space, t, u, n, step);
func.func @levels(%T: memref<?x?xf64>, %u: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %T, %c0 : memref<?x?xf64>
  %n = memref.dim %T, %c1 : memref<?x?xf64>
  scf.for %k = %c1 to %K step %c1 {
    %before = arith.subi %k, %c1 : index
    scf.parallel (%j) = (%c1) to (%n) step (%c1) {
      %left = arith.subi %j, %c1 : index
      %a = memref.load %T[%k, %j] : memref<?x?xf64>
      %b = memref.load %u[%before, %left] : memref<?x?xf64>
      %s = arith.addf %a, %b : f64
      memref.store %s, %u[%k, %j] : memref<?x?xf64>
      scf.reduce
    }
  }
  return
}

// NAMED: for (int [[INDEX:[a-z_]+]] = 0; [[INDEX]] < 8; ++[[INDEX]]) {
// NAMED-NOT: for (int space
// NAMED: compute_u(space, x, u, n, [[INDEX]]);
func.func @named(%x: memref<8x?xf64>, %u: memref<8x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c1 : memref<8x?xf64>
  scf.for %space = %c0 to %c8 step %c1 {
    scf.parallel (%j) = (%c1) to (%n) step (%c1) {
      %left = arith.subi %j, %c1 : index
      %a = memref.load %x[%space, %j] : memref<8x?xf64>
      %b = memref.load %u[%c0, %left] : memref<8x?xf64>
      %s = arith.addf %a, %b : f64
      memref.store %s, %u[%space, %j] : memref<8x?xf64>
      scf.reduce
    }
  }
  return
}
