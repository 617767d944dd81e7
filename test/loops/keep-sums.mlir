// What a sequential loop of a parallel iteration changes is carried by the loop, where nothing looks at memory meanwhile.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// A 3 x 3 window: the store in front of the loops is the first value, one store is left.
// CHECK-LABEL: @window(
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ROW:.*]] = %[[ZERO]]) -> (f32) {
// CHECK-NEXT: %[[INNER:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ROW]]) -> (f32) {
// CHECK-NOT: memref.store
// CHECK: scf.yield %[[INNER]] : f32
// CHECK: memref.store %[[SUM]], %{{.*}}[%{{.*}}, %{{.*}}]
// CHECK-NOT: memref.store
func.func @window(%image: memref<10x10xf32>, %weight: memref<3x3xf32>, %out: memref<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 8 {
      affine.store %zero, %out[%i, %j] : memref<8x8xf32>
      affine.for %r = 0 to 3 {
        affine.for %s = 0 to 3 {
          %x = affine.load %image[%i + %r, %j + %s] : memref<10x10xf32>
          %w = affine.load %weight[%r, %s] : memref<3x3xf32>
          %p = arith.mulf %x, %w : f32
          %o = affine.load %out[%i, %j] : memref<8x8xf32>
          %n = arith.addf %o, %p : f32
          affine.store %n, %out[%i, %j] : memref<8x8xf32>
        }
      }
    }
  }
  return
}

// -----

// The element of a row, whatever the length of the row is.
// CHECK-LABEL: @row(
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.store
func.func @row(%x: memref<8x?xf32>, %out: memref<8x?xf32>, %last: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c1 : memref<8x?xf32>
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %k] : memref<8x?xf32>
      %o = memref.load %out[%i, %last] : memref<8x?xf32>
      %s = arith.addf %o, %v : f32
      memref.store %s, %out[%i, %last] : memref<8x?xf32>
    }
    scf.reduce
  }
  return
}

// -----

// A loop of no iteration must not touch an element that data decide: it may lie outside, or be another iteration's.
// CHECK-LABEL: @none(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: memref.store
func.func @none(%x: memref<8x?xf32>, %to: memref<8xindex>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c1 : memref<8x?xf32>
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %at = memref.load %to[%i] : memref<8xindex>
    scf.for %k = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %k] : memref<8x?xf32>
      %o = memref.load %out[%at] : memref<?xf32>
      %s = arith.addf %o, %v : f32
      memref.store %s, %out[%at] : memref<?xf32>
    }
    scf.reduce
  }
  return
}

// -----

// Another element of the same memory is read meanwhile, which may be this one.
// CHECK-LABEL: @read(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: memref.store
func.func @read(%out: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    scf.for %k = %c0 to %c8 step %c1 {
      %v = memref.load %out[%i, %k] : memref<8x8xf32>
      %o = memref.load %out[%i, %c0] : memref<8x8xf32>
      %s = arith.addf %o, %v : f32
      memref.store %s, %out[%i, %c0] : memref<8x8xf32>
    }
    scf.reduce
  }
  return
}

// -----

// A half rounds in every step.
// CHECK-LABEL: @half(
// CHECK: scf.for
// CHECK-NOT: iter_args
// CHECK: memref.store
func.func @half(%x: memref<8x8xf16>, %out: memref<8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    scf.for %k = %c0 to %c8 step %c1 {
      %v = memref.load %x[%i, %k] : memref<8x8xf16>
      %o = memref.load %out[%i] : memref<8xf16>
      %s = arith.addf %o, %v : f16
      memref.store %s, %out[%i] : memref<8xf16>
    }
    scf.reduce
  }
  return
}

// -----

// A triangular solver, which one thread runs: x(i) is none of the x(j) with j < i, and stored once.
// CHECK-LABEL: @solver(
// CHECK: nest.kernel
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args
// CHECK-NOT: memref.store
// CHECK: scf.yield
// CHECK: %[[RATIO:.*]] = arith.divf %[[SUM]]
// CHECK: memref.store %[[RATIO]]
// CHECK-NOT: memref.store
func.func @solver(%l: memref<?x?xf64> {nest.name = "l"}, %x: memref<?xf64> {nest.name = "x"}, %b: memref<?xf64> {nest.name = "b"},
                  %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %start = memref.load %b[%i] : memref<?xf64>
    memref.store %start, %x[%i] : memref<?xf64>
    scf.for %j = %c0 to %i step %c1 {
      %factor = memref.load %l[%i, %j] : memref<?x?xf64>
      %known = memref.load %x[%j] : memref<?xf64>
      %term = arith.mulf %factor, %known : f64
      %before = memref.load %x[%i] : memref<?xf64>
      %after = arith.subf %before, %term : f64
      memref.store %after, %x[%i] : memref<?xf64>
    }
    %sum = memref.load %x[%i] : memref<?xf64>
    %pivot = memref.load %l[%i, %i] : memref<?x?xf64>
    %ratio = arith.divf %sum, %pivot : f64
    memref.store %ratio, %x[%i] : memref<?xf64>
  }
  return
}
