// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-verify-nest

func.func @tensorLeft(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'tensor.dim' on 'tensor<4xf32>' has no printed form}}
  %n = tensor.dim %x, %c0 : tensor<4xf32>
  return
}

// -----

func.func @copyLeft(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @below {{'memref.copy' has no printed form}}
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @hostDecision(%x: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{an element of a tensor decides on the host what is computed}}
  %n = memref.load %x[%c0] : memref<4xindex>
  return
}

// -----

func.func @insideKernel(%x: memref<4xf32>) {
  nest.map "a" outs(%x : memref<4xf32>) maps [affine_map<(a) -> (a)>] {
    // expected-error @below {{'memref.alloca' has no printed form inside a kernel}}
    %b = memref.alloca() : memref<4xf32>
    %c0 = arith.constant 0 : index
    %v = memref.load %b[%c0] : memref<4xf32>
    nest.yield %v : f32
  }
  return
}

// -----

func.func @labels(%x: memref<4xf32>) {
  nest.map "a" outs(%x : memref<4xf32>) maps [affine_map<(a) -> (a)>] {
    %c = arith.constant 0.0 : f32
    nest.yield %c : f32
  }
  // expected-error @below {{label "a" is used twice}}
  nest.map "a" outs(%x : memref<4xf32>) maps [affine_map<(a) -> (a)>] {
    %c = arith.constant 0.0 : f32
    nest.yield %c : f32
  }
  return
}

// -----

func.func @runtimeChannels(%x: memref<1x?x8x?xf32>, %y: memref<1x?x8x?xf32>) {
  // expected-error @below {{channels must be known: give them with --dim}}
  nest.window "c" <max> kernel [1, 1] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0]
      ins(%x : memref<1x?x8x?xf32>) outs(%y : memref<1x?x8x?xf32>) finish {
  ^bb0(%largest: f32):
    nest.yield %largest : f32
  }
  return
}
