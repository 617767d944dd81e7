// A solver that counts its rounds in an index, down from a size: the host counts, no kernel does.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK-NOT: RangePolicy(space, 0, 1)
// CHECK: void forward(
// CHECK: double change = 1e+30;
// CHECK-NEXT: int left = n - 1;
// CHECK-NEXT: while (change > tolerance && left > 0) {
// CHECK-NEXT: largest(space, work, x, w, left, n);
// CHECK-NEXT: double const next_change = read_back(space, work.{{[a-z]+}});
// CHECK-NEXT: int const next_left = left - 1;
// CHECK-NEXT: change = next_change;
// CHECK-NEXT: left = next_left;
// CHECK-NEXT: }
func.func @relax(%x: memref<?xf64>, %w: memref<?xf64>, %tolerance: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant 1.0e30 : f64
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %rounds = arith.subi %n, %c1 : index
  %end:2 = scf.while (%change = %start, %left = %rounds) : (f64, index) -> (f64, index) {
    %more = arith.cmpf ogt, %change, %tolerance : f64
    %some = arith.cmpi sgt, %left, %c0 : index
    %goes = arith.andi %more, %some : i1
    scf.condition(%goes) %change, %left : f64, index
  } do {
  ^bb0(%change: f64, %left: index):
    %largest = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %v = memref.load %x[%i] : memref<?xf64>
      %f = memref.load %w[%left] : memref<?xf64>
      %u = arith.mulf %v, %f : f64
      memref.store %u, %x[%i] : memref<?xf64>
      %size = math.absf %u : f64
      scf.reduce (%size : f64) {
      ^bb0(%a: f64, %b: f64):
        %max = arith.maximumf %a, %b : f64
        scf.reduce.return %max : f64
      }
    }
    %fewer = arith.subi %left, %c1 : index
    scf.yield %largest, %fewer : f64, index
  }
  return
}
