// Bounds that kernels compute are read back where a loop is declared to be parallel, is in none of the host, or has loops
// itself; a row of a few elements stays in its thread.
// RUN: ml2kokkos %s -o %t.cpp --target=host && FileCheck %s < %t.cpp
// RUN: FileCheck %s --check-prefix=HEADER < %t.hpp
// RUN: not ml2kokkos %s -o %t.cpp --graph 2>&1 | FileCheck %s --check-prefix=GRAPH

// GRAPH: error: --graph: forward() waits here for a number that its kernels compute
// HEADER: // On `space`, waits for numbers of its kernels that decide how it goes on, no allocation;

// CHECK: // --- bounds: load "first"
// CHECK-NEXT: // starts[n] -> begin[], end[]
// CHECK: // --- x
// CHECK: static void compute_x(ExecutionSpace const &space, X const &x, int begin_now, int end_now) {
// CHECK: for_span(
// CHECK-NEXT: space, Span{begin_now, end_now}, KOKKOS_LAMBDA(int i) {
// CHECK: // starts[n], y[y_size] -> y[y_size], all[]; sequential: iterations may read what others write of y
// CHECK-NEXT: static void compute_y(

// CHECK-LABEL: void forward(
// CHECK: for (int part = 0; part < n - 1; ++part) {
// CHECK-NEXT: bounds(space, work, starts, part);
// CHECK-NEXT: int begin_now;
// CHECK-NEXT: int end_now;
// CHECK-NEXT: read_back(space, begin_now, work.begin, end_now, work.end);
// CHECK-NEXT: compute_x(space, x, begin_now, end_now);
// CHECK-NEXT: }
// CHECK-NEXT: compute_y(space, work, starts, y, n);
// CHECK-NEXT: int const all_now = read_back(space, work.all);
// CHECK-NEXT: x_update(space, x, all_now);
func.func @parts(%starts: memref<?xi32>, %x: memref<?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %starts, %c0 : memref<?xi32>
  %parts = arith.subi %n, %c1 : index
  scf.for %part = %c0 to %parts step %c1 {
    %next = arith.addi %part, %c1 : index
    %first = memref.load %starts[%part] : memref<?xi32>
    %last = memref.load %starts[%next] : memref<?xi32>
    %begin = arith.index_cast %first : i32 to index
    %end = arith.index_cast %last : i32 to index
    scf.parallel (%i) = (%begin) to (%end) step (%c1) {
      %v = memref.load %x[%i] : memref<?xf64>
      %w = arith.addf %v, %v : f64
      memref.store %w, %x[%i] : memref<?xf64>
    }
  }
  scf.for %row = %c0 to %parts step %c1 {
    %next = arith.addi %row, %c1 : index
    %first = memref.load %starts[%row] : memref<?xi32>
    %last = memref.load %starts[%next] : memref<?xi32>
    %begin = arith.index_cast %first : i32 to index
    %end = arith.index_cast %last : i32 to index
    scf.for %i = %begin to %end step %c1 {
      %v = memref.load %y[%i] : memref<?xf64>
      %w = arith.addf %v, %v : f64
      memref.store %w, %y[%i] : memref<?xf64>
    }
  }
  %count = memref.load %starts[%c0] : memref<?xi32>
  %all = arith.index_cast %count : i32 to index
  scf.for %i = %c0 to %all step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %w = arith.mulf %v, %v : f64
    memref.store %w, %x[%i] : memref<?xf64>
  }
  return
}
