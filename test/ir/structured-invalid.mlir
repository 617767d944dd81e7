// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error @+1 {{'nest.weight' op has no name}}
  %w = nest.weight "" : memref<2xf32> = dense<1.0> : tensor<2xf32>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{is a 'memref<3xf32>' but its value is a 'tensor<2xf32>'}}
  %w = nest.weight "w" : memref<3xf32> = dense<1.0> : tensor<2xf32>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{has 0 sizes for 1 dynamic dimensions}}
  %b = nest.buffer "b" : memref<?xf32>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{border wants [rows, columns] or [rows, columns, planes, depth] and a buffer N H W C}}
  %b = nest.buffer "b" border [1, 1] : memref<4xf32>
  return
}

// -----
#id = affine_map<(i) -> (i)>
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{has 1 maps for 2 operands}}
  nest.map "m" ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) maps [#id] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  }
  return
}

// -----
#id = affine_map<(i) -> (i)>
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{yields other types than the kernel stores}}
  nest.map "m" ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) maps [#id, #id] {
  ^bb0(%x: f32):
    nest.yield
  }
  return
}

// -----
#ab = affine_map<(m, n, k) -> (m, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @f(%a: memref<4x4xf32>, %c: memref<4x4xf32>) {
  // expected-error @+1 {{iterators are not batch, m, n, k in this order}}
  nest.contract "c" [k, m, n] ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
      maps [#ab, #ab, #c] epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x4x4x3xf32>, %y: memref<1x9x8x5xf32>) {
  %w = nest.weight "w" : memref<20x3x1x1xf32> = dense<1.0> : tensor<20x3x1x1xf32>
  // expected-error @+1 {{output extent 9, expected 8}}
  nest.conv "c" transposed strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x4x4x3xf32>, memref<20x3x1x1xf32>) outs(%y : memref<1x9x8x5xf32>) epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x4x4x3xf32>, %y: memref<1x8x8x20xf32>) {
  %w = nest.weight "w" : memref<20x3x1x1xf32> = dense<1.0> : tensor<20x3x1x1xf32>
  // expected-error @+1 {{output has 20 channels, weight makes 5}}
  nest.conv "c" transposed strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x4x4x3xf32>, memref<20x3x1x1xf32>) outs(%y : memref<1x8x8x20xf32>) epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x4x4x3xf32>, %y: memref<1x7x8x5xf32>) {
  %w = nest.weight "w" : memref<20x3x1x1xf32> = dense<1.0> : tensor<20x3x1x1xf32>
  // expected-error @+1 {{transposed wants pads that are a multiple of the stride together}}
  nest.conv "c" transposed strides [2, 2] dilations [1, 1] pads [1, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x4x4x3xf32>, memref<20x3x1x1xf32>) outs(%y : memref<1x7x8x5xf32>) epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x4x4x3xf32>, %y: memref<1x8x8x5xf32>) {
  %w = nest.weight "w" : memref<20x3x1x1xf32> = dense<1.0> : tensor<20x3x1x1xf32>
  // expected-error @+1 {{transposed wants one group and no dilation}}
  nest.conv "c" transposed strides [2, 2] dilations [1, 2] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x4x4x3xf32>, memref<20x3x1x1xf32>) outs(%y : memref<1x8x8x5xf32>) epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%a: memref<4x9xf32>, %b: memref<4x5xf32>, %c: memref<4xf32>) {
  // expected-error @+1 {{loop 1 runs over 9 elements of operand 0, but over 5 of operand 1}}
  nest.reduce "r" <sum> from 0.0 : f32 over [1] ins(%a, %b : memref<4x9xf32>, memref<4x5xf32>) outs(%c : memref<4xf32>) maps [#id, #id, #row] term {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } finish {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
#row = affine_map<(i, j) -> (i)>
func.func @f(%a: memref<4xf32>, %c: memref<4xf32>) {
  // expected-error @+1 {{no operand says how often loop 1 runs}}
  nest.reduce "r" <sum> from 0.0 : f32 over [1] ins(%a : memref<4xf32>) outs(%c : memref<4xf32>) maps [#row, #row] term {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } finish {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
func.func @f(%x: memref<5x3xf32>, %t: memref<2xi32>, %n: memref<7xi32>, %v: memref<7xf32>, %w: memref<7x2xf32>, %y: memref<5x1xf32>) {
  // expected-error @+1 {{cannot join 'memref<7x2xf32>' to 'memref<5x1xf32>'}}
  nest.trees "t" <sum> ins(%x, %t, %t, %n, %v, %n, %w : memref<5x3xf32>, memref<2xi32>, memref<2xi32>, memref<7xi32>, memref<7xf32>, memref<7xi32>, memref<7x2xf32>)
      outs(%y : memref<5x1xf32>) split {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ole, %a, %b : f32
    nest.yield %c : i1
  }
  return
}

// -----
func.func @f(%x: memref<5x3xf32>, %t: memref<2xi32>, %n: memref<6xi32>, %v: memref<7xf32>, %w: memref<7x1xf32>, %y: memref<5x1xf32>) {
  // expected-error @+1 {{requires tables of a number for each tree or node, has 'memref<6xi32>'}}
  nest.trees "t" <sum> ins(%x, %t, %t, %n, %v, %n, %w : memref<5x3xf32>, memref<2xi32>, memref<2xi32>, memref<6xi32>, memref<7xf32>, memref<6xi32>, memref<7x1xf32>)
      outs(%y : memref<5x1xf32>) split {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf ole, %a, %b : f32
    nest.yield %c : i1
  }
  return
}

// -----

func.func @volumes() {
  // expected-error @+1 {{volumes of 3 planes do not make up 8 images}}
  %b = nest.buffer "b" border [1, 1, 1, 3] : memref<8x4x4x2xf32>
  return
}

// -----

func.func @planes(%x: memref<8x4x4x2xf32>, %w: memref<2x2x2x1xf32>, %y: memref<8x4x4x2xf32>) {
  // expected-error @+1 {{makes another number of planes than 4}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 planes [4, 4, 2, 1, 1, 0, 0]
      ins(%x, %w : memref<8x4x4x2xf32>, memref<2x2x2x1xf32>) outs(%y : memref<8x4x4x2xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----

func.func @taps(%x: memref<8x4x4x2xf32>, %w: memref<2x2x3x1xf32>, %y: memref<8x4x4x2xf32>) {
  // expected-error @+1 {{has no kernels of 2 planes}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 planes [4, 4, 2, 1, 1, 1, 0]
      ins(%x, %w : memref<8x4x4x2xf32>, memref<2x2x3x1xf32>) outs(%y : memref<8x4x4x2xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----

func.func @joined_planes(%x: memref<8x4x4x2xf32>, %y: memref<6x4x4x2xf32>) {
  // expected-error @+1 {{takes 8 planes of volumes of 4 to 6 of 2}}
  nest.window "p" <max> kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] planes [4, 2, 2, 2, 1, 0, 0]
      ins(%x : memref<8x4x4x2xf32>) outs(%y : memref<6x4x4x2xf32>) finish {
  ^bb0(%largest: f32):
    nest.yield %largest : f32
  }
  return
}

// -----

func.func @fixed(%a: memref<?x4xf32>, %b: memref<4x4xf32>, %c: memref<?x4xf32>) {
  // expected-error @+1 {{has nest.fixed_extents, but some are known at run time only}}
  nest.contract "c" [m, n, k] ins(%a, %b : memref<?x4xf32>, memref<4x4xf32>) outs(%c : memref<?x4xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      attributes {nest.fixed_extents} epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x3x4x4xf32>, %y: memref<1x4x4x5xf32>) {
  %w = nest.weight "w" : memref<5x3x1x1xf32> = dense<1.0> : tensor<5x3x1x1xf32>
  // expected-error @+1 {{channels_first wants one group and no dilation, and is neither transposed nor of volumes}}
  nest.conv "c" strides [1, 1] dilations [1, 2] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x3x4x4xf32>, memref<5x3x1x1xf32>) outs(%y : memref<1x4x4x5xf32>) attributes {channels_first} epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
func.func @f(%x: memref<1x4x4x3xf32>, %y: memref<1x4x4x5xf32>) {
  %w = nest.weight "w" : memref<5x3x1x1xf32> = dense<1.0> : tensor<5x3x1x1xf32>
  // expected-error @+1 {{channels 4 and weight}}
  nest.conv "c" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : memref<1x4x4x3xf32>, memref<5x3x1x1xf32>) outs(%y : memref<1x4x4x5xf32>) attributes {channels_first} epilogue {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: memref<8x60xf32>, %y: memref<8x64xf32>) {
  nest.map "m" outs(%y : memref<8x64xf32>) maps [#id] {
    %i = nest.index 0
    // expected-error @+1 {{is the position in loop 2 of 2}}
    %j = nest.index 2
    %value = memref.load %x[%i, %j] : memref<8x60xf32>
    nest.yield %value : f32
  }
  return
}

// -----
func.func @f() -> index {
  // expected-error @+1 {{is outside of a kernel}}
  %i = nest.index 0
  return %i : index
}
