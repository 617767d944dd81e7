// A shuffle of channels behind a convolution, or behind a concatenation of one with other parts, is no kernel.
// RUN: ml2kokkos-opt %s --ml2k-fuse-epilogues | FileCheck %s

#id = affine_map<(n, p, q, c) -> (n, p, q, c)>
#two = affine_map<(n, p, q, c) -> (n, p, q, c mod 2 * 2 + c floordiv 2)>

// Channels 0, 1 of the image and of the sums: 0, 2 and 1, 3 of the result.
// CHECK-LABEL: func.func @interleaved(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x2x2xf32>, %[[A:.*]]: tensor<1x2x2x2xf32>
// CHECK: %[[Y:.*]] = nest.conv "y" {{.*}} ins(%[[X]], %{{.*}}) extras(%[[A]] : tensor<1x2x2x2xf32>)
// CHECK-SAME: maps [#[[$ID:.*]]] outs(%{{.*}} : tensor<1x2x2x4xf32>)
// CHECK: ^bb0(%[[SUM:.*]]: f32, %[[PASSED:.*]]: f32):
// CHECK: %[[RELU:.*]] = arith.maximumf %[[SUM]]
// CHECK: nest.yield %[[PASSED]], %[[RELU]] : f32, f32
// CHECK-NOT: tensor.concat
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @interleaved(%x: tensor<1x2x2x2xf32>, %a: tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32> {
  %w = nest.weight "w" : tensor<2x2x1x1xf32> = dense<2.0> : tensor<2x2x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %half = tensor.empty() : tensor<1x2x2x2xf32>
  %y = nest.conv "y" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) outs(%half : tensor<1x2x2x2xf32>) epilogue {
  ^bb0(%sum: f32):
    %relu = arith.maximumf %sum, %zero : f32
    nest.yield %relu : f32
  } -> tensor<1x2x2x2xf32>
  %both = tensor.concat dim(3) %a, %y : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32>
  %whole = tensor.empty() : tensor<1x2x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#two, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%both : tensor<1x2x2x4xf32>) outs(%whole : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}

// Somebody else reads the parts one behind the other.
// CHECK-LABEL: func.func @read_twice(
// CHECK: tensor.concat
// CHECK: linalg.generic
func.func @read_twice(%x: tensor<1x2x2x2xf32>, %a: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) {
  %w = nest.weight "w" : tensor<2x2x1x1xf32> = dense<2.0> : tensor<2x2x1x1xf32>
  %half = tensor.empty() : tensor<1x2x2x2xf32>
  %y = nest.conv "y" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : tensor<1x2x2x2xf32>, tensor<2x2x1x1xf32>) outs(%half : tensor<1x2x2x2xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x2x2x2xf32>
  %both = tensor.concat dim(3) %a, %y : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32>
  %whole = tensor.empty() : tensor<1x2x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#two, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%both : tensor<1x2x2x4xf32>) outs(%whole : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x2x4xf32>
  return %0, %both : tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>
}

// Sum 0, 1, 2, 3 becomes channel 0, 2, 1, 3: a group cannot make sums of another one, so they are stored there.
// CHECK-LABEL: func.func @groups(
// CHECK: nest.weight "w" : tensor<4x1x1x1xf32> = dense<{{\[+}}1.000000e+00{{\]+}}, {{\[+}}2.000000e+00{{\]+}}, {{\[+}}3.000000e+00{{\]+}}, {{\[+}}4.000000e+00{{\]+}}>
// CHECK: nest.conv "y" {{.*}} groups 2 {{.*}} maps [#[[$PLACE:.*]]] outs
// CHECK-NOT: linalg.generic
func.func @groups(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32> {
  %w = nest.weight "w" : tensor<4x1x1x1xf32> = dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>
  %whole = tensor.empty() : tensor<1x2x2x4xf32>
  %y = nest.conv "y" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 2
      ins(%x, %w : tensor<1x2x2x2xf32>, tensor<4x1x1x1xf32>) outs(%whole : tensor<1x2x2x4xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x2x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#two, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x2x2x4xf32>) outs(%whole : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}

// Without groups the rows of the weight and the bias are shuffled.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG: nest.weight "w" : tensor<4x1x1x1xf32> = dense<{{\[+}}1.000000e+00{{\]+}}, {{\[+}}3.000000e+00{{\]+}}, {{\[+}}2.000000e+00{{\]+}}, {{\[+}}4.000000e+00{{\]+}}>
// CHECK-DAG: nest.weight "b" : tensor<4xf32> = dense<[5.000000e+00, 7.000000e+00, 6.000000e+00, 8.000000e+00]>
// CHECK: nest.conv "y"
// CHECK-NOT: linalg.generic
func.func @rows(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x4xf32> {
  %w = nest.weight "w" : tensor<4x1x1x1xf32> = dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>
  %b = nest.weight "b" : tensor<4xf32> = dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  %whole = tensor.empty() : tensor<1x2x2x4xf32>
  %y = nest.conv "y" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : tensor<1x2x2x1xf32>, tensor<4x1x1x1xf32>) extras(%b : tensor<4xf32>)
      maps [affine_map<(n, p, q, o) -> (o)>] outs(%whole : tensor<1x2x2x4xf32>) epilogue {
  ^bb0(%sum: f32, %bias: f32):
    %biased = arith.addf %sum, %bias : f32
    nest.yield %biased : f32
  } -> tensor<1x2x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#two, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x2x2x4xf32>) outs(%whole : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}

// A residual is no constant; it lies in the order of the sums.
// CHECK-LABEL: func.func @residual(
// CHECK: linalg.generic
func.func @residual(%x: tensor<1x2x2x1xf32>, %r: tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32> {
  %w = nest.weight "w" : tensor<4x1x1x1xf32> = dense<[[[[1.0]]], [[[2.0]]], [[[3.0]]], [[[4.0]]]]> : tensor<4x1x1x1xf32>
  %whole = tensor.empty() : tensor<1x2x2x4xf32>
  %y = nest.conv "y" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1
      ins(%x, %w : tensor<1x2x2x1xf32>, tensor<4x1x1x1xf32>) extras(%r : tensor<1x2x2x4xf32>)
      maps [#id] outs(%whole : tensor<1x2x2x4xf32>) epilogue {
  ^bb0(%sum: f32, %more: f32):
    %both = arith.addf %sum, %more : f32
    nest.yield %both : f32
  } -> tensor<1x2x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#two, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x2x2x4xf32>) outs(%whole : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}

// A depthwise convolution stores vectors of neighbouring channels.
// CHECK-LABEL: func.func @depthwise(
// CHECK: linalg.generic
func.func @depthwise(%x: tensor<1x2x2x4xf32>) -> tensor<1x2x2x4xf32> {
  %w = nest.weight "w" : tensor<4x1x1x1xf32> = dense<2.0> : tensor<4x1x1x1xf32>
  %whole = tensor.empty() : tensor<1x2x2x4xf32>
  %y = nest.conv "y" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 4
      ins(%x, %w : tensor<1x2x2x4xf32>, tensor<4x1x1x1xf32>) outs(%whole : tensor<1x2x2x4xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  } -> tensor<1x2x2x4xf32>
  %0 = linalg.generic {indexing_maps = [#two, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x2x2x4xf32>) outs(%whole : tensor<1x2x2x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}
