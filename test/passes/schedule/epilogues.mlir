// Bias, batch normalisation, residual and activation join the convolution.
// RUN: ml2kokkos-opt %s --ml2k-fold-affine --ml2k-fuse-chains --ml2k-fuse-epilogues --ml2k-pack-weights --ml2k-label-kernels | FileCheck %s

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d3)>

// y = (x - mean) * scale: row o of the filter times scale(o), bias -mean * scale.
// CHECK-LABEL: func.func @batch_norm
// CHECK-DAG: %[[W:.*]] = nest.weight "conv.weight" packing <panels> : tensor<2x1x1x1xf32> = dense<{{\[+}}4.000000e+00{{\]+}}, {{\[+}}1.500000e+00{{\]+}}>
// CHECK-DAG: %[[B:.*]] = nest.weight "conv.bias" : tensor<2xf32> = dense<[-2.000000e+00, -1.500000e+00]>
// CHECK: nest.conv "conv" {{.*}} ins(%arg0, %[[W]] : {{.*}}) extras(%{{.*}}, %arg1 :
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
func.func @batch_norm(%x: tensor<1x2x2x1xf32>, %residual: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %w = nest.weight "conv.weight" : tensor<2x1x1x1xf32> = dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %mean = nest.weight "mean" : tensor<2xf32> = dense<[1.0, 3.0]> : tensor<2xf32>
  %scale = nest.weight "scale" : tensor<2xf32> = dense<[2.0, 0.5]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x2x2xf32>
  %0 = nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>) outs(%empty : tensor<1x2x2x2xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x2x2x2xf32> loc("Conv \"/conv/Conv\"")
  %1 = linalg.generic {indexing_maps = [#id, #channel, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %mean, %scale : tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<1x2x2x2xf32>) {
  ^bb0(%in: f32, %m: f32, %s: f32, %out: f32):
    %4 = arith.subf %in, %m : f32
    %5 = arith.mulf %4, %s : f32
    linalg.yield %5 : f32
  } -> tensor<1x2x2x2xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1, %residual : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) outs(%empty : tensor<1x2x2x2xf32>) {
  ^bb0(%in: f32, %r: f32, %out: f32):
    %4 = arith.addf %in, %r : f32
    %5 = arith.maximumf %4, %zero : f32
    linalg.yield %5 : f32
  } -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// The results of a product with a vector lie along the rows of the other factor: their scale is none of the vector.
// CHECK-LABEL: func.func @scaled_rows
// CHECK: nest.weight "v" {{.*}}= dense<[1.000000e+00, 2.000000e+00]>
// CHECK: nest.contract
// CHECK: arith.mulf
func.func @scaled_rows(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %v = nest.weight "v" : tensor<2xf32> = dense<[1.0, 2.0]> : tensor<2xf32>
  %s = nest.weight "s" : tensor<2xf32> = dense<[3.0, 5.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<2xf32>
  %p = nest.contract "contract" [m, k] ins(%x, %v : tensor<2x2xf32>, tensor<2xf32>) outs(%empty : tensor<2xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]} ins(%p, %s : tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %scaled = arith.mulf %a, %b : f32
    linalg.yield %scaled : f32
  } -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// Along an extent of 1 the only element may be read as number 0.
// CHECK-LABEL: func.func @one_row
// CHECK: nest.contract
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
func.func @one_row(%x: tensor<4x1x8xf32>, %k: tensor<4x6x8xf32>) -> tensor<4x1x6xf32> {
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<4x1x6xf32>
  %0 = nest.contract "scores" [batch, m, n, k] ins(%x, %k : tensor<4x1x8xf32>, tensor<4x6x8xf32>) outs(%empty : tensor<4x1x6xf32>)
      maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<4x1x6xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, 0, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<4x1x6xf32>) outs(%empty : tensor<4x1x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.divf %in, %two : f32
    linalg.yield %2 : f32
  } -> tensor<4x1x6xf32>
  return %1 : tensor<4x1x6xf32>
}

// Of constants without names, both are called after the kernel.
// CHECK-LABEL: func.func @unnamed
// CHECK-DAG: nest.weight "conv2.weight" packing <panels> : tensor<2x1x1x1xf32>
// CHECK-DAG: nest.weight "conv2.bias" : tensor<2xf32> = dense<[-2.000000e+00, -1.500000e+00]>
func.func @unnamed(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %w = nest.weight "?" : tensor<2x1x1x1xf32> = dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %mean = nest.weight "?" : tensor<2xf32> = dense<[1.0, 3.0]> : tensor<2xf32>
  %scale = nest.weight "?" : tensor<2xf32> = dense<[2.0, 0.5]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<1x2x2x2xf32>
  %0 = nest.conv "conv2" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>) outs(%empty : tensor<1x2x2x2xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x2x2x2xf32> loc("Conv \"/conv2/Conv\"")
  %1 = linalg.generic {indexing_maps = [#id, #channel, #channel, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %mean, %scale : tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<1x2x2x2xf32>) {
  ^bb0(%in: f32, %m: f32, %s: f32, %out: f32):
    %4 = arith.subf %in, %m : f32
    %5 = arith.mulf %4, %s : f32
    linalg.yield %5 : f32
  } -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
