// Loops that share a running sum alone become scans; what reads or writes an element of another iteration does not.
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-parallelize-loops))' | FileCheck %s

// CHECK-LABEL: @running
// CHECK: nest.note = "parallel: iterations share a running sum only", nest.scan
func.func @running(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %term = memref.load %x[%i] : memref<?xi32>
    %next = arith.addi %sum, %term : i32
    memref.store %next, %y[%i] : memref<?xi32>
    scf.yield %next : i32
  }
  return
}

// -----

// Kept elements go to the place that the count of those before names.
// CHECK-LABEL: @selected
// CHECK: nest.scan
func.func @selected(%x: memref<5000xf32>, %y: memref<5000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5000 : index
  %zero = arith.constant 0 : i64
  %limit = arith.constant 0.5 : f32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zero) -> i64 {
    %element = memref.load %x[%i] : memref<5000xf32>
    %kept = arith.cmpf ogt, %element, %limit : f32
    scf.if %kept {
      %place = arith.index_cast %count : i64 to index
      memref.store %element, %y[%place] : memref<5000xf32>
    }
    %one = arith.extui %kept : i1 to i64
    %next = arith.addi %count, %one : i64
    scf.yield %next : i64
  }
  return
}

// -----

// Terms of floats keep their order unless the text lets them go.
// CHECK-LABEL: @ordered
// CHECK: sequential: terms of a floating-point sum keep their order
// CHECK-NOT: nest.scan
// CHECK-LABEL: @reassociated
// CHECK: nest.scan
func.func @ordered(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
    %term = memref.load %x[%i] : memref<?xf32>
    %next = arith.addf %sum, %term : f32
    memref.store %next, %y[%i] : memref<?xf32>
    scf.yield %next : f32
  }
  return
}
func.func @reassociated(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> f32 {
    %term = memref.load %x[%i] : memref<?xf32>
    %next = arith.addf %sum, %term fastmath<reassoc> : f32
    memref.store %sum, %y[%i] : memref<?xf32>
    scf.yield %next : f32
  }
  return
}

// -----

// An iteration reads its own element before it writes it: both runs find what was there.
// CHECK-LABEL: @in_place
// CHECK: nest.scan
func.func @in_place(%x: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %term = memref.load %x[%i] : memref<?xi32>
    %next = arith.addi %sum, %term : i32
    memref.store %next, %x[%i] : memref<?xi32>
    scf.yield %next : i32
  }
  return
}

// -----

// Few iterations; an element of another iteration is read; the count says nothing of the place; a place that may be
// taken twice; the sum is used afterwards; a term depends on the sum; what is read does.
// CHECK-NOT: nest.scan
func.func @short(%x: memref<100xi32>, %y: memref<100xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 100 : index
  %zero = arith.constant 0 : i32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %term = memref.load %x[%i] : memref<100xi32>
    %next = arith.addi %sum, %term : i32
    memref.store %next, %y[%i] : memref<100xi32>
    scf.yield %next : i32
  }
  return
}
func.func @of_next(%x: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %size = memref.dim %x, %c0 : memref<?xi32>
  %n = arith.subi %size, %c1 : index
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %j = arith.addi %i, %c1 : index
    %term = memref.load %x[%j] : memref<?xi32>
    %next = arith.addi %sum, %term : i32
    memref.store %next, %x[%i] : memref<?xi32>
    scf.yield %next : i32
  }
  return
}
func.func @uncounted(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %limit = arith.constant 5 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zero) -> i64 {
    %element = memref.load %x[%i] : memref<?xi32>
    %kept = arith.cmpi sgt, %element, %limit : i32
    %place = arith.index_cast %count : i64 to index
    memref.store %element, %y[%place] : memref<?xi32>
    %one = arith.extui %kept : i1 to i64
    %next = arith.addi %count, %one : i64
    scf.yield %next : i64
  }
  return
}
func.func @same_place(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %term = memref.load %x[%i] : memref<?xi32>
    %next = arith.addi %sum, %term : i32
    memref.store %next, %y[%c0] : memref<?xi32>
    scf.yield %next : i32
  }
  return
}
func.func @used(%x: memref<?xi32>, %y: memref<?xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %term = memref.load %x[%i] : memref<?xi32>
    %next = arith.addi %sum, %term : i32
    memref.store %next, %y[%i] : memref<?xi32>
    scf.yield %next : i32
  }
  return %end : i32
}
func.func @feedback(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %element = memref.load %x[%i] : memref<?xi32>
    %term = arith.muli %element, %sum : i32
    %next = arith.addi %sum, %term : i32
    memref.store %next, %y[%i] : memref<?xi32>
    scf.yield %next : i32
  }
  return
}
func.func @looked_up(%x: memref<?xi32>, %y: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %n = memref.dim %y, %c0 : memref<?xi32>
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %zero) -> i32 {
    %at = arith.index_cast %sum : i32 to index
    %element = memref.load %x[%at] : memref<?xi32>
    memref.store %element, %y[%i] : memref<?xi32>
    %one = arith.constant 1 : i32
    %next = arith.addi %sum, %one : i32
    scf.yield %next : i32
  }
  return
}
