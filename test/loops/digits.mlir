// Dimensions, blocks and rotations within one subscript: loops are parallel where its parts are like digits of a number.
// RUN: ml2kokkos-opt %s --ml2k-parallelize-loops | FileCheck %s

// An array of two dimensions in one, with its sizes at run time; rows are independent of each other, elements are not.
// CHECK-LABEL: @rows
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: scf.for
// CHECK-NOT: nest.note = "sequential
func.func @rows(%x: memref<?xf64>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c1 to %m step %c1 {
      %row = arith.muli %i, %m : index
      %at = arith.addi %row, %j : index
      %before = arith.subi %at, %c1 : index
      %v = memref.load %x[%before] : memref<?xf64>
      memref.store %v, %x[%at] : memref<?xf64>
    }
  }
  return
}

// The element in front of a row is of the row before.
// CHECK-LABEL: @rows_that_meet
// CHECK-NOT: scf.parallel
// CHECK: nest.note = "sequential
func.func @rows_that_meet(%x: memref<?xf64>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %row = arith.muli %i, %m : index
      %at = arith.addi %row, %j : index
      %before = arith.subi %at, %c1 : index
      %v = memref.load %x[%before] : memref<?xf64>
      memref.store %v, %x[%at] : memref<?xf64>
    }
  }
  return
}

// Three dimensions, and lanes: the index of the outer loop is the last digit.
// CHECK-LABEL: @three
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) =
// CHECK: scf.parallel (%{{.*}}) =
// CHECK-NOT: nest.note = "sequential
func.func @three(%x: memref<?xf64>, %y: memref<?xf64>, %n: index, %m: index, %k: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %a = %c0 to %n step %c1 {
    scf.for %b = %c0 to %m step %c1 {
      scf.for %c = %c0 to %k step %c1 {
        %row = arith.muli %a, %m : index
        %column = arith.addi %row, %b : index
        %plane = arith.muli %column, %k : index
        %at = arith.addi %plane, %c : index
        %v = memref.load %x[%at] : memref<?xf64>
        memref.store %v, %y[%at] : memref<?xf64>
      }
    }
  }
  scf.for %lane = %c0 to %k step %c1 {
    scf.for %i = %c1 to %n step %c1 {
      %row = arith.muli %i, %k : index
      %at = arith.addi %row, %lane : index
      %above = arith.subi %at, %k : index
      %v = memref.load %x[%above] : memref<?xf64>
      memref.store %v, %x[%at] : memref<?xf64>
    }
  }
  return
}

// Halves of blocks, in loops and as quotient and remainder.
// CHECK-LABEL: @blocks
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: scf.parallel (%{{.*}}) =
// CHECK-NOT: nest.note = "sequential
func.func @blocks(%x: memref<?xf64>, %half: index, %pairs: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %block = arith.muli %half, %c2 : index
  scf.for %k = %c0 to %n step %block {
    scf.for %j = %c0 to %half step %c1 {
      %low = arith.addi %k, %j : index
      %high = arith.addi %low, %half : index
      %v = memref.load %x[%low] : memref<?xf64>
      memref.store %v, %x[%high] : memref<?xf64>
    }
  }
  %shift = arith.shli %c1, %half : index
  scf.for %b = %c0 to %pairs step %c1 {
    %group = arith.divui %b, %shift : index
    %place = arith.remui %b, %shift : index
    %twice = arith.muli %shift, %c2 : index
    %first = arith.muli %group, %twice : index
    %low = arith.addi %first, %place : index
    %high = arith.addi %low, %shift : index
    %u = memref.load %x[%low] : memref<?xf64>
    %v = memref.load %x[%high] : memref<?xf64>
    memref.store %v, %x[%low] : memref<?xf64>
    memref.store %u, %x[%high] : memref<?xf64>
  }
  return
}

// The way down of a scan: as many pairs as n / (2 * distance) says, so that the distance is above zero.
// CHECK-LABEL: @down
// CHECK: scf.parallel
// CHECK-NOT: nest.note = "sequential
func.func @down(%x: memref<?xf64>, %distance: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %twice = arith.muli %distance, %c2 : index
  %pairs = arith.floordivsi %n, %twice : index
  scf.for %i = %c0 to %pairs step %c1 {
    %next = arith.addi %i, %c1 : index
    %end = arith.muli %next, %twice : index
    %last = arith.subi %end, %c1 : index
    %middle = arith.subi %last, %distance : index
    %u = memref.load %x[%middle] : memref<?xf64>
    %v = memref.load %x[%last] : memref<?xf64>
    %w = arith.addf %u, %v : f64
    memref.store %v, %x[%middle] : memref<?xf64>
    memref.store %w, %x[%last] : memref<?xf64>
  }
  return
}

// Blocks that are as long as the steps between them are not.
// CHECK-LABEL: @blocks_that_meet
// CHECK: nest.note = "sequential
func.func @blocks_that_meet(%x: memref<?xf64>, %half: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %k = %c0 to %n step %half {
    scf.for %j = %c0 to %half step %c1 {
      %low = arith.addi %k, %j : index
      %high = arith.addi %low, %half : index
      %v = memref.load %x[%high] : memref<?xf64>
      memref.store %v, %x[%low] : memref<?xf64>
    }
  }
  return
}

// Tiles of rows, the last one shorter.
// CHECK-LABEL: @tiles
// CHECK: scf.parallel (%{{.*}}) =
// CHECK-NOT: nest.note = "sequential
func.func @tiles(%x: memref<?x?xf64>, %size: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %tile = %c0 to %n step %size {
    %end = arith.addi %tile, %size : index
    %last = arith.minsi %end, %n : index
    scf.for %i = %tile to %last step %c1 {
      scf.for %j = %c1 to %m step %c1 {
        %before = arith.subi %j, %c1 : index
        %v = memref.load %x[%i, %before] : memref<?x?xf64>
        memref.store %v, %x[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

// A rotation, and one that comes round again.
// CHECK-LABEL: @rotated
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: nest.note = "sequential
func.func @rotated(%x: memref<?xf64>, %y: memref<?xf64>, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %k = memref.dim %y, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %moved = arith.addi %i, %k : index
    %at = arith.remui %moved, %n : index
    %v = memref.load %y[%i] : memref<?xf64>
    memref.store %v, %x[%at] : memref<?xf64>
  }
  scf.for %i = %c0 to %m step %c1 {
    %moved = arith.addi %i, %k : index
    %at = arith.remui %moved, %n : index
    %v = memref.load %y[%i] : memref<?xf64>
    memref.store %v, %x[%at] : memref<?xf64>
  }
  return
}

// Sizes of blocks that a loop carries: one that only grows from 1, and one that the condition says is above zero. One that begins
// at an argument may be anything.
// CHECK-LABEL: @carried
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: nest.note = "sequential
func.func @carried(%x: memref<?xf64>, %stages: index, %pairs: index, %start: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %last = scf.for %stage = %c0 to %stages step %c1 iter_args(%size = %c1) -> index {
    %twice = arith.muli %size, %c2 : index
    scf.for %b = %c0 to %pairs step %c1 {
      %group = arith.floordivsi %b, %size : index
      %place = arith.remui %b, %size : index
      %first = arith.muli %group, %twice : index
      %low = arith.addi %first, %place : index
      %high = arith.addi %low, %size : index
      %v = memref.load %x[%low] : memref<?xf64>
      memref.store %v, %x[%high] : memref<?xf64>
    }
    scf.yield %twice : index
  }
  %none = scf.while (%size = %start) : (index) -> index {
    %goes = arith.cmpi sgt, %size, %c0 : index
    scf.condition(%goes) %size : index
  } do {
  ^bb0(%size: index):
    %twice = arith.muli %size, %c2 : index
    scf.for %b = %c0 to %pairs step %c1 {
      %first = arith.muli %b, %twice : index
      %high = arith.addi %first, %size : index
      %v = memref.load %x[%first] : memref<?xf64>
      memref.store %v, %x[%high] : memref<?xf64>
    }
    %half = arith.divsi %size, %c2 : index
    scf.yield %half : index
  }
  %any = scf.for %stage = %c0 to %stages step %c1 iter_args(%size = %start) -> index {
    %twice = arith.muli %size, %c2 : index
    scf.for %b = %c0 to %pairs step %c1 {
      %first = arith.muli %b, %twice : index
      %high = arith.addi %first, %size : index
      %v = memref.load %x[%first] : memref<?xf64>
      memref.store %v, %x[%high] : memref<?xf64>
    }
    scf.yield %twice : index
  }
  return
}
