// Loops over a matrix go into those that join what its rows hold: the steps of a softmax are one kernel.
// RUN: ml2kokkos --entry=softmax %s -o - | FileCheck %s
// RUN: ml2kokkos --entry=product %s -o - | FileCheck --check-prefix=PRODUCT %s
// RUN: ml2kokkos --entry=columns %s -o - | FileCheck --check-prefix=COLUMNS %s
// RUN: ml2kokkos --entry=others %s -o - | FileCheck --check-prefix=OTHERS %s

// CHECK: "fused_rows::e", space, n, m, KOKKOS_LAMBDA(int i, Row const &along) {
// CHECK-NEXT: along.each(m, [&](int j) { e(i, j) = Kokkos::abs(a(i, j)); });
// CHECK-NEXT: double const {{.*}} = along.fold<Sum>(m, [&](int k) { return e(i, k); });
// CHECK-NEXT: along.once([&] { sum(i) = {{.*}}; });
// CHECK-NEXT: along.each(m, [&](int j) { out(i, j) = e(i, j) / {{.*}}; });
// CHECK-NEXT: });
// CHECK-NOT: "fused_rows::
func.func @softmax(%a: memref<?x?xf64>, %e: memref<?x?xf64>, %sum: memref<?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %x = memref.load %a[%i, %j] : memref<?x?xf64>
    %y = math.absf %x : f64
    memref.store %y, %e[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %k = %c0 to %m step %c1 iter_args(%t = %zero) -> (f64) {
      %x = memref.load %e[%i, %k] : memref<?x?xf64>
      %u = arith.addf %t, %x fastmath<reassoc> : f64
      scf.yield %u : f64
    }
    memref.store %s, %sum[%i] : memref<?xf64>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %x = memref.load %e[%i, %j] : memref<?x?xf64>
    %s = memref.load %sum[%i] : memref<?xf64>
    %y = arith.divf %x, %s : f64
    memref.store %y, %out[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}

// A product of matrices stays one.
// PRODUCT: "fused_rows::c"
// PRODUCT: "fused_rows::sum"
func.func @product(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>, %sum: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %l = memref.dim %a, %c1 : memref<?x?xf64>
  %m = memref.dim %b, %c1 : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %s = scf.for %k = %c0 to %l step %c1 iter_args(%t = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %y = memref.load %b[%k, %j] : memref<?x?xf64>
      %z = arith.mulf %x, %y : f64
      %u = arith.addf %t, %z fastmath<reassoc> : f64
      scf.yield %u : f64
    }
    memref.store %s, %c[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %k = %c0 to %m step %c1 iter_args(%t = %zero) -> (f64) {
      %x = memref.load %c[%i, %k] : memref<?x?xf64>
      %u = arith.addf %t, %x fastmath<reassoc> : f64
      scf.yield %u : f64
    }
    memref.store %s, %sum[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// The sums of columns are of other rows.
// COLUMNS: "fused_rows::sum"
// COLUMNS: "fused_rows::out"
func.func @columns(%a: memref<?x?xf64>, %sum: memref<?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%j) = (%c0) to (%m) step (%c1) {
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%t = %zero) -> (f64) {
      %x = memref.load %a[%k, %j] : memref<?x?xf64>
      %u = arith.addf %t, %x fastmath<reassoc> : f64
      scf.yield %u : f64
    }
    memref.store %s, %sum[%j] : memref<?xf64>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %x = memref.load %a[%i, %j] : memref<?x?xf64>
    %s = memref.load %sum[%j] : memref<?xf64>
    %y = arith.divf %x, %s : f64
    memref.store %y, %out[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}

// An element needs the sum of the row below.
// OTHERS: for_rows(
// OTHERS: for_lines(
func.func @others(%a: memref<?x?xf64>, %sum: memref<?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %s = scf.for %k = %c0 to %m step %c1 iter_args(%t = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %u = arith.addf %t, %x fastmath<reassoc> : f64
      scf.yield %u : f64
    }
    memref.store %s, %sum[%i] : memref<?xf64>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %x = memref.load %a[%i, %j] : memref<?x?xf64>
    %below = arith.addi %i, %c1 : index
    %last = arith.minsi %below, %n : index
    %s = memref.load %sum[%last] : memref<?xf64>
    %y = arith.divf %x, %s : f64
    memref.store %y, %out[%i, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}
