// Kernels whose iterations walk down columns that lie side by side take a strip of columns together.
// RUN: ml2kokkos %s --entry=sums -o - | FileCheck %s --check-prefix=SUMS
// RUN: ml2kokkos %s --entry=sums --emit=prepared | ml2kokkos-opt -o /dev/null
// RUN: ml2kokkos %s --entry=nested -o - | FileCheck %s --check-prefix=NESTED
// RUN: ml2kokkos %s --entry=statements -o - | FileCheck %s --check-prefix=STATEMENTS
// RUN: ml2kokkos %s --entry=along_rows -o - | FileCheck %s --check-prefix=ROWS
// RUN: ml2kokkos %s --entry=two_sums -o - | FileCheck %s --check-prefix=TWO
// RUN: ml2kokkos %s --entry=triangle -o - | FileCheck %s --check-prefix=TRIANGLE
// RUN: ml2kokkos %s --entry=triangle --emit=prepared -o - | FileCheck %s --check-prefix=INSIDE
// RUN: ml2kokkos %s --entry=inner_columns -o - | FileCheck %s --check-prefix=INNER
// RUN: ml2kokkos %s --entry=dependent_columns -o - | FileCheck %s --check-prefix=ALONE
// RUN: ml2kokkos %s --entry=paths -o - | FileCheck %s --check-prefix=PATHS
// RUN: ml2kokkos %s --entry=any_order -o - | FileCheck %s --check-prefix=ALONE
// RUN: ml2kokkos %s --entry=gather -o - | FileCheck %s --check-prefix=ALONE
// RUN: ml2kokkos %s --entry=few -o - | FileCheck %s --check-prefix=ALONE
// RUN: ml2kokkos %s --entry=own_ends -o - | FileCheck %s --check-prefix=ALONE
// RUN: ml2kokkos %s --entry=sums --emit=prepared -o - | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=sums --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: ml2kokkos %s --entry=windows -o - | FileCheck %s --check-prefix=WINDOWS
// RUN: ml2kokkos %s --entry=small_windows -o - | FileCheck %s --check-prefix=SMALL

// What a column carries has an element for each column; the loop has no results.
// SUMS: for_strips<4096>(
// SUMS-NEXT: "strips::y", space, Span{0, 8}, Span{0, m}, KOKKOS_LAMBDA(int p, Strip<4096> const &strip) {
// SUMS-NEXT: Strip<4096>::Of<float> sum(strip);
// SUMS-NEXT: for_columns(strip, [&](int i) { sum(i) = 0.f; });
// SUMS-NEXT: for (int k = 0; k < n; ++k) {
// SUMS-NEXT: for_columns(strip, [&](int i) {
// SUMS-NEXT: sum(i) += x(p, k, i);
// SUMS-NEXT: y(p, k, i) = sum(i);
// SUMS-NEXT: });
// NEST: nest.kernel "y" strips (%[[P:.*]], %[[I:.*]]) =
// NEST: %[[SUM:.*]] = memref.alloca() {nest.of_columns} : memref<f32>
// NEST: memref.store %{{.*}}, %[[SUM]][]
// NEST: scf.for
// NEST: } {nest.strip}
// NEST: nest.schedule = #nest.schedule<for_strips, lanes = 4096>
// NAIVE-NOT: for_strips
func.func @sums(%x: memref<8x?x?xf32>, %y: memref<8x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c1 : memref<8x?x?xf32>
  %m = memref.dim %x, %c2 : memref<8x?x?xf32>
  scf.parallel (%p, %i) = (%c0, %c0) to (%c8, %m) step (%c1, %c1) {
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f32) {
      %v = memref.load %x[%p, %k, %i] : memref<8x?x?xf32>
      %s = arith.addf %sum, %v : f32
      memref.store %s, %y[%p, %k, %i] : memref<8x?x?xf32>
      scf.yield %s : f32
    }
    scf.reduce
  }
  return
}

// Loops in loops, an array of each column, values that change places, a loop of a few steps.
// NESTED: Strip<128>::Of<double, 40> tmp(strip);
// NESTED-NEXT: Strip<128>::Of<double> a(strip);
// NESTED-NEXT: Strip<128>::Of<double> b(strip);
// NESTED: for (int k = 0; k < 40; ++k) {
// NESTED-NEXT: for_columns(strip, [&](int i) {
// NESTED: tmp(i, k) = c;
// NESTED-NEXT: a(i) = b_i;
// NESTED-NEXT: b(i) = c;
// NESTED: for (int k = 0; k < 40; ++k) {
// NESTED-NEXT: Strip<128>::Of<double> s(strip);
// NESTED-NEXT: for_columns(strip, [&](int i) { s(i) = tmp(i, k); });
// NESTED-NEXT: for (int l = k; l < 40; l += 2) {
// NESTED-NEXT: for_columns(strip, [&](int i) { s(i) += tmp(i, l); });
// NESTED-NEXT: }
// NESTED-NEXT: for_columns(strip, [&](int i) {
// NESTED: for (int q = 0; q < 3; ++q)
// NESTED: y(k, i) = {{.*}}a(i){{.*}}b(i)
func.func @nested(%x: memref<40x?xf64>, %y: memref<40x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c1 : memref<40x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %tmp = memref.alloca() : memref<40xf64>
    %r:2 = scf.for %k = %c0 to %c40 step %c1 iter_args(%a = %zero, %b = %one) -> (f64, f64) {
      %v = memref.load %x[%k, %i] : memref<40x?xf64>
      %p = arith.cmpf ogt, %v, %a : f64
      %c = scf.if %p -> (f64) {
        %q = arith.mulf %v, %b : f64
        scf.yield %q : f64
      } else {
        scf.yield %a : f64
      }
      memref.store %c, %tmp[%k] : memref<40xf64>
      scf.yield %b, %c : f64, f64
    }
    scf.for %k = %c0 to %c40 step %c1 {
      %start = memref.load %tmp[%k] : memref<40xf64>
      %t = scf.for %l = %k to %c40 step %c2 iter_args(%s = %start) -> (f64) {
        %w = memref.load %tmp[%l] : memref<40xf64>
        %z = arith.addf %s, %w : f64
        scf.yield %z : f64
      }
      %u = scf.for %q = %c0 to %c3 step %c1 iter_args(%s = %t) -> (f64) {
        %w = memref.load %x[%q, %i] : memref<40x?xf64>
        %z = arith.mulf %s, %w : f64
        scf.yield %z : f64
      }
      %o = arith.addf %u, %r#0 : f64
      %o2 = arith.mulf %o, %r#1 : f64
      memref.store %o2, %y[%k, %i] : memref<40x?xf64>
    }
    scf.reduce
  }
  return
}

// Positions are computed again, other values kept; numbers that columns share stand outside.
// STATEMENTS: Strip<4096>::Of<float> e(strip);
// STATEMENTS-NEXT: for_columns(strip, [&](int i) { e(i) = fast_exp(x(0, i + 1)); });
// STATEMENTS-NEXT: for (int at = n - 2; at >= 0; --at) {
// STATEMENTS-NEXT: for_columns(strip, [&](int i) { y(at, i) = x(at, i + 1) * e(i); });
// STATEMENTS-NEXT: }
// STATEMENTS-NEXT: for_columns(strip, [&](int i) { z(i) = e(i) + float(i); });
func.func @statements(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %end = arith.subi %m, %c1 : index
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {
    %last = arith.subi %n, %c1 : index
    %j = arith.addi %i, %c1 : index
    %number = arith.index_cast %i : index to i32
    %v0 = memref.load %x[%c0, %j] : memref<?x?xf32>
    %e = math.exp %v0 : f32
    scf.for %k = %c1 to %n step %c1 {
      %at = arith.subi %last, %k : index
      %v = memref.load %x[%at, %j] : memref<?x?xf32>
      %w = arith.mulf %v, %e : f32
      memref.store %w, %y[%at, %i] : memref<?x?xf32>
    }
    %f = arith.sitofp %number : i32 to f32
    %s = arith.addf %e, %f : f32
    memref.store %s, %z[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// Each iteration goes along memory itself, and waits for its sum in each step: some of them take each step together.
// ROWS: if constexpr (most < narrowest) {
// ROWS: for_strips<16>(
// ROWS-NEXT: "strips::y", space, Span{0, n}, KOKKOS_LAMBDA(Strip<16> const &strip) {
// ROWS-NEXT: for (int k = 1; k < m; ++k) {
// ROWS-NEXT: for_columns(strip, [&](int i) { y(i, k) = y(i, k - 1) + x(i, k); });
func.func @along_rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %k = %c1 to %m step %c1 {
      %b = arith.subi %k, %c1 : index
      %u = memref.load %y[%i, %b] : memref<?x?xf32>
      %v = memref.load %x[%i, %k] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %y[%i, %k] : memref<?x?xf32>
    }
    scf.reduce
  }
  return
}

// Sums in order of rows: so do they.
// TWO: Strip<16>::Of<double> p(strip);
// TWO-NEXT: Strip<16>::Of<double> q(strip);
// TWO: for (int k = 0; k < m; ++k) {
// TWO-NEXT: for_columns(strip, [&](int i) {
// TWO-NEXT: double const v = x(i, k);
// TWO: for_columns(strip, [&](int i) { y(i) = p(i) / q(i); });
func.func @two_sums(%x: memref<?x?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %r:2 = scf.for %k = %c0 to %m step %c1 iter_args(%p = %zero, %q = %zero) -> (f64, f64) {
      %v = memref.load %x[%i, %k] : memref<?x?xf64>
      %s = arith.addf %p, %v : f64
      %w = arith.mulf %v, %v : f64
      %t = arith.addf %q, %w : f64
      scf.yield %s, %t : f64, f64
    }
    %z = arith.divf %r#0, %r#1 : f64
    memref.store %z, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// Terms of such sums may be joined side by side.
func.func @any_order(%x: memref<?x?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %r = scf.for %k = %c0 to %m step %c1 iter_args(%p = %zero) -> f64 {
      %v = memref.load %x[%i, %k] : memref<?x?xf64>
      %w = arith.mulf %v, %v : f64
      %s = arith.addf %p, %w fastmath<reassoc> : f64
      scf.yield %s : f64
    }
    memref.store %r, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// The columns of a triangle, of which each row has others: strips inside an iteration. One of its two results lies across rows.
// TRIANGLE: in_strips<16>(Span{i, n}, [&](Strip<16> const &strip) {
// TRIANGLE-NEXT: Strip<16>::Of<double> sum(strip);
// TRIANGLE-NEXT: for_columns(strip, [&](int j) { sum(j) = 0.0; });
// TRIANGLE-NEXT: for (int k = 0; k < m; ++k) {
// TRIANGLE-NEXT: for_columns(strip, [&](int j) { sum(j) += x(k, i) * x(k, j); });
// TRIANGLE-NEXT: }
// TRIANGLE-NEXT: for_columns(strip, [&](int j) {
// TRIANGLE-NEXT: double const sum_j = sum(j);
// TRIANGLE-NEXT: y(i, j) = sum_j;
// TRIANGLE-NEXT: y(j, i) = sum_j;
// INSIDE: nest.kernel "y" range
// INSIDE: memref.alloca() {nest.of_columns} : memref<f64>
// INSIDE: } {nest.strip}
// INSIDE: } {nest.columns = 16 : i64
func.func @triangle(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %i to %n step %c1 {
      %t = scf.for %k = %c0 to %m step %c1 iter_args(%sum = %zero) -> f64 {
        %a = memref.load %x[%k, %i] : memref<?x?xf64>
        %b = memref.load %x[%k, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %sum, %p : f64
        scf.yield %s : f64
      }
      memref.store %t, %y[%i, %j] : memref<?x?xf64>
      memref.store %t, %y[%j, %i] : memref<?x?xf64>
    }
    scf.reduce
  }
  return
}

// All of it lies along the columns: a strip is broad.
// INNER: y(i, 0) = 1.f;
// INNER-NEXT: in_strips<4096>(Span{i, n}, [&](Strip<4096> const &strip) {
func.func @inner_columns(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c1) to (%n) step (%c1) {
    memref.store %one, %y[%i, %c0] : memref<?x?xf32>
    scf.for %j = %i to %n step %c1 {
      %t = scf.for %k = %c0 to %m step %c1 iter_args(%sum = %one) -> f32 {
        %b = memref.load %x[%k, %j] : memref<?x?xf32>
        %s = arith.mulf %sum, %b : f32
        scf.yield %s : f32
      }
      memref.store %t, %y[%i, %j] : memref<?x?xf32>
    }
    scf.reduce
  }
  return
}

// A column needs the one before it.
func.func @dependent_columns(%x: memref<?x?xf64>, %y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c1) to (%n) step (%c1) {
    scf.for %j = %i to %n step %c1 {
      %before = arith.subi %j, %c1 : index
      %start = memref.load %y[%i, %before] : memref<?x?xf64>
      %t = scf.for %k = %c0 to %m step %c1 iter_args(%sum = %start) -> f64 {
        %b = memref.load %x[%k, %j] : memref<?x?xf64>
        %s = arith.addf %sum, %b : f64
        scf.yield %s : f64
      }
      memref.store %t, %y[%i, %j] : memref<?x?xf64>
    }
    scf.reduce
  }
  return
}

// Data say which column is read.
// ALONE-NOT: {{(for|in)}}_strips
func.func @gather(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %at: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %j = memref.load %at[%i] : memref<?xindex>
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%k, %j] : memref<?x?xf32>
      memref.store %v, %y[%k, %i] : memref<?x?xf32>
    }
    scf.reduce
  }
  return
}

// Three columns.
func.func @few(%x: memref<?x3xf32>, %y: memref<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x3xf32>
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f32) {
      %v = memref.load %x[%k, %i] : memref<?x3xf32>
      %s = arith.addf %sum, %v : f32
      memref.store %s, %y[%k, %i] : memref<?x3xf32>
      scf.yield %s : f32
    }
    scf.reduce
  }
  return
}

// Each column has an end of its own.
func.func @own_ends(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    scf.for %k = %c0 to %i step %c1 {
      %v = memref.load %x[%k, %i] : memref<?x?xf32>
      %w = arith.mulf %v, %v : f32
      memref.store %w, %y[%k, %i] : memref<?x?xf32>
    }
    scf.reduce
  }
  return
}

// Nine exponentials are more than compilers write one after the other; of two they do, inside of vectors.
// WINDOWS: for_strips<4096>(
// WINDOWS: for (int di = 0; di < 3; ++di) {
// WINDOWS-NEXT: for (int dj = 0; dj < 3; ++dj) {
// WINDOWS-NEXT: for_columns(strip, [&](int j) {
// WINDOWS: fast_exp(
func.func @windows(%a: memref<?x?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %a, %c0 : memref<?x?xf64>
  %columns = memref.dim %a, %c1 : memref<?x?xf64>
  %n = arith.subi %rows, %c2 : index
  %m = arith.subi %columns, %c2 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %sum = scf.for %di = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (f64) {
      %inner = scf.for %dj = %c0 to %c3 step %c1 iter_args(%t = %s) -> (f64) {
        %k = arith.addi %i, %di : index
        %l = arith.addi %j, %dj : index
        %v = memref.load %a[%k, %l] : memref<?x?xf64>
        %e = math.exp %v : f64
        %u = arith.addf %t, %e : f64
        scf.yield %u : f64
      }
      scf.yield %inner : f64
    }
    memref.store %sum, %out[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}

// SMALL: for_grid(
// SMALL: for (int dj = 0; dj < 2; ++dj)
func.func @small_windows(%a: memref<?x?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %columns = memref.dim %a, %c1 : memref<?x?xf64>
  %m = arith.subi %columns, %c1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %sum = scf.for %dj = %c0 to %c2 step %c1 iter_args(%t = %zero) -> (f64) {
      %l = arith.addi %j, %dj : index
      %v = memref.load %a[%i, %l] : memref<?x?xf64>
      %e = math.exp %v : f64
      %u = arith.addf %t, %e : f64
      scf.yield %u : f64
    }
    memref.store %sum, %out[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}

// A step meets what another one wrote once at most: no chain, and memory lies along the steps.
// PATHS-NOT: for_strips
// PATHS: for (int j = 0; j < n; ++j)
func.func @paths(%d: memref<?x?xf64>, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %d, %c0 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c0 to %n step %c1 {
      %here = memref.load %d[%i, %j] : memref<?x?xf64>
      %to = memref.load %d[%i, %k] : memref<?x?xf64>
      %on = memref.load %d[%k, %j] : memref<?x?xf64>
      %way = arith.addf %to, %on : f64
      %less = arith.minimumf %here, %way : f64
      memref.store %less, %d[%i, %j] : memref<?x?xf64>
    }
    scf.reduce
  }
  return
}
