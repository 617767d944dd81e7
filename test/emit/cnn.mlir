// Convolutions and pools are calls of blocks; what is fused stands in the lambda; slices of channels take part in
// concatenations; the comment says where a layer comes from.
// RUN: ml2kokkos %s -o %t.cpp --namespace cnn && FileCheck %s < %t.cpp
// RUN: FileCheck %s --check-prefix HEADER < %t.hpp

// HEADER:      struct Weights {
// HEADER-NEXT:   Panels<float, 8, 3 * 3 * 4> layer1_0_conv1_weight;
// HEADER-NEXT:   Tensor<float const[8]> layer1_0_conv1_bias;
// HEADER-NEXT: };
// HEADER:      Tensor<char *> arena;
// HEADER-NEXT: SplitSums<float> split;
// HEADER-NEXT: Activation<float, 6, 6, 4, 1> image_layout;
// HEADER-NEXT: Activation<float, 6, 6, 12> concat;

#nchw = affine_map<(n, h, w, c) -> (n, c, h, w)>
#nhwc = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channel = affine_map<(n, h, w, c) -> (c)>
#mean = affine_map<(n, c, h, w) -> (n, h, w, c)>
#out = affine_map<(n, c, h, w) -> (n, c)>
module {
  func.func @main(%image: memref<1x4x6x6xf32> {nest.name = "image"}, %y: memref<1x12xf32> {nest.name = "y", nest.output}) {
    %w = nest.weight "layer1.0.conv1.weight" packing {kind = "panels"} : memref<8x4x3x3xf32> = dense<1.0> : tensor<8x4x3x3xf32>
    %b = nest.weight "layer1.0.conv1.bias" : memref<8xf32> = dense<0.5> : tensor<8xf32>
    %a = nest.buffer "image.layout" offset 0 border [1, 1] : memref<1x6x6x4xf32>
    %c = nest.buffer "concat" offset 1024 border [0, 0] : memref<1x6x6x12xf32>
    // CHECK: static void image_layout(ExecutionSpace const &space, Workspace const &work, Image const &image) {
    // CHECK: int const h = row / 6;
    // CHECK: int const w = row % 6;
    // CHECK: out(0, h, w, c) = image(0, c, h, w);
    nest.map "image.layout" ins(%image : memref<1x4x6x6xf32>) outs(%a : memref<1x6x6x4xf32>) maps [#nchw, #nhwc] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    }
    // CHECK:      // --- layer1.0.conv1: Conv "/layer1/layer1.0/conv1/Conv" + Relu "/relu/Relu"
    // CHECK-NEXT: // image_layout[1,6,6,4] * layer1_0_conv1_weight[8,4,3,3] + layer1_0_conv1_bias[8] -> concat[1,6,6,8]
    // CHECK:      conv<Square<3, 1, 1>>(
    // CHECK-NEXT:   "cnn::layer1.0.conv1", space, work.image_layout, weights.layer1_0_conv1_weight, work.concat.slice<4, 8>(),
    // CHECK:        KOKKOS_LAMBDA(float sum, int, int, int, int o) { return Kokkos::max(sum + bias(o), 0.f); });
    %s = memref.subview %c[0, 0, 0, 4] [1, 6, 6, 8] [1, 1, 1, 1] : memref<1x6x6x12xf32> to memref<1x6x6x8xf32, strided<[432, 72, 12, 1], offset: 4>>
    nest.conv "layer1.0.conv1" strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1] groups 1
      ins(%a, %w : memref<1x6x6x4xf32>, memref<8x4x3x3xf32>) extras(%b : memref<8xf32>) maps [#channel]
      outs(%s : memref<1x6x6x8xf32, strided<[432, 72, 12, 1], offset: 4>>) epilogue {
    ^bb0(%sum: f32, %bias: f32):
      %zero = arith.constant 0.0 : f32
      %t = arith.addf %sum, %bias : f32
      %r = arith.maximumf %t, %zero : f32
      nest.yield %r : f32
    } loc(fused["Conv \22/layer1/layer1.0/conv1/Conv\22", "Relu \22/relu/Relu\22"])
    // CHECK: pool<Square<3, 1, 1>, Max>("cnn::pool", space, work.image_layout, work.concat.slice<0, 4>(),
    // CHECK:   KOKKOS_LAMBDA(float largest, int, int, int, int, int) { return largest; });
    %p = memref.subview %c[0, 0, 0, 0] [1, 6, 6, 4] [1, 1, 1, 1] : memref<1x6x6x12xf32> to memref<1x6x6x4xf32, strided<[432, 72, 12, 1]>>
    nest.window "pool" <max> kernel [3, 3] strides [1, 1] dilations [1, 1] pads [1, 1, 1, 1]
      ins(%a : memref<1x6x6x4xf32>) outs(%p : memref<1x6x6x4xf32, strided<[432, 72, 12, 1]>>) finish {
    ^bb0(%v: f32):
      nest.yield %v : f32
    }
    nest.reduce "mean" <sum> from 0.0 : f32 over [2, 3] ins(%c : memref<1x6x6x12xf32>) outs(%y : memref<1x12xf32>)
      maps [#mean, #out] term {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } finish {
    ^bb0(%total: f32):
      %count = arith.constant 36.0 : f32
      %m = arith.divf %total, %count : f32
      nest.yield %m : f32
    }
    return
  }
}
