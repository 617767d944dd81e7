// A schedule that does not fit its kernel.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-to-prepared

#ij = affine_map<(i, j) -> (i, j)>
func.func @f(%x: memref<16x32xf32>, %y: memref<16x32xf32>) {
  // expected-error @+1 {{cannot be printed as #nest.schedule<transposed_copy, inner = 1, crossing = 0>; #nest.schedule<for_each, inner = 1> fits}}
  nest.map "copy" ins(%x : memref<16x32xf32>) outs(%y : memref<16x32xf32>) maps [#ij, #ij]
      attributes {nest.schedule = #nest.schedule<transposed_copy, inner = 1, crossing = 0>} {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  return
}

// -----
#ij = affine_map<(i, j) -> (i, j)>
func.func @f(%x: memref<16x32xf32>, %y: memref<16x32xf32>) {
  // expected-error @+1 {{cannot be printed as #nest.schedule<for_each, inner = 2>}}
  nest.map "copy" ins(%x : memref<16x32xf32>) outs(%y : memref<16x32xf32>) maps [#ij, #ij]
      attributes {nest.schedule = #nest.schedule<for_each, inner = 2>} {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  return
}

// -----
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @f(%x: memref<4x8xf32>, %t: memref<3x8xf32>, %y: memref<4x3xf32>) {
  // expected-error @+1 {{cannot be printed as #nest.schedule<batched_contract, right = true>}}
  nest.contract "rows" [m, n, k] ins(%x, %t : memref<4x8xf32>, memref<3x8xf32>) outs(%y : memref<4x3xf32>) maps [#mk, #nk, #mn]
      attributes {nest.schedule = #nest.schedule<batched_contract, right = true>} epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x6x6x8xf32>, %y: memref<1x4x4x8xf32>, %w: memref<8x8x3x3xf32>) {
  // expected-error @+1 {{the weight of a convolution must be packed in panels or taps}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%x, %w : memref<1x6x6x8xf32>, memref<8x8x3x3xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
#ij = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>) {
  // expected-error @+1 {{works on tensors: a prepared nest is on memrefs}}
  %r = nest.map "copy" ins(%x : tensor<16x32xf32>) outs(%y : tensor<16x32xf32>) maps [#ij, #ij] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } -> tensor<16x32xf32>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{only maps, rows and columns have an inner loop}}
  %a = arith.constant {nest.schedule = #nest.schedule<conv, inner = 1>} 0 : index
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{for_squares and transposed_copy have a crossing loop, other blocks none}}
  %a = arith.constant {nest.schedule = #nest.schedule<for_squares, inner = 1>} 0 : index
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{contract has no path broad_windows}}
  %a = arith.constant {nest.schedule = #nest.schedule<contract, device = broad_windows>} 0 : index
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{for_wide_rows keeps an operand, other blocks none}}
  %a = arith.constant {nest.schedule = #nest.schedule<for_wide_rows>} 0 : index
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{attribute 'nest.schedule' requires a #nest.schedule}}
  %a = arith.constant {nest.schedule = "conv"} 0 : index
  return
}
