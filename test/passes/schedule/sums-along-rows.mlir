// Dot products along rows of two activations stay reductions; short rows and constants become products of matrices.
// RUN: ml2kokkos-opt %s --ml2k-raise-contractions --split-input-file | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#i = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @long
// CHECK-NOT: nest.contract
func.func @long(%a: tensor<8x256xf32>, %x: tensor<256xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<8x256xf32>, tensor<256xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @dots
// CHECK-NOT: nest.contract
func.func @dots(%a: tensor<8x32xf32>, %x: tensor<8x32xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<8x32xf32>, tensor<8x32xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @short
// CHECK: nest.contract
func.func @short(%a: tensor<8x32xf32>, %x: tensor<32xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<8x32xf32>, tensor<32xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: func.func @constant
// CHECK: nest.contract
func.func @constant(%x: tensor<256xf32>) -> tensor<8xf32> {
  %a = nest.weight "a" : tensor<8x256xf32> = dense<1.0> : tensor<8x256xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : tensor<8x256xf32>, tensor<256xf32>) outs(%s : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
