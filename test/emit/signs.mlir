// Signs of numbers are signs of sums; numbers of unsigned operations are unsigned; an index that data of 32 bits take is the
// int that it is.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: for (int i = 1; i < n - 1; ++i)
// CHECK: x(i) = x(i - 1) - 0.5;
// CHECK: places(7 - i * 2) = i;
// CHECK: places(i) = ~int(unsigned(places(i)) % 9u);
// CHECK: v - v / 3.0
func.func @signs(%x: memref<?xf64>, %places: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %half = arith.constant -0.5 : f64
  %three = arith.constant 3.0 : f64
  %ones = arith.constant -1 : i32
  %nine = arith.constant 9 : i32
  %n = memref.dim %x, %c0 : memref<?xf64>
  affine.for %i = 1 to affine_map<(d0) -> (d0 - 1)>(%n) {
    %v = affine.load %x[%i - 1] : memref<?xf64>
    %w = arith.addf %v, %half : f64
    affine.store %w, %x[%i] : memref<?xf64>
  }
  affine.for %i = 0 to 4 {
    %wide = arith.index_cast %i : index to i64
    %narrow = arith.trunci %wide : i64 to i32
    affine.store %narrow, %places[%i * -2 + 7] : memref<?xi32>
  }
  affine.for %i = 0 to %n {
    %v = affine.load %places[%i] : memref<?xi32>
    %w = arith.remui %v, %nine : i32
    %u = arith.xori %w, %ones : i32
    affine.store %u, %places[%i] : memref<?xi32>
  }
  affine.for %i = 0 to %n {
    %v = affine.load %x[%i] : memref<?xf64>
    %m = arith.negf %v : f64
    %d = arith.divf %m, %three : f64
    %w = arith.addf %v, %d : f64
    affine.store %w, %x[%i] : memref<?xf64>
  }
  return
}
