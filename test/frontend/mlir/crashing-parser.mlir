// A loop of two blocks, at which the parser of LLVM 19 reads through a null pointer.
// RUN: not ml2kokkos %s -o - 2>&1 | FileCheck %s
// CHECK: crashing-parser.mlir:1:1: error: LLVM's reader of MLIR crashes on this file
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
  scf.forall (%i) in (8) {
    %x = memref.load %a[%i] : memref<8xf32>
  ^bb0(%v: f32):
    memref.store %v, %b[%i] : memref<8xf32>
  }
  return
}
