// Convolutions, pools and products are found by their index maps, whatever their spelling.
// RUN: ml2kokkos-opt %s --ml2k-generalize --ml2k-raise-convolutions --ml2k-raise-contractions --ml2k-fold-weights --ml2k-propagate-layout | FileCheck %s

// Padding goes into the kernel, layouts to N H W C; the filter stays O C R S.
// CHECK-LABEL: func.func @conv_nchw
// CHECK: nest.conv "conv" strides [2, 2] dilations [1, 1] pads [1, 2, 3, 4] groups 1
// CHECK-SAME: tensor<1x8x8x2xf32>, tensor<4x2x3x3xf32>) outs(%{{.*}} : tensor<1x5x6x4xf32>)
// CHECK: linalg.transpose
func.func @conv_nchw(%x: tensor<1x2x8x8xf32>) -> tensor<1x4x5x6xf32> {
  %w = nest.weight "w" : tensor<4x2x3x3xf32> = dense<0.5> : tensor<4x2x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 3, 4] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x2x8x8xf32> to tensor<1x2x12x14xf32>
  %empty = tensor.empty() : tensor<1x4x5x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  %0 = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>} ins(%padded, %w : tensor<1x2x12x14xf32>, tensor<4x2x3x3xf32>)
      outs(%init : tensor<1x4x5x6xf32>) -> tensor<1x4x5x6xf32>
  return %0 : tensor<1x4x5x6xf32>
}

// CHECK-LABEL: func.func @depthwise
// CHECK: nest.conv {{.*}} groups 4 ins(%{{.*}} : tensor<1x8x8x4xf32>, tensor<4x1x3x3xf32>)
func.func @depthwise(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x6x6xf32> {
  %w = nest.weight "w" : tensor<4x3x3xf32> = dense<0.5> : tensor<4x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x6x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<1x4x8x8xf32>, tensor<4x3x3xf32>)
      outs(%init : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %0 : tensor<1x4x6x6xf32>
}

// A constant on the left, transposed: it becomes the second operand as [n, k].
// CHECK-LABEL: func.func @weight_first
// CHECK: nest.contract "contract" [m, n, k] ins(%{{.*}}, %{{.*}} : tensor<3x5xf32>, tensor<2x5xf32>)
func.func @weight_first(%x: tensor<5x3xf32>) -> tensor<2x3xf32> {
  %w = nest.weight "w" : tensor<2x5xf32> = dense<0.5> : tensor<2x5xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = linalg.matmul ins(%w, %x : tensor<2x5xf32>, tensor<5x3xf32>) outs(%init : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The mean of all pixels behind a convolution is a pool with one window, and divides by the number of its taps itself.
// CHECK-LABEL: func.func @global_mean
// CHECK:       nest.window "pool"
// CHECK-SAME:  sum
// CHECK-SAME:  kernel [6, 6]
// CHECK-SAME:  mean all
// CHECK-NOT:   arith.divf
// CHECK:       return
func.func @global_mean(%x: tensor<1x3x8x8xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 36.0 : f32
  %w = nest.weight "conv.weight" : tensor<4x3x3x3xf32> = dense<1.0> : tensor<4x3x3x3xf32>
  %image = tensor.empty() : tensor<1x4x6x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%image : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(n, o, p, q, c, r, s) -> (n, c, p + r, q + s)>,
                                        affine_map<(n, o, p, q, c, r, s) -> (o, c, r, s)>,
                                        affine_map<(n, o, p, q, c, r, s) -> (n, o, p, q)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) outs(%start : tensor<1x4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x4x6x6xf32>
  %flat = tensor.empty() : tensor<1x4xf32>
  %none = linalg.fill ins(%zero : f32) outs(%flat : tensor<1x4xf32>) -> tensor<1x4xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%c : tensor<1x4x6x6xf32>) outs(%none : tensor<1x4xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %sum, %a : f32
    linalg.yield %next : f32
  } -> tensor<1x4xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>, affine_map<(n, c) -> (n, c)>],
      iterator_types = ["parallel", "parallel"]} ins(%sums : tensor<1x4xf32>) outs(%flat : tensor<1x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %count : f32
    linalg.yield %q : f32
  } -> tensor<1x4xf32>
  return %mean : tensor<1x4xf32>
}

// So is the mean that keeps rows and columns of one element.
// CHECK-LABEL: func.func @global_mean_kept
// CHECK:       nest.window "pool"
// CHECK-SAME:  kernel [6, 6]
// CHECK-SAME:  mean all
// CHECK-NOT:   arith.divf
// CHECK:       return
func.func @global_mean_kept(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 36.0 : f32
  %w = nest.weight "conv.weight" : tensor<4x3x3x3xf32> = dense<1.0> : tensor<4x3x3x3xf32>
  %image = tensor.empty() : tensor<1x4x6x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%image : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) outs(%start : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %one = tensor.empty() : tensor<1x4x1x1xf32>
  %none = linalg.fill ins(%zero : f32) outs(%one : tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, 0, 0)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%c : tensor<1x4x6x6xf32>) outs(%none : tensor<1x4x1x1xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %next = arith.addf %a, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x4x1x1xf32>
  %mean = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%sums : tensor<1x4x1x1xf32>) outs(%one : tensor<1x4x1x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %count : f32
    linalg.yield %q : f32
  } -> tensor<1x4x1x1xf32>
  return %mean : tensor<1x4x1x1xf32>
}

// TOSA's matmul has a batch of one; beside a weight that is the plain product.
// CHECK-LABEL: func.func @unit_batch
// CHECK:       nest.contract "contract" [m, n, k]
// CHECK-SAME:  tensor<2x8xf32>, tensor<3x8xf32>
func.func @unit_batch(%x: tensor<1x2x8xf32>) -> tensor<1x2x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "fc.weight" : tensor<1x8x3xf32> = dense<1.0> : tensor<1x8x3xf32>
  %empty = tensor.empty() : tensor<1x2x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  %y = linalg.batch_matmul ins(%x, %w : tensor<1x2x8xf32>, tensor<1x8x3xf32>) outs(%start : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// Rows may be the pixels of images of any size.
// CHECK-LABEL: func.func @pixels
// CHECK:       nest.contract "contract" [m, n, k]
// CHECK-SAME:  tensor<?x8xf32>, tensor<3x8xf32>
// CHECK:       tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2], [3]]
func.func @pixels(%x: tensor<2x?x?x8xf32>, %h: index, %w: index) -> tensor<2x?x?x3xf32> {
  %zero = arith.constant 0.0 : f32
  %weight = nest.weight "fc.weight" : tensor<8x3xf32> = dense<1.0> : tensor<8x3xf32>
  %empty = tensor.empty(%h, %w) : tensor<2x?x?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x?x?x3xf32>) -> tensor<2x?x?x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, c) -> (n, h, w, c)>, affine_map<(n, h, w, o, c) -> (c, o)>,
                                        affine_map<(n, h, w, o, c) -> (n, h, w, o)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %weight : tensor<2x?x?x8xf32>, tensor<8x3xf32>) outs(%start : tensor<2x?x?x3xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<2x?x?x3xf32>
  return %y : tensor<2x?x?x3xf32>
}

// The modes of a spectral layer have a constant matrix each: a few rows are read and written where they lie.
// CHECK-LABEL: func.func @modes
// CHECK:       %[[W:.*]] = nest.weight "w" : tensor<3x2x4x5xf32>
// CHECK-NOT:   linalg.transpose
// CHECK:       nest.contract "contract" [batch, batch, m, n, k] ins(%{{.*}}, %[[W]] : tensor<1x4x3x2xf32>, tensor<3x2x4x5xf32>) outs(%{{.*}} : tensor<1x5x3x2xf32>)
func.func @modes(%x: tensor<1x4x3x2xf32>) -> tensor<1x5x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %weight = nest.weight "w" : tensor<4x5x3x2xf32> = dense<1.0> : tensor<4x5x3x2xf32>
  %empty = tensor.empty() : tensor<1x5x3x2xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x5x3x2xf32>) -> tensor<1x5x3x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, o, x, y, i) -> (b, i, x, y)>, affine_map<(b, o, x, y, i) -> (i, o, x, y)>,
                                        affine_map<(b, o, x, y, i) -> (b, o, x, y)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %weight : tensor<1x4x3x2xf32>, tensor<4x5x3x2xf32>) outs(%start : tensor<1x5x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<1x5x3x2xf32>
  return %y : tensor<1x5x3x2xf32>
}

// A volume of known depth is a batch of its planes.
// CHECK-LABEL: func.func @volumes
// CHECK:       nest.weight "v" : tensor<2x1x6x3xf32>
// CHECK:       nest.conv "conv" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 planes [5, 4, 2, 1, 1, 0, 0]
// CHECK-SAME:  tensor<?x8x8x1xf32>
func.func @volumes(%x: tensor<?x1x5x8x8xf32>, %n: index) -> tensor<?x2x4x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %weight = nest.weight "v" : tensor<2x1x2x3x3xf32> = dense<1.0> : tensor<2x1x2x3x3xf32>
  %empty = tensor.empty(%n) : tensor<?x2x4x6x6xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x2x4x6x6xf32>) -> tensor<?x2x4x6x6xf32>
  %y = linalg.conv_3d_ncdhw_fcdhw ins(%x, %weight : tensor<?x1x5x8x8xf32>, tensor<2x1x2x3x3xf32>) outs(%start : tensor<?x2x4x6x6xf32>) -> tensor<?x2x4x6x6xf32>
  return %y : tensor<?x2x4x6x6xf32>
}

// Constant matrices of the entries of a batch are packed as little as others: they stay on the left, and the scores lie
// in rows.
// CHECK-LABEL: func.func @weights_of_entries
// CHECK: nest.contract {{.*}} [batch, m, n, k] ins(%{{.*}}, %{{.*}} : tensor<4x2x5xf32>, tensor<4x5x3xf32>) outs(%{{.*}} : tensor<4x2x3xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: return
func.func @weights_of_entries(%x: tensor<4x5x3xf32>) -> tensor<4x2x3xf32> {
  %w = nest.weight "w" : tensor<4x2x5xf32> = dense<0.5> : tensor<4x2x5xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x2x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  %0 = linalg.batch_matmul ins(%w, %x : tensor<4x2x5xf32>, tensor<4x5x3xf32>) outs(%init : tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
