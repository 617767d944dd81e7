// A transformer's rows are the pixels of a channels-last image: the channels-first order that the model names in between
// appears in no kernel.
// RUN: ml2kokkos-opt %s --ml2k-propagate-layout --canonicalize | FileCheck %s

// A norm over the channels behind a convolution: several readers of the second transpose, a bias behind the first one.
// CHECK-LABEL: func.func @rows_of_an_image
// CHECK-SAME:  (%[[X:.*]]: tensor<1x14x14x128xf32>
// CHECK-NOT:   linalg.transpose
// CHECK:       linalg.generic
// CHECK-SAME:    ins(%[[X]],
// CHECK:       %[[ROWS:.*]] = tensor.collapse_shape {{.*}} : tensor<1x14x14x128xf32> into tensor<1x196x128xf32>
// CHECK:       linalg.generic
// CHECK-SAME:    iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ROWS]] :
// CHECK-NOT:   linalg.transpose
// CHECK:       return
func.func @rows_of_an_image(%x: tensor<1x14x14x128xf32>, %bias: tensor<128xf32>) -> tensor<1x196x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x128x14x14xf32>
  %image = linalg.transpose ins(%x : tensor<1x14x14x128xf32>) outs(%e0 : tensor<1x128x14x14xf32>) permutation = [0, 3, 1, 2]
  %biased = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>,
                                             affine_map<(n, c, h, w) -> (n, c, h, w)>],
                            iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%image, %bias : tensor<1x128x14x14xf32>, tensor<128xf32>) outs(%e0 : tensor<1x128x14x14xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x128x14x14xf32>
  %flat = tensor.collapse_shape %biased [[0], [1], [2, 3]] : tensor<1x128x14x14xf32> into tensor<1x128x196xf32>
  %e1 = tensor.empty() : tensor<1x196x128xf32>
  %rows = linalg.transpose ins(%flat : tensor<1x128x196xf32>) outs(%e1 : tensor<1x196x128xf32>) permutation = [0, 2, 1]
  %e2 = tensor.empty() : tensor<1x196xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x196xf32>) -> tensor<1x196xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(n, r, c) -> (n, r, c)>, affine_map<(n, r, c) -> (n, r)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows : tensor<1x196x128xf32>) outs(%start : tensor<1x196xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<1x196xf32>
  %centred = linalg.generic {indexing_maps = [affine_map<(n, r, c) -> (n, r, c)>, affine_map<(n, r, c) -> (n, r)>,
                                              affine_map<(n, r, c) -> (n, r, c)>],
                             iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%rows, %sum : tensor<1x196x128xf32>, tensor<1x196xf32>) outs(%e1 : tensor<1x196x128xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x196x128xf32>
  return %centred : tensor<1x196x128xf32>
}

// The other way, into a convolution with padding: rows are split where they lie.
// CHECK-LABEL: func.func @image_of_rows
// CHECK-SAME:  (%[[X:.*]]: tensor<1x256x32xf32>)
// CHECK-NOT:   linalg.transpose
// CHECK:       %[[IMAGE:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<1x16x16x32xf32>
// CHECK:       tensor.pad %[[IMAGE]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK-NOT:   linalg.transpose
// CHECK:       return
func.func @image_of_rows(%x: tensor<1x256x32xf32>) -> tensor<1x18x18x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x32x256xf32>
  %t = linalg.transpose ins(%x : tensor<1x256x32xf32>) outs(%e0 : tensor<1x32x256xf32>) permutation = [0, 2, 1]
  %image = tensor.expand_shape %t [[0], [1], [2, 3]] output_shape [1, 32, 16, 16] : tensor<1x32x256xf32> into tensor<1x32x16x16xf32>
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %zero : f32
  } : tensor<1x32x16x16xf32> to tensor<1x32x18x18xf32>
  %e1 = tensor.empty() : tensor<1x18x18x32xf32>
  %r = linalg.transpose ins(%padded : tensor<1x32x18x18xf32>) outs(%e1 : tensor<1x18x18x32xf32>) permutation = [0, 2, 3, 1]
  return %r : tensor<1x18x18x32xf32>
}

// A residual around a product over tokens whose sum a norm reads row by row: the sum lies in rows, and the transposed
// operand is read where it is.
// CHECK-LABEL: func.func @rows_for_a_norm
// CHECK-SAME:  (%[[X:.*]]: tensor<4x16x48xf32>, %[[MIXED:.*]]: tensor<4x48x16xf32>)
// CHECK-NOT:   linalg.transpose
// CHECK:       %[[SUM:.*]] = linalg.generic
// CHECK-SAME:    ins(%[[X]], %[[MIXED]] : tensor<4x16x48xf32>, tensor<4x48x16xf32>)
// CHECK:       linalg.generic
// CHECK-SAME:    iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[SUM]] : tensor<4x16x48xf32>)
// CHECK-NOT:   linalg.transpose
// CHECK:       return
func.func @rows_for_a_norm(%x: tensor<4x16x48xf32>, %mixed: tensor<4x48x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4x16x48xf32>
  %back = linalg.transpose ins(%mixed : tensor<4x48x16xf32>) outs(%e0 : tensor<4x16x48xf32>) permutation = [0, 2, 1]
  %sum = linalg.generic {indexing_maps = [affine_map<(n, t, c) -> (n, t, c)>, affine_map<(n, t, c) -> (n, t, c)>,
                                          affine_map<(n, t, c) -> (n, t, c)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %back : tensor<4x16x48xf32>, tensor<4x16x48xf32>) outs(%e0 : tensor<4x16x48xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x16x48xf32>
  %e1 = tensor.empty() : tensor<4x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %total = linalg.generic {indexing_maps = [affine_map<(n, t, c) -> (n, t, c)>, affine_map<(n, t, c) -> (n, t)>],
                           iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%sum : tensor<4x16x48xf32>) outs(%start : tensor<4x16xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %total : tensor<4x16xf32>
}
