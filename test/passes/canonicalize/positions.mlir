// Integers computed from the positions of loops of known extents.
// RUN: ml2kokkos-opt %s --ml2k-idioms | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#rank1 = affine_map<(d0) -> (d0)>

// As torch-mlir counts the elements of a pool's window that ends at the image's border: 7 at the only position.
// CHECK-LABEL: func.func @whole_window
// CHECK-NOT: linalg.index
// CHECK: %[[COUNT:.*]] = arith.constant 7.000000e+00 : f32
// CHECK: arith.divf %{{.*}}, %[[COUNT]]
func.func @whole_window(%sums: tensor<3x1xf32>, %out: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %c0 = arith.constant 0 : i64
  %c7 = arith.constant 7 : i64
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : tensor<3x1xf32>) outs(%out : tensor<3x1xf32>) {
  ^bb0(%in: f32, %o: f32):
    %row = linalg.index 1 : index
    %at = arith.index_cast %row : index to i64
    %end = arith.addi %at, %c7 : i64
    %last = arith.minsi %end, %c7 : i64
    %first = arith.maxsi %at, %c0 : i64
    %size = arith.subi %last, %first : i64
    %count = arith.sitofp %size : i64 to f32
    %mean = arith.divf %in, %count : f32
    linalg.yield %mean : f32
  } -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// Every window of two lies inside: (2 i + 2) - 2 i is 2, and no bound is reached.
// CHECK-LABEL: func.func @inside
// CHECK-NOT: arith.minsi
// CHECK-NOT: arith.maxsi
// CHECK: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK: linalg.yield %[[TWO]]
func.func @inside(%out: tensor<4xi64>) -> tensor<4xi64> {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c8 = arith.constant 8 : i64
  %0 = linalg.generic {indexing_maps = [#rank1], iterator_types = ["parallel"]} outs(%out : tensor<4xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %at = arith.index_cast %i : index to i64
    %begin = arith.muli %at, %c2 : i64
    %end = arith.addi %begin, %c2 : i64
    %last = arith.minsi %end, %c8 : i64
    %first = arith.maxsi %begin, %c0 : i64
    %size = arith.subi %last, %first : i64
    linalg.yield %size : i64
  } -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// At the border both bounds are reached; the sums cannot overflow.
// CHECK-LABEL: func.func @border
// CHECK: arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: arith.addi %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i64
func.func @border(%out: tensor<8xi64>) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c8 = arith.constant 8 : i64
  %0 = linalg.generic {indexing_maps = [#rank1], iterator_types = ["parallel"]} outs(%out : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %at = arith.index_cast %i : index to i64
    %begin = arith.subi %at, %c1 : i64
    %end = arith.addi %at, %c2 : i64
    %last = arith.minsi %end, %c8 : i64
    %first = arith.maxsi %begin, %c0 : i64
    %size = arith.subi %last, %first : i64
    linalg.yield %size : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// What may wrap around is left as it is: of 32 bits, 3 * 2^30; and of a position of unknown extent, anything.
// CHECK-LABEL: func.func @wraps
// CHECK: arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: arith.maxsi
// CHECK-LABEL: func.func @unknown
// CHECK: arith.addi %{{.*}}, %{{.*}} : i64
// CHECK: arith.maxsi
func.func @wraps(%out: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : i32
  %large = arith.constant 1073741824 : i32
  %0 = linalg.generic {indexing_maps = [#rank1], iterator_types = ["parallel"]} outs(%out : tensor<4xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %at = arith.index_cast %i : index to i32
    %product = arith.muli %at, %large : i32
    %first = arith.maxsi %product, %c0 : i32
    linalg.yield %first : i32
  } -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @unknown(%out: tensor<?xi64>) -> tensor<?xi64> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %0 = linalg.generic {indexing_maps = [#rank1], iterator_types = ["parallel"]} outs(%out : tensor<?xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %at = arith.index_cast %i : index to i64
    %next = arith.addi %at, %c1 : i64
    %first = arith.maxsi %next, %c0 : i64
    linalg.yield %first : i64
  } -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// Positions are not negative: no floor division, nothing to wrap around from below, no remainder of what is smaller.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: arith.cmpi
// CHECK-NOT: arith.remsi
// CHECK: %[[HALF:.*]] = arith.divsi
// CHECK-NEXT: linalg.yield %[[HALF]]
func.func @halves(%out: tensor<8xi64>) -> tensor<8xi64> {
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %0 = linalg.generic {indexing_maps = [#rank1], iterator_types = ["parallel"]} outs(%out : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %at = arith.index_cast %i : index to i64
    %half = arith.floordivsi %at, %c2 : i64
    %is_negative = arith.cmpi slt, %half, %c0 : i64
    %wrapped = arith.addi %half, %c4 : i64
    %place = arith.select %is_negative, %wrapped, %half : i64
    %rest = arith.remsi %place, %c4 : i64
    linalg.yield %rest : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// Below zero they round down, and a remainder may be negative.
// CHECK-LABEL: func.func @below
// CHECK: arith.floordivsi
// CHECK: arith.cmpi slt
// CHECK: arith.remsi
func.func @below(%out: tensor<8xi64>) -> tensor<8xi64> {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %0 = linalg.generic {indexing_maps = [#rank1], iterator_types = ["parallel"]} outs(%out : tensor<8xi64>) {
  ^bb0(%o: i64):
    %i = linalg.index 0 : index
    %at = arith.index_cast %i : index to i64
    %before = arith.subi %at, %c1 : i64
    %half = arith.floordivsi %before, %c2 : i64
    %is_negative = arith.cmpi slt, %half, %c0 : i64
    %wrapped = arith.addi %half, %c4 : i64
    %place = arith.select %is_negative, %wrapped, %half : i64
    %rest = arith.remsi %before, %c4 : i64
    %sum = arith.addi %place, %rest : i64
    linalg.yield %sum : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}
