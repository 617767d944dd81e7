// What both ways of a choice read stands in front of it where loops and extents prove that it is inside: else compilers read
// under a mask, and make no vectors.
// RUN: ml2kokkos %s --entry upwind -o - | FileCheck %s
// RUN: ml2kokkos %s --entry guarded -o - | FileCheck %s --check-prefix=GUARDED
// RUN: ml2kokkos %s --entry wet -o - | FileCheck %s --check-prefix=WET
// RUN: ml2kokkos %s --entry apart -o - | FileCheck %s --check-prefix=APART
// RUN: ml2kokkos %s --entry written -o - | FileCheck %s --check-prefix=WRITTEN

// CHECK: KOKKOS_LAMBDA(int i) {
// CHECK-NEXT: double const a = q(i - 1);
// CHECK-NEXT: double const b = q(i);
// CHECK-NEXT: double const q_ip1 = q(i + 1);
// CHECK-NEXT: f(i) = v(i) > 0.0 ? b - a : q_ip1 - b;
func.func @upwind(%q: memref<?xf64> {nest.name = "q"}, %v: memref<?xf64> {nest.name = "v"}, %f: memref<?xf64> {nest.name = "f"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %q, %c0 : memref<?xf64>
  %end = arith.subi %n, %c1 : index
  scf.parallel (%i) = (%c1) to (%end) step (%c1) {
    %speed = memref.load %v[%i] : memref<?xf64>
    %right = arith.cmpf ogt, %speed, %zero : f64
    scf.if %right {
      %at = arith.subi %i, %c1 : index
      %a = memref.load %q[%at] : memref<?xf64>
      %b = memref.load %q[%i] : memref<?xf64>
      %d = arith.subf %b, %a : f64
      memref.store %d, %f[%i] : memref<?xf64>
    } else {
      %at = arith.addi %i, %c1 : index
      %a = memref.load %q[%i] : memref<?xf64>
      %b = memref.load %q[%at] : memref<?xf64>
      %d = arith.subf %b, %a : f64
      memref.store %d, %f[%i] : memref<?xf64>
    }
    scf.reduce
  }
  return
}

// Only one branch stores: gcc would take the reads back into it.
// WET: KOKKOS_FORCEINLINE_FUNCTION bool likely(bool condition)
// WET: double const b = q(i + 1);
// WET-NEXT: if (likely(v(i) > 0.0)) {
// WET-NEXT: f(i) = b - a;
func.func @wet(%q: memref<?xf64> {nest.name = "q"}, %v: memref<?xf64> {nest.name = "v"}, %f: memref<?xf64> {nest.name = "f"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %q, %c0 : memref<?xf64>
  %end = arith.subi %n, %c1 : index
  scf.parallel (%i) = (%c1) to (%end) step (%c1) {
    %depth = memref.load %v[%i] : memref<?xf64>
    %is = arith.cmpf ogt, %depth, %zero : f64
    scf.if %is {
      %at = arith.addi %i, %c1 : index
      %a = memref.load %q[%i] : memref<?xf64>
      %b = memref.load %q[%at] : memref<?xf64>
      %d = arith.subf %b, %a : f64
      memref.store %d, %f[%i] : memref<?xf64>
    }
    scf.reduce
  }
  return
}

// The branches store different elements.
// APART: if (v(i * 2) > 0.0) {
// APART-NEXT: f(i * 2) = q(i * 2);
// APART-NEXT: } else {
// APART-NEXT: f(i * 2 + 1) = q(i * 2);
func.func @apart(%q: memref<?xf64> {nest.name = "q"}, %v: memref<?xf64> {nest.name = "v"}, %f: memref<?xf64> {nest.name = "f"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %q, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c2) {
    %depth = memref.load %v[%i] : memref<?xf64>
    %is = arith.cmpf ogt, %depth, %zero : f64
    scf.if %is {
      %a = memref.load %q[%i] : memref<?xf64>
      memref.store %a, %f[%i] : memref<?xf64>
    } else {
      %at = arith.addi %i, %c1 : index
      %a = memref.load %q[%i] : memref<?xf64>
      memref.store %a, %f[%at] : memref<?xf64>
    }
    scf.reduce
  }
  return
}

// The choice keeps the program inside: nothing moves.
// GUARDED: if (i > 0) {{[{]?}}
// GUARDED: q(i - 1)
func.func @guarded(%q: memref<?xf64> {nest.name = "q"}, %f: memref<?xf64> {nest.name = "f"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %q, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %inside = arith.cmpi sgt, %i, %c0 : index
    scf.if %inside {
      %at = arith.subi %i, %c1 : index
      %a = memref.load %q[%at] : memref<?xf64>
      memref.store %a, %f[%i] : memref<?xf64>
    }
    scf.reduce
  }
  return
}

// What a branch writes in front of the load is not what was there before.
// WRITTEN: if (
// WRITTEN: f(i) = 1.0;
// WRITTEN: f(i + 1)
func.func @written(%q: memref<8xf64> {nest.name = "q"}, %f: memref<9xf64> {nest.name = "f"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f64
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %q[%i] : memref<8xf64>
    %right = arith.cmpf ogt, %x, %one : f64
    scf.if %right {
      memref.store %one, %f[%i] : memref<9xf64>
      %at = arith.addi %i, %c1 : index
      %a = memref.load %f[%at] : memref<9xf64>
      memref.store %a, %q[%i] : memref<8xf64>
    }
  }
  return
}
