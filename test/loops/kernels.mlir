// Outermost parallel loops become kernels, code between them kernels of one iteration, sequential loops stay around them.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-lower-loops | FileCheck %s

// CHECK-LABEL: @heat(%{{.*}}: memref<?x?xf64> {nest.dims = ["plate_size_0", "plate_size_1"], nest.name = "plate", nest.output, nest.updated}, %{{.*}}: index
// CHECK: nest.buffer "buffer"(%{{.*}}, %{{.*}}) : memref<?x?xf64>
// CHECK: scf.for
// CHECK:   nest.kernel "buffer" mdrange (%{{.*}}, %{{.*}}) = (%c1, %c1) to (%{{.*}}, %{{.*}}) note "parallel
// CHECK:   nest.kernel "plate" mdrange
// CHECK-NOT: dealloc
func.func @heat(%plate: memref<?x?xf64> {nest.name = "plate"}, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %plate, %c0 : memref<?x?xf64>
  %columns = memref.dim %plate, %c1 : memref<?x?xf64>
  %next = memref.alloc(%rows, %columns) : memref<?x?xf64>
  %last_row = arith.subi %rows, %c1 : index
  %last_column = arith.subi %columns, %c1 : index
  scf.for %step = %c0 to %steps step %c1 {
    scf.for %i = %c1 to %last_row step %c1 {
      scf.for %j = %c1 to %last_column step %c1 {
        %up = arith.subi %i, %c1 : index
        %x = memref.load %plate[%up, %j] : memref<?x?xf64>
        memref.store %x, %next[%i, %j] : memref<?x?xf64>
      }
    }
    scf.parallel (%i, %j) = (%c1, %c1) to (%last_row, %last_column) step (%c1, %c1) {
      %x = memref.load %next[%i, %j] : memref<?x?xf64>
      memref.store %x, %plate[%i, %j] : memref<?x?xf64>
    }
  }
  memref.dealloc %next : memref<?x?xf64>
  return
}

// -----

// The initial value of a reduction is joined where the result is used; a scalar result is an argument of rank 0.
// CHECK-LABEL: @dot(
// CHECK-SAME: memref<f64> {nest.name = "result0", nest.output}
// CHECK: %[[TOTAL:.*]] = nest.buffer "{{.*}}" : memref<f64>
// CHECK: nest.kernel "{{.*}}" range {{.*}} reduce (sum into %[[TOTAL]] : memref<f64>)
// CHECK: nest.kernel "result0" range () = () to () {
// CHECK:   %[[LOADED:.*]] = memref.load %[[TOTAL]][]
// CHECK:   arith.addf %{{.*}}, %{{.*}}
func.func @dot(%a: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %total = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%one) -> f64 {
    %x = memref.load %a[%i] : memref<?xf64>
    scf.reduce(%x : f64) {
    ^bb0(%l: f64, %r: f64):
      %s = arith.addf %l, %r : f64
      scf.reduce.return %s : f64
    }
  }
  return %total : f64
}

// -----

// Values of the device that a host loop carries live in memory and change as a set: all are loaded before one is
// stored.
// CHECK-LABEL: @swap(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: nest.kernel "out" range
// CHECK: nest.kernel "{{.*}}" range () = () to () {
// CHECK-NEXT: %[[P:.*]] = memref.load %[[A:.*]][]
// CHECK-NEXT: %[[Q:.*]] = memref.load %[[B:.*]][]
// CHECK-NEXT: memref.store %[[Q]], %[[A]][]
// CHECK-NEXT: memref.store %[[P]], %[[B]][]
func.func @swap(%in: memref<2xf32> {nest.name = "in"}, %out: memref<64xf32> {nest.name = "out"}, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = memref.load %in[%c0] : memref<2xf32>
  %two = memref.load %in[%c1] : memref<2xf32>
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%p = %one, %q = %two) -> (f32, f32) {
    scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
      memref.store %p, %out[%i] : memref<64xf32>
    }
    scf.yield %q, %p : f32, f32
  }
  return %r#0 : f32
}

// -----

// A parallel loop inside a parallel loop is sequential in its thread; memory made in it is a local array.
// CHECK-LABEL: @nested(
// CHECK: nest.kernel "b" range (%[[I:.*]]) =
// CHECK: memref.alloca() : memref<4xf32>
// CHECK: scf.for
// CHECK: memref.store
// CHECK-NOT: scf.parallel
func.func @nested(%b: memref<?x4xf32> {nest.name = "b"}, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %own = memref.alloc() : memref<4xf32>
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      memref.store %v, %own[%j] : memref<4xf32>
    }
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      %last = arith.subi %c4, %j : index
      %at = arith.subi %last, %c1 : index
      %x = memref.load %own[%at] : memref<4xf32>
      memref.store %x, %b[%i, %j] : memref<?x4xf32>
    }
  }
  return
}

// -----

// A constant global is a weight.
// CHECK-LABEL: @table(
// CHECK: nest.weight "coefficients" : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
memref.global "private" constant @coefficients : memref<2xf32> = dense<[1.0, 2.0]>
func.func @table(%out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %w = memref.get_global @coefficients : memref<2xf32>
  scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    %x = memref.load %w[%i] : memref<2xf32>
    memref.store %x, %out[%i] : memref<2xf32>
  }
  return
}
