// Sparse results: an array of values where the entries are those of an operand, else arrays of the caller's that are filled.
// RUN: ml2kokkos %s --entry=sampled -o - | FileCheck %s --check-prefix=SAMPLED
// RUN: ml2kokkos %s --entry=sum --emit=nest | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=sum -o - | FileCheck %s --check-prefix=SUM
// RUN: not ml2kokkos %s --entry=inner --emit=nest 2>&1 | FileCheck %s --check-prefix=INNER
// SAMPLED: for_stored_rows(
// SAMPLED: along.each([&](int {{[a-z]+}}) {
// SAMPLED: s_values({{[a-z]+}}) = sum;
// SAMPLED: void forward(ExecutionSpace const &space, APositions const &a_positions, ACoordinates const &a_coordinates,
// SAMPLED-NEXT: AValues const &a_values, U const &u, V const &v, SValues const &s_values)
// NEST: cf.assert {{.*}} "C_positions_size has to be at least A_positions_size"
// NEST: nest.assemble "C" union ins({{.*}}) outs({{.*}}) combine {
// NEST: arith.addf
// SUM: join_rows<Has::Either>(
// SUM-NEXT: "sparse_results::C", space, StoredMatrix{a_positions, a_coordinates, a_values},
// SUM-NEXT: StoredMatrix{b_positions, b_coordinates, b_values}, StoredMatrix{c_positions, c_coordinates, c_values},
// SUM-NEXT: KOKKOS_LAMBDA(double a, double b) { return a + b; });
// INNER: error: a sparse tensor whose entries are counted must be a result
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#each = affine_map<(i, j) -> (i, j)>
#both = { indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel"] }

func.func @sampled(%A: tensor<8x6xf64, #CSR>, %u: tensor<8x4xf64>, %v: tensor<6x4xf64>) -> tensor<8x6xf64, #CSR> {
  %e = tensor.empty() : tensor<8x6xf64, #CSR>
  %S = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%A, %u, %v : tensor<8x6xf64, #CSR>, tensor<8x4xf64>, tensor<6x4xf64>) outs(%e : tensor<8x6xf64, #CSR>) {
  ^bb0(%a: f64, %ui: f64, %vj: f64, %o: f64):
    %p = arith.mulf %ui, %vj : f64
    %q = arith.mulf %a, %p : f64
    %sum = arith.addf %o, %q : f64
    linalg.yield %sum : f64
  } -> tensor<8x6xf64, #CSR>
  return %S : tensor<8x6xf64, #CSR>
}

func.func @sum(%A: tensor<8x6xf64, #CSR>, %B: tensor<8x6xf64, #CSR>) -> tensor<8x6xf64, #CSR> {
  %e = tensor.empty() : tensor<8x6xf64, #CSR>
  %C = linalg.generic #both ins(%A, %B : tensor<8x6xf64, #CSR>, tensor<8x6xf64, #CSR>) outs(%e : tensor<8x6xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<8x6xf64, #CSR>
  return %C : tensor<8x6xf64, #CSR>
}

func.func @inner(%A: tensor<8x6xf64, #CSR>, %B: tensor<8x6xf64, #CSR>, %x: tensor<6xf64>, %y: tensor<8xf64>) -> tensor<8xf64> {
  %e = tensor.empty() : tensor<8x6xf64, #CSR>
  %C = linalg.generic #both ins(%A, %B : tensor<8x6xf64, #CSR>, tensor<8x6xf64, #CSR>) outs(%e : tensor<8x6xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<8x6xf64, #CSR>
  %r = linalg.matvec ins(%C, %x : tensor<8x6xf64, #CSR>, tensor<6xf64>) outs(%y : tensor<8xf64>) -> tensor<8xf64>
  return %r : tensor<8xf64>
}
