// Reads of memory that nothing wrote are warned of; nothing is said where anything may have written it.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/read.mlir --emit=imported 2>&1 >/dev/null | FileCheck %s
// RUN: ml2kokkos %t/written.mlir --emit=imported 2>&1 >/dev/null | count 0

//--- read.mlir
// CHECK: read.mlir:11:{{.*}}warning: {{.*}}'memref.load' reads memory that nothing wrote
// CHECK: read.mlir:8:{{.*}}made here
// CHECK: warning: {{.*}}'linalg.matmul' reads memory that nothing wrote
func.func @f(%a: memref<8xf64>, %r: memref<f64>, %p: memref<4x4xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %m = memref.alloc() : memref<f64>
  scf.for %i = %c0 to %c8 step %c1 {
    %x = memref.load %a[%i] : memref<8xf64>
    %s = memref.load %m[] : memref<f64>
    %t = arith.addf %s, %x : f64
    memref.store %t, %m[] : memref<f64>
  }
  %v = memref.load %m[] : memref<f64>
  memref.store %v, %r[] : memref<f64>
  %q = memref.alloc() : memref<4x4xf64>
  linalg.matmul ins(%p, %p : memref<4x4xf64>, memref<4x4xf64>) outs(%q : memref<4x4xf64>)
  memref.copy %q, %p : memref<4x4xf64> to memref<4x4xf64>
  return
}

//--- written.mlir
func.func @f(%a: memref<8xf64>, %r: memref<f64>, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f64
  %m = memref.alloc() : memref<f64>
  %later = memref.alloc() : memref<f64>
  memref.store %z, %m[] : memref<f64>
  scf.for %i = %c0 to %c8 step %c1 {
    %s = memref.load %m[] : memref<f64>
    scf.if %flag {
      %v = memref.load %later[] : memref<f64>
      memref.store %v, %r[] : memref<f64>
    }
    memref.store %s, %later[] : memref<f64>
  }
  return
}
