// Blocks without an operation are refused, not looked into.
//
// RUN: not ml2kokkos-opt -split-input-file %s 2>&1 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK: error: 'nest.reduce' op block does not end in nest.yield
func.func @reduce(%a: memref<4x9xf32>, %c: memref<4xf32>) {
  nest.reduce "r" <sum> from 0.0 : f32 over [1] ins(%a : memref<4x9xf32>) outs(%c : memref<4xf32>) maps [#id, #row] term {
  ^bb0(%x: f32):
  } finish {
  ^bb0(%x: f32):
  }
  return
}
