// What loops access says how large arguments have to be: asserted once, in the entry; loops are taken to run.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-lower-loops | FileCheck %s

// CHECK-LABEL: @axpy(
// CHECK-DAG: %[[X:.*]] = memref.dim %arg0, %c0
// CHECK-DAG: %[[Y:.*]] = memref.dim %arg1, %c0
// CHECK: %[[FITS:.*]] = arith.cmpi sle, %[[X]], %[[Y]] : index
// CHECK: cf.assert %[[FITS]], "y_size has to be at least x_size"
// CHECK-NOT: cf.assert
func.func @axpy(%x: memref<?xf32> {nest.name = "x"}, %y: memref<?xf32> {nest.name = "y"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %s = arith.addf %a, %b : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}

// -----

// Numbers passed by value, fixed extents, halos on both sides.
// CHECK-LABEL: @numbers(
// CHECK-DAG: cf.assert %{{.*}}, "n has to be at most 14"
// CHECK-DAG: cf.assert %{{.*}}, "x_size has to be at least n + 2"
// CHECK-DAG: cf.assert %{{.*}}, "shift has to be at most 0"
// CHECK-DAG: cf.assert %{{.*}}, "shift + shifted_size has to be at least n"
func.func @numbers(%x: memref<?xf32> {nest.name = "x"}, %fixed: memref<16xf32> {nest.name = "fixed"}, %shifted: memref<?xf32> {nest.name = "shifted"},
    %n: index {nest.name = "n"}, %shift: i32 {nest.name = "shift"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %by = arith.index_cast %shift : i32 to index
  scf.for %i = %c0 to %n step %c1 {
    %after = arith.addi %i, %c2 : index
    %there = arith.subi %i, %by : index
    %a = memref.load %x[%after] : memref<?xf32>
    memref.store %a, %fixed[%after] : memref<16xf32>
    memref.store %a, %shifted[%there] : memref<?xf32>
  }
  return
}

// -----

// A matrix row by row in flat memory.
// CHECK-LABEL: @flat(
// CHECK: cf.assert %{{.*}}, "x_size has to be at least rows * columns"
// CHECK-NOT: cf.assert
func.func @flat(%x: memref<?xf32> {nest.name = "x"}, %rows: index {nest.name = "rows"}, %columns: index {nest.name = "columns"}, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    %row = arith.muli %i, %columns : index
    %at = arith.addi %row, %j : index
    memref.store %v, %x[%at] : memref<?xf32>
  }
  return
}

// -----

// Memory that a host loop exchanges; what the index of that loop reaches.
// CHECK-LABEL: @rounds(
// CHECK-DAG: cf.assert %{{.*}}, "b_size has to be at least a_size"
// CHECK-DAG: cf.assert %{{.*}}, "values_size_0 has to be at least steps"
// CHECK-DAG: cf.assert %{{.*}}, "values_size_1 has to be at least a_size"
func.func @rounds(%a: memref<?xf32> {nest.name = "a"}, %b: memref<?xf32> {nest.name = "b"}, %values: memref<?x?xf32> {nest.name = "values"},
    %steps: index {nest.name = "steps"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %last:2 = scf.for %t = %c0 to %steps step %c1 iter_args(%old = %a, %new = %b) -> (memref<?xf32>, memref<?xf32>) {
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %v = memref.load %old[%i] : memref<?xf32>
      %w = memref.load %values[%t, %i] : memref<?x?xf32>
      %s = arith.addf %v, %w : f32
      memref.store %s, %new[%i] : memref<?xf32>
    }
    scf.yield %new, %old : memref<?xf32>, memref<?xf32>
  }
  return
}

// -----

// What a branch of forward() accesses is asserted there; accesses under a condition in a kernel, and those at positions that
// are read, need nothing.
// CHECK-LABEL: @conditions(
// CHECK-NOT: cf.assert
// CHECK: scf.if
// CHECK: cf.assert %{{.*}}, "y_size has to be at least x_size"
// CHECK-NOT: cf.assert
func.func @conditions(%x: memref<?xf32> {nest.name = "x"}, %y: memref<?xf32> {nest.name = "y"}, %places: memref<?xindex> {nest.name = "places"}, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m = memref.dim %y, %c0 : memref<?xf32>
  %p = memref.dim %places, %c0 : memref<?xindex>
  scf.if %flag {
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %zero, %y[%i] : memref<?xf32>
    }
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %inside = arith.cmpi slt, %i, %m : index
    scf.if %inside {
      memref.store %zero, %y[%i] : memref<?xf32>
    }
  }
  scf.parallel (%i) = (%c0) to (%p) step (%c1) {
    %at = memref.load %places[%i] : memref<?xindex>
    memref.store %zero, %x[%at] : memref<?xf32>
  }
  return
}
