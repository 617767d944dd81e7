// Several reductions over the same positions are one kernel, with the updates of what they read; vectors that one loop
// computes for the next from two others are computed again there.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// CHECK-LABEL: @step(
// CHECK-NOT: nest.buffer
// CHECK: nest.kernel "rz" range ({{.*}}) = ({{.*}}) to ({{.*}}) reduce (sum into %{{.*}} : memref<f64>, maxnum into %{{.*}} : memref<f64>) {
// CHECK: memref.store {{.*}} %arg2
// CHECK-NOT: memref.store
// CHECK: nest.yield %{{.*}}, %{{.*}} : f64, f64
// CHECK: nest.kernel "p" range
// CHECK-DAG: memref.load %arg0[
// CHECK-DAG: memref.load %arg2[
// CHECK-DAG: memref.load %arg3[
// CHECK: memref.store %{{.*}}, %arg3
// CHECK-NOT: nest.kernel "
// CHECK: return
func.func @step(%d: memref<?xf64>, %q: memref<?xf64>, %r: memref<?xf64>, %p: memref<?xf64> {nest.name = "p"}, %n: index, %rz: memref<f64> {nest.name = "rz"}, %rr: memref<f64> {nest.name = "rr"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %z = memref.alloc(%n) : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %ri = memref.load %r[%i] : memref<?xf64>
    %qi = memref.load %q[%i] : memref<?xf64>
    %next = arith.subf %ri, %qi : f64
    memref.store %next, %r[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %di = memref.load %d[%i] : memref<?xf64>
    %ri = memref.load %r[%i] : memref<?xf64>
    %zi = arith.mulf %di, %ri : f64
    memref.store %zi, %z[%i] : memref<?xf64>
  }
  %a = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %ri = memref.load %r[%i] : memref<?xf64>
    %zi = memref.load %z[%i] : memref<?xf64>
    %t = arith.mulf %ri, %zi : f64
    scf.reduce(%t : f64) {
    ^bb0(%x: f64, %y: f64):
      %s = arith.addf %x, %y : f64
      scf.reduce.return %s : f64
    }
  }
  memref.store %a, %rz[] : memref<f64>
  %b = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%low) -> f64 {
    %ri = memref.load %r[%i] : memref<?xf64>
    scf.reduce(%ri : f64) {
    ^bb0(%x: f64, %y: f64):
      %s = arith.maxnumf %x, %y : f64
      scf.reduce.return %s : f64
    }
  }
  memref.store %b, %rr[] : memref<f64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %zi = memref.load %z[%i] : memref<?xf64>
    %pi = memref.load %p[%i] : memref<?xf64>
    %ri = memref.load %rr[] : memref<f64>
    %t = arith.mulf %ri, %pi : f64
    %s = arith.addf %zi, %t : f64
    memref.store %s, %p[%i] : memref<?xf64>
  }
  return
}

// -----

// Reductions of two types are two kernels, and what a later loop needs after a change is kept.
// CHECK-LABEL: @apart(
// CHECK: nest.buffer
// CHECK: nest.kernel {{.*}} reduce (sum into %{{.*}} : memref<f64>)
// CHECK: nest.kernel {{.*}} reduce (sum into %{{.*}} : memref<i64>)
func.func @apart(%d: memref<?xf64>, %r: memref<?xf64>, %k: memref<?xi64>, %p: memref<?xf64>, %n: index, %total: memref<f64>, %count: memref<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i64
  %z = memref.alloc(%n) : memref<?xf64>
  %a = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %di = memref.load %d[%i] : memref<?xf64>
    %ri = memref.load %r[%i] : memref<?xf64>
    %zi = arith.mulf %di, %ri : f64
    memref.store %zi, %z[%i] : memref<?xf64>
    scf.reduce(%zi : f64) {
    ^bb0(%x: f64, %y: f64):
      %s = arith.addf %x, %y : f64
      scf.reduce.return %s : f64
    }
  }
  memref.store %a, %total[] : memref<f64>
  %b = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%none) -> i64 {
    %ki = memref.load %k[%i] : memref<?xi64>
    memref.store %zero, %r[%i] : memref<?xf64>
    scf.reduce(%ki : i64) {
    ^bb0(%x: i64, %y: i64):
      %s = arith.addi %x, %y : i64
      scf.reduce.return %s : i64
    }
  }
  memref.store %b, %count[] : memref<i64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %zi = memref.load %z[%i] : memref<?xf64>
    %t = memref.load %total[] : memref<f64>
    %s = arith.addf %zi, %t : f64
    memref.store %s, %p[%i] : memref<?xf64>
  }
  return
}
