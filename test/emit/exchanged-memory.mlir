// A loop that goes on while kernels say so exchanges memory as a counted one does: variables of forward().
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: double e = 1e+30;
// CHECK-NEXT: Tensor<double *> a = plate;
// CHECK-NEXT: Tensor<double *> b = next;
// CHECK-NEXT: while (e > eps) {
// CHECK-NEXT: largest(space, work, a, b, n);
// CHECK-NEXT: e = read_back(space, work.largest);
// CHECK-NEXT: auto const previous = a;
// CHECK-NEXT: a = b;
// CHECK-NEXT: b = previous;
func.func @heat(%plate: memref<?xf64>, %next: memref<?xf64>, %eps: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %big = arith.constant 1.0e30 : f64
  %quarter = arith.constant 0.25 : f64
  %n = memref.dim %plate, %c0 : memref<?xf64>
  %last = arith.subi %n, %c1 : index
  %r:3 = scf.while (%e = %big, %a = %plate, %b = %next) : (f64, memref<?xf64>, memref<?xf64>) -> (f64, memref<?xf64>, memref<?xf64>) {
    %go = arith.cmpf ogt, %e, %eps : f64
    scf.condition(%go) %e, %a, %b : f64, memref<?xf64>, memref<?xf64>
  } do {
  ^bb0(%before: f64, %a: memref<?xf64>, %b: memref<?xf64>):
    %largest = scf.parallel (%i) = (%c1) to (%last) step (%c1) init (%zero) -> f64 {
      %l = arith.subi %i, %c1 : index
      %m = arith.addi %i, %c1 : index
      %x = memref.load %a[%l] : memref<?xf64>
      %y = memref.load %a[%i] : memref<?xf64>
      %z = memref.load %a[%m] : memref<?xf64>
      %s = arith.addf %x, %z : f64
      %d = arith.addf %s, %y : f64
      %v = arith.mulf %quarter, %d : f64
      memref.store %v, %b[%i] : memref<?xf64>
      %q = arith.subf %v, %y : f64
      %w = math.absf %q : f64
      scf.reduce (%w : f64) {
      ^bb0(%p: f64, %o: f64):
        %mm = arith.maximumf %p, %o : f64
        scf.reduce.return %mm : f64
      }
    }
    scf.yield %largest, %b, %a : f64, memref<?xf64>, memref<?xf64>
  }
  return
}
