// Loops whose iterations meet in updates alone are parallel, with atomic ones.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// Two arrays, one of them under a condition.
// CHECK-LABEL: @two(
// CHECK: nest.kernel "arg2" range (%{{.*}}) = (%{{.*}}) to (%{{.*}}) note "parallel: iterations meet in atomic updates only"
// CHECK: memref.store {{.*}} {nest.atomic{{.*}}} : memref<?xi32>
// CHECK: scf.if
// CHECK: memref.store {{.*}} {nest.atomic{{.*}}} : memref<?xf64>
func.func @two(%bins: memref<?xi32>, %x: memref<?xf64>, %counts: memref<?xi32>, %sums: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %word = memref.load %bins[%i] : memref<?xi32>
    %bin = arith.index_cast %word : i32 to index
    %v = memref.load %x[%i] : memref<?xf64>
    %is = arith.cmpf ogt, %v, %zero : f64
    memref.atomic_rmw addi %one, %counts[%bin] : (i32, memref<?xi32>) -> i32
    scf.if %is {
      memref.atomic_rmw addf %v, %sums[%bin] : (f64, memref<?xf64>) -> f64
    }
    scf.reduce
  }
  return
}

// -----

// An element that all iterations change is a sum, also under a condition.
// CHECK-LABEL: @total(
// CHECK: nest.kernel "total" {{.*}} reduce (sum into
// CHECK-NOT: nest.atomic
// CHECK: scf.if
// CHECK: nest.yield %{{.*}} : f64
func.func @total(%x: memref<?xf64>, %sum: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf64>
    %is = arith.cmpf ogt, %v, %zero : f64
    scf.if %is {
      %r = math.sqrt %v : f64
      memref.atomic_rmw addf %r, %sum[%c0] : (f64, memref<1xf64>) -> f64
    }
    scf.reduce
  }
  return
}

// -----

// Integers of a sequential loop may change places; floating-point sums keep their order.
// CHECK-LABEL: @sequential(
// CHECK: nest.kernel "arg2" range (%{{.*}}) = (%{{.*}}) to (%{{.*}}) note "parallel: iterations meet in atomic updates only"
// CHECK: nest.kernel "arg4" range () = () to () note "sequential: terms of a floating-point sum keep their order"
func.func @sequential(%bins: memref<?xindex>, %x: memref<?xf64>, %counts: memref<?xi32>, %more: memref<?xi64>, %sums: memref<?xf64>,
                      %squares: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i64
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %bin = memref.load %bins[%i] : memref<?xindex>
    %a = memref.load %counts[%bin] : memref<?xi32>
    %b = arith.addi %a, %one : i32
    memref.store %b, %counts[%bin] : memref<?xi32>
    %c = memref.load %more[%bin] : memref<?xi64>
    %d = arith.subi %c, %two : i64
    memref.store %d, %more[%bin] : memref<?xi64>
  }
  scf.for %i = %c0 to %n step %c1 {
    %bin = memref.load %bins[%i] : memref<?xindex>
    %v = memref.load %x[%i] : memref<?xf64>
    %a = memref.load %sums[%bin] : memref<?xf64>
    %b = arith.addf %a, %v : f64
    memref.store %b, %sums[%bin] : memref<?xf64>
    %c = memref.load %squares[%bin] : memref<?xf64>
    %s = arith.mulf %v, %v : f64
    %d = arith.addf %c, %s : f64
    memref.store %d, %squares[%bin] : memref<?xf64>
  }
  return
}

// -----

// What is written between the load and the store of an element, perhaps the same one, is lost: that has an order.
// CHECK-LABEL: @between(
// CHECK: nest.kernel "arg2" range () = () to () note "sequential:
// CHECK-NOT: nest.atomic
func.func @between(%bins: memref<?xindex>, %others: memref<?xindex>, %counts: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %bins, %c0 : memref<?xindex>
  scf.for %i = %c0 to %n step %c1 {
    %bin = memref.load %bins[%i] : memref<?xindex>
    %other = memref.load %others[%i] : memref<?xindex>
    %a = memref.load %counts[%bin] : memref<?xi32>
    %x = memref.load %counts[%other] : memref<?xi32>
    %y = arith.addi %x, %one : i32
    memref.store %y, %counts[%other] : memref<?xi32>
    %b = arith.addi %a, %one : i32
    memref.store %b, %counts[%bin] : memref<?xi32>
  }
  return
}
