// Numbers that forward() can compute are its own variables: kernels between their changes are parallel.
// RUN: ml2kokkos %s -o %t.cpp --target=host && FileCheck %s < %t.cpp

// What doubles from stage to stage of a transform, decided by the host:
// CHECK-LABEL: void forward(
// CHECK: std::int64_t half = 1;
// CHECK-NEXT: while (half < std::int64_t(n)) {
// CHECK-NEXT: if (half * 2 <= 0)
// CHECK-NEXT: throw std::invalid_argument("{{.*}}: blocks have elements");
// CHECK-NEXT: compute_x(space, x, half, n);
// CHECK-NEXT: half = wrapping_multiply(half, 2);
// CHECK-NEXT: }
// and counted, with two numbers that change places
// CHECK: int even = 4;
// CHECK-NEXT: int odd = a;
// CHECK-NEXT: for (int t = 0; t < stages; ++t) {
// CHECK-NEXT: compute_y(space, y, even, t);
// CHECK-NEXT: int const next_even = odd;
// CHECK-NEXT: int const next_odd = wrapping_add(even, odd);
// CHECK-NEXT: even = next_even;
// CHECK-NEXT: odd = next_odd;
// CHECK-NEXT: }
// CHECK-NEXT: y_update(space, y, even);
func.func @stages(%x: memref<?xf64>, %y: memref<64xi32>, %stages: index, %a: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %four = arith.constant 4 : i32
  %n = memref.dim %x, %c0 : memref<?xf64>
  %n64 = arith.index_cast %n : index to i64
  %half = scf.while (%half = %one) : (i64) -> i64 {
    %goes = arith.cmpi slt, %half, %n64 : i64
    scf.condition(%goes) %half : i64
  } do {
  ^bb0(%half: i64):
    %twice = arith.muli %half, %two : i64
    %block = arith.index_cast %twice : i64 to index
    %holds = arith.cmpi sgt, %block, %c0 : index
    cf.assert %holds, "blocks have elements"
    scf.for %k = %c0 to %n step %block {
      %size = arith.index_cast %half : i64 to index
      scf.for %j = %c0 to %size step %c1 {
        %low = arith.addi %k, %j : index
        %high = arith.addi %low, %size : index
        %u = memref.load %x[%low] : memref<?xf64>
        %v = memref.load %x[%high] : memref<?xf64>
        %sum = arith.addf %u, %v : f64
        %difference = arith.subf %u, %v : f64
        memref.store %sum, %x[%low] : memref<?xf64>
        memref.store %difference, %x[%high] : memref<?xf64>
      }
    }
    scf.yield %twice : i64
  }
  %last:2 = scf.for %t = %c0 to %stages step %c1 iter_args(%even = %four, %odd = %a) -> (i32, i32) {
    scf.for %i = %t to %c64 step %c1 {
      %v = memref.load %y[%i] : memref<64xi32>
      %w = arith.addi %v, %even : i32
      memref.store %w, %y[%i] : memref<64xi32>
    }
    %sum = arith.addi %even, %odd : i32
    scf.yield %odd, %sum : i32, i32
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %v = memref.load %y[%i] : memref<64xi32>
    %w = arith.muli %v, %last#0 : i32
    memref.store %w, %y[%i] : memref<64xi32>
  }
  return
}
