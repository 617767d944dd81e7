// A sum in order whose terms lie along memory has some terms at a time; what it starts with is a value of any kind. A walk down a
// column, a term that is only read, and a difference from a term stay loops.
// RUN: ml2kokkos %s -o - | FileCheck %s
// RUN: ml2kokkos %s -o - --target=device | FileCheck %s --check-prefix=DEVICE

// CHECK: struct Difference {
// CHECK: KOKKOS_FUNCTION Value fold_in_order(
// CHECK-NEXT: int i = range.begin;
// CHECK-NEXT: if constexpr (on_host) {
// DEVICE: KOKKOS_FUNCTION Value fold_in_order(
// DEVICE-NEXT: int i = range.begin;
// DEVICE-NEXT: for (; i < range.end; ++i)

// CHECK: for (int i = 0; i < n; ++i) {
// CHECK: fold_in_order<Difference, double>(Span{0, i}, x(i), [&](int j) { return l(i, j) * x(i - 1 - j); });
// CHECK: for (int j = 0; j < i; ++j){{$}}
// CHECK-NEXT: {{.*}} += Kokkos::sqrt(l(j, i));
// CHECK: for (int j = 0; j < i; ++j){{$}}
// CHECK-NEXT: {{.*}} = l(i, j) - {{.*}};
// CHECK: for (int j = 0; j < i; ++j){{$}}
// CHECK-NEXT: {{.*}} += l(i, j);
func.func @solve(%l: memref<?x?xf64> {nest.dims = ["n", "n"]}, %x: memref<?xf64> {nest.dims = ["n"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %start = memref.load %x[%i] : memref<?xf64>
    %last = arith.subi %i, %c1 : index
    %total = scf.for %j = %c0 to %i step %c1 iter_args(%before = %start) -> f64 {
      %a = memref.load %l[%i, %j] : memref<?x?xf64>
      %k = arith.subi %last, %j : index
      %b = memref.load %x[%k] : memref<?xf64>
      %term = arith.mulf %a, %b : f64
      %after = arith.subf %before, %term : f64
      scf.yield %after : f64
    }
    %column = scf.for %j = %c0 to %i step %c1 iter_args(%before = %zero) -> f64 {
      %a = memref.load %l[%j, %i] : memref<?x?xf64>
      %root = math.sqrt %a : f64
      %after = arith.addf %before, %root : f64
      scf.yield %after : f64
    }
    %turned = scf.for %j = %c0 to %i step %c1 iter_args(%before = %zero) -> f64 {
      %a = memref.load %l[%i, %j] : memref<?x?xf64>
      %after = arith.subf %a, %before : f64
      scf.yield %after : f64
    }
    %read = scf.for %j = %c0 to %i step %c1 iter_args(%before = %turned) -> f64 {
      %a = memref.load %l[%i, %j] : memref<?x?xf64>
      %after = arith.addf %before, %a : f64
      scf.yield %after : f64
    }
    %both = arith.addf %total, %column : f64
    %all = arith.addf %both, %read : f64
    memref.store %all, %x[%i] : memref<?xf64>
  }
  return
}
