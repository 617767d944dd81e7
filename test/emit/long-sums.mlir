// RUN: ml2kokkos %s -o - --style=llvm --entry=sums | FileCheck %s
// RUN: ml2kokkos %s -o - --style=llvm --entry=steps | FileCheck %s --check-prefix=STEPS
// Long terms are added one by one, from the number that the sum begins with; short ones stand in one line.

// Elements that do not change are loaded where they are used, not by a kernel of their own.

// CHECK-NOT: RangePolicy(space, 0, 1)
// CHECK: KOKKOS_LAMBDA(int i) {
// CHECK-NEXT: double const w0 = w(0);
// CHECK-NEXT: double const w1 = w(1);
// CHECK-NEXT: double const w2 = w(2);
// CHECK-NEXT: double blend = 0.0;
// CHECK-NEXT: blend += x(i) * w0 + x(i + 1) * w1 + x(i + 2) * w2;
// CHECK-NEXT: blend += y(i) * w0 + y(i + 1) * w1 + y(i + 2) * w2;
// CHECK-NEXT: z(i) = blend;
// CHECK: few(i) = x(i) + y(i) + w(0);
func.func @sums(%x: memref<?xf64> {nest.name = "x"}, %y: memref<?xf64> {nest.name = "y"}, %w: memref<3xf64> {nest.name = "w"},
                %z: memref<?xf64> {nest.name = "z"}, %few: memref<?xf64> {nest.name = "few"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %z, %c0 : memref<?xf64>
  %m = memref.dim %few, %c0 : memref<?xf64>
  %w0 = memref.load %w[%c0] : memref<3xf64>
  %w1 = memref.load %w[%c1] : memref<3xf64>
  %w2 = memref.load %w[%c2] : memref<3xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %j = arith.addi %i, %c1 : index
    %k = arith.addi %i, %c2 : index
    %x0 = memref.load %x[%i] : memref<?xf64>
    %x1 = memref.load %x[%j] : memref<?xf64>
    %x2 = memref.load %x[%k] : memref<?xf64>
    %y0 = memref.load %y[%i] : memref<?xf64>
    %y1 = memref.load %y[%j] : memref<?xf64>
    %y2 = memref.load %y[%k] : memref<?xf64>
    %p0 = arith.mulf %x0, %w0 : f64
    %p1 = arith.mulf %x1, %w1 : f64
    %p2 = arith.mulf %x2, %w2 : f64
    %q0 = arith.mulf %y0, %w0 : f64
    %q1 = arith.mulf %y1, %w1 : f64
    %q2 = arith.mulf %y2, %w2 : f64
    %p01 = arith.addf %p0, %p1 : f64
    %p = arith.addf %p01, %p2 : f64
    %q01 = arith.addf %q0, %q1 : f64
    %q = arith.addf %q01, %q2 : f64
    %begun = arith.addf %zero, %p : f64
    %blend = arith.addf %begun, %q : f64
    memref.store %blend, %z[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = memref.load %y[%i] : memref<?xf64>
    %ab = arith.addf %a, %b : f64
    %abc = arith.addf %ab, %w0 : f64
    memref.store %abc, %few[%i] : memref<?xf64>
  }
  return
}

// A quotient of such elements is computed once for a piece; what iterations need of them besides they load.
// STEPS-LABEL: static void compute_z(
// STEPS: KOKKOS_LAMBDA() {
// STEPS-NEXT: double const w1 = w(1);
// STEPS-NEXT: return w(0) / w1;
// STEPS: KOKKOS_LAMBDA(int i, double a) {
// STEPS-NEXT: double const w1 = w(1);
// STEPS-NEXT: z(i) = x(i) * a + w1;
// STEPS: for (int t = 0; t < steps; ++t) {
func.func @steps(%x: memref<?xf64> {nest.name = "x"}, %w: memref<3xf64> {nest.name = "w"}, %z: memref<?xf64> {nest.name = "z"},
                 %steps: index {nest.name = "steps"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %z, %c0 : memref<?xf64>
  %w0 = memref.load %w[%c0] : memref<3xf64>
  %w1 = memref.load %w[%c1] : memref<3xf64>
  %a = arith.divf %w0, %w1 : f64
  scf.for %t = %c0 to %steps step %c1 {
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %x0 = memref.load %x[%i] : memref<?xf64>
      %p0 = arith.mulf %x0, %a : f64
      %p1 = arith.addf %p0, %w1 : f64
      memref.store %p1, %z[%i] : memref<?xf64>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %behind = arith.subi %n, %i : index
      %other = arith.subi %behind, %c1 : index
      %z0 = memref.load %z[%other] : memref<?xf64>
      memref.store %z0, %x[%i] : memref<?xf64>
    }
  }
  return
}
