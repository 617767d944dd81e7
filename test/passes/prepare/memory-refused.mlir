// Memory that a kernel's block cannot address, and scalar code that C++ has no expression for, are refused before printing.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-verify-nest --ml2k-to-prepared

#id = affine_map<(i, j) -> (i, j)>
func.func @packed(%y: memref<4x8xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x8xf32> = dense<1.0> : tensor<4x8xf32>
  // expected-error @+1 {{weight 'w' is packed for another kind of kernel}}
  nest.map "copy" ins(%w : memref<4x8xf32>) outs(%y : memref<4x8xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %x = nest.buffer "x" : memref<2x8xf32>
  %z = nest.buffer "z" : memref<2x4xf32>
  nest.contract "product" [m, n, k] ins(%x, %w : memref<2x8xf32>, memref<4x8xf32>) outs(%z : memref<2x4xf32>) maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
func.func @strided(%x: memref<4x8xf32>, %y: memref<2x4xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x4xf32> = dense<1.0> : tensor<4x4xf32>
  %part = memref.subview %x[0, 0] [2, 4] [1, 1] : memref<4x8xf32> to memref<2x4xf32, strided<[8, 1]>>
  // expected-error @+1 {{works on contiguous memory, operand of type 'memref<2x4xf32, strided<[8, 1]>>' is not}}
  nest.contract "product" [m, n, k] ins(%part, %w : memref<2x4xf32, strided<[8, 1]>>, memref<4x4xf32>) outs(%y : memref<2x4xf32>) maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
func.func @rows(%y: memref<1x2x4x2xf32>) {
  %b = nest.buffer "b" border [1, 1] : memref<1x4x4x2xf32>
  %part = memref.subview %b[0, 2, 0, 0] [1, 2, 4, 2] [1, 1, 1, 1] : memref<1x4x4x2xf32> to memref<1x2x4x2xf32, strided<[32, 8, 2, 1], offset: 16>>
  // expected-error @+1 {{reads or writes a part of an image that is not a range of its channels}}
  nest.window "pool" <max> kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] ins(%part : memref<1x2x4x2xf32, strided<[32, 8, 2, 1], offset: 16>>) outs(%y : memref<1x2x4x2xf32>) finish {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// -----
#row = affine_map<(i) -> (i)>
func.func @bits(%x: memref<4xf16>, %y: memref<4xi16>) {
  nest.map "bits" ins(%x : memref<4xf16>) outs(%y : memref<4xi16>) maps [#row, #row] {
  ^bb0(%v: f16):
    // expected-error @+1 {{the bits of 'f16' cannot be reinterpreted}}
    %b = arith.bitcast %v : f16 to i16
    nest.yield %b : i16
  }
  return
}

// -----
#row = affine_map<(i) -> (i)>
func.func @widths(%x: memref<4xi32>, %y: memref<4xi32>) {
  nest.map "narrow" ins(%x : memref<4xi32>) outs(%y : memref<4xi32>) maps [#row, #row] {
  ^bb0(%v: i32):
    // expected-error @+1 {{a scalar of type 'i7' cannot be printed}}
    %n = arith.trunci %v : i32 to i7
    %w = arith.extsi %n : i7 to i32
    nest.yield %w : i32
  }
  return
}

// -----
#row = affine_map<(i) -> (i)>
func.func @operation(%x: memref<4xi32>, %y: memref<4xi32>) {
  nest.map "carry" ins(%x : memref<4xi32>) outs(%y : memref<4xi32>) maps [#row, #row] {
  ^bb0(%v: i32):
    // expected-error @+1 {{'arith.addui_extended' has no printed form inside a kernel}}
    %sum, %carry = arith.addui_extended %v, %v : i32, i1
    nest.yield %sum : i32
  }
  return
}

// -----
#row = affine_map<(i) -> (i)>
func.func @outside(%a: f32, %y: memref<4xf32>) {
  %twice = arith.addf %a, %a : f32
  // expected-error @+1 {{takes a value of type 'f32' that is no operand of it}}
  nest.map "fill" outs(%y : memref<4xf32>) maps [#row] {
    nest.yield %twice : f32
  }
  return
}

// -----
#row = affine_map<(i) -> (i)>
func.func @callers(%a: f32, %y: memref<4xf32>) {
  nest.map "fill" outs(%y : memref<4xf32>) maps [#row] {
    nest.yield %a : f32
  }
  return
}

// -----
// Given in nest text, channels_first is checked like any decision.
func.func @converted(%x: memref<1x3x4x4xf64>, %y: memref<1x4x4x5xf32>) {
  %w = nest.weight "w" packing <panels> : memref<5x3x1x1xf32> = dense<1.0> : tensor<5x3x1x1xf32>
  // expected-error @+1 {{channels_first wants a whole tensor of the weight's type}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x3x4x4xf64>, memref<5x3x1x1xf32>) outs(%y : memref<1x4x4x5xf32>) attributes {channels_first} epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @unsized(%x: memref<1x3x?x4xf32>, %y: memref<1x4x4x5xf32>) {
  %w = nest.weight "w" packing <panels> : memref<5x3x1x1xf32> = dense<1.0> : tensor<5x3x1x1xf32>
  // expected-error @+1 {{channels_first wants a whole tensor of the weight's type}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x3x?x4xf32>, memref<5x3x1x1xf32>) outs(%y : memref<1x4x4x5xf32>) attributes {channels_first} epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @transformed(%x: memref<1x16x4x4xf32>, %y: memref<1x4x4x16xf32>) {
  %w = nest.weight "w" packing <panels, winograd = 2> : memref<16x16x3x3xf32> = dense<1.0> : tensor<16x16x3x3xf32>
  // expected-error @+1 {{channels_first wants a weight packed in panels, not for Winograd's method}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%x, %w : memref<1x16x4x4xf32>, memref<16x16x3x3xf32>) outs(%y : memref<1x4x4x16xf32>) attributes {channels_first} epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}
