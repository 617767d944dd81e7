// What is computed from unsigned memory alone is unsigned; signed numbers are cast where an operation is unsigned.
// RUN: ml2kokkos %s -o - | FileCheck %s

// CHECK: unsigned x = s(i);
// CHECK: unsigned const y = x ^ (x << 13u);
// CHECK: x = y ^ (y >> 17u);
// CHECK: s(i) = x;
// CHECK: f(i) = float(x >> 8u);
// CHECK: std::uint16_t const b = n(i);
// CHECK: n(i) = std::uint16_t(unsigned(b) * b);
// CHECK: d(i) = int(unsigned(d(i)) / 10u);
func.func @f(%s: memref<?xi32> {nest.name = "s", nest.unsigned}, %f: memref<?xf32> {nest.name = "f"},
             %n: memref<?xi16> {nest.name = "n", nest.unsigned}, %d: memref<?xi32> {nest.name = "d"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : i32
  %c10 = arith.constant 10 : i32
  %c13 = arith.constant 13 : i32
  %c17 = arith.constant 17 : i32
  %size = memref.dim %s, %c0 : memref<?xi32>
  scf.parallel (%i) = (%c0) to (%size) step (%c1) {
    %first = memref.load %s[%i] : memref<?xi32>
    %last = scf.for %k = %c0 to %c4 step %c1 iter_args(%x = %first) -> (i32) {
      %up = arith.shli %x, %c13 : i32
      %y = arith.xori %x, %up : i32
      %down = arith.shrui %y, %c17 : i32
      %z = arith.xori %y, %down : i32
      scf.yield %z : i32
    }
    memref.store %last, %s[%i] : memref<?xi32>
    %bits = arith.shrui %last, %c8 : i32
    %real = arith.uitofp %bits : i32 to f32
    memref.store %real, %f[%i] : memref<?xf32>
    %b = memref.load %n[%i] : memref<?xi16>
    %square = arith.muli %b, %b : i16
    memref.store %square, %n[%i] : memref<?xi16>
    %e = memref.load %d[%i] : memref<?xi32>
    %tenth = arith.divui %e, %c10 : i32
    memref.store %tenth, %d[%i] : memref<?xi32>
    scf.reduce
  }
  return
}
