// A load that the program evaluates in any case stands in front of && and ||: behind them no compiler makes vectors of it.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK:      for_span(
// CHECK:      int const y = old(i + 1);
// CHECK-NEXT: new_(i) = int(x == 3 || (x == 2 && y == 1));
func.func @guarded(%old: memref<?xi32>, %new: memref<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %old[%i] : memref<?xi32>
    %next = arith.addi %i, %c1 : index
    %y = memref.load %old[%next] : memref<?xi32>
    %is_three = arith.cmpi eq, %x, %three : i32
    %is_two = arith.cmpi eq, %x, %two : i32
    %is_one = arith.cmpi eq, %y, %one : i32
    %both = arith.andi %is_two, %is_one : i1
    %lives = arith.ori %is_three, %both : i1
    %r = arith.select %lives, %one, %zero : i32
    memref.store %r, %new[%i] : memref<?xi32>
    scf.reduce
  }
  return
}
