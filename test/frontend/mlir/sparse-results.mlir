// Sparse results: an array of values where the entries are those of an operand, else arrays of the caller's that are filled.
// RUN: ml2kokkos %s --entry=sampled -o - | FileCheck %s --check-prefix=SAMPLED
// RUN: ml2kokkos %s --entry=sum --emit=nest | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=sum -o - | FileCheck %s --check-prefix=SUM
// RUN: ml2kokkos %s --entry=inner --emit=nest | FileCheck %s --check-prefix=INNER
// RUN: ml2kokkos %s --entry=chain -o - | FileCheck %s --check-prefix=CHAIN
// RUN: ml2kokkos %s --entry=doubled -o - | FileCheck %s --check-prefix=DOUBLED
// RUN: not ml2kokkos %s --entry=repeated --emit=nest 2>&1 | FileCheck %s --check-prefix=REPEATED
// SAMPLED: for_stored_rows(
// SAMPLED: along.each([&](int {{[a-z]+}}) {
// SAMPLED: s_values({{[a-z]+}}) = sum;
// SAMPLED: void forward(ExecutionSpace const &space, APositions const &a_positions, ACoordinates const &a_coordinates,
// SAMPLED-NEXT: AValues const &a_values, U const &u, V const &v, SValues const &s_values)
// NEST: cf.assert {{.*}} "A_positions_size has to be
// NEST: nest.assemble "C" union ins({{.*}}) outs({{.*}}) attributes {nest.rows = 8 : i64} combine {
// NEST: arith.addf
// SUM: join_rows<Has::Either>(
// SUM-NEXT: "sparse_results::C", space, StoredMatrix{a_positions, a_coordinates, a_values},
// SUM-NEXT: StoredMatrix{b_positions, b_coordinates, b_values}, StoredMatrix{c_positions, c_coordinates, c_values},
// SUM-NEXT: KOKKOS_LAMBDA(double a, double b) { return a + b; });
// An assembled matrix that other operations read has arrays of the caller's, too; they find the entries that there is room for.
// INNER: func.func @inner({{.*}} %[[P:[a-zA-Z0-9]*]]: memref<?xi32> {nest.dims = ["C_positions_size"], nest.name = "C_positions", nest.output
// INNER: cf.assert {{.*}} "C_positions_size has to be 9"
// INNER: %[[WITHIN:.*]] = nest.buffer "C_within"
// INNER: nest.assemble "C" union
// INNER: nest.kernel "C_within" {{.*}} note "the entries of C that there is room for"
// INNER: memref.load %[[P]]
// INNER: arith.minsi
// INNER: nest.kernel "y"
// INNER: memref.load %[[WITHIN]]
// INNER-NOT: memref.load %[[P]]
// A product of a product; the values of the scaled one have the room of its pattern.
// CHAIN: multiply_rows(
// CHAIN: StoredMatrix{ra_positions, ra_coordinates, ra_values}
// CHAIN: ra_within(row) = Kokkos::min(ra_positions(row), Kokkos::min(ra_coordinates_size, ra_values_size));
// CHAIN: multiply_rows(
// CHAIN: StoredMatrix{work.ra_within, ra_coordinates, ra_values},
// CHAIN: c_within(row) = Kokkos::min(c_positions(row), Kokkos::min(c_coordinates_size, c_values_size));
// CHAIN: d_values(entry) = c_values(entry) * s(row);
// Of two operands with the same entries the result has those, too; its rows are as many as somebody says.
// DOUBLED: "sparse_results::r_values", space, a_positions_size - 1, a_values_size, a_positions,
// DOUBLED: along.each(
// DOUBLED: r_values(entry) = a_values_entry + a_values_entry;
// DOUBLED: "sparse_results: y_size + 1 has to be at least A_positions_size"
// REPEATED: [[#@LINE+60]]:10: error: a sparse result inside a loop is not supported
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

#row_of = { indexing_maps = [#each, affine_map<(i, j) -> (i)>, #each], iterator_types = ["parallel", "parallel"] }
func.func @chain(%R: tensor<3x8xf64, #CSR>, %A: tensor<8x6xf64, #CSR>, %P: tensor<6x3xf64, #CSR>, %s: tensor<3xf64>) -> tensor<3x3xf64, #CSR> {
  %e = tensor.empty() : tensor<3x6xf64, #CSR>
  %RA = linalg.matmul ins(%R, %A : tensor<3x8xf64, #CSR>, tensor<8x6xf64, #CSR>) outs(%e : tensor<3x6xf64, #CSR>) -> tensor<3x6xf64, #CSR>
  %f = tensor.empty() : tensor<3x3xf64, #CSR>
  %C = linalg.matmul ins(%RA, %P : tensor<3x6xf64, #CSR>, tensor<6x3xf64, #CSR>) outs(%f : tensor<3x3xf64, #CSR>) -> tensor<3x3xf64, #CSR>
  %g = tensor.empty() : tensor<3x3xf64, #CSR>
  %D = linalg.generic #row_of ins(%C, %s : tensor<3x3xf64, #CSR>, tensor<3xf64>) outs(%g : tensor<3x3xf64, #CSR>) {
  ^bb0(%c: f64, %si: f64, %o: f64):
    %m = arith.mulf %c, %si : f64
    linalg.yield %m : f64
  } -> tensor<3x3xf64, #CSR>
  return %D : tensor<3x3xf64, #CSR>
}

func.func @repeated(%A: tensor<8x8xf64, #CSR>, %n: index, %y: tensor<8xf64>) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %y) -> tensor<8xf64> {
    %e = tensor.empty() : tensor<8x8xf64, #CSR>
    %B = linalg.matmul ins(%A, %A : tensor<8x8xf64, #CSR>, tensor<8x8xf64, #CSR>) outs(%e : tensor<8x8xf64, #CSR>) -> tensor<8x8xf64, #CSR>
    %t = linalg.matvec ins(%B, %x : tensor<8x8xf64, #CSR>, tensor<8xf64>) outs(%x : tensor<8xf64>) -> tensor<8xf64>
    scf.yield %t : tensor<8xf64>
  }
  return %r : tensor<8xf64>
}

func.func @doubled(%A: tensor<?x?xf64, #CSR>, %B: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>) -> (tensor<?x?xf64, #CSR>, tensor<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c0 : tensor<?x?xf64, #CSR>
  %m = tensor.dim %A, %c1 : tensor<?x?xf64, #CSR>
  %e = tensor.empty(%n, %m) : tensor<?x?xf64, #CSR>
  %r = linalg.generic #both ins(%A, %A : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%e : tensor<?x?xf64, #CSR>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  } -> tensor<?x?xf64, #CSR>
  %z = arith.constant 0.0 : f64
  %f = tensor.empty(%n) : tensor<?xf64>
  %g = linalg.fill ins(%z : f64) outs(%f : tensor<?xf64>) -> tensor<?xf64>
  %C = tensor.empty(%n, %n) : tensor<?x?xf64, #CSR>
  %p = linalg.matmul ins(%A, %B : tensor<?x?xf64, #CSR>, tensor<?x?xf64, #CSR>) outs(%C : tensor<?x?xf64, #CSR>) -> tensor<?x?xf64, #CSR>
  %y = linalg.matvec ins(%p, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%g : tensor<?xf64>) -> tensor<?xf64>
  return %r, %y : tensor<?x?xf64, #CSR>, tensor<?xf64>
}
