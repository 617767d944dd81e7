// RUN: split-file %s %t
// RUN: not ml2kokkos %t/generic.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: not ml2kokkos %t/barrier.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=BARRIER
// RUN: not ml2kokkos %t/threads.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not ml2kokkos %t/memory.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not ml2kokkos %t/differs.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=DIFFERS
// RUN: not ml2kokkos %t/vector.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=VECTOR
// RUN: not ml2kokkos %t/branch.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: not ml2kokkos %t/unranked.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=UNRANKED
// RUN: not ml2kokkos %t/empty.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not ml2kokkos %t/recursive.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: not ml2kokkos %t/broken.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not ml2kokkos %t/print.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=PRINT

//--- generic.mlir
func.func @f(%x: f32) {
  "emitc.call"() : () -> ()
  return
}
// GENERIC: generic.mlir:2:{{.*}}error: 'emitc.call': the dialect 'emitc' is not read; lower the file to linalg

//--- barrier.mlir
func.func @f(%x: f32) {
  gpu.barrier
  return
}
// BARRIER: barrier.mlir:2:{{.*}}error: 'gpu.barrier': supported are launches, and loops of a parallel region

//--- threads.mlir
func.func @f(%x: memref<8xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    gpu.barrier
    gpu.terminator
  }
  return
}
// THREADS: threads.mlir:3:{{.*}}error: threads that wait for each other are a known number in each direction

//--- memory.mlir
func.func @f(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1)
      workgroup(%tile : memref<?x4xf32, #gpu.address_space<workgroup>>) {
    gpu.barrier
    gpu.terminator
  }
  return
}
// MEMORY: memory.mlir:5:17: error: memory of a block or a thread has extents that are known and no layout, not 'memref<?x4xf32, #gpu.address_space<workgroup>>'

//--- differs.mlir
func.func @f(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    scf.for %i = %c0 to %tx step %c1 {
      gpu.barrier
    }
    gpu.terminator
  }
  return
}
// DIFFERS: differs.mlir:6:{{.*}}error: a loop around a barrier has bounds that differ between threads

//--- vector.mlir
func.func @f(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<4xf32>, vector<[4]xf32>
  vector.store %v, %x[%c0] : memref<4xf32>, vector<[4]xf32>
  return
}
// VECTOR: vector.mlir:3:{{.*}}error: {{.*}}'vector.load': vectors of a length that the processor decides are not supported; give them a fixed length

//--- branch.mlir
func.func @f(%x: memref<4xf32>, %c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}
// BRANCH: branch.mlir:2:{{.*}}error: {{.*}}'cf.cond_br': branches are not supported; lift them to scf first

//--- unranked.mlir
func.func @f(%x: tensor<*xf32>) {
  return
}
// UNRANKED: unranked.mlir:1:{{.*}}error: {{.*}}argument 0 has no rank

//--- empty.mlir
func.func @f(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  return %x : tensor<0x3xf32>
}
// EMPTY: empty.mlir:1:{{.*}}error: {{.*}}argument 0 has no elements: 'tensor<0x3xf32>'; a dimension that may be empty is written ?

//--- recursive.mlir
func.func @f(%x: index) {
  func.call @f(%x) : (index) -> ()
  return
}
// RECURSIVE: recursive.mlir:2:{{.*}}error: {{.*}}call cannot be inlined

//--- broken.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}
// BROKEN: broken.mlir:2:{{.*}}error: use of undeclared SSA value

//--- print.mlir
#S = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @f(%a: tensor<?xf64, #S>) {
  sparse_tensor.print %a : tensor<?xf64, #S>
  return
}
// PRINT: print.mlir:3:{{.*}}error: {{.*}}prints how a tensor is stored, which is not supported; return the tensor: forward() fills its arrays
