// A part of a concatenation that lies in one operand is a part of that: halves that are joined and split again.
// RUN: ml2kokkos-opt %s --ml2k-idioms --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @halves
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x3xf32>, %[[Y:[a-z0-9]*]]: tensor<?x5xf32>
// CHECK-NOT: tensor.concat
// CHECK: %[[WHOLE:.*]] = tensor.extract_slice %[[X]][0, 0] [%{{.*}}, 3] [1, 1]
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[Y]][0, 1] [%{{.*}}, 2] [1, 2]
// CHECK: return %[[WHOLE]], %[[PART]]
func.func @halves(%x: tensor<?x3xf32>, %y: tensor<?x5xf32>) -> (tensor<?x3xf32>, tensor<?x2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %joined = tensor.concat dim(1) %x, %y : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<?x8xf32>
  %first = tensor.extract_slice %joined[0, 0] [%n, 3] [1, 1] : tensor<?x8xf32> to tensor<?x3xf32>
  %second = tensor.extract_slice %joined[0, 4] [%n, 2] [1, 2] : tensor<?x8xf32> to tensor<?x2xf32>
  return %first, %second : tensor<?x3xf32>, tensor<?x2xf32>
}

// One reads of both operands, the other begins behind an operand of unknown length.
// CHECK-LABEL: func.func @across
// CHECK: %[[J:.*]] = tensor.concat
// CHECK: tensor.extract_slice %[[J]][2, 0] [2, 4]
// CHECK: %[[K:.*]] = tensor.concat
// CHECK: tensor.extract_slice %[[K]][5, 0] [1, 4]
func.func @across(%x: tensor<3x4xf32>, %y: tensor<?x4xf32>) -> (tensor<2x4xf32>, tensor<1x4xf32>) {
  %joined = tensor.concat dim(0) %x, %y : (tensor<3x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %first = tensor.extract_slice %joined[2, 0] [2, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  %other = tensor.concat dim(0) %y, %x : (tensor<?x4xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %second = tensor.extract_slice %other[5, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
  return %first, %second : tensor<2x4xf32>, tensor<1x4xf32>
}
