// Which sequential loops become parallel, and why the others do not.
// RUN: ml2kokkos-opt %s --ml2k-parallelize-loops | FileCheck %s

// CHECK-LABEL: @elementwise
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK-NOT: scf.for
func.func @elementwise(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %a[%j, %i] : memref<?x?xf32>
      memref.store %x, %b[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// The bound of the inner loop is computed between the two.
// CHECK-LABEL: @boundsBetween
// CHECK: %[[END:.*]] = arith.subi
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%c1, %c1) to (%{{.*}}, %[[END]])
func.func @boundsBetween(%a: memref<?x?xf32>, %b: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %b, %c0 : memref<?x?xf32>
  scf.for %i = %c1 to %n step %c1 {
    %m = memref.dim %b, %c1 : memref<?x?xf32>
    %last = arith.subi %m, %c1 : index
    scf.for %j = %c1 to %last step %c1 {
      %x = memref.load %a[%i, %j] : memref<?x?xf32>
      memref.store %x, %b[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// What is read decides how far the inner loop goes: it stays inside.
// CHECK-LABEL: @boundsFromData
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: scf.for
func.func @boundsFromData(%starts: memref<?xindex>, %b: memref<?x?xf32>, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %b, %c0 : memref<?x?xf32>
  %most = memref.load %starts[%c0] : memref<?xindex>
  scf.for %i = %c0 to %n step %c1 {
    %last = arith.subi %most, %c1 : index
    scf.for %j = %c0 to %last step %c1 {
      memref.store %zero, %b[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// Row i reads row i - 1 of the same memory.
// CHECK-LABEL: @recurrence
// CHECK: scf.for
// CHECK: scf.parallel
// CHECK: nest.note = "sequential: iterations may read what others write of a"
func.func @recurrence(%a: memref<?x?xf32> {nest.name = "a"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %n step %c1 {
    %up = arith.subi %i, %c1 : index
    scf.for %j = %c0 to %m step %c1 {
      %x = memref.load %a[%up, %j] : memref<?x?xf32>
      memref.store %x, %a[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// A transposition in place reads what others write.
// CHECK-LABEL: @transpose
// CHECK: scf.for
// CHECK: scf.for
func.func @transpose(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%j, %i] : memref<?x?xf32>
      memref.store %x, %a[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// Even and odd elements are different ones.
// CHECK-LABEL: @evenOdd
// CHECK: scf.parallel
func.func @evenOdd(%a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    %even = arith.muli %i, %c2 : index
    %odd = arith.addi %even, %c1 : index
    %x = memref.load %a[%odd] : memref<?xf32>
    memref.store %x, %a[%even] : memref<?xf32>
  }
  return
}

// Rows of 8 in one dimension: i * 8 + j with j < 8; with j < 9 they overlap.
// CHECK-LABEL: @flattened
// CHECK: scf.parallel
// CHECK: nest.note = "parallel
// CHECK: scf.for
// CHECK: nest.note = "sequential
func.func @flattened(%a: memref<?xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %c8 : index
    memref.store %v, %a[%row] : memref<?xf32>
    scf.for %j = %c0 to %c8 step %c1 {
      %at = arith.addi %row, %j : index
      memref.store %v, %a[%at] : memref<?xf32>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    %row = arith.muli %i, %c8 : index
    scf.for %j = %c0 to %c9 step %c1 {
      %at = arith.addi %row, %j : index
      memref.store %v, %a[%at] : memref<?xf32>
    }
  }
  return
}

// A scatter through indices that are loaded may hit an element twice.
// CHECK-LABEL: @scatter
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may write the same a"
func.func @scatter(%a: memref<?xf32> {nest.name = "a"}, %where: memref<?xindex>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %at = memref.load %where[%i] : memref<?xindex>
    memref.store %v, %a[%at] : memref<?xf32>
  }
  return
}

// Integer sums and maxima give the same bits in any order, floating-point sums do not.
// CHECK-LABEL: @reductions
// CHECK: scf.parallel {{.*}} init (%{{.*}}) -> i32
// CHECK: scf.parallel {{.*}} init (%{{.*}}) -> f32
// CHECK: scf.for
// CHECK: nest.note = "sequential: terms of a floating-point sum keep their order"
func.func @reductions(%a: memref<?xi32>, %b: memref<?xf32>, %n: index) -> (i32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> i32 {
    %x = memref.load %a[%i] : memref<?xi32>
    %t = arith.addi %acc, %x : i32
    scf.yield %t : i32
  }
  %m = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f0) -> f32 {
    %x = memref.load %b[%i] : memref<?xf32>
    %t = arith.maximumf %x, %acc : f32
    scf.yield %t : f32
  }
  %f = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f0) -> f32 {
    %x = memref.load %b[%i] : memref<?xf32>
    %t = arith.addf %acc, %x : f32
    scf.yield %t : f32
  }
  return %s, %m, %f : i32, f32, f32
}

// Different subscripts of one view are different elements ...
// CHECK-LABEL: @throughView
// CHECK: scf.parallel
func.func @throughView(%a: memref<24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %v = memref.expand_shape %a [[0, 1]] output_shape [6, 4] : memref<24xf32> into memref<6x4xf32>
  scf.for %i = %c0 to %c6 step %c1 {
    %x = memref.load %v[%i, %c1] : memref<6x4xf32>
    memref.store %x, %v[%i, %c0] : memref<6x4xf32>
  }
  return
}

// ... unless every iteration has a view of its own: this is always the same element.
// CHECK-LABEL: @movingView
// CHECK-NOT: scf.parallel
// CHECK: scf.for
func.func @movingView(%a: memref<24xf32>, %b: memref<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %c6 step %c1 {
    %at = arith.subi %c6, %i : index
    %v = memref.subview %a[%at] [8] [1] : memref<24xf32> to memref<8xf32, strided<[1], offset: ?>>
    %x = memref.load %v[%i] : memref<8xf32, strided<[1], offset: ?>>
    %y = memref.load %b[%i] : memref<6xf32>
    %z = arith.addf %x, %y : f32
    memref.store %z, %v[%i] : memref<8xf32, strided<[1], offset: ?>>
  }
  return
}

// How often a number occurs: any order counts the same. Rows are apart.
// CHECK-LABEL: @histograms
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: nest.ordered = array<i1: false, true>
func.func @histograms(%numbers: memref<8x?xi32>, %counts: memref<8x64xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      %number = memref.load %numbers[%row, %i] : memref<8x?xi32>
      %at = arith.index_cast %number : i32 to index
      %before = memref.load %counts[%row, %at] : memref<8x64xi32>
      %after = arith.addi %before, %one : i32
      memref.store %after, %counts[%row, %at] : memref<8x64xi32>
    }
  }
  return
}

// Sums of floating-point numbers keep their order, and so does what is written last.
// CHECK-LABEL: @deposit
// CHECK-NOT: nest.ordered
func.func @deposit(%at: memref<?xi32>, %mass: memref<?xf32>, %cells: memref<?xf32>, %last: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %place = memref.load %at[%i] : memref<?xi32>
    %cell = arith.index_cast %place : i32 to index
    %m = memref.load %mass[%i] : memref<?xf32>
    %before = memref.load %cells[%cell] : memref<?xf32>
    %after = arith.addf %before, %m : f32
    memref.store %after, %cells[%cell] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %place = memref.load %at[%i] : memref<?xi32>
    %cell = arith.index_cast %place : i32 to index
    %m = memref.load %mass[%i] : memref<?xf32>
    memref.store %m, %last[%cell] : memref<?xf32>
  }
  return
}
