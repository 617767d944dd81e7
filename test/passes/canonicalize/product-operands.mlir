// Scaled dot-product attention as PyTorch exports it: the product reads k where it lies, and is scaled once.
// RUN: ml2kokkos-opt %s --ml2k-idioms --ml2k-cleanup | FileCheck %s

#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#left = affine_map<(b, h, i, j, k) -> (b, h, i, k)>
#right = affine_map<(b, h, i, j, k) -> (b, h, k, j)>
#out = affine_map<(b, h, i, j, k) -> (b, h, i, j)>

// Batch and heads are joined around the transpose only: one transpose of the last two dimensions.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: (%[[K:.*]]: tensor<2x?x8x4xf32>)
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.transpose ins(%[[K]] : tensor<2x?x8x4xf32>) {{.*}} permutation = [0, 1, 3, 2]
// CHECK-NOT: tensor.expand_shape
func.func @transposed(%k: tensor<2x?x8x4xf32>) -> tensor<2x?x4x8xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %heads = tensor.dim %k, %c1 : tensor<2x?x8x4xf32>
  %both = arith.muli %heads, %c2 : index
  %0 = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x?x8x4xf32> into tensor<?x8x4xf32>
  %1 = tensor.empty(%both) : tensor<?x4x8xf32>
  %2 = linalg.transpose ins(%0 : tensor<?x8x4xf32>) outs(%1 : tensor<?x4x8xf32>) permutation = [0, 2, 1]
  %3 = tensor.expand_shape %2 [[0, 1], [2], [3]] output_shape [2, %heads, 4, 8] : tensor<?x4x8xf32> into tensor<2x?x4x8xf32>
  return %3 : tensor<2x?x4x8xf32>
}

// Other groups behind the transpose than before it: that is no transpose of the whole.
// CHECK-LABEL: func.func @regrouped
// CHECK: tensor.collapse_shape
// CHECK: linalg.transpose
// CHECK: tensor.expand_shape
func.func @regrouped(%k: tensor<2x6x8x4xf32>) -> tensor<3x4x4x8xf32> {
  %0 = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x6x8x4xf32> into tensor<12x8x4xf32>
  %1 = tensor.empty() : tensor<12x4x8xf32>
  %2 = linalg.transpose ins(%0 : tensor<12x8x4xf32>) outs(%1 : tensor<12x4x8xf32>) permutation = [0, 2, 1]
  %3 = tensor.expand_shape %2 [[0, 1], [2], [3]] output_shape [3, 4, 4, 8] : tensor<12x4x8xf32> into tensor<3x4x4x8xf32>
  return %3 : tensor<3x4x4x8xf32>
}

// q and k are inputs: both scales become one of the result, in the product's epilogue.
// CHECK-LABEL: func.func @inputs
// CHECK-SAME: (%[[Q:.*]]: tensor<?x4x8x4xf32>, %[[K:.*]]: tensor<?x4x4x8xf32>)
// CHECK: %[[SCORES:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[K]] :
// CHECK: linalg.generic {{.*}} ins(%[[SCORES]] :
// CHECK: arith.mulf %{{.*}}, %cst{{.*}} : f32
// CHECK-NOT: linalg.generic
func.func @inputs(%q: tensor<?x4x8x4xf32>, %k: tensor<?x4x4x8xf32>) -> tensor<?x4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x4x8x4xf32>
  %e0 = tensor.empty(%n) : tensor<?x4x8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<?x4x8x4xf32>) outs(%e0 : tensor<?x4x8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %x, %scale : f32
    linalg.yield %m : f32
  } -> tensor<?x4x8x4xf32>
  %e1 = tensor.empty(%n) : tensor<?x4x4x8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<?x4x4x8xf32>) outs(%e1 : tensor<?x4x4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %x, %scale : f32
    linalg.yield %m : f32
  } -> tensor<?x4x4x8xf32>
  %e2 = tensor.empty(%n) : tensor<?x4x8x8xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x4x8x8xf32>) -> tensor<?x4x8x8xf32>
  %3 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%0, %1 : tensor<?x4x8x4xf32>, tensor<?x4x4x8xf32>) outs(%2 : tensor<?x4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x4x8x8xf32>
  return %3 : tensor<?x4x8x8xf32>
}

// q comes from elementwise work, a rotation say: the scale stays there, in one kernel with it.
// CHECK-LABEL: func.func @elementwise
// CHECK: math.tanh
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: arith.mulf
func.func @elementwise(%x: tensor<2x4x8x4xf32>, %k: tensor<2x4x4x8xf32>) -> tensor<2x4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %e0 = tensor.empty() : tensor<2x4x8x4xf32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x4x8x4xf32>) outs(%e0 : tensor<2x4x8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = math.tanh %a : f32
    linalg.yield %m : f32
  } -> tensor<2x4x8x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x4x8x4xf32>) outs(%e0 : tensor<2x4x8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %scale : f32
    linalg.yield %m : f32
  } -> tensor<2x4x8x4xf32>
  %e2 = tensor.empty() : tensor<2x4x8x8xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%0, %k : tensor<2x4x8x4xf32>, tensor<2x4x4x8xf32>) outs(%2 : tensor<2x4x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x4x8x8xf32>
  return %3 : tensor<2x4x8x8xf32>
}

// Heads that share k and v (GQA) stay joined.
// CHECK-LABEL: func.func @shared
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3], [4]] : tensor<1x2x3x?x4xf32> into tensor<1x6x?x4xf32>
// CHECK: linalg.transpose {{.*}} permutation = [0, 1, 3, 2]
// CHECK-NOT: tensor.expand_shape
func.func @shared(%k: tensor<1x2x3x?x4xf32>, %n: index) -> tensor<1x6x4x?xf32> {
  %0 = tensor.collapse_shape %k [[0, 1, 2], [3], [4]] : tensor<1x2x3x?x4xf32> into tensor<6x?x4xf32>
  %1 = tensor.empty(%n) : tensor<6x4x?xf32>
  %2 = linalg.transpose ins(%0 : tensor<6x?x4xf32>) outs(%1 : tensor<6x4x?xf32>) permutation = [0, 2, 1]
  %3 = tensor.expand_shape %2 [[0, 1], [2], [3]] output_shape [1, 6, 4, %n] : tensor<6x4x?xf32> into tensor<1x6x4x?xf32>
  return %3 : tensor<1x6x4x?xf32>
}

// Rows of ones times a constant: its sums, which every row repeats, are what elementwise work reads. Sums over a tensor
// that is no constant stay a product.
// CHECK-LABEL: func.func @ones
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<3x8xf32>
// CHECK: %[[W:.*]] = nest.weight "w"
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}}["reduction", "parallel"]} ins(%[[W]] : tensor<3x8xf32>) outs({{.*}} : tensor<8xf32>)
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} ins(%[[SUMS]], %[[X]] : tensor<8xf32>, tensor<?x8xf32>)
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[B]] : tensor<?x3xf32>, tensor<3x8xf32>)
#rows = affine_map<(i, j, k) -> (i, k)>
#columns = affine_map<(i, j, k) -> (k, j)>
#sums = affine_map<(i, j, k) -> (i, j)>
#both = affine_map<(i, j) -> (i, j)>
func.func @ones(%x: tensor<?x8xf32>, %b: tensor<3x8xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %w = nest.weight "w" : tensor<3x8xf32> = dense<2.0> : tensor<3x8xf32>
  %0 = tensor.empty(%n) : tensor<?x3xf32>
  %ones = linalg.generic {indexing_maps = [#both], iterator_types = ["parallel", "parallel"]} outs(%0 : tensor<?x3xf32>) {
  ^bb0(%out: f32):
    linalg.yield %one : f32
  } -> tensor<?x3xf32>
  %1 = tensor.empty(%n) : tensor<?x8xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %product = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ones, %w : tensor<?x3xf32>, tensor<3x8xf32>) outs(%2 : tensor<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %3 = arith.mulf %l, %r : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#both, #both, #both], iterator_types = ["parallel", "parallel"]}
      ins(%product, %x : tensor<?x8xf32>, tensor<?x8xf32>) outs(%1 : tensor<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %3 = arith.mulf %l, %r : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  %other = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ones, %b : tensor<?x3xf32>, tensor<3x8xf32>) outs(%2 : tensor<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %3 = arith.mulf %l, %r : f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x8xf32>
  return %y, %other : tensor<?x8xf32>, tensor<?x8xf32>
}
