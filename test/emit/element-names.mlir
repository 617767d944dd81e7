// What is read is called after its array and position, where that is short, no type and free.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: KOKKOS_LAMBDA(int t, int j) {
// CHECK-NEXT: double const u_tp1_j = u(t + 1, j);
// CHECK-NEXT: double const u_t_jp2 = u(t, j + 2);
// CHECK-NEXT: double const x = wchar(t);
// CHECK-NEXT: double const z = a_long_name_of_it(t, j);
// CHECK-NEXT: double const wchar_0 = wchar(0);
// CHECK-NEXT: y(t, j) = u_tp1_j * u_tp1_j + u_t_jp2 * u_t_jp2 + x * x + z * z + wchar_0 * wchar_0;
func.func @f(%u: memref<?x?xf64> {nest.name = "u"}, %w: memref<?xf64> {nest.name = "wchar"}, %l: memref<?x?xf64> {nest.name = "a long name of it"},
             %y: memref<?x?xf64> {nest.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = memref.dim %y, %c0 : memref<?x?xf64>
  %columns = memref.dim %y, %c1 : memref<?x?xf64>
  scf.parallel (%t, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    %below = arith.addi %t, %c1 : index
    %right = arith.addi %j, %c2 : index
    %0 = memref.load %u[%below, %j] : memref<?x?xf64>
    %1 = memref.load %u[%t, %right] : memref<?x?xf64>
    %2 = memref.load %w[%t] : memref<?xf64>
    %3 = memref.load %l[%t, %j] : memref<?x?xf64>
    %4 = memref.load %w[%c0] : memref<?xf64>
    %5 = arith.mulf %0, %0 : f64
    %6 = arith.mulf %1, %1 : f64
    %7 = arith.mulf %2, %2 : f64
    %8 = arith.mulf %3, %3 : f64
    %9 = arith.mulf %4, %4 : f64
    %10 = arith.addf %5, %6 : f64
    %11 = arith.addf %10, %7 : f64
    %12 = arith.addf %11, %8 : f64
    %13 = arith.addf %12, %9 : f64
    memref.store %13, %y[%t, %j] : memref<?x?xf64>
    scf.reduce
  }
  return
}
