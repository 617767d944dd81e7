// A loop of the host launches kernels that may have a single work item again and again: a host's calling thread does those.
// RUN: ml2kokkos %s -o %t.cpp
// RUN: FileCheck %s --input-file %t.cpp

// CHECK-LABEL: void for_items(
// CHECK: if (on_host && count == 1)
// CHECK: return body(0);
// CHECK-LABEL: void for_span(
// CHECK: length <= 1024 ? 1024 : 512;
// CHECK: for_items(

// CHECK-LABEL: void reduce_span(
// CHECK: if (length <= piece)
// CHECK: return into.store(joined);
// CHECK: Kokkos::parallel_reduce(

// CHECK: for_items("{{.*}}::last", space, 1, KOKKOS_LAMBDA(int) { last() = r(t) + total(); });
// CHECK: for (int t = 1; t < n; ++t)
func.func @launches_in_loops(%r: memref<?xf64>, %y: memref<?xf64>, %last: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %r, %c0 : memref<?xf64>
  scf.for %t = %c1 to %n step %c1 {
    %total = scf.parallel (%i) = (%c0) to (%t) step (%c1) init (%zero) -> f64 {
      %a = memref.load %r[%i] : memref<?xf64>
      %b = memref.load %y[%i] : memref<?xf64>
      %ab = arith.mulf %a, %b : f64
      scf.reduce(%ab : f64) {
      ^bb0(%lhs: f64, %rhs: f64):
        %sum = arith.addf %lhs, %rhs : f64
        scf.reduce.return %sum : f64
      }
    }
    %here = memref.load %r[%t] : memref<?xf64>
    %next = arith.addf %here, %total : f64
    memref.store %next, %last[] : memref<f64>
    scf.parallel (%i) = (%c0) to (%t) step (%c1) {
      %v = memref.load %y[%i] : memref<?xf64>
      %s = memref.load %last[] : memref<f64>
      %w = arith.mulf %v, %s : f64
      memref.store %w, %y[%i] : memref<?xf64>
      scf.reduce
    }
  }
  return
}
