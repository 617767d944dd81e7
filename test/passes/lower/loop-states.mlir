// RUN: ml2kokkos-opt %s --ml2k-loop-states | FileCheck %s
// RUN: ml2kokkos-opt %s --ml2k-lower | FileCheck %s --check-prefix=MEMORY

#id = affine_map<(a) -> (a)>

// States that change places go through a tensor of the body, so that none is overwritten before it is read.
// CHECK-LABEL: func.func @swap
// MEMORY-LABEL: func.func @swap
// MEMORY-SAME: (%[[X:.*]]: memref<4xf32> {{.*}}, %[[Y:.*]]: memref<4xf32> {{.*}}, %[[A:.*]]: memref<4xf32> {{.*}}, %[[B:.*]]: memref<4xf32>
func.func @swap(%x: tensor<4xf32> {nest.name = "x"}, %y: tensor<4xf32> {nest.name = "y"})
    -> (tensor<4xf32> {nest.name = "a"}, tensor<4xf32> {nest.name = "b"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
  // CHECK: %[[T0:.*]] = tensor.insert_slice %[[Q]] into
  // CHECK: %[[T1:.*]] = tensor.insert_slice %[[P]] into
  // CHECK: %[[P1:.*]] = tensor.insert_slice %[[T0]] into %[[P]]
  // CHECK: %[[Q1:.*]] = tensor.insert_slice %[[T1]] into %[[Q]]
  // CHECK: scf.yield %[[P1]], %[[Q1]]
  // MEMORY: %[[T:.*]] = nest.buffer
  // MEMORY: scf.for
  // MEMORY: nest.map {{.*}} ins(%[[B]] : {{.*}} outs(%[[T]] :
  // MEMORY: nest.map {{.*}} ins(%[[A]] : {{.*}} outs(%[[B]] :
  // MEMORY: nest.map {{.*}} ins(%[[T]] : {{.*}} outs(%[[A]] :
  // MEMORY-NOT: nest.map
  %a, %b = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %x, %q = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %q, %p : tensor<4xf32>, tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
