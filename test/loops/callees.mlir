// What functions of C read and write decides which loops are parallel.
// RUN: ml2kokkos-opt %s --ml2k-parallelize-loops | FileCheck %s

// Numbers alone: the result depends on nothing else.
// CHECK-LABEL: @numbers
// CHECK: scf.parallel
func.func @numbers(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf64>
    %y = nest.call "f"(%x) {writes = array<i1: false>} : (f64) -> f64
    memref.store %y, %a[%i] : memref<?xf64>
  }
  return
}

// Each iteration has a row of its own.
// CHECK-LABEL: @rows
// CHECK: scf.parallel
func.func @rows(%a: memref<?x?xf64>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = memref.subview %a[%i, 0] [1, %m] [1, 1] : memref<?x?xf64> to memref<?xf64, strided<[1], offset: ?>>
    %whole = memref.cast %row : memref<?xf64, strided<[1], offset: ?>> to memref<?xf64, strided<[?], offset: ?>>
    nest.call "f"(%whole) {writes = array<i1: true>} : (memref<?xf64, strided<[?], offset: ?>>) -> ()
  }
  return
}

// The next iteration reads the row.
// CHECK-LABEL: @nextRow
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may read what others write of buffer"
func.func @nextRow(%a: memref<?x?xf64>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloc(%n, %m) : memref<?x?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %row = memref.subview %b[%i, 0] [1, %m] [1, 1] : memref<?x?xf64> to memref<?xf64, strided<[1], offset: ?>>
    nest.call "f"(%row) {writes = array<i1: true>} : (memref<?xf64, strided<[1], offset: ?>>) -> ()
    %x = memref.load %b[%next, %c0] : memref<?x?xf64>
    memref.store %x, %a[%i, %c0] : memref<?x?xf64>
  }
  return
}

// Any of them may write any element.
// CHECK-LABEL: @whole
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may write the same arg0"
func.func @whole(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    nest.call "f"(%a) {writes = array<i1: true>} : (memref<?xf64>) -> ()
  }
  return
}

// Read by all.
// CHECK-LABEL: @table
// CHECK: scf.parallel
func.func @table(%a: memref<?xf64>, %table: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<?xf64>
    %y = nest.call "f"(%table, %x) {writes = array<i1: false, false>} : (memref<?xf64>, f64) -> f64
    memref.store %y, %a[%i] : memref<?xf64>
  }
  return
}
