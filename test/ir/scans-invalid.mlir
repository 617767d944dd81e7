// Loops that nest text marks as running sums are looked at before they are printed as scans.
// RUN: not ml2kokkos --emit=cpp %s -o - 2>&1 | FileCheck %s
func.func @forward(%x: memref<10x8xf32> {nest.name = "x"}, %y: memref<10x8xf32> {nest.name = "y", nest.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  %one = arith.constant 1.0 : f32
  nest.kernel "first" range (%i) = (%c0) to (%c8) {
    // CHECK: scans-invalid.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: is marked as a running sum but is none
    %last = scf.for %k = %c0 to %c10 step %c1 iter_args(%before = %one) -> f32 {
      %v = memref.load %x[%k, %i] : memref<10x8xf32>
      %product = arith.mulf %before, %v : f32
      memref.store %product, %y[%k, %i] : memref<10x8xf32>
      scf.yield %product : f32
    } {nest.column_scan}
  }
  nest.kernel "y" range (%i) = (%c0) to (%c8) {
    // CHECK: scans-invalid.mlir:[[#@LINE+1]]:{{[0-9]+}}: error: is marked as a running sum but is none
    scf.for %k = %c0 to %c10 step %c1 {
      %v = memref.load %x[%k, %i] : memref<10x8xf32>
      memref.store %v, %y[%k, %i] : memref<10x8xf32>
    } {nest.scan}
  }
  return
}
