// What sparse programs cannot be translated, each with its place and its reason.
// The exponential of a tensor in blocks reads a dense copy.
// RUN: ml2kokkos %s --entry=blocks --emit=nest | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: nest.kernel "r_update"
// BLOCKS: math.exp
// RUN: not ml2kokkos %s --entry=extent --emit=nest 2>&1 | FileCheck %s --check-prefix=EXTENT
// EXTENT: sparse-refused.mlir:[[#@LINE+31]]:{{.*}}: error: extent 1 of 'A' is not known; give it with --dim A.1=N
// With the extent it is translated.
// RUN: ml2kokkos %s --entry=extent --dim A.1=9 --emit=nest | FileCheck %s --check-prefix=GIVEN
// GIVEN: nest.kernel "{{.*}}" range {{.*}} reduce (sum into
// RUN: not ml2kokkos %s --entry=result --emit=nest 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: sparse-refused.mlir:[[#@LINE+34]]:{{.*}}: error: a sparse argument cannot be a result; the caller has it
// A matrix that the program makes is carried by no loop.
// RUN: not ml2kokkos %s --entry=carried --emit=nest 2>&1 | FileCheck %s --check-prefix=CARRIED
// CARRIED: error: a sparse result can be read by linalg operations and sparse_tensor.convert only
#rows = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : dense) }>
#BSR = #sparse_tensor.encoding<{
  map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)
}>
#each = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
// The exponential of an element that is not stored is 1.
#map = { indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"] }
#total = { indexing_maps = [#each, #one], iterator_types = ["reduction", "reduction"] }

func.func @blocks(%A: tensor<8x8xf64, #BSR>) -> tensor<8x8xf64> {
  %e = tensor.empty() : tensor<8x8xf64>

  %r = linalg.generic #map ins(%A : tensor<8x8xf64, #BSR>) outs(%e : tensor<8x8xf64>) {
  ^bb0(%a: f64, %o: f64):
    %s = math.exp %a : f64
    linalg.yield %s : f64
  } -> tensor<8x8xf64>
  return %r : tensor<8x8xf64>
}

func.func @extent(%A: tensor<?x?xf64, #rows>, %y: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic #total ins(%A : tensor<?x?xf64, #rows>) outs(%y : tensor<f64>) {
  ^bb0(%a: f64, %o: f64):
    %s = arith.addf %o, %a : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

func.func @result(%A: tensor<8x8xf64, #rows>) -> tensor<8x8xf64, #rows> {
  return %A : tensor<8x8xf64, #rows>
}

#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @carried(%A: tensor<8x8xf64, #CSR>, %n: index, %y: tensor<8xf64>) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x8xf64, #CSR>
  %B = linalg.matmul ins(%A, %A : tensor<8x8xf64, #CSR>, tensor<8x8xf64, #CSR>) outs(%e : tensor<8x8xf64, #CSR>) -> tensor<8x8xf64, #CSR>
  %r, %q = scf.for %i = %c0 to %n step %c1 iter_args(%x = %y, %M = %B) -> (tensor<8xf64>, tensor<8x8xf64, #CSR>) {
    %t = linalg.matvec ins(%M, %x : tensor<8x8xf64, #CSR>, tensor<8xf64>) outs(%x : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %t, %M : tensor<8xf64>, tensor<8x8xf64, #CSR>
  }
  return %r : tensor<8xf64>
}
