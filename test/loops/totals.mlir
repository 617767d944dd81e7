// Totals that are changed under conditions, by a select and in loops inside: what an iteration finds is joined once.
// RUN: ml2kokkos-opt %s --ml2k-parallelize-loops -split-input-file | FileCheck %s

// CHECK-LABEL: @counted
// CHECK: %[[NONE:.*]] = arith.constant 0 : i64
// CHECK: scf.parallel (%{{.*}}) = {{.*}} init (%{{.*}}, %{{.*}})
// CHECK: scf.if
// CHECK: arith.addi %[[NONE]]
// CHECK: scf.reduce
// CHECK: arith.addi
// CHECK: arith.addi
func.func @counted(%x: memref<?xi64>, %n: index, %start: i64) -> (i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %odd, %small = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %b = %start) -> (i64, i64) {
    %v = memref.load %x[%i] : memref<?xi64>
    %p = arith.cmpi slt, %v, %four : i64
    %c, %d = scf.if %p -> (i64, i64) {
      %e = arith.addi %a, %one : i64
      scf.yield %e, %b : i64, i64
    } else {
      %e = arith.subi %b, %v : i64
      %f = arith.cmpi eq, %v, %four : i64
      %g = arith.select %f, %e, %b : i64
      scf.yield %a, %g : i64, i64
    }
    scf.yield %c, %d : i64, i64
  }
  return %odd, %small : i64, i64
}

// -----

// Both loops of rows of one length are one reduction.
// CHECK-LABEL: @grid
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) step (%{{.*}}, %{{.*}}) init (%{{.*}}) -> i32
// CHECK-NOT: scf.for
func.func @grid(%x: memref<?x?xi32>, %n: index, %m: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %row = scf.for %j = %c0 to %m step %c1 iter_args(%b = %a) -> i32 {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %c = arith.addi %b, %v : i32
      scf.yield %c : i32
    }
    scf.yield %row : i32
  }
  return %total : i32
}

// -----

// A while loop hands the total on.
// CHECK-LABEL: @steps
// CHECK: scf.parallel
// CHECK: scf.while
// CHECK: scf.reduce
func.func @steps(%x: memref<?xi32>, %n: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %r:2 = scf.while (%w = %v, %b = %a) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi sgt, %w, %one : i32
      scf.condition(%more) %w, %b : i32, i32
    } do {
    ^bb0(%w: i32, %b: i32):
      %half = arith.shrsi %w, %one : i32
      %c = arith.addi %b, %one : i32
      scf.yield %half, %c : i32, i32
    }
    scf.yield %r#1 : i32
  }
  return %total : i32
}

// -----

// No totals: one that a condition reads, one that begins anew, one that is added to itself, one that is stored, sums and
// products, and a difference from it.
// CHECK-LABEL: @read
// CHECK-NOT: scf.parallel
// CHECK-COUNT-6: sequential: an iteration needs a value of the one before
// CHECK-NOT: scf.parallel
func.func @read(%x: memref<?xi32>, %seen: memref<?xi32>, %n: index) -> (i32, i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %limit = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = arith.cmpi slt, %a, %v : i32
    %b = arith.addi %a, %v : i32
    %c = arith.select %p, %b, %a : i32
    scf.yield %c : i32
  }
  %run = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = arith.cmpi slt, %v, %zero : i32
    %b = arith.addi %a, %v : i32
    %c = arith.select %p, %zero, %b : i32
    scf.yield %c : i32
  }
  %twice = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %b = arith.addi %a, %v : i32
    %c = arith.addi %a, %b : i32
    scf.yield %c : i32
  }
  %stored = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %b = arith.muli %a, %v : i32
    memref.store %b, %seen[%i] : memref<?xi32>
    scf.yield %b : i32
  }
  %mixed = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = arith.cmpi slt, %v, %zero : i32
    %b = arith.addi %a, %v : i32
    %c = arith.muli %a, %v : i32
    %d = arith.select %p, %b, %c : i32
    scf.yield %d : i32
  }
  %turned = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = arith.cmpi slt, %v, %zero : i32
    %b = arith.subi %v, %a : i32
    %d = arith.select %p, %b, %a : i32
    scf.yield %d : i32
  }
  return %limit, %run, %twice, %stored, %mixed, %turned : i32, i32, i32, i32, i32, i32
}

// -----

// Terms of floating point keep their order, under conditions, too.
// CHECK-LABEL: @floats
// CHECK: sequential: terms of a floating-point sum keep their order
func.func @floats(%x: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.cmpf ogt, %v, %zero : f64
    %c = scf.if %p -> f64 {
      %b = arith.addf %a, %v : f64
      scf.yield %b : f64
    } else {
      scf.yield %a : f64
    }
    scf.yield %c : f64
  }
  return %total : f64
}
