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

// -----

// The smaller of the total and a term, chosen by comparing them: a NaN among the terms is passed by; the start, which
// may be NaN, is compared with what was found.
// CHECK-LABEL: @least
// CHECK-SAME: %[[START:[^ ]*]]: f64
// CHECK: %[[INF:.*]] = arith.constant 0x7FF0000000000000 : f64
// CHECK: %[[FOUND:.*]] = scf.parallel {{.*}} init (%[[INF]]) -> f64
// CHECK: arith.minnumf
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[FOUND]], %[[START]]
// CHECK: %[[RESULT:.*]] = arith.select %[[BELOW]], %[[FOUND]], %[[START]]
// CHECK: return %[[RESULT]]
func.func @least(%x: memref<?xf64>, %n: index, %start: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.cmpf olt, %v, %a : f64
    %b = arith.select %p, %v, %a : f64
    scf.yield %b : f64
  }
  return %least : f64
}

// -----

// A branch that reads the term again, another condition beside it; a number as start is joined as it is.
// CHECK-LABEL: @guarded
// CHECK: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: scf.parallel {{.*}} init (%{{.*}}) -> f32
// CHECK: %[[V:.*]] = memref.load
// CHECK: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[V]], %[[ZERO]]
// CHECK: %[[TERM:.*]] = arith.select %[[POSITIVE]], %[[V]], %[[NONE]]
// CHECK: scf.reduce(%[[TERM]]
// CHECK: arith.maxnumf
func.func @guarded(%x: memref<?xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %start = arith.constant -1.0 : f32
  %largest = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %a : f32
    %q = arith.cmpf ogt, %v, %zero : f32
    %both = arith.andi %p, %q : i1
    %b = scf.if %both -> f32 {
      %again = memref.load %x[%i] : memref<?xf32>
      scf.yield %again : f32
    } else {
      scf.yield %a : f32
    }
    scf.yield %b : f32
  }
  return %largest : f32
}

// -----

// "The smaller of a term and the total": a NaN would take its place, and every number the NaN's.
// CHECK-LABEL: @loses_total
// CHECK: scf.for
// CHECK: nest.note = "sequential: a NaN would replace the total, which min(total, term) and max(total, term) keep"
func.func @loses_total(%x: memref<?xf64>, %n: index, %start: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.cmpf olt, %a, %v : f64
    %b = arith.select %p, %a, %v : f64
    scf.yield %b : f64
  }
  return %least : f64
}

// -----

// Both comparisons are of the total and a term: no guard.
// CHECK-LABEL: @between
// CHECK: scf.for
// CHECK: nest.note = "sequential: an iteration needs a value of the one before"
func.func @between(%x: memref<?xf64>, %n: index, %start: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  %least = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.cmpf olt, %v, %a : f64
    %q = arith.cmpf ogt, %a, %half : f64
    %both = arith.andi %p, %q : i1
    %b = arith.select %both, %v, %a : f64
    scf.yield %b : f64
  }
  return %least : f64
}

// -----

// Where the least term was found is looked for when it is known.
// CHECK-LABEL: @place
// CHECK: scf.parallel
// CHECK: arith.minnumf
// CHECK: scf.parallel
// CHECK: arith.cmpf oeq
// CHECK: arith.minsi
func.func @place(%x: memref<?xf64>, %n: index, %start: f64) -> (f64, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least, %at = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %k = %c0) -> (f64, index) {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.cmpf olt, %v, %a : f64
    %b = arith.select %p, %v, %a : f64
    %l = arith.select %p, %i, %k : index
    scf.yield %b, %l : f64, index
  }
  return %least, %at : f64, index
}

// -----

// A choice keeps a total that is NaN, minnumf does not.
// CHECK-LABEL: @two_ways
// CHECK: scf.for
// CHECK: nest.note = "sequential: an iteration needs a value of the one before"
func.func @two_ways(%x: memref<?xf64>, %n: index, %start: f64) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    %p = arith.cmpf olt, %v, %a : f64
    %b = arith.select %p, %v, %a : f64
    %c = arith.minnumf %b, %v : f64
    scf.yield %c : f64
  }
  return %least : f64
}
