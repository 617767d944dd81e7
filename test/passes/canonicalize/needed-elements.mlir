// Products with weights make no positions that nobody reads, and sum no zeros; what is done alike to parts of a tensor is done
// to the whole.
// RUN: ml2kokkos-opt %s --ml2k-needed-elements --ml2k-join-parts --ml2k-fold-weights --canonicalize | FileCheck %s

#rows = affine_map<(d0, d1, d2) -> (d0, d2)>
#weight = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#batch = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#own = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#result = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#same = affine_map<(d0, d1) -> (d0, d1)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#diagonal = affine_map<(d0, d1, d2) -> (d1, d1)>

// Columns 0 and 3 of four: the weight has two, and both products in a row have fewer rows or columns.
// CHECK-LABEL: func.func @columns
// CHECK: nest.weight "w" : tensor<2x2xf32> = dense<{{\[\[}}1.000000e+00, 4.000000e+00], [5.000000e+00, 8.000000e+00]]>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x2xf32>, tensor<2x2xf32>)
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [3, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1] [3, 1]
func.func @columns(%x: tensor<3x2xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<2x4xf32> = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y_e = tensor.empty() : tensor<3x4xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x2xf32>, tensor<2x4xf32>) outs(%y_z : tensor<3x4xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x4xf32>
  %first = tensor.extract_slice %y[0, 0] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  %last = tensor.extract_slice %y[0, 3] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  return %first, %last : tensor<3x1xf32>, tensor<3x1xf32>
}

// Rows of an argument are no less work where they lie: the slice is read instead of cutting the operand.
// CHECK-LABEL: func.func @rows
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<3x2xf32>, tensor<2x4xf32>)
func.func @rows(%x: tensor<3x2xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<2x4xf32> = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y_e = tensor.empty() : tensor<3x4xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x2xf32>, tensor<2x4xf32>) outs(%y_z : tensor<3x4xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x4xf32>
  %first = tensor.extract_slice %y[0, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  return %first : tensor<1x4xf32>
}

// One loop along both dimensions of a weight: its diagonal is left alone.
// CHECK-LABEL: func.func @diagonal
// CHECK: nest.weight "w" : tensor<3x3xf32>
func.func @diagonal(%x: tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<3x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [#rows, #diagonal, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<2x3xf32>, tensor<3x3xf32>) outs(%z : tensor<2x3xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x3xf32>
  %first = tensor.extract_slice %y[0, 0] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2x1xf32>
  %last = tensor.extract_slice %y[0, 2] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2x1xf32>
  return %first, %last : tensor<2x1xf32>, tensor<2x1xf32>
}

// Somebody reads the whole.
// CHECK-LABEL: func.func @whole
// CHECK: nest.weight "w" : tensor<2x4xf32>
func.func @whole(%x: tensor<3x2xf32>) -> (tensor<3x1xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<2x4xf32> = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y_e = tensor.empty() : tensor<3x4xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x2xf32>, tensor<2x4xf32>) outs(%y_z : tensor<3x4xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x4xf32>
  %first = tensor.extract_slice %y[0, 0] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
  return %first, %y : tensor<3x1xf32>, tensor<3x4xf32>
}

// Zeros in front and behind are not summed.
// CHECK-LABEL: func.func @padded
// CHECK-NOT: tensor.pad
// CHECK: nest.weight "w" : tensor<2x2xf32> = dense<{{\[\[}}3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00]]>
// CHECK-NOT: tensor.pad
func.func @padded(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<4x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %padded = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x2xf32> to tensor<3x4xf32>
  %y_e = tensor.empty() : tensor<3x2xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%y_z : tensor<3x2xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// A weight that is not finite makes NaN of zeros.
// CHECK-LABEL: func.func @infinite
// CHECK: tensor.pad
func.func @infinite(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<4x2xf32> = dense<0x7F800000> : tensor<4x2xf32>
  %padded = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<3x2xf32> to tensor<3x4xf32>
  %y_e = tensor.empty() : tensor<3x2xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %w : tensor<3x4xf32>, tensor<4x2xf32>) outs(%y_z : tensor<3x2xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// Zeros between two tensors, and rows of zeros that the next product leaves out.
// CHECK-LABEL: func.func @between
// CHECK: nest.weight "w" : tensor<3x3xf32> = dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00], [1.300000e+01
// CHECK: tensor.concat dim(1) %{{.*}}, %{{.*}} : (tensor<3x2xf32>, tensor<3x1xf32>)
func.func @between(%x: tensor<3x2xf32>, %y: tensor<3x1xf32>) -> tensor<3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<5x3xf32> = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0], [13.0, 14.0, 15.0]]> : tensor<5x3xf32>
  %none = nest.weight "none" : tensor<3x2xf32> = dense<0.0> : tensor<3x2xf32>
  %joined = tensor.concat dim(1) %x, %none, %y : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  %z_e = tensor.empty() : tensor<3x3xf32>
  %z_z = linalg.fill ins(%zero : f32) outs(%z_e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %z = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%joined, %w : tensor<3x5xf32>, tensor<5x3xf32>) outs(%z_z : tensor<3x3xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x3xf32>
  return %z : tensor<3x3xf32>
}

// Two parts of a tensor, each by weights of its own, joined again.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x3x4xf32>
// CHECK: %[[W:.*]] = nest.weight {{.*}} : tensor<3x4x5xf32>
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<2x3x4xf32>, tensor<3x4x5xf32>)
// CHECK: return %[[Y]]
func.func @parts(%x: tensor<2x3x4xf32>) -> tensor<2x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %a = nest.weight "a" : tensor<1x4x5xf32> = dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0]]]> : tensor<1x4x5xf32>
  %b = nest.weight "b" : tensor<2x4x5xf32> = dense<[[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0, 20.0]], [[21.0, 22.0, 23.0, 24.0, 25.0], [26.0, 27.0, 28.0, 29.0, 30.0], [31.0, 32.0, 33.0, 34.0, 35.0], [36.0, 37.0, 38.0, 39.0, 40.0]]]> : tensor<2x4x5xf32>
  %p0 = tensor.extract_slice %x[0, 0, 0] [2, 1, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x1x4xf32>
  %e0 = tensor.empty() : tensor<2x1x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x1x5xf32>) -> tensor<2x1x5xf32>
  %y0 = linalg.generic {indexing_maps = [#batch, #own, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p0, %a : tensor<2x1x4xf32>, tensor<1x4x5xf32>) outs(%z0 : tensor<2x1x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x5xf32>
  %p1 = tensor.extract_slice %x[0, 1, 0] [2, 2, 4] [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x2x4xf32>
  %e1 = tensor.empty() : tensor<2x2x5xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x2x5xf32>) -> tensor<2x2x5xf32>
  %y1 = linalg.generic {indexing_maps = [#batch, #own, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p1, %b : tensor<2x2x4xf32>, tensor<2x4x5xf32>) outs(%z1 : tensor<2x2x5xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x2x5xf32>
  %joined = tensor.concat dim(1) %y0, %y1 : (tensor<2x1x5xf32>, tensor<2x2x5xf32>) -> tensor<2x3x5xf32>
  return %joined : tensor<2x3x5xf32>
}

// Parts that share their first weight and not the second: joined, it would lie in two places.
// CHECK-LABEL: func.func @shared_first
// CHECK: tensor.concat dim(1)
// CHECK-NOT: tensor.concat
func.func @shared_first(%x: tensor<2x2x4xf32>) -> tensor<2x2x1xf32> {
  %zero = arith.constant 0.0 : f32
  %a = nest.weight "a" : tensor<1x4x1xf32> = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %b = nest.weight "b" : tensor<1x4x1xf32> = dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %c = nest.weight "c" : tensor<1x4x1xf32> = dense<7.0> : tensor<1x4x1xf32>
  %p0 = tensor.extract_slice %x[0, 0, 0] [2, 1, 4] [1, 1, 1] : tensor<2x2x4xf32> to tensor<2x1x4xf32>
  %v0_e = tensor.empty() : tensor<2x1x1xf32>
  %v0_z = linalg.fill ins(%zero : f32) outs(%v0_e : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %v0 = linalg.generic {indexing_maps = [#batch, #own, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p0, %a : tensor<2x1x4xf32>, tensor<1x4x1xf32>) outs(%v0_z : tensor<2x1x1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x1xf32>
  %w0_e = tensor.empty() : tensor<2x1x1xf32>
  %w0_z = linalg.fill ins(%zero : f32) outs(%w0_e : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %w0 = linalg.generic {indexing_maps = [#batch, #own, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p0, %a : tensor<2x1x4xf32>, tensor<1x4x1xf32>) outs(%w0_z : tensor<2x1x1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x1xf32>
  %e0 = tensor.empty() : tensor<2x1x1xf32>
  %y0 = linalg.generic {indexing_maps = [#three, #three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v0, %w0 : tensor<2x1x1xf32>, tensor<2x1x1xf32>) outs(%e0 : tensor<2x1x1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %sum = arith.addf %x0, %x1 : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x1xf32>
  %p1 = tensor.extract_slice %x[0, 1, 0] [2, 1, 4] [1, 1, 1] : tensor<2x2x4xf32> to tensor<2x1x4xf32>
  %v1_e = tensor.empty() : tensor<2x1x1xf32>
  %v1_z = linalg.fill ins(%zero : f32) outs(%v1_e : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %v1 = linalg.generic {indexing_maps = [#batch, #own, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p1, %b : tensor<2x1x4xf32>, tensor<1x4x1xf32>) outs(%v1_z : tensor<2x1x1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x1xf32>
  %w1_e = tensor.empty() : tensor<2x1x1xf32>
  %w1_z = linalg.fill ins(%zero : f32) outs(%w1_e : tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %w1 = linalg.generic {indexing_maps = [#batch, #own, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p1, %c : tensor<2x1x4xf32>, tensor<1x4x1xf32>) outs(%w1_z : tensor<2x1x1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x1xf32>
  %e1 = tensor.empty() : tensor<2x1x1xf32>
  %y1 = linalg.generic {indexing_maps = [#three, #three, #three], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v1, %w1 : tensor<2x1x1xf32>, tensor<2x1x1xf32>) outs(%e1 : tensor<2x1x1xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %sum = arith.addf %x0, %x1 : f32
    linalg.yield %sum : f32
  } -> tensor<2x1x1xf32>
  %joined = tensor.concat dim(1) %y0, %y1 : (tensor<2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x2x1xf32>
  return %joined : tensor<2x2x1xf32>
}

// real * c - imaginary * s: one sum over both.
// CHECK-LABEL: func.func @components
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<3x2x2xf32>
// CHECK: %[[W:.*]] = nest.weight {{.*}} : tensor<2x2x2xf32> = dense<{{.*}}1.000000e+00, 2.000000e+00], [-1.000000e+00, -2.000000e+00
// CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction", "reduction"]} ins(%[[X]], %[[W]] : tensor<3x2x2xf32>, tensor<2x2x2xf32>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @components(%x: tensor<3x2x2xf32>) -> tensor<3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %c = nest.weight "c" : tensor<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = nest.weight "s" : tensor<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s0 = tensor.extract_slice %x[0, 0, 0] [3, 2, 1] [1, 1, 1] : tensor<3x2x2xf32> to tensor<3x2x1xf32>
  %r0 = tensor.collapse_shape %s0 [[0], [1, 2]] : tensor<3x2x1xf32> into tensor<3x2xf32>
  %y0_e = tensor.empty() : tensor<3x2xf32>
  %y0_z = linalg.fill ins(%zero : f32) outs(%y0_e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y0 = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r0, %c : tensor<3x2xf32>, tensor<2x2xf32>) outs(%y0_z : tensor<3x2xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x2xf32>
  %s1 = tensor.extract_slice %x[0, 0, 1] [3, 2, 1] [1, 1, 1] : tensor<3x2x2xf32> to tensor<3x2x1xf32>
  %r1 = tensor.collapse_shape %s1 [[0], [1, 2]] : tensor<3x2x1xf32> into tensor<3x2xf32>
  %y1_e = tensor.empty() : tensor<3x2xf32>
  %y1_z = linalg.fill ins(%zero : f32) outs(%y1_e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %y1 = linalg.generic {indexing_maps = [#rows, #weight, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%r1, %s : tensor<3x2xf32>, tensor<2x2xf32>) outs(%y1_z : tensor<3x2xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %term = arith.mulf %x0, %x1 : f32
    %sum = arith.addf %x2, %term : f32
    linalg.yield %sum : f32
  } -> tensor<3x2xf32>
  %e = tensor.empty() : tensor<3x2xf32>
  %y = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y0, %y1 : tensor<3x2xf32>, tensor<3x2xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%x0: f32, %x1: f32, %x2: f32):
    %d = arith.subf %x0, %x1 : f32
    linalg.yield %d : f32
  } -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
