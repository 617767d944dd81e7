// RUN: ml2kokkos-opt %s --ml2k-fuse-chains | FileCheck %s

#id = affine_map<(n, i) -> (n, i)>
#column = affine_map<(n, i) -> (i)>

// Variables are normalised as they are put side by side, each with its columns.
// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$SECOND:.*]] = affine_map<(d0, d1) -> (d1 + 3)>
// CHECK-LABEL: func.func @normalised(
// CHECK-SAME: %[[T:.*]]: tensor<?x3xf64>, %[[Q:.*]]: tensor<?x2xf64>, %[[MEAN:.*]]: tensor<5xf64>
// CHECK: %[[FRONT:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$FIRST]], #[[$ID]]]{{.*}} ins(%[[T]], %[[MEAN]] : tensor<?x3xf64>, tensor<5xf64>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.truncf
// CHECK: %[[BACK:.*]] = linalg.generic {indexing_maps = [#[[$ID]], #[[$SECOND]], #[[$ID]]]{{.*}} ins(%[[Q]], %[[MEAN]] : tensor<?x2xf64>, tensor<5xf64>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.log
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.truncf
// CHECK: tensor.concat dim(1) %[[FRONT]], %[[BACK]] : (tensor<?x3xf32>, tensor<?x2xf32>) -> tensor<?x5xf32>
func.func @normalised(%t: tensor<?x3xf64>, %q: tensor<?x2xf64>, %mean: tensor<5xf64>, %n: index) -> tensor<?x5xf32> {
  %0 = tensor.empty(%n) : tensor<?x2xf64>
  %logs = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<?x2xf64>) outs(%0 : tensor<?x2xf64>) {
  ^bb0(%x: f64, %out: f64):
    %log = math.log %x : f64
    linalg.yield %log : f64
  } -> tensor<?x2xf64>
  %all = tensor.concat dim(1) %t, %logs : (tensor<?x3xf64>, tensor<?x2xf64>) -> tensor<?x5xf64>
  %1 = tensor.empty(%n) : tensor<?x5xf64>
  %centred = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%all, %mean : tensor<?x5xf64>, tensor<5xf64>) outs(%1 : tensor<?x5xf64>) {
  ^bb0(%x: f64, %m: f64, %out: f64):
    %difference = arith.subf %x, %m : f64
    linalg.yield %difference : f64
  } -> tensor<?x5xf64>
  %2 = tensor.empty(%n) : tensor<?x5xf32>
  %short = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%centred : tensor<?x5xf64>) outs(%2 : tensor<?x5xf32>) {
  ^bb0(%x: f64, %out: f32):
    %float = arith.truncf %x : f64 to f32
    linalg.yield %float : f32
  } -> tensor<?x5xf32>
  return %short : tensor<?x5xf32>
}

// Features that others read, too, lie in the whole already: by parts there would be more kernels (DenseNet).
// CHECK-LABEL: func.func @dense(
// CHECK: %[[ALL:.*]] = tensor.concat
// CHECK: linalg.generic {{.*}} ins(%[[ALL]]
func.func @dense(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> (tensor<4x6xf32>, tensor<4x3xf32>, tensor<4x3xf32>) {
  %0 = tensor.empty() : tensor<4x3xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%0 : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<4x3xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x3xf32>) outs(%0 : tensor<4x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.exp %in : f32
    linalg.yield %e : f32
  } -> tensor<4x3xf32>
  %all = tensor.concat dim(1) %a, %b : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x6xf32>
  %1 = tensor.empty() : tensor<4x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%all : tensor<4x6xf32>) outs(%1 : tensor<4x6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = math.tanh %in : f32
    linalg.yield %e : f32
  } -> tensor<4x6xf32>
  return %r, %a, %b : tensor<4x6xf32>, tensor<4x3xf32>, tensor<4x3xf32>
}
