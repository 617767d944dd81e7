// RUN: not ml2kokkos %s --entry=still -o - 2>&1 | FileCheck %s
// RUN: sed '/@still/,/^}/d' %s >%t.mlir && not ml2kokkos %t.mlir -o - 2>&1 | FileCheck %s --check-prefix=FOLDED
//
// A loop that never ends, or goes back, is refused; also where its step is known after folding only.
// CHECK: loop-steps.mlir:[[@LINE+6]]:3: error: 'scf.for' op has a step of 0; a loop goes forward
func.func @still(%x: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  scf.for %k = %c1 to %n step %c0 {
    %above = arith.subi %k, %c1 : index
    %a = memref.load %x[%above, %c0] : memref<?x?xf64>
    %b = arith.addf %a, %one : f64
    memref.store %b, %x[%k, %c0] : memref<?x?xf64>
  }
  return
}

// FOLDED: error: 'scf.for' op has a step of -1; a loop goes forward
func.func @folded(%x: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f64
  %back = arith.subi %c0, %c1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  scf.for %k = %c1 to %n step %back {
    memref.store %one, %x[%k, %c0] : memref<?x?xf64>
  }
  return
}
