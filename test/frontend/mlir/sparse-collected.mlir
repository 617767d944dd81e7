// Results that no kernel assembles are computed as dense tensors; a scan numbers the entries of each compressed level.
// RUN: ml2kokkos %s --entry=vector --emit=imported | FileCheck %s
// RUN: ml2kokkos %s --entry=vector -o - | FileCheck %s --check-prefix=TEXT
// RUN: ml2kokkos %s --entry=joined --emit=imported | FileCheck %s --check-prefix=JOINED
// RUN: ml2kokkos %s --entry=scaled -o - | FileCheck %s --check-prefix=SCALED
// RUN: ml2kokkos %s --entry=compared --emit=nest | FileCheck %s --check-prefix=COMPARED
// RUN: ml2kokkos %s --entry=windows --emit=nest | FileCheck %s --check-prefix=WINDOWS
// RUN: ml2kokkos %s --entry=sandwich -o - | FileCheck %s --check-prefix=SANDWICH
// RUN: ml2kokkos %s --entry=widened --emit=nest | FileCheck %s --check-prefix=WIDENED
// RUN: ml2kokkos %s --entry=and_back --emit=imported | FileCheck %s --check-prefix=BACK
// RUN: ml2kokkos %s --entry=vector --emit=imported 2>&1 >%t.imported | FileCheck %s --check-prefix=WARNING
// RUN: not ml2kokkos %s --entry=blocks --emit=nest 2>&1 | FileCheck %s --check-prefix=BLOCKS
// WARNING: sparse-collected.mlir:[[#]]:[[#]]: warning: sparse result 0 is computed as a dense tensor
// CHECK: func.func @vector({{.*}}nest.name = "C_positions"{{.*}}nest.name = "C_coordinates"{{.*}}nest.name = "C_values"{{.*}}{nest.collected
// CHECK: scf.for
// CHECK: overflow<nsw>
// CHECK: scf.parallel
// TEXT: scan_span<int>(
// TEXT: Span{0, 2000}
// TEXT: c_coordinates(position) = i;
// TEXT: c_values(position) = r_i;
// JOINED: func.func @joined({{.*}}nest.name = "C_positions0"{{.*}}nest.name = "C_positions1"
// JOINED-COUNT-2: scf.for
// An elementwise update in place has the entries of its operand.
// SCALED: c_values(entry) = 2.0 * a_values(entry);
// COMPARED: nest.assemble "C" nonzeros
// What is read through windows is written out.
// WINDOWS: nest.kernel
// WINDOWS-NOT: scf.while
// A scan over the nodes of an outer level asks the level below for as many at once.
// SANDWICH: scan_span<int>(
// SANDWICH: scan_span<int>(
// SANDWICH: c_places({{.*}}) != c_places(
// WIDENED: arith.extf
// WIDENED: nest.assemble "C" nonzeros
// In between a tensor stays dense.
// BACK: func.func @and_back(%[[A:.*]]: tensor<9x7xf32>
// BACK-NEXT: return %[[A]]
// BLOCKS: error: sparse result is not supported: stored as
#vector = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#DCSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed, j : compressed) }>
#BSR = #sparse_tensor.encoding<{
  map = (i, j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)
}>
#sandwich = #sparse_tensor.encoding<{ map = (i, j, k) -> (k : compressed, i : dense, j : compressed) }>
#line = affine_map<(i) -> (i)>
#each = affine_map<(i, j) -> (i, j)>

func.func @vector(%A: tensor<2000xf64, #vector>, %B: tensor<2000xf64, #vector>) -> (tensor<2000xf64, #vector> {nest.name = "C"}) {
  %e = tensor.empty() : tensor<2000xf64, #vector>
  %r = linalg.generic {indexing_maps = [#line, #line, #line], iterator_types = ["parallel"]}
      ins(%A, %B : tensor<2000xf64, #vector>, tensor<2000xf64, #vector>) outs(%e : tensor<2000xf64, #vector>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<2000xf64, #vector>
  return %r : tensor<2000xf64, #vector>
}

func.func @joined(%A: tensor<3x5xf64, #CSR>, %B: tensor<4x5xf64>) -> (tensor<7x5xf64, #DCSR> {nest.name = "C"}) {
  %r = sparse_tensor.concatenate %A, %B {dimension = 0 : index} : tensor<3x5xf64, #CSR>, tensor<4x5xf64> to tensor<7x5xf64, #DCSR>
  return %r : tensor<7x5xf64, #DCSR>
}

func.func @scaled(%A: tensor<9x7xf64, #CSR>) -> (tensor<9x7xf64, #CSR> {nest.name = "C"}) {
  %two = arith.constant 2.0 : f64
  %r = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%A : tensor<9x7xf64, #CSR>) {
  ^bb0(%a: f64):
    %p = arith.mulf %a, %two : f64
    linalg.yield %p : f64
  } -> tensor<9x7xf64, #CSR>
  return %r : tensor<9x7xf64, #CSR>
}

func.func @compared(%A: tensor<9x7xf64, #CSR>, %B: tensor<9x7xf64, #CSR>) -> (tensor<9x7xi8, #CSR> {nest.name = "C"}) {
  %e = tensor.empty() : tensor<9x7xi8, #CSR>
  %r = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%A, %B : tensor<9x7xf64, #CSR>, tensor<9x7xf64, #CSR>) outs(%e : tensor<9x7xi8, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: i8):
    %s = arith.cmpf ult, %a, %b : f64
    %t = arith.extui %s : i1 to i8
    linalg.yield %t : i8
  } -> tensor<9x7xi8, #CSR>
  return %r : tensor<9x7xi8, #CSR>
}

func.func @windows(%A: tensor<8x8xf64, #DCSR>, %k: tensor<3x3xf64>) -> tensor<6x6xf64> {
  %zeros = arith.constant dense<0.0> : tensor<6x6xf64>
  %r = linalg.conv_2d ins(%A, %k : tensor<8x8xf64, #DCSR>, tensor<3x3xf64>) outs(%zeros : tensor<6x6xf64>) -> tensor<6x6xf64>
  return %r : tensor<6x6xf64>
}

func.func @blocks(%A: tensor<8x8xf64>) -> tensor<8x8xf64, #BSR> {
  %r = sparse_tensor.convert %A : tensor<8x8xf64> to tensor<8x8xf64, #BSR>
  return %r : tensor<8x8xf64, #BSR>
}

func.func @sandwich(%A: tensor<?x?x?xf64>) -> (tensor<?x?x?xf64, #sandwich> {nest.name = "C"}) {
  %r = sparse_tensor.convert %A : tensor<?x?x?xf64> to tensor<?x?x?xf64, #sandwich>
  return %r : tensor<?x?x?xf64, #sandwich>
}

func.func @widened(%A: tensor<9x7xf32, #DCSR>) -> (tensor<9x7xf64, #CSR> {nest.name = "C"}) {
  %r = sparse_tensor.convert %A : tensor<9x7xf32, #DCSR> to tensor<9x7xf64, #CSR>
  return %r : tensor<9x7xf64, #CSR>
}

func.func @and_back(%A: tensor<9x7xf32>) -> tensor<9x7xf32> {
  %r = sparse_tensor.convert %A : tensor<9x7xf32> to tensor<9x7xf32, #DCSR>
  %d = sparse_tensor.convert %r : tensor<9x7xf32, #DCSR> to tensor<9x7xf32>
  return %d : tensor<9x7xf32>
}
