// Loops that carry tensors next to a memref or a sparse tensor: the next value goes into the tensor that is carried.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/new.mlir --emit=imported | FileCheck %s --check-prefix=NEW
// RUN: ml2kokkos %t/swap.mlir --emit=imported | FileCheck %s --check-prefix=SWAP
// RUN: ml2kokkos %t/sparse.mlir --emit=imported | FileCheck %s --check-prefix=SPARSE
// RUN: ml2kokkos %t/while.mlir --emit=imported | FileCheck %s --check-prefix=WHILE

//--- new.mlir
// NEW-LABEL: @f
// NEW: scf.for
// NEW-NOT: iter_args
// NEW: linalg.add {{.*}} outs(%[[NEXT:.*]] : memref<8xf64>)
// NEW: memref.copy %[[NEXT]], %
func.func @f(%a: memref<8xf64>, %u0: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = bufferization.to_tensor %a restrict : memref<8xf64>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%u = %u0) -> tensor<8xf64> {
    %e = tensor.empty() : tensor<8xf64>
    %y = linalg.add ins(%u, %f : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %y : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}

//--- swap.mlir
// SWAP-LABEL: @f
// SWAP: scf.for
// SWAP: memref.copy %[[B:.*]], %[[NEWA:.*]] :
// SWAP: memref.copy %[[A:.*]], %[[NEWB:.*]] :
// SWAP: memref.copy %[[NEWA]], %[[A]] :
// SWAP: memref.copy %[[NEWB]], %[[B]] :
func.func @f(%m: memref<8xf64>, %a0: tensor<8xf64>, %b0: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = bufferization.to_tensor %m restrict : memref<8xf64>
  %p, %q = scf.for %k = %c0 to %n step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<8xf64>, tensor<8xf64>) {
    scf.yield %b, %a : tensor<8xf64>, tensor<8xf64>
  }
  %e = tensor.empty() : tensor<8xf64>
  %y = linalg.add ins(%p, %f : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  return %y : tensor<8xf64>
}

//--- sparse.mlir
// A power iteration: the new vector is made in the body.
// SPARSE-LABEL: @f
// SPARSE: scf.for
// SPARSE: memref.copy
#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#id = affine_map<(i) -> (i)>
func.func @f(%a: tensor<8x8xf64, #CSR>, %v0: tensor<8xf64>, %h: f64, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  %v = scf.for %k = %c0 to %n step %c1 iter_args(%x = %v0) -> tensor<8xf64> {
    %w = linalg.matvec ins(%a, %x : tensor<8x8xf64, #CSR>, tensor<8xf64>) outs(%z : tensor<8xf64>) -> tensor<8xf64>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%w : tensor<8xf64>) outs(%e : tensor<8xf64>) {
    ^bb0(%wi: f64, %o: f64):
      %d = arith.mulf %wi, %h : f64
      linalg.yield %d : f64
    } -> tensor<8xf64>
    scf.yield %y : tensor<8xf64>
  }
  return %v : tensor<8xf64>
}

//--- while.mlir
// WHILE-LABEL: @f
// WHILE: scf.while : () -> ()
// WHILE: memref.copy
func.func @f(%a: memref<8xf64>, %u0: tensor<8xf64>, %tol: f64) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %f = bufferization.to_tensor %a restrict : memref<8xf64>
  %r = scf.while (%u = %u0) : (tensor<8xf64>) -> tensor<8xf64> {
    %first = tensor.extract %u[%c0] : tensor<8xf64>
    %c = arith.cmpf olt, %first, %tol : f64
    scf.condition(%c) %u : tensor<8xf64>
  } do {
  ^bb0(%u: tensor<8xf64>):
    %e = tensor.empty() : tensor<8xf64>
    %y = linalg.add ins(%u, %f : tensor<8xf64>, tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %y : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}
