// Text and text again are the same.
// RUN: ml2kokkos-opt %s | ml2kokkos-opt | FileCheck %s
// CHECK: nest.kernel "dot" range (%[[I:.*]]) = (%c0) to (%{{.*}}) reduce (sum into %{{.*}} : memref<f64>) note "why" {
// CHECK: nest.yield %{{.*}} : f64
// CHECK: nest.kernel "once" range () = () to () {
// CHECK: nest.kernel "grid" mdrange (%{{.*}}, %{{.*}}) = (%c0, %c0) to (%{{.*}}, %{{.*}}) {
// CHECK: {ordered = array<i1: true, false>}
// CHECK: nest.kernel "rows" team (%{{.*}}) = (%c0) to (%{{.*}}) {
// CHECK:   nest.barrier
func.func @f(%a: memref<?xf64>, %m: memref<?x?xf64>, %out: memref<f64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  nest.kernel "dot" range (%i) = (%c0) to (%n) reduce (sum into %out : memref<f64>) note "why" {
    %x = memref.load %a[%i] : memref<?xf64>
    nest.yield %x : f64
  }
  nest.kernel "once" range () = () to () {
    %x = memref.load %a[%c0] : memref<?xf64>
    memref.store %x, %a[%n] : memref<?xf64>
  }
  nest.kernel "grid" mdrange (%i, %j) = (%c0, %c0) to (%n, %n) {
    %x = memref.load %a[%i] : memref<?xf64>
    memref.store %x, %m[%i, %j] : memref<?x?xf64>
  }
  nest.kernel "updates" mdrange (%i, %j) = (%c0, %c0) to (%n, %n) {
    %x = memref.load %a[%i] : memref<?xf64>
    memref.store %x, %m[%c0, %j] : memref<?x?xf64>
  } {ordered = array<i1: true, false>}
  nest.kernel "rows" team (%i) = (%c0) to (%n) {
    %row = memref.alloca() : memref<512xf64>
    scf.parallel (%j) = (%c0) to (%c512) step (%c1) {
      %x = memref.load %m[%i, %j] : memref<?x?xf64>
      memref.store %x, %row[%j] : memref<512xf64>
    }
    nest.barrier
    %x = memref.load %row[%c0] : memref<512xf64>
    memref.store %x, %a[%i] : memref<?xf64>
  }
  return
}
