// A slice whose elements do not exist, as far as the text says, is refused: LLVM 19 trusts it.
// RUN: split-file %s %t
// RUN: not ml2kokkos %t/weight.mlir -o - 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: not ml2kokkos %t/insert.mlir -o - 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: ml2kokkos %t/nothing.mlir -o - | FileCheck %s --check-prefix=NOTHING

// WEIGHT: weight.mlir:3:8: error: 'tensor.extract_slice' op runs out of the extents of its tensor
//--- weight.mlir
func.func @f() -> tensor<1x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %z = tensor.extract_slice %w[9223372036854775807, 0] [1, 2] [1, 1] : tensor<3x2xf32> to tensor<1x2xf32>
  return %z : tensor<1x2xf32>
}
// INSERT: insert.mlir:2:8: error: 'tensor.insert_slice' op runs out of the extents of its tensor
//--- insert.mlir
func.func @f(%x: tensor<2x2xf32>, %y: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %z = tensor.insert_slice %x into %y[1, 0] [2, 2] [4, 1] : tensor<2x2xf32> into tensor<5x2xf32>
  return %z : tensor<5x2xf32>
}
// NOTHING: void forward(
//--- nothing.mlir
func.func @f(%x: tensor<2x2xf32>, %y: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %z = tensor.insert_slice %x into %y[1, 0] [2, 2] [3, 1] : tensor<2x2xf32> into tensor<5x2xf32>
  return %z : tensor<5x2xf32>
}
