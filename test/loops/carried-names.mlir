// A number that a loop carries is called like no size: forward() has both.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: int const n = x.extent_int(0);
// CHECK: int n_now = 0;
// CHECK: while (change > limit && n_now < 20) {
// CHECK: largest(space, work, x, n);
// CHECK: int const next_n_now = wrapping_add(n_now, 1);
func.func @relax(%x: memref<?xf64>, %limit: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant 1.0e30 : f64
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %most = arith.constant 20 : i32
  %N = memref.dim %x, %c0 : memref<?xf64>
  %end:2 = scf.while (%change = %start, %n = %none) : (f64, i32) -> (f64, i32) {
    %more = arith.cmpf ogt, %change, %limit : f64
    %few = arith.cmpi slt, %n, %most : i32
    %goes = arith.andi %more, %few : i1
    scf.condition(%goes) %change, %n : f64, i32
  } do {
  ^bb0(%change: f64, %n: i32):
    %largest = scf.parallel (%i) = (%c0) to (%N) step (%c1) init (%zero) -> f64 {
      %v = memref.load %x[%i] : memref<?xf64>
      %u = arith.mulf %v, %half : f64
      memref.store %u, %x[%i] : memref<?xf64>
      %a = math.absf %u : f64
      scf.reduce (%a : f64) {
      ^bb0(%p: f64, %q: f64):
        %max = arith.maximumf %p, %q : f64
        scf.reduce.return %max : f64
      }
    }
    %next = arith.addi %n, %one : i32
    scf.yield %largest, %next : f64, i32
  }
  return
}
