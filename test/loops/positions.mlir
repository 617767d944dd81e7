// Where the smallest term was found: one loop for the term, one for its first place, both parallel.
// RUN: ml2kokkos %s --entry=nearest -o - | FileCheck %s
// RUN: ml2kokkos %s --entry=bounds -o - | FileCheck %s --check-prefix=BOUNDS

// CHECK: // --- best: {{.*}}
// CHECK: parallel: no iteration touches what another one writes
// CHECK: Joining<MinNum, double>{work.best, 1e+30}, KOKKOS_LAMBDA(int i) {
// CHECK: // --- place: for "place"
// CHECK: parallel: no iteration touches what another one writes
// CHECK: Joining<Min, int>{work.place}, KOKKOS_LAMBDA(int i) {
// CHECK: == best() ? i : Kokkos::Experimental::finite_max_v<int>;
// CHECK: std::int64_t(best() < 1e+30 ? place() : -1)
func.func @nearest(%x: memref<?xf64> {nest.name = "x"}, %to: f64 {nest.name = "to"}, %at: memref<1xi64> {nest.name = "at"}, %r: memref<1xf64> {nest.name = "r"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant -1 : index
  %far = arith.constant 1.0e30 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %best, %place = scf.for %i = %c0 to %n step %c1 iter_args(%best = %far, %place = %none) -> (f64, index) {
    %v = memref.load %x[%i] : memref<?xf64>
    %d = arith.subf %v, %to : f64
    %square = arith.mulf %d, %d : f64
    %less = arith.cmpf olt, %square, %best : f64
    %b = arith.select %less, %square, %best : f64
    %p = arith.select %less, %i, %place : index
    scf.yield %b, %p : f64, index
  }
  %found = arith.index_cast %place : index to i64
  memref.store %found, %at[%c0] : memref<1xi64>
  memref.store %best, %r[%c0] : memref<1xf64>
  return
}

// What another loop goes to is found in the kernel of that loop.
// BOUNDS: sequential: an iteration needs a value of the one before
// BOUNDS-NOT: reduce_span
func.func @bounds(%x: memref<?xf64> {nest.name = "x"}, %y: memref<?xf64> {nest.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %far = arith.constant 1.0e30 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %best, %place = scf.for %i = %c0 to %n step %c1 iter_args(%best = %far, %place = %c0) -> (f64, index) {
    %v = memref.load %x[%i] : memref<?xf64>
    %less = arith.cmpf olt, %v, %best : f64
    %b = arith.select %less, %v, %best : f64
    %p = arith.select %less, %i, %place : index
    scf.yield %b, %p : f64, index
  }
  scf.for %i = %c0 to %place step %c1 {
    %before = memref.load %y[%c0] : memref<?xf64>
    %t = arith.mulf %before, %best : f64
    memref.store %t, %y[%c0] : memref<?xf64>
  }
  return
}
