// A branch around all that a grid does, by the parity of its positions, is the block's.
// RUN: ml2kokkos %s --entry=red -o - | FileCheck %s --check-prefix=RED
// RUN: ml2kokkos %s --entry=red --emit=prepared -o - | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=red --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: ml2kokkos %s --entry=planes -o - | FileCheck %s --check-prefix=PLANES
// RUN: ml2kokkos %s --entry=below -o - | FileCheck %s --check-prefix=BELOW
// RUN: ml2kokkos %s --entry=narrow -o - | FileCheck %s --check-prefix=NARROW
// RUN: ml2kokkos %s --entry=rows -o - | FileCheck %s --check-prefix=ROWS
// RUN: ml2kokkos %s --entry=both -o - | FileCheck %s --check-prefix=BOTH

// RED: void for_checkered(
// RED: for_checkered(
// RED-NEXT: "every_other::u", space, Span{1, n - 1}, Span{1, m - 1}, 1,
// RED-NEXT: KOKKOS_LAMBDA(int i, int j) { u(i, j) = u(i - 1, j) + u(i, j - 1); });
// NEST: scf.if
// NEST: } {nest.every_other = 1 : i64}
// NEST: nest.schedule = #nest.schedule<for_grid>
// NAIVE: MDRangePolicy
// NAIVE: if ((i + j + 4) % 2 == 1)
func.func @red(%u: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %u, %c0 : memref<?x?xf32>
  %m = memref.dim %u, %c1 : memref<?x?xf32>
  %rows = arith.subi %n, %c1 : index
  %columns = arith.subi %m, %c1 : index
  scf.parallel (%i, %j) = (%c1, %c1) to (%rows, %columns) step (%c1, %c1) {
    %sum = arith.addi %i, %j : index
    %more = arith.addi %sum, %c4 : index
    %rest = arith.remsi %more, %c2 : index
    %is = arith.cmpi eq, %rest, %c1 : index
    scf.if %is {
      %above = arith.subi %i, %c1 : index
      %left = arith.subi %j, %c1 : index
      %a = memref.load %u[%above, %j] : memref<?x?xf32>
      %b = memref.load %u[%i, %left] : memref<?x?xf32>
      %ab = arith.addf %a, %b : f32
      memref.store %ab, %u[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// PLANES: void for_checkered_planes(
// PLANES: for_checkered_planes(
// PLANES-NEXT: "every_other::u", space, Span{0, 12}, Span{0, n}, Span{0, 40}, 1,
// PLANES-NEXT: KOKKOS_LAMBDA(int i, int j, int k) { u(i, j, k) = 0.f; });
func.func @planes(%u: memref<12x?x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %u, %c1 : memref<12x?x40xf32>
  scf.parallel (%i, %j, %k) = (%c0, %c0, %c0) to (%c12, %n, %c40) step (%c1, %c1, %c1) {
    %ij = arith.addi %i, %j : index
    %sum = arith.addi %ij, %k : index
    %rest = arith.remsi %sum, %c2 : index
    %is = arith.cmpi ne, %rest, %c0 : index
    scf.if %is {
      memref.store %zero, %u[%i, %j, %k] : memref<12x?x40xf32>
    }
  }
  return
}

// The remainder of -1 is -1, not 1.
// BELOW-NOT: for_checkered
// BELOW: if ((i + j - 3) % 2 == 1)
func.func @below(%u: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c50 = arith.constant 50 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c50, %c60) step (%c1, %c1) {
    %ij = arith.addi %i, %j : index
    %sum = arith.subi %ij, %c3 : index
    %rest = arith.remsi %sum, %c2 : index
    %is = arith.cmpi eq, %rest, %c1 : index
    scf.if %is {
      memref.store %zero, %u[%i, %j] : memref<50x60xf32>
    }
  }
  return
}

// Of i8 128 is -128, and the remainder of -127 is -1.
// NARROW-NOT: for_checkered
// NARROW: if (std::int8_t(std::int8_t(i + j) % 2) == 1)
func.func @narrow(%u: memref<200x200xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %two = arith.constant 2 : i8
  %c200 = arith.constant 200 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c200, %c200) step (%c1, %c1) {
    %ij = arith.addi %i, %j : index
    %sum = arith.index_cast %ij : index to i8
    %rest = arith.remsi %sum, %two : i8
    %is = arith.cmpi eq, %rest, %one : i8
    scf.if %is {
      memref.store %zero, %u[%i, %j] : memref<200x200xf32>
    }
  }
  return
}

// Whole rows are no checkerboard.
// ROWS-NOT: for_checkered
// ROWS: if ((i + j * 2) % 2 == 0)
func.func @rows(%u: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c50 = arith.constant 50 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c50, %c60) step (%c1, %c1) {
    %twice = arith.muli %j, %c2 : index
    %sum = arith.addi %i, %twice : index
    %rest = arith.remsi %sum, %c2 : index
    %is = arith.cmpi eq, %rest, %c0 : index
    scf.if %is {
      memref.store %zero, %u[%i, %j] : memref<50x60xf32>
    }
  }
  return
}

// What the grid does everywhere stays.
// BOTH-NOT: for_checkered
// BOTH: if ((i + j) % 2 == 0)
func.func @both(%u: memref<50x60xf32>, %v: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c50 = arith.constant 50 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c50, %c60) step (%c1, %c1) {
    memref.store %zero, %v[%i, %j] : memref<50x60xf32>
    %sum = arith.addi %i, %j : index
    %rest = arith.remsi %sum, %c2 : index
    %is = arith.cmpi eq, %rest, %c0 : index
    scf.if %is {
      memref.store %zero, %u[%i, %j] : memref<50x60xf32>
    }
  }
  return
}
