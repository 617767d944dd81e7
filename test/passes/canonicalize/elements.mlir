// The new exporter of PyTorch looks masks up at indices that it spreads, turns into columns and concatenates: each index is
// computed where it is used.
// RUN: ml2kokkos-opt %s --ml2k-inline-scalars --ml2k-cleanup | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @mask
// CHECK-SAME: (%[[MASK:.*]]: tensor<?x?xi1>, %[[ROWS:.*]]: tensor<?xi64>
// CHECK-NOT: tensor.concat
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: tensor.extract %[[ROWS]][%[[I]]] : tensor<?xi64>
// CHECK-DAG: linalg.index 1
// CHECK: tensor.extract %[[MASK]]
// CHECK-NOT: linalg.generic
func.func @mask(%mask: tensor<?x?xi1>, %rows: tensor<?xi64>, %m: index, %n: index) -> tensor<?x?xi1> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%m, %n) : tensor<?x?xi64>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<?xi64>) outs(%e : tensor<?x?xi64>) {
  ^bb0(%v: i64, %o: i64):
    linalg.yield %v : i64
  } -> tensor<?x?xi64>
  %b = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x?xi64>) {
  ^bb0(%o: i64):
    %j = linalg.index 1 : index
    %v = arith.index_cast %j : index to i64
    linalg.yield %v : i64
  } -> tensor<?x?xi64>
  %first = tensor.expand_shape %a [[0], [1, 2]] output_shape [%m, %n, 1] : tensor<?x?xi64> into tensor<?x?x1xi64>
  %second = tensor.expand_shape %b [[0], [1, 2]] output_shape [%m, %n, 1] : tensor<?x?xi64> into tensor<?x?x1xi64>
  %both = tensor.concat dim(2) %first, %second : (tensor<?x?x1xi64>, tensor<?x?x1xi64>) -> tensor<?x?x2xi64>
  %out = tensor.empty(%m, %n) : tensor<?x?xi1>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : tensor<?x?xi1>) {
  ^bb0(%o: i1):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = tensor.extract %both[%i, %j, %c0] : tensor<?x?x2xi64>
    %q = tensor.extract %both[%i, %j, %c1] : tensor<?x?x2xi64>
    %x = arith.index_cast %p : i64 to index
    %y = arith.index_cast %q : i64 to index
    %v = tensor.extract %mask[%x, %y] : tensor<?x?xi1>
    linalg.yield %v : i1
  } -> tensor<?x?xi1>
  return %0 : tensor<?x?xi1>
}
