// Lists of integers that LLVM's parser would go on without, permutations that its verifier would read extents by, blocks of a
// sparse tensor whose sizes it would look for in vain, and a reduction without the values whose type it would read.
//
// RUN: split-file %s %t
// RUN: not ml2kokkos %t/word.mlir -o - 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not ml2kokkos %t/large.mlir -o - 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not ml2kokkos %t/number.mlir -o - 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not ml2kokkos %t/reduce.mlir -o - 2>&1 | FileCheck %s --check-prefix=REDUCE
// RUN: not ml2kokkos %t/broadcast.mlir -o - 2>&1 | FileCheck %s --check-prefix=BROADCAST
// RUN: not ml2kokkos %t/outside.mlir -o - 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not ml2kokkos %t/generic.mlir -o - 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not ml2kokkos %t/blocks.mlir -o - 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not ml2kokkos %t/expanded.mlir -o - 2>&1 | FileCheck %s --check-prefix=EXPANDED
// RUN: not ml2kokkos %t/joined.mlir -o - 2>&1 | FileCheck %s --check-prefix=JOINED
// RUN: ml2kokkos %t/good.mlir -o - | FileCheck %s --check-prefix=GOOD

// WORD: word.mlir:2:78: error: permutation has to be a list of integers: permutation = [1, 0]
//--- word.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>) permutation = [1, a]
  return %y : tensor<3x2xf32>
}

// LARGE: large.mlir:2:78: error: permutation has to be a list of integers
//--- large.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>) permutation = [1, 99999999999999999999]
  return %y : tensor<3x2xf32>
}

// NUMBER: number.mlir:3:5: error: permutation has to be a list of integers
//--- number.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>)
    permutation = 1
  return %y : tensor<3x2xf32>
}

// REDUCE: reduce.mlir:2:88: error: dimensions has to be a list of integers
//--- reduce.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<2xf32>) -> tensor<2xf32> {
  %y = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf32>) outs(%o : tensor<2xf32>) dimensions = [1
  return %y : tensor<2xf32>
}

// BROADCAST: broadcast.mlir:2:76: error: dimensions has to be a list of integers
//--- broadcast.mlir
func.func @f(%x: tensor<3xf32>, %o: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = linalg.broadcast ins(%x : tensor<3xf32>) outs(%o : tensor<2x3xf32>) dimensions = [-]
  return %y : tensor<2x3xf32>
}

// BLOCKS: blocks.mlir:2:3: error: levels of blocks need one `mod` for each `floordiv` of a dimension
//--- blocks.mlir
#BSR = #sparse_tensor.encoding<{
  map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, j mod 2 : dense, j mod 2 : dense)
}>
func.func @f(%x: tensor<8x8xf64, #BSR>) -> tensor<8x8xf64, #BSR> {
  return %x : tensor<8x8xf64, #BSR>
}

// EXPANDED: expanded.mlir:2:8: error: 'tensor.expand_shape' op output shape does not fit the type of the result
//--- expanded.mlir
func.func @f(%a: tensor<?x4xf32>, %n: index) -> tensor<?x2x2xf32> {
  %e = tensor.expand_shape %a [[0], [1, 2]] output_shape [%n, 1, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  return %e : tensor<?x2x2xf32>
}

// JOINED: joined.mlir:8:7: error: 'scf.reduce.return' op is in a block that has no values to join
//--- joined.mlir
func.func @f(%x: memref<8xf32>, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %total = scf.parallel (%j) = (%c0) to (%c8) step (%c1) init (%zero) -> f32 {
    scf.reduce (%zero : f32) {
      scf.reduce.return %zero : f32
    }
  }
  memref.store %total, %y[] : memref<f32>
  return
}

// OUTSIDE: mlir:2:8: error: 'linalg.transpose' op permutation is not valid
//--- outside.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>) permutation = [1, 1000000000000]
  return %y : tensor<3x2xf32>
}
//--- generic.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = "linalg.transpose"(%x, %o) <{permutation = array<i64: 1, -1000000000000>}> ({
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// GOOD: void forward(
//--- good.mlir
func.func @f(%x: tensor<2x3xf32>, %o: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %y = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%o : tensor<3x2xf32>) permutation = [ 0x1 , // columns
    0 ]
  return %y : tensor<3x2xf32>
}
