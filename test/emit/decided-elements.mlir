// A table whose extent is known at run time only, too: just the element that the condition chooses is read.
// RUN: ml2kokkos %s -o %t.cpp && FileCheck %s < %t.cpp
func.func @decided(%table: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %above = arith.cmpf ogt, %v, %zero : f32
    %k = arith.select %above, %c1, %c0 : index
    // CHECK: float const chosen = v > 0.f ? table(1) : table(0);
    %chosen = memref.load %table[%k] : memref<?xf32>
    %scaled = arith.mulf %chosen, %v : f32
    memref.store %scaled, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
