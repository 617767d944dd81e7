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

// A transposition in place reads what others write, but not in one row: a(j, i) is a(i, k) for j = i = k alone.
// CHECK-LABEL: @transpose
// CHECK: scf.for
// CHECK: scf.parallel
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

// Both halves of a symmetric matrix: a(i, j) and a(j, i) with j >= i are one element on the diagonal alone.
// CHECK-LABEL: @mirrored
// CHECK-NOT: scf.for
// CHECK: scf.parallel
// CHECK-NEXT: scf.parallel
func.func @mirrored(%a: memref<?x?xf64>, %x: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %i to %n step %c1 {
      %v = memref.load %x[%j] : memref<?xf64>
      memref.store %v, %a[%i, %j] : memref<?x?xf64>
      memref.store %v, %a[%j, %i] : memref<?x?xf64>
    }
  }
  return
}

// A step of an elimination changes what lies behind its row and column, and reads these.
// CHECK-LABEL: @eliminate
// CHECK: scf.for %[[k:.*]] =
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
func.func @eliminate(%a: memref<?x?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    %next = arith.addi %k, %c1 : index
    scf.for %i = %next to %n step %c1 {
      scf.for %j = %next to %n step %c1 {
        %x = memref.load %a[%i, %k] : memref<?x?xf64>
        %y = memref.load %a[%k, %j] : memref<?x?xf64>
        %old = memref.load %a[%i, %j] : memref<?x?xf64>
        %term = arith.mulf %x, %y : f64
        %new = arith.subf %old, %term : f64
        memref.store %new, %a[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

// If it began at the row itself, iterations would read the row that one of them writes.
// CHECK-LABEL: @eliminateOwn
// CHECK: scf.for %{{.*}} = %c0
// CHECK: scf.for %{{.*}} = %{{.*}} to
// CHECK: scf.for
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @eliminateOwn(%a: memref<?x?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %k to %n step %c1 {
      scf.for %j = %k to %n step %c1 {
        %x = memref.load %a[%i, %k] : memref<?x?xf64>
        %y = memref.load %a[%k, %j] : memref<?x?xf64>
        %old = memref.load %a[%i, %j] : memref<?x?xf64>
        %term = arith.mulf %x, %y : f64
        %new = arith.subf %old, %term : f64
        memref.store %new, %a[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

// A condition keeps the element that is read apart from those that are written.
// CHECK-LABEL: @guarded
// CHECK-NOT: scf.for
// CHECK: scf.parallel
func.func @guarded(%a: memref<?xf64>, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %isBehind = arith.cmpi sgt, %i, %k : index
    scf.if %isBehind {
      %x = memref.load %a[%k] : memref<?xf64>
      memref.store %x, %a[%i] : memref<?xf64>
    }
  }
  return
}

// It does not where it says something else.
// CHECK-LABEL: @guardedOwn
// CHECK: scf.for
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @guardedOwn(%a: memref<?xf64>, %k: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %isBehind = arith.cmpi sge, %i, %k : index
    scf.if %isBehind {
      %x = memref.load %a[%k] : memref<?xf64>
      %y = arith.addf %x, %x : f64
      memref.store %y, %a[%i] : memref<?xf64>
    }
  }
  return
}

// Indices that sums double many times are looked at for a while only.
// CHECK-LABEL: @doubled
// CHECK: scf.for
func.func @doubled(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %i0 = arith.addi %i, %i : index
    %i1 = arith.addi %i0, %i0 : index
    %i2 = arith.addi %i1, %i1 : index
    %i3 = arith.addi %i2, %i2 : index
    %i4 = arith.addi %i3, %i3 : index
    %i5 = arith.addi %i4, %i4 : index
    %i6 = arith.addi %i5, %i5 : index
    %i7 = arith.addi %i6, %i6 : index
    %i8 = arith.addi %i7, %i7 : index
    %i9 = arith.addi %i8, %i8 : index
    %i10 = arith.addi %i9, %i9 : index
    %i11 = arith.addi %i10, %i10 : index
    %i12 = arith.addi %i11, %i11 : index
    %i13 = arith.addi %i12, %i12 : index
    %i14 = arith.addi %i13, %i13 : index
    %i15 = arith.addi %i14, %i14 : index
    %i16 = arith.addi %i15, %i15 : index
    %i17 = arith.addi %i16, %i16 : index
    %i18 = arith.addi %i17, %i17 : index
    %i19 = arith.addi %i18, %i18 : index
    %i20 = arith.addi %i19, %i19 : index
    %i21 = arith.addi %i20, %i20 : index
    %i22 = arith.addi %i21, %i21 : index
    %i23 = arith.addi %i22, %i22 : index
    %i24 = arith.addi %i23, %i23 : index
    %i25 = arith.addi %i24, %i24 : index
    %i26 = arith.addi %i25, %i25 : index
    %i27 = arith.addi %i26, %i26 : index
    %i28 = arith.addi %i27, %i27 : index
    %i29 = arith.addi %i28, %i28 : index
    %i30 = arith.addi %i29, %i29 : index
    %i31 = arith.addi %i30, %i30 : index
    %i32 = arith.addi %i31, %i31 : index
    %i33 = arith.addi %i32, %i32 : index
    %i34 = arith.addi %i33, %i33 : index
    %i35 = arith.addi %i34, %i34 : index
    %i36 = arith.addi %i35, %i35 : index
    %i37 = arith.addi %i36, %i36 : index
    %i38 = arith.addi %i37, %i37 : index
    %i39 = arith.addi %i38, %i38 : index
    %x = memref.load %a[%i39] : memref<?xf64>
    memref.store %x, %a[%i] : memref<?xf64>
  }
  return
}

// A vector that the second half of an iteration needs is computed for all iterations first.
// CHECK-LABEL: @distributed
// CHECK: scf.parallel (%[[row:.*]]) =
// CHECK: memref.store {{.*}}[%[[row]]]
// CHECK: scf.for
// CHECK-NEXT: scf.parallel
func.func @distributed(%a: memref<?x?xf64>, %t: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%before = %zero) -> f64 {
      %v = memref.load %a[%i, %j] : memref<?x?xf64>
      %after = arith.addf %before, %v : f64
      scf.yield %after : f64
    }
    memref.store %sum, %t[%i] : memref<?xf64>
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %a[%i, %j] : memref<?x?xf64>
      %w = memref.load %t[%i] : memref<?xf64>
      %product = arith.mulf %v, %w : f64
      %before = memref.load %y[%j] : memref<?xf64>
      %after = arith.addf %before, %product : f64
      memref.store %after, %y[%j] : memref<?xf64>
    }
  }
  return
}

// Not where it needs what the second half of the iteration before has made.
// CHECK-LABEL: @together
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.parallel
// CHECK-NOT: scf.for
// CHECK: return
func.func @together(%a: memref<?x?xf64>, %t: memref<?xf64>, %y: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%before = %zero) -> f64 {
      %v = memref.load %y[%j] : memref<?xf64>
      %after = arith.addf %before, %v : f64
      scf.yield %after : f64
    }
    memref.store %sum, %t[%i] : memref<?xf64>
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %a[%i, %j] : memref<?x?xf64>
      %w = memref.load %t[%i] : memref<?xf64>
      %product = arith.mulf %v, %w : f64
      memref.store %product, %y[%j] : memref<?xf64>
    }
  }
  return
}

// Halves of a vector change places: twice a half is not more than all.
// CHECK-LABEL: @reversed
// CHECK: scf.parallel
// CHECK-NOT: scf.for
func.func @reversed(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %last = arith.subi %n, %c1 : index
  %half = arith.divui %n, %c2 : index
  scf.for %i = %c0 to %half step %c1 {
    %other = arith.subi %last, %i : index
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %x[%other] : memref<?xf32>
    memref.store %b, %x[%i] : memref<?xf32>
    memref.store %a, %x[%other] : memref<?xf32>
  }
  return
}

// Rounded up, and one more, they meet.
// CHECK-LABEL: @reversedTwice
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may read what others write of x"
func.func @reversedTwice(%x: memref<?xf32> {nest.name = "x"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %last = arith.subi %n, %c1 : index
  %half = arith.ceildivsi %n, %c2 : index
  %more = arith.addi %half, %c1 : index
  scf.for %i = %c0 to %more step %c1 {
    %other = arith.subi %last, %i : index
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %x[%other] : memref<?xf32>
    memref.store %b, %x[%i] : memref<?xf32>
    memref.store %a, %x[%other] : memref<?xf32>
  }
  return
}
