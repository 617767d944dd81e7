// Tensors of run-time sizes that may be too large for indices of type int, but for those that another one covers.
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-check-index-range))' | FileCheck %s

// The larger of two arguments of one size is tested.
// CHECK-LABEL: func.func @larger
// CHECK-SAME: %{{.*}}: memref<?x4xf32> {nest.dims = ["n", ""]}
// CHECK-SAME: %{{.*}}: memref<?x8xf32> {nest.counted, nest.dims = ["n", ""]}
func.func @larger(%x: memref<?x4xf32> {nest.dims = ["n", ""]}, %y: memref<?x8xf32> {nest.dims = ["n", ""]}) {
  return
}

// -----
// Sizes of different names cover nothing.
// CHECK-LABEL: func.func @different
// CHECK-SAME: {nest.counted, nest.dims = ["n", ""]}
// CHECK-SAME: {nest.counted, nest.dims = ["m", ""]}
func.func @different(%x: memref<?x4xf32> {nest.dims = ["n", ""]}, %y: memref<?x8xf32> {nest.dims = ["m", ""]}) {
  return
}

// -----
// A buffer that is larger than any argument; a smaller one is covered, constants are never tested.
// CHECK-LABEL: func.func @buffers
// CHECK-SAME: {nest.counted
// CHECK: nest.buffer "large"(%{{.*}}) {nest.counted}
// CHECK: nest.buffer "small"(%{{.*}}) :
// CHECK: nest.buffer "constant" :
func.func @buffers(%x: memref<?x4xf32> {nest.dims = ["n", ""]}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %twice = arith.addi %n, %n : index
  %large = nest.buffer "large"(%twice) : memref<?x8xf32>
  %small = nest.buffer "small"(%n) : memref<?x2xf32>
  %constant = nest.buffer "constant" : memref<4xf32>
  return
}
