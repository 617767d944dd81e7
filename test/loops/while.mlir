// A loop that goes on while a value of its kernels says so stays on the host: kernels inside are parallel, the condition is
// read back once a round.
// RUN: ml2kokkos %s -o - | FileCheck %s
// RUN: ml2kokkos %s --emit=nest | FileCheck %s --check-prefix=NEST

// NEST: scf.while : () -> ()
// NEST: nest.kernel "continues"
// NEST: %[[GO:.*]] = memref.load %{{.*}}[] : memref<i1>
// NEST: scf.condition(%[[GO]])
// NEST-NOT: scf.while

// CHECK: template <class T> T read_back(ExecutionSpace const &space, Tensor<T> const &number) {
// CHECK: space.fence(
// CHECK: static void continues(
// CHECK: continues() = change() > tolerance;
// The update of x and the maximum of what it becomes are one kernel.
// CHECK: reduce_span(
// CHECK-NEXT: Span{0, n}, Joining<Max, double>{work.change, 0.0}
// CHECK: void forward(ExecutionSpace const &space, Workspace const &work, X const &x, double tolerance) {
// CHECK:   while (true) {
// CHECK-NEXT: continues(space, work, tolerance);
// CHECK-NEXT: if (!read_back(space, work.continues))
// CHECK-NEXT: break;
// CHECK-NEXT: change_from_x(space, work, x, n);
// CHECK-NOT: read_back
func.func @relax(%x: memref<?xf64>, %tolerance: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = arith.constant 1.0e30 : f64
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %end = scf.while (%change = %start) : (f64) -> f64 {
    %more = arith.cmpf ogt, %change, %tolerance : f64
    scf.condition(%more) %change : f64
  } do {
  ^bb0(%change: f64):
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = memref.load %x[%i] : memref<?xf64>
      %w = arith.mulf %v, %half : f64
      memref.store %w, %x[%i] : memref<?xf64>
    }
    %largest = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %v = memref.load %x[%i] : memref<?xf64>
      %size = math.absf %v : f64
      scf.reduce (%size : f64) {
      ^bb0(%a: f64, %b: f64):
        %max = arith.maximumf %a, %b : f64
        scf.reduce.return %max : f64
      }
    }
    scf.yield %largest : f64
  }
  return
}
