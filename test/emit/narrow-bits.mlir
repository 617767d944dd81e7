// C++ computes integers of 8 and 16 bits in int: what operations on their bits give is made narrow again, or -Wconversion
// warns.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: std::int8_t const x = a(i);
// CHECK: std::int8_t const y = b(i);
// CHECK: c(i) = std::int8_t(std::int8_t(std::int8_t(x & y) | std::int8_t(x ^ y)) + std::int8_t(x >> 3));
// CHECK: d(i) = std::int16_t(d(i) % 7);
func.func @bits(%a: memref<?xi8>, %b: memref<?xi8>, %c: memref<?xi8>, %d: memref<?xi16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i8
  %seven = arith.constant 7 : i16
  %n = memref.dim %a, %c0 : memref<?xi8>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %a[%i] : memref<?xi8>
    %y = memref.load %b[%i] : memref<?xi8>
    %0 = arith.andi %x, %y : i8
    %1 = arith.xori %x, %y : i8
    %2 = arith.ori %0, %1 : i8
    %3 = arith.shrsi %x, %three : i8
    %4 = arith.addi %2, %3 : i8
    memref.store %4, %c[%i] : memref<?xi8>
    %z = memref.load %d[%i] : memref<?xi16>
    %5 = arith.remsi %z, %seven : i16
    memref.store %5, %d[%i] : memref<?xi16>
  }
  return
}
