// The least of the positions for which a condition holds, or the end, along a row: a search that vectors take by 64.
// RUN: ml2kokkos --entry=least %s -o - | FileCheck %s
// RUN: ml2kokkos --entry=other %s -o - | FileCheck --check-prefix=OTHER %s

// CHECK: template <class Holds> KOKKOS_FUNCTION int first(int length, Holds const &holds) const {
// CHECK: double const smallest = along.fold<Min>(m, [&](int j) { return a(i, j); });
// CHECK-NEXT: int const place = along.first(m, [&](int j) { return a(i, j) == smallest; });
func.func @least(%a: memref<?x?xf64>, %out: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 0x7FF0000000000000 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  %end = arith.index_cast %m : index to i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %smallest = scf.parallel (%j) = (%c0) to (%m) step (%c1) init (%most) -> f64 {
      %x = memref.load %a[%i, %j] : memref<?x?xf64>
      scf.reduce(%x : f64) {
      ^bb0(%l: f64, %r: f64):
        %s = arith.minimumf %l, %r : f64
        scf.reduce.return %s : f64
      }
    }
    %place = scf.parallel (%j) = (%c0) to (%m) step (%c1) init (%end) -> i32 {
      %x = memref.load %a[%i, %j] : memref<?x?xf64>
      %is = arith.cmpf oeq, %x, %smallest : f64
      %k = arith.index_cast %j : index to i32
      %p = arith.select %is, %k, %end : i32
      scf.reduce(%p : i32) {
      ^bb0(%l: i32, %r: i32):
        %s = arith.minsi %l, %r : i32
        scf.reduce.return %s : i32
      }
    }
    memref.store %place, %out[%i] : memref<?xi32>
    scf.reduce
  }
  return
}

// Another number where it does not hold.
// OTHER-NOT: along.first
// OTHER: along.fold<Min>(
// OTHER-NOT: along.first
func.func @other(%a: memref<?x?xf64>, %out: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %never = arith.constant 1000 : i32
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %place = scf.parallel (%j) = (%c0) to (%m) step (%c1) init (%never) -> i32 {
      %x = memref.load %a[%i, %j] : memref<?x?xf64>
      %is = arith.cmpf oeq, %x, %zero : f64
      %k = arith.index_cast %j : index to i32
      %p = arith.select %is, %k, %never : i32
      scf.reduce(%p : i32) {
      ^bb0(%l: i32, %r: i32):
        %s = arith.minsi %l, %r : i32
        scf.reduce.return %s : i32
      }
    }
    memref.store %place, %out[%i] : memref<?xi32>
    scf.reduce
  }
  return
}
