// Rows at positions that data decide are read and written where they lie, by kernels that read the position.
// RUN: ml2kokkos %s --entry=update -o - | FileCheck %s --check-prefix=UPDATE
// RUN: ml2kokkos %s --entry=slice -o - | FileCheck %s --check-prefix=SLICE

// UPDATE: int const [[ROW:[a-z]+]] = idx([[T:[a-z]+]]);
// UPDATE: r([[ROW]], [[I:[a-z]+]]) += x([[T]], [[I]]);
func.func @update(%sums: tensor<6x4xf32>, %x: tensor<5x4xf32>, %idx: tensor<5xi32>) -> tensor<6x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %sums) -> tensor<6x4xf32> {
    %place = tensor.extract %idx[%k] : tensor<5xi32>
    %i = arith.index_cast %place : i32 to index
    %row = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %src = tensor.extract_slice %x[%k, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
    %s = linalg.add ins(%row, %src : tensor<4xf32>, tensor<4xf32>) outs(%row : tensor<4xf32>) -> tensor<4xf32>
    %n = tensor.insert_slice %s into %a[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %n : tensor<6x4xf32>
  }
  return %r : tensor<6x4xf32>
}

// SLICE: r(i, j) = fast_exp(x(at() + i, j));
func.func @slice(%x: tensor<16x8xf32>, %at: tensor<i32>) -> tensor<4x8xf32> {
  %place = tensor.extract %at[] : tensor<i32>
  %i = arith.index_cast %place : i32 to index
  %s = tensor.extract_slice %x[%i, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
  %r = math.exp %s : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
