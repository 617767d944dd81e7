// Running sums of rows are scan_rows, whether the loop over rows is parallel in the source or is proved to be.
// RUN: ml2kokkos --entry=declared %s -o - | FileCheck %s
// RUN: ml2kokkos --entry=proved %s -o - | FileCheck %s
// RUN: ml2kokkos --entry=more %s -o - | FileCheck --check-prefix=MORE %s

// CHECK: scan_rows<double>(
// CHECK-NEXT: space, n, m, KOKKOS_LAMBDA(int i, int k, double &total, bool is_final) {
// CHECK: double const t = total + a(i, k);
// CHECK: if (is_final) {
func.func @declared(%a: memref<?x?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %last = scf.for %k = %c0 to %m step %c1 iter_args(%total = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %t = arith.addf %total, %x fastmath<reassoc> : f64
      memref.store %t, %out[%i, %k] : memref<?x?xf64>
      scf.yield %t : f64
    }
    scf.reduce
  }
  return
}

func.func @proved(%a: memref<?x?xf64>, %out: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %last = scf.for %k = %c0 to %m step %c1 iter_args(%total = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %t = arith.addf %total, %x fastmath<reassoc> : f64
      memref.store %t, %out[%i, %k] : memref<?x?xf64>
      scf.yield %t : f64
    }
  }
  return
}

// One of several statements stays a loop of the iteration, and one whose terms keep their order.
// MORE-NOT: scan_rows
func.func @more(%a: memref<?x?xf64>, %out: memref<?x?xf64>, %ends: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %last = scf.for %k = %c0 to %m step %c1 iter_args(%total = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %t = arith.addf %total, %x fastmath<reassoc> : f64
      memref.store %t, %out[%i, %k] : memref<?x?xf64>
      scf.yield %t : f64
    }
    memref.store %last, %ends[%i] : memref<?xf64>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %last = scf.for %k = %c0 to %m step %c1 iter_args(%total = %zero) -> (f64) {
      %x = memref.load %a[%i, %k] : memref<?x?xf64>
      %t = arith.addf %total, %x : f64
      memref.store %t, %out[%i, %k] : memref<?x?xf64>
      scf.yield %t : f64
    }
    scf.reduce
  }
  return
}
