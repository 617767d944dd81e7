// Statistics of a batch normalisation that an exporter leaves as operations on vectors of weights are one weight, rounded as the
// model rounds each step.
//
// RUN: ml2kokkos-opt %s --ml2k-fold-weights | FileCheck %s

// CHECK-LABEL: func.func @statistics
// CHECK-NOT:     linalg.generic
// CHECK:         %[[W:.*]] = nest.weight "variance" : tensor<2xf32> = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[W]]
#id = affine_map<(i) -> (i)>
func.func @statistics() -> tensor<2xf32> {
  %epsilon = arith.constant 1.0 : f64
  %v = nest.weight "variance" : tensor<2xf32> = dense<[3.0, 15.0]> : tensor<2xf32>
  %0 = tensor.empty() : tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<2xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = arith.truncf %epsilon : f64 to f32
    %s = arith.addf %in, %e : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%1 : tensor<2xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %r = math.rsqrt %in : f32
    linalg.yield %r : f32
  } -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// Functions that weights are parametrised by
// CHECK-LABEL: func.func @functions
// CHECK-NEXT:    nest.weight "variance" : tensor<2xf32> = dense<[-0.995054781, -1.000000e+00]>
func.func @functions() -> tensor<2xf32> {
  %v = nest.weight "variance" : tensor<2xf32> = dense<[3.0, 15.0]> : tensor<2xf32>
  %0 = tensor.empty() : tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<2xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %t = math.tanh %in : f32
    %s = arith.negf %t : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// Others stay.
// CHECK-LABEL: func.func @other
// CHECK:         math.cos
func.func @other() -> tensor<2xf32> {
  %v = nest.weight "variance" : tensor<2xf32> = dense<[3.0, 15.0]> : tensor<2xf32>
  %0 = tensor.empty() : tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<2xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.cos %in : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// A bias with rows of one element is read as the vector that it is, where elementwise operations use it.
// CHECK-LABEL: func.func @broadcast
// CHECK:         nest.weight "bias" : tensor<2xf32>
// CHECK:         linalg.generic
#last = affine_map<(r, i) -> (i)>
#all = affine_map<(r, i) -> (r, i)>
func.func @broadcast(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %b = nest.weight "bias" : tensor<2xf32> = dense<[3.0, 15.0]> : tensor<2xf32>
  %0 = tensor.empty() : tensor<1x2xf32>
  %1 = linalg.generic {indexing_maps = [#last, #all], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<2xf32>) outs(%0 : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2xf32>
  %2 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %1 : tensor<1x2xf32>, tensor<1x2xf32>) outs(%0 : tensor<1x2xf32>) {
  ^bb0(%a: f32, %in: f32, %out: f32):
    %s = arith.addf %a, %in : f32
    linalg.yield %s : f32
  } -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// As the operand of a product it has the shape that the product asks for.
// CHECK-LABEL: func.func @broadcast_for_product
// CHECK:         nest.weight "row" : tensor<1x2xf32>
// CHECK-NOT:     linalg.generic
func.func @broadcast_for_product(%x: tensor<3x1xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %b = nest.weight "row" : tensor<2xf32> = dense<[3.0, 15.0]> : tensor<2xf32>
  %0 = tensor.empty() : tensor<1x2xf32>
  %1 = linalg.generic {indexing_maps = [#last, #all], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<2xf32>) outs(%0 : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x2xf32>
  %2 = linalg.matmul ins(%x, %1 : tensor<3x1xf32>, tensor<1x2xf32>) outs(%y : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
