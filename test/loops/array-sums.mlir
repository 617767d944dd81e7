// Sums of integers at places that data choose come in any order; teams of a device have sums of their own where an array fits
// into their scratch memory.
// RUN: ml2kokkos %s --entry=counts -o - | FileCheck %s --check-prefix=COUNTS
// RUN: ml2kokkos %s --entry=counts --target=host -o - | FileCheck %s --check-prefix=HOST
// RUN: ml2kokkos %s --entry=few -o - | FileCheck %s --check-prefix=FEW
// RUN: ml2kokkos %s --entry=seen -o - | FileCheck %s --check-prefix=SEEN
// RUN: ml2kokkos %s --entry=rows -o - | FileCheck %s --check-prefix=ROWS

// COUNTS: team.team_scratch(0)
// COUNTS: for_array_sums(
// COUNTS-NEXT: "array_sums::counts", space, Span{0, n}, Span{0, 1}, counts.data(), {{.*}},
// COUNTS: add_atomically(alone, sums[bin], 1);
// HOST-NOT: team_scratch
// HOST: for_atomic_updates(
// HOST: for_array_sums(
func.func @counts(%bins: memref<?xi32>, %counts: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %bins, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %bin = memref.load %bins[%i] : memref<?xi32>
    %at = arith.index_cast %bin : i32 to index
    %before = memref.load %counts[%at] : memref<?xi32>
    %after = arith.addi %before, %one : i32
    memref.store %after, %counts[%at] : memref<?xi32>
  }
  return
}

// FEW: for_own_sums<int, 16>(
func.func @few(%bins: memref<?xi32>, %counts: memref<16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %bins, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %bin = memref.load %bins[%i] : memref<?xi32>
    %at = arith.index_cast %bin : i32 to index
    %before = memref.load %counts[%at] : memref<16xi32>
    %after = arith.addi %before, %one : i32
    memref.store %after, %counts[%at] : memref<16xi32>
  }
  return
}

// What the sum was is stored, too: order matters.
// SEEN-NOT: for_array_sums
// SEEN: Kokkos::RangePolicy(space, 0, 1)
func.func @seen(%bins: memref<?xi32>, %counts: memref<?xi32>, %rank: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %bins, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %bin = memref.load %bins[%i] : memref<?xi32>
    %at = arith.index_cast %bin : i32 to index
    %before = memref.load %counts[%at] : memref<?xi32>
    memref.store %before, %rank[%i] : memref<?xi32>
    %after = arith.addi %before, %one : i32
    memref.store %after, %counts[%at] : memref<?xi32>
  }
  return
}

// Rows are apart: threads of a host take those, in order.
// ROWS: for_updates(
// ROWS: add_wrapping(counts(row, {{.*}}), 1);
func.func @rows(%bins: memref<8x?xi32>, %counts: memref<8x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %bins, %c1 : memref<8x?xi32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %row = %c0 to %c8 step %c1 {
      %bin = memref.load %bins[%row, %i] : memref<8x?xi32>
      %at = arith.index_cast %bin : i32 to index
      %before = memref.load %counts[%row, %at] : memref<8x?xi32>
      %after = arith.addi %before, %one : i32
      memref.store %after, %counts[%row, %at] : memref<8x?xi32>
    }
  }
  return
}
