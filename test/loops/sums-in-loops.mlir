// Sums along rows inside two loops of the host: n * n launches would take longer than the sums, so the inner loop is a kernel.
// RUN: ml2kokkos %s --entry=substitution -o - | FileCheck %s --check-prefix=ONE
// RUN: ml2kokkos %s --entry=steps -o - | FileCheck %s --check-prefix=LAUNCHED
// RUN: ml2kokkos %s --entry=updates -o - | FileCheck %s --check-prefix=UPDATES

// ONE: "sums_in_loops::a", space, 1, KOKKOS_LAMBDA(int) {
// ONE-NEXT: for (int j = 0; j < i; ++j) {
// ONE-NEXT: double const u = fold_span<Sum, double>(Span{0, j}, [&](int k) { return a(i, k) * a(j, k); });
// ONE-NEXT: a(i, j) -= u;
// ONE-NOT: reduce_span
func.func @substitution(%a: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      %t = scf.parallel (%k) = (%c0) to (%j) step (%c1) init (%zero) -> f64 {
        %x = memref.load %a[%i, %k] : memref<?x?xf64>
        %y = memref.load %a[%j, %k] : memref<?x?xf64>
        %p = arith.mulf %x, %y : f64
        scf.reduce(%p : f64) {
        ^bb0(%u: f64, %v: f64):
          %s = arith.addf %u, %v : f64
          scf.reduce.return %s : f64
        }
      }
      %old = memref.load %a[%i, %j] : memref<?x?xf64>
      %new = arith.subf %old, %t : f64
      memref.store %new, %a[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

// The caller says how many rounds there are: few of long sums, perhaps.
// LAUNCHED: reduce_span(
func.func @steps(%a: memref<?xf64>, %out: memref<?x?xf64>, %rounds: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?xf64>
  scf.for %i = %c0 to %rounds step %c1 {
    scf.for %j = %c0 to %parts step %c1 {
      %t = scf.parallel (%k) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
        %x = memref.load %a[%k] : memref<?xf64>
        scf.reduce(%x : f64) {
        ^bb0(%u: f64, %v: f64):
          %s = arith.addf %u, %v : f64
          scf.reduce.return %s : f64
        }
      }
      memref.store %t, %out[%i, %j] : memref<?x?xf64>
      memref.store %t, %a[%j] : memref<?xf64>
    }
  }
  return
}

// Whatever else is parallel is launched.
// UPDATES: reduce_span(
func.func @updates(%a: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %i step %c1 {
      %t = scf.parallel (%k) = (%c0) to (%j) step (%c1) init (%zero) -> f64 {
        %x = memref.load %a[%i, %k] : memref<?x?xf64>
        scf.reduce(%x : f64) {
        ^bb0(%u: f64, %v: f64):
          %s = arith.addf %u, %v : f64
          scf.reduce.return %s : f64
        }
      }
      scf.parallel (%k) = (%c0) to (%n) step (%c1) {
        memref.store %t, %a[%k, %j] : memref<?x?xf64>
        scf.reduce
      }
    }
  }
  return
}
