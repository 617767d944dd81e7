// An operation on stored elements runs over the entries, also where it reads no value of them: the sum of a row's
// neighbours, and the indices of the entries of a vector.
// RUN: ml2kokkos %s --entry=neighbours -o - | FileCheck %s
// RUN: ml2kokkos %s --entry=places -o - | FileCheck %s --check-prefix=PLACES
// CHECK: for_streamed_rows(
// CHECK: fetch_ahead(along, a_coordinates);
// CHECK: along.fold<Sum>([&](int entry) { return b(a_coordinates(entry)); });
// PLACES: r_values(entry) = a_coordinates(entry);
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
#vector = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @neighbours(%A: tensor<?x?xf64, #CSR>, %b: tensor<?xf64>, %out: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%A, %b : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%out : tensor<?xf64>) {
  ^bb0(%a: f64, %y: f64, %x: f64):
    %each = sparse_tensor.binary %a, %y : f64, f64 to f64
      overlap = {
        ^bb0(%v: f64, %w: f64):
          sparse_tensor.yield %w : f64
      }
      left = {}
      right = {}
    %s = arith.addf %x, %each : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  return %r : tensor<?xf64>
}

func.func @places(%a: tensor<8xf64, #vector>) -> (tensor<8xi32, #vector> {nest.name = "r"}) {
  %e = tensor.empty() : tensor<8xi32, #vector>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf64, #vector>) outs(%e : tensor<8xi32, #vector>) {
  ^bb0(%x: f64, %o: i32):
    %i = linalg.index 0 : index
    %each = sparse_tensor.binary %x, %i : f64, index to i32
      overlap = {
        ^bb0(%v: f64, %at: index):
          %at_i32 = arith.index_cast %at : index to i32
          sparse_tensor.yield %at_i32 : i32
      }
      left = {}
      right = {}
    linalg.yield %each : i32
  } -> tensor<8xi32, #vector>
  return %r : tensor<8xi32, #vector>
}
