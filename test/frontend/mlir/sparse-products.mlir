// Several sparse factors: one is walked, what the others have at its entries is found by bisection, and no extent has to be known.
// RUN: ml2kokkos %s --entry=inner --emit=imported | FileCheck %s --check-prefix=IMPORTED
// RUN: ml2kokkos %s --entry=inner -o - | FileCheck %s --check-prefix=INNER
// RUN: ml2kokkos %s --entry=columns -o - | FileCheck %s --check-prefix=COLUMNS
// Coordinates of few bits have no sign, and are no argument of the block.
// RUN: ml2kokkos %s --entry=short -o - | FileCheck %s --check-prefix=SHORT
// What has no order to bisect, or a loop of its own, is written out; that needs its extents, perhaps those of the result.
// RUN: not ml2kokkos %s --entry=pairs --emit=nest 2>&1 | FileCheck %s --check-prefix=PAIRS
// RUN: ml2kokkos %s --entry=pairs --dim A.0=8 --dim A.1=6 --dim B.0=8 --dim B.1=6 --emit=nest | FileCheck %s --check-prefix=DENSE
// RUN: ml2kokkos %s --entry=loops --emit=nest | FileCheck %s --check-prefix=LOOPS
// IMPORTED: linalg.generic {{.*}}nest.walked = 0
// INNER: int const end = b_positions(row + 1);
// INNER: int const found = first_entry_from(b_coordinates, b_positions(row), end, column);
// INNER: bool const is_stored = found < end && b_coordinates(found) == column;
// INNER: ? b_values(found) : 0.0;
// INNER: throw std::invalid_argument("sparse_products: B_positions_size has to be at least A_positions_size");
// A factor that is nowhere zero is looked up, the other one walked.
// COLUMNS: scatter_rows(
// COLUMNS: first_entry_from(a_coordinates, a_positions(row), end, column);
// COLUMNS: double const p = ({{[a-z_]+}} + 2.0) * b_values(entry);
// COLUMNS-NEXT: add_to(y(column), p);
// SHORT-NOT: first_entry_from
// SHORT: while ({{[a-z]+}} < {{[a-z]+}}) {
// SHORT-NEXT: int const middle = ({{[a-z]+}} + {{[a-z]+}}) / 2;
// PAIRS: error: extent {{[01]}} of 'B' is not known; give it with --dim B.
// DENSE: nest.buffer
// LOOPS: %[[WHOLE:.*]] = nest.buffer {{.*}} : memref<?x6xf64>
// LOOPS: nest.kernel {{.*}}
// LOOPS: memref.store {{.*}}, %[[WHOLE]]
// LOOPS: nest.kernel "y"
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#CSR16 = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 16 }>
#COO = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique), j : singleton), posWidth = 32, crdWidth = 32 }>
#each = affine_map<(i, j) -> (i, j)>
#total = { indexing_maps = [#each, #each, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"] }
#down = { indexing_maps = [#each, #each, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"] }

func.func @inner(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic #total ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %t = arith.addf %o, %p : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

func.func @columns(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %two = arith.constant 2.0 : f64
  %r = linalg.generic #down ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%y : tensor<?xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %c = arith.addf %a, %two : f64
    %p = arith.mulf %c, %b : f64
    %t = arith.addf %o, %p : f64
    linalg.yield %t : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

func.func @short(%A: tensor<8x6xf64, #CSR16>, %B: tensor<8x6xf64, #CSR16>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic #total ins(%A, %B : tensor<8x6xf64, #CSR16>, tensor<8x6xf64, #CSR16>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %t = arith.addf %o, %p : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

func.func @pairs(%A: tensor<?x?xf64, #COO>, %B: tensor<?x?xf64, #COO>, %s: tensor<f64>) -> tensor<f64> {
  %r = linalg.generic #total ins(%A, %B : tensor<?x?xf64, #COO>, tensor<?x?xf64, #COO>) outs(%s : tensor<f64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %p = arith.mulf %a, %b : f64
    %t = arith.addf %o, %p : f64
    linalg.yield %t : f64
  } -> tensor<f64>
  return %r : tensor<f64>
}

func.func @loops(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %y: tensor<?x6xf64>) -> tensor<?x6xf64> {
  %r = linalg.matmul ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%y : tensor<?x6xf64>) -> tensor<?x6xf64>
  return %r : tensor<?x6xf64>
}
