// A sum of sums is one sum, whatever the order of the dimensions; another kind of reduction, or another reader, is not.
// RUN: ml2kokkos-opt %s --ml2k-idioms | FileCheck %s
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#ends = affine_map<(d0, d1, d2) -> (d0, d2)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#first = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @trace
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "reduction", "parallel"]} ins(%arg0 : tensor<9x3x5xf32>) outs(%{{.*}} : tensor<5xf32>)
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @trace(%x: tensor<9x3x5xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<9x5xf32>) -> tensor<9x5xf32>
  %inner = linalg.generic {indexing_maps = [#all, #ends], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<9x3x5xf32>) outs(%start : tensor<9x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %sum = arith.addf %out, %square : f32
    linalg.yield %sum : f32
  } -> tensor<9x5xf32>
  %e1 = tensor.empty() : tensor<5xf32>
  %start1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<5xf32>) -> tensor<5xf32>
  %outer = linalg.generic {indexing_maps = [#turned, #first], iterator_types = ["parallel", "reduction"]}
      ins(%inner : tensor<9x5xf32>) outs(%start1 : tensor<5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<5xf32>
  return %outer : tensor<5xf32>
}

// CHECK-LABEL: func.func @largest_of_sums
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// CHECK: arith.maximumf
func.func @largest_of_sums(%x: tensor<4x3x5xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %inner = linalg.generic {indexing_maps = [#all, #ends], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<4x3x5xf32>) outs(%start : tensor<4x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %out, %in : f32
    linalg.yield %sum : f32
  } -> tensor<4x5xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %start1 = linalg.fill ins(%least : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %outer = linalg.generic {indexing_maps = [#rows, #first], iterator_types = ["parallel", "reduction"]}
      ins(%inner : tensor<4x5xf32>) outs(%start1 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %largest = arith.maximumf %in, %out : f32
    linalg.yield %largest : f32
  } -> tensor<4xf32>
  return %outer : tensor<4xf32>
}

// A product stays one, and so does a convolution, whose loops no input alone gives the extents of.
// CHECK-LABEL: func.func @mean_of_products
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
func.func @mean_of_products(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %inner = linalg.generic {indexing_maps = [#ends, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x3xf32>, tensor<3x5xf32>) outs(%start : tensor<4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %out, %product : f32
    linalg.yield %sum : f32
  } -> tensor<4x5xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %start1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %outer = linalg.generic {indexing_maps = [#rows, #first], iterator_types = ["parallel", "reduction"]}
      ins(%inner : tensor<4x5xf32>) outs(%start1 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<4xf32>
  return %outer : tensor<4xf32>
}
