// What the printer cannot look up is refused where it stands.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-to-prepared

// expected-error @+1 {{the module has no entry function}}
module {
  func.func private @f()
}

// -----
module {
  func.func @f() {
    return
  }
  // expected-error @+1 {{the module has several entry functions}}
  func.func @g() {
    return
  }
}

// -----
// expected-error @+1 {{is not in nest form: results are arguments, control flow is structured}}
func.func @f(%a: f32) -> f32 {
  return %a : f32
}

// -----
// expected-error @+1 {{argument of type 'memref<4xf80>' cannot be printed}}
func.func @f(%a: memref<4xf80>) {
  return
}

// -----
// expected-error @+1 {{argument of type 'tensor<4xf32>' cannot be printed}}
func.func @f(%a: tensor<4xf32>) {
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{elements of type 'i7' cannot be printed}}
  %b = nest.buffer "b" : memref<4xi7>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{packed in panels, but read by no convolution or contraction}}
  %w = nest.weight "w" packing <panels> : memref<4xf32> = dense<1.0> : tensor<4xf32>
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{an image of a convolution requires a known number of channels}}
  %b = nest.buffer "b"(%n) border [1, 1] : memref<1x4x4x?xf32>
  return
}

// -----
#mk = affine_map<(m, n, k) -> (m, k)>
func.func @f(%x: memref<2x2xf32>, %y: memref<2x2xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4xf32> = dense<1.0> : tensor<4xf32>
  // expected-error @+1 {{a packed weight is not addressed by loops alone}}
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<2x2xf32>, memref<4xf32>) outs(%y : memref<2x2xf32>)
      maps [#mk, affine_map<(m, n, k) -> (n * 2 + k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
func.func @f(%x: memref<2x2xf32>, %y: memref<2x2xf32>, %b: memref<2xf32>) {
  %w = nest.weight "w" : memref<2x2xf32> = dense<1.0> : tensor<2x2xf32>
  // expected-error @+1 {{bias 0 is not what the epilogue first adds to the sum}}
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<2x2xf32>, memref<2x2xf32>) extras(%b : memref<2xf32>)
      outs(%y : memref<2x2xf32>) maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>] attributes {bias = 0 : i64} epilogue {
  ^bb0(%sum: f32, %v: f32):
    %s = arith.mulf %sum, %v : f32
    nest.yield %s : f32
  }
  return
}

// -----
func.func @f(%x: memref<2x2xf32>, %y: memref<2x2xf32>, %b: memref<2xf32>) {
  %w = nest.weight "w" packing <panels> : memref<2x2xf32> = dense<1.0> : tensor<2x2xf32>
  // expected-error @+1 {{has a bias, but not with weights in panels of its own}}
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<2x2xf32>, memref<2x2xf32>) extras(%b : memref<2xf32>)
      outs(%y : memref<2x2xf32>) maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
      affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>] attributes {bias = 0 : i64} epilogue {
  ^bb0(%sum: f32, %v: f32):
    %s = arith.addf %sum, %v : f32
    nest.yield %s : f32
  }
  return
}
