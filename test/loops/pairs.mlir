// Elements that are exchanged in pairs, i with i ^ mask: a condition that says which of the two is greater holds in one of the
// iterations that touch them.
// RUN: ml2kokkos-opt %s --ml2k-parallelize-loops | FileCheck %s

// CHECK-LABEL: @sorted
// CHECK: scf.parallel
// CHECK-NOT: nest.note = "sequential
func.func @sorted(%x: memref<?xf64>, %mask: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %own = arith.index_cast %i : index to i64
    %partner = arith.xori %own, %mask : i64
    %first = arith.cmpi sgt, %partner, %own : i64
    scf.if %first {
      %j = arith.index_cast %partner : i64 to index
      %a = memref.load %x[%i] : memref<?xf64>
      %b = memref.load %x[%j] : memref<?xf64>
      %more = arith.cmpf ogt, %a, %b : f64
      scf.if %more {
        memref.store %b, %x[%i] : memref<?xf64>
        memref.store %a, %x[%j] : memref<?xf64>
      }
    }
  }
  return
}

// Both branches of the condition touch a pair.
// CHECK-LABEL: @both
// CHECK-NOT: scf.parallel
// CHECK: nest.note = "sequential
func.func @both(%x: memref<?xf64>, %mask: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.xori %i, %mask : index
    %a = memref.load %x[%j] : memref<?xf64>
    %first = arith.cmpi sgt, %j, %i : index
    scf.if %first {
      memref.store %a, %x[%i] : memref<?xf64>
    } else {
      %b = arith.negf %a : f64
      memref.store %b, %x[%i] : memref<?xf64>
    }
  }
  return
}

// A condition that holds for both of a pair, and a mask that changes.
// CHECK-LABEL: @any
// CHECK-NOT: scf.parallel
// CHECK-COUNT-2: nest.note = "sequential
func.func @any(%x: memref<?xf64>, %mask: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.xori %i, %mask : index
    %differs = arith.cmpi ne, %j, %i : index
    scf.if %differs {
      %a = memref.load %x[%i] : memref<?xf64>
      memref.store %a, %x[%j] : memref<?xf64>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    %moves = arith.remui %i, %c2 : index
    %j = arith.xori %i, %moves : index
    %first = arith.cmpi sgt, %j, %i : index
    scf.if %first {
      %a = memref.load %x[%i] : memref<?xf64>
      memref.store %a, %x[%j] : memref<?xf64>
    }
  }
  return
}
