// A write to an array of an iteration changes no other memory: a read of that stays where it is used; one of the array itself has a name.

// RUN: ml2kokkos %s -o %t.cpp
// RUN: FileCheck %s < %t.cpp

func.func @kept(%x: memref<?xf32>, %place: memref<?xindex>, %out: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %two = arith.constant 2.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %own = memref.alloca() : memref<4xf32>
    scf.for %k = %c0 to %c4 step %c1 {
      %a = memref.load %x[%k] : memref<?xf32>
      memref.store %a, %own[%k] : memref<4xf32>
    }
    %at = memref.load %place[%i] : memref<?xindex>
    %before = memref.load %own[%at] : memref<4xf32>
    %given = memref.load %x[%i] : memref<?xf32>
    memref.store %two, %own[%at] : memref<4xf32>
    %sum = arith.addf %before, %given : f32
    memref.store %sum, %own[%c1] : memref<4xf32>
    %last = memref.load %own[%at] : memref<4xf32>
    memref.store %last, %out[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
// CHECK: float const [[BEFORE:[a-z]+]] = own[
// CHECK-NEXT: own[{{.*}}] = 2.f;
// CHECK-NEXT: own[1] = [[BEFORE]] + x(i);
// CHECK-NEXT: out(i) = own[
