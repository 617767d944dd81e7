// Functions of double are plain arithmetic in kernels that go along vectors, those of the library in others.
// RUN: ml2kokkos %s --entry steps -o - | FileCheck %s --check-prefix=STEPS
// RUN: ml2kokkos %s --entry beside -o - | FileCheck %s --check-prefix=BESIDE
// RUN: ml2kokkos %s --entry rows -o - | FileCheck %s --check-prefix=ROWS
// RUN: ml2kokkos %s --entry search -o - | FileCheck %s --check-prefix=SEARCH
// RUN: ml2kokkos %s --entry steps --math=std -o - | FileCheck %s --check-prefix=STD
// STD-NOT: fast_

// A few steps are in the vector.
// STEPS: KOKKOS_INLINE_FUNCTION double fast_exp(double x) {
// STEPS: KOKKOS_INLINE_FUNCTION double fast_log(double x) {
// STEPS: KOKKOS_INLINE_FUNCTION double fast_tanh(double x) {
// STEPS: KOKKOS_FORCEINLINE_FUNCTION double fast_pow(double x, double y) {
// STEPS: KOKKOS_INLINE_FUNCTION double fast_atan2(double y, double x) {
// STEPS: for (int {{.*}} < 3;
// STEPS-NEXT: fast_tanh(fast_log(fast_exp(
// STEPS: fast_pow(fast_atan(fast_atan2(
func.func @steps(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = scf.for %k = %c0 to %c3 step %c1 iter_args(%v = %a) -> f64 {
      %e = math.exp %v : f64
      %l = math.log %e : f64
      %t = math.tanh %l : f64
      %s = arith.addf %t, %one : f64
      scf.yield %s : f64
    }
    %g = math.atan2 %b, %a : f64
    %h = math.atan %g : f64
    %p = math.powf %h, %a : f64
    memref.store %p, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// A library's function beside it.
// BESIDE-NOT: fast_
// BESIDE: Kokkos::erf(Kokkos::exp(
func.func @beside(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf64>
    %e = math.exp %a : f64
    %f = math.erf %e : f64
    memref.store %f, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// Steps that data decide.
// SEARCH-NOT: fast_
// SEARCH: while (
// SEARCH: Kokkos::exp(
func.func @search(%x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%i] : memref<?xf64>
    %b = scf.while (%v = %a) : (f64) -> f64 {
      %small = arith.cmpf olt, %v, %one : f64
      scf.condition(%small) %v : f64
    } do {
    ^bb0(%v: f64):
      %e = math.exp %v : f64
      scf.yield %e : f64
    }
    memref.store %b, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// Loops along a row that a team shares; what all its threads compute is one number.
// ROWS: along.each({{.*}} fast_exp(
// ROWS: Kokkos::exp(sum)
func.func @rows(%x: memref<?x?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %a = memref.load %x[%i, %j] : memref<?x?xf64>
      %e = math.exp %a : f64
      memref.store %e, %x[%i, %j] : memref<?x?xf64>
      scf.reduce
    }
    %sum = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %a = memref.load %x[%i, %j] : memref<?x?xf64>
      scf.reduce (%a : f64) {
      ^bb0(%l: f64, %r: f64):
        %s = arith.addf %l, %r : f64
        scf.reduce.return %s : f64
      }
    }
    %f = math.exp %sum : f64
    memref.store %f, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}
