// Loops of a product that go along memory one behind the other are one: a contraction of tensors is a matrix product of the same memory.
// RUN: ml2kokkos --entry=tensors %s -o %t.cpp && FileCheck --check-prefix=TENSORS %s < %t.cpp
// RUN: ml2kokkos --entry=vector %s -o %t.cpp && FileCheck --check-prefix=VECTOR %s < %t.cpp
// RUN: ml2kokkos --entry=apart %s -o %t.cpp && FileCheck --check-prefix=APART %s < %t.cpp
// RUN: ml2kokkos --entry=running %s -o %t.cpp && FileCheck --check-prefix=RUNNING %s < %t.cpp
// RUN: ml2kokkos --entry=part %s -o %t.cpp && FileCheck --check-prefix=PART %s < %t.cpp

#ijkl = affine_map<(i, j, m, n, k, l) -> (i, j, k, l)>
#klmn = affine_map<(i, j, m, n, k, l) -> (k, l, m, n)>
#lkmn = affine_map<(i, j, m, n, k, l) -> (l, k, m, n)>
#ijmn = affine_map<(i, j, m, n, k, l) -> (i, j, m, n)>

// TENSORS: Tensor<double const **> const a_matrix(a.data(), a_size_0 * a_size_1, a_size_2 * a_size_3);
// TENSORS: Tensor<double const **> const b_matrix(b.data(), a_size_2 * a_size_3, b_size_2 * 5);
// TENSORS: Tensor<double **> const c_matrix(c.data(), a_size_0 * a_size_1, b_size_2 * 5);
// TENSORS: batched_contract<Columns::adjacent, Columns::adjacent>(
// TENSORS-NEXT: "{{.*}}::c", space, 1, a_size_0 * a_size_1, b_size_2 * 5, a_size_2 * a_size_3,
// TENSORS: c_matrix(n, o) += sum;
func.func @tensors(%a: memref<?x?x?x?xf64>, %b: memref<?x?x?x5xf64>,
                   %c: memref<?x?x?x5xf64>) {
  linalg.generic {indexing_maps = [#ijkl, #klmn, #ijmn], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<?x?x?x?xf64>, memref<?x?x?x5xf64>) outs(%c : memref<?x?x?x5xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %p = arith.mulf %x, %y : f64
    %s = arith.addf %sum, %p : f64
    linalg.yield %s : f64
  }
  return
}

// Of a matrix and a vector, too.
// VECTOR: Tensor<float const **> const a_matrix(a.data(), n * 6, m * 4);
// VECTOR: Tensor<float const *> const flat_x(x.data(), m * 4);
// VECTOR: fold_threads<Sum>(team, Span{0, m * 4}
func.func @vector(%a: memref<?x6x?x4xf32> {nest.dims = ["n", "", "m", ""]}, %x: memref<?x4xf32> {nest.dims = ["m", ""]},
                  %y: memref<?x6xf32> {nest.dims = ["n", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %a, %c0 : memref<?x6x?x4xf32>
  %m = memref.dim %a, %c2 : memref<?x6x?x4xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c6) step (%c1, %c1) {
    %total = scf.for %k = %c0 to %m step %c1 iter_args(%outer = %zero) -> (f32) {
      %inner = scf.for %l = %c0 to %c4 step %c1 iter_args(%sum = %outer) -> (f32) {
        %u = memref.load %a[%i, %j, %k, %l] : memref<?x6x?x4xf32>
        %v = memref.load %x[%k, %l] : memref<?x4xf32>
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %sum, %p fastmath<reassoc> : f32
        scf.yield %s : f32
      }
      scf.yield %inner : f32
    }
    memref.store %total, %y[%i, %j] : memref<?x6xf32>
    scf.reduce
  }
  return
}

// Terms in another order in one of the operands stay two loops; what the two have in one order is joined.
// APART: Tensor<double const ***> const a_reshaped(a.data(), a_size_0 * a_size_1, a_size_2, a_size_3);
// APART: Tensor<double const ***> const b_reshaped(b.data(), a_size_3, a_size_2, b_size_2 * b_size_3);
// APART: for_strips
// APART: a_reshaped(i, k, m) * b_reshaped(m, k, j)
func.func @apart(%a: memref<?x?x?x?xf64>, %b: memref<?x?x?x?xf64>,
                 %c: memref<?x?x?x?xf64>) {
  linalg.generic {indexing_maps = [#ijkl, #lkmn, #ijmn], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<?x?x?x?xf64>, memref<?x?x?x?xf64>) outs(%c : memref<?x?x?x?xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %p = arith.mulf %x, %y : f64
    %s = arith.addf %sum, %p : f64
    linalg.yield %s : f64
  }
  return
}

// A loop over a part of a dimension is none with the loop in front of it; one over a part of the first dimension is.
// PART: Tensor<double const **> const a_matrix(a.data(), n, a_size_1 * 7);
// PART: k < 21; ++k
// PART-NEXT: a_matrix(i, k) * flat_x(k);
func.func @part(%a: memref<?x?x7xf64>, %x: memref<5x7xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?x7xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %total = scf.for %k = %c0 to %c3 step %c1 iter_args(%outer = %zero) -> (f64) {
      %inner = scf.for %l = %c0 to %c7 step %c1 iter_args(%sum = %outer) -> (f64) {
        %u = memref.load %a[%i, %k, %l] : memref<?x?x7xf64>
        %v = memref.load %x[%k, %l] : memref<5x7xf64>
        %p = arith.mulf %u, %v : f64
        %s = arith.addf %sum, %p fastmath<reassoc> : f64
        scf.yield %s : f64
      }
      scf.yield %inner : f64
    }
    memref.store %total, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}

// A sum that is stored as it runs keeps the order of its terms: here down the columns.
// RUNNING-NOT: _matrix
// RUNNING: y(i, l, k) = total;
func.func @running(%a: memref<?x?x?xf64>, %x: memref<?x?xf64>, %y: memref<?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?x?xf64>
  %m = memref.dim %a, %c1 : memref<?x?x?xf64>
  %p = memref.dim %a, %c2 : memref<?x?x?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %outer = scf.for %k = %c0 to %p step %c1 iter_args(%carried = %zero) -> (f64) {
      %inner = scf.for %l = %c0 to %m step %c1 iter_args(%sum = %carried) -> (f64) {
        %u = memref.load %a[%i, %l, %k] : memref<?x?x?xf64>
        %w = arith.mulf %u, %u : f64
        %total = arith.addf %sum, %w fastmath<reassoc> : f64
        memref.store %total, %y[%i, %l, %k] : memref<?x?x?xf64>
        scf.yield %total : f64
      }
      scf.yield %inner : f64
    }
    scf.reduce
  }
  return
}
