// Rows that elements choose, such as those of particles and edges: no launch for each of them.
// RUN: ml2kokkos --entry=counted %s -o - | FileCheck --check-prefix=COUNTED %s
// RUN: ml2kokkos --entry=relabelled %s -o - | FileCheck --check-prefix=RELABELLED %s
// RUN: ml2kokkos --entry=springs %s -o - | FileCheck --check-prefix=SPRINGS %s
// RUN: ml2kokkos --entry=tokens %s -o - | FileCheck --check-prefix=TOKENS %s

// Counts are a loop of their own, so that each component takes all steps by itself.
// COUNTED: sequential: terms of a floating-point sum keep their order
// COUNTED: Kokkos::RangePolicy(space, 0, 1)
// COUNTED: count(l) += 1.0;
// COUNTED: parallel: each takes
// COUNTED: for_strips<16>(
// COUNTED: total(l, c) += x(i, c);
func.func @counted(%x: memref<?x?xf64>, %label: memref<?xi64>, %total: memref<?x?xf64>, %count: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %l = memref.load %label[%i] : memref<?xi64>
    %k = arith.index_cast %l : i64 to index
    %old = memref.load %count[%k] : memref<?xf64>
    %new = arith.addf %old, %one : f64
    memref.store %new, %count[%k] : memref<?xf64>
    scf.for %c = %c0 to %m step %c1 {
      %t = memref.load %total[%k, %c] : memref<?x?xf64>
      %v = memref.load %x[%i, %c] : memref<?x?xf64>
      %s = arith.addf %t, %v : f64
      memref.store %s, %total[%k, %c] : memref<?x?xf64>
    }
  }
  return
}

// The labels change as the loop runs: all of a step is done in the step, by one thread.
// RELABELLED-NOT: for_strips
// RELABELLED: for (int i = 0; i < n; ++i) {
// RELABELLED: for (int c = 0; c < m; ++c)
// RELABELLED-NOT: for_strips
func.func @relabelled(%x: memref<?x?xf64>, %label: memref<?xi64>, %total: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %l = memref.load %label[%i] : memref<?xi64>
    %k = arith.index_cast %l : i64 to index
    memref.store %l, %label[%k] : memref<?xi64>
    scf.for %c = %c0 to %m step %c1 {
      %t = memref.load %total[%k, %c] : memref<?x?xf64>
      %v = memref.load %x[%i, %c] : memref<?x?xf64>
      %s = arith.addf %t, %v : f64
      memref.store %s, %total[%k, %c] : memref<?x?xf64>
    }
  }
  return
}

// A length of all components is needed by each: one thread takes the edges.
// SPRINGS: sequential: terms of a
// SPRINGS: Kokkos::RangePolicy(space, 0, 1)
// SPRINGS-NEXT: for (int e = 0; e < edges; ++e) {
// SPRINGS-NOT: Kokkos::parallel_for
func.func @springs(%x: memref<?x?xf64>, %a: memref<?xi64>, %force: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %edges = memref.dim %a, %c0 : memref<?xi64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %e = %c0 to %edges step %c1 {
    %l = memref.load %a[%e] : memref<?xi64>
    %i = arith.index_cast %l : i64 to index
    %square = scf.for %c = %c0 to %m step %c1 iter_args(%r = %zero) -> (f64) {
      %v = memref.load %x[%i, %c] : memref<?x?xf64>
      %w = arith.mulf %v, %v : f64
      %s = arith.addf %r, %w : f64
      scf.yield %s : f64
    }
    scf.for %c = %c0 to %m step %c1 {
      %v = memref.load %x[%i, %c] : memref<?x?xf64>
      %w = arith.divf %v, %square : f64
      %f = memref.load %force[%i, %c] : memref<?x?xf64>
      %s = arith.addf %f, %w : f64
      memref.store %s, %force[%i, %c] : memref<?x?xf64>
    }
  }
  return
}

// Of a step of a recurrent network only what is added is a row that the token chooses: the product is parallel.
// TOKENS: void forward(
// TOKENS: for (int t = 0; t < {{.*}}; ++t)
func.func @tokens(%table: memref<?x?xf64>, %w: memref<?x?xf64>, %token: memref<?xi64>, %h: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = memref.dim %token, %c0 : memref<?xi64>
  %n = memref.dim %w, %c0 : memref<?x?xf64>
  scf.for %t = %c0 to %steps step %c1 {
    %next = arith.addi %t, %c1 : index
    %l = memref.load %token[%t] : memref<?xi64>
    %k = arith.index_cast %l : i64 to index
    scf.for %i = %c0 to %n step %c1 {
      %first = memref.load %table[%k, %i] : memref<?x?xf64>
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %first) -> (f64) {
        %a = memref.load %w[%i, %j] : memref<?x?xf64>
        %b = memref.load %h[%t, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %q = arith.addf %s, %p : f64
        scf.yield %q : f64
      }
      memref.store %sum, %h[%next, %i] : memref<?x?xf64>
    }
  }
  return
}
