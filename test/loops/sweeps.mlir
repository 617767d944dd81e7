// A loop over every other position of each row, which begins at one of two, is a checkerboard.
// RUN: ml2kokkos %s --entry=red -o - | FileCheck %s --check-prefix=RED
// RUN: ml2kokkos %s --entry=red --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: ml2kokkos %s --entry=planes -o - | FileCheck %s --check-prefix=PLANES
// RUN: ml2kokkos %s --entry=masked -o - | FileCheck %s --check-prefix=MASKED
// RUN: ml2kokkos %s --entry=below -o - | FileCheck %s --check-prefix=BELOW
// RUN: ml2kokkos %s --entry=all -o - | FileCheck %s --check-prefix=ALL
// RUN: ml2kokkos %s --entry=conflict -o - | FileCheck %s --check-prefix=CONFLICT

// RED: void for_checkered(
// RED: for_checkered(
// RED-NEXT: "sweeps::u", space, Span{1, n - 1}, Span{1, m - 1}, 1,
// RED-NEXT: KOKKOS_LAMBDA(int i, int j) { u(i, j) = u(i - 1, j) + u(i, j - 1); });
// NAIVE-NOT: for_checkered
// NAIVE: for (int j = {{.*}}; j < {{.*}}; j += 2)
func.func @red(%u: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %u, %c0 : memref<?x?xf32>
  %m = memref.dim %u, %c1 : memref<?x?xf32>
  %rows = arith.subi %n, %c1 : index
  %columns = arith.subi %m, %c1 : index
  scf.for %i = %c1 to %rows step %c1 {
    %rest = arith.remsi %i, %c2 : index
    %first = arith.addi %rest, %c1 : index
    scf.for %j = %first to %columns step %c2 {
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
// PLANES-NEXT: "sweeps::u", space, Span{0, 12}, Span{0, n}, Span{0, 40}, 1,
// PLANES-NEXT: KOKKOS_LAMBDA(int i, int j, int k) { u(i, j, k) = 0.f; });
func.func @planes(%u: memref<12x?x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %u, %c1 : memref<12x?x40xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c12, %n) step (%c1, %c1) {
    %ij = arith.addi %i, %j : index
    %sum = arith.addi %ij, %c1 : index
    %first = arith.remsi %sum, %c2 : index
    scf.for %k = %first to %c40 step %c2 {
      memref.store %zero, %u[%i, %j, %k] : memref<12x?x40xf32>
    }
  }
  return
}

// MASKED: void for_checkered(
// MASKED: for_checkered("sweeps::u", space, Span{0, 50}, Span{3, 60}, 0,
func.func @masked(%u: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c50 = arith.constant 50 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c50 step %c1 {
    %sum = arith.addi %i, %c1 : index
    %rest = arith.andi %sum, %c1 : index
    %first = arith.addi %rest, %c3 : index
    scf.for %j = %first to %c60 step %c2 {
      memref.store %zero, %u[%i, %j] : memref<50x60xf32>
    }
  }
  return
}

// Row 0 begins at 3 - 1.
// BELOW-NOT: for_checkered
// BELOW: j += 2
func.func @below(%u: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c50 = arith.constant 50 : index
  %c60 = arith.constant 60 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c50 step %c1 {
    %sum = arith.subi %i, %c3 : index
    %rest = arith.remsi %sum, %c2 : index
    %first = arith.addi %rest, %c3 : index
    scf.for %j = %first to %c60 step %c2 {
      memref.store %zero, %u[%i, %j] : memref<50x60xf32>
    }
  }
  return
}

// Rows that end at different places are no grid.
// ALL-NOT: for_checkered
// ALL: j += 2
func.func @all(%u: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c50 = arith.constant 50 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c50 step %c1 {
    %rest = arith.remsi %i, %c2 : index
    scf.for %j = %rest to %i step %c2 {
      memref.store %zero, %u[%i, %j] : memref<50x60xf32>
    }
  }
  return
}

// Each element is made of the one before.
// CONFLICT-NOT: for_checkered
// CONFLICT: j += 2
func.func @conflict(%u: memref<50x60xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c50 = arith.constant 50 : index
  %c58 = arith.constant 58 : index
  scf.for %i = %c0 to %c50 step %c1 {
    %rest = arith.remsi %i, %c2 : index
    scf.for %j = %rest to %c58 step %c2 {
      %next = arith.addi %j, %c2 : index
      %here = memref.load %u[%i, %j] : memref<50x60xf32>
      memref.store %here, %u[%i, %next] : memref<50x60xf32>
    }
  }
  return
}
