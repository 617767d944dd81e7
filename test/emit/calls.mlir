// Products as calls of KokkosKernels, on the instance that the caller gives.
// RUN: ml2kokkos %s --entry=layer --calls=kokkoskernels -o - | FileCheck %s --check-prefix=GEMM
// RUN: ml2kokkos %s --entry=vector --calls=kokkoskernels -o - | FileCheck %s --check-prefix=GEMV
// RUN: ml2kokkos %s --entry=sparse --calls=kokkoskernels -o - | FileCheck %s --check-prefix=SPMV
// RUN: ml2kokkos %s --entry=residual --calls=kokkoskernels -o - | FileCheck %s --check-prefix=OWN
// RUN: ml2kokkos %s --entry=layer -o - | FileCheck %s --check-prefix=NONE
// RUN: ml2kokkos %s --entry=layer --calls=kokkoskernels --report | FileCheck %s --check-prefix=REPORT
// RUN: not ml2kokkos %s --entry=layer --calls=blas -o - 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: --calls=blas: one of none, kokkoskernels

// GEMM: --calls=kokkoskernels
// GEMM: #include <KokkosBlas3_gemm.hpp>
// GEMM: KokkosBlas::gemm(space, of_a, of_b, Scalar(1), a, b, Scalar(beta), c);
// GEMM: library_gemm<'N', 'T'>("{{.*}}::p", space, x, w, 0, h);
// GEMM: "{{.*}}::p.epilogue", space, batch, 320,
// GEMM-SAME: KOKKOS_LAMBDA(int n, int i) { h(n, i) = Kokkos::max(h(n, i), 0.f); });
// NONE-NOT: KokkosBlas
// RUN: ml2kokkos %s --entry=layer --calls=kokkoskernels --dim x.0=4 --report | FileCheck %s --check-prefix=KEPT
// KEPT: p is no call of KokkosKernels: fewer than 8 rows or columns
// REPORT: p {{.*}}KokkosBlas::gemm
// REPORT: p.epilogue {{.*}}map
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#row = affine_map<(i, j) -> (i, j)>
func.func @layer(%x: tensor<?x256xf32>, %w: tensor<320x256xf32>) -> tensor<?x320xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e = tensor.empty(%n) : tensor<?x320xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x320xf32>) -> tensor<?x320xf32>
  %p = linalg.matmul_transpose_b ins(%x, %w : tensor<?x256xf32>, tensor<320x256xf32>) outs(%z : tensor<?x320xf32>) -> tensor<?x320xf32>
  %h = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x320xf32>) outs(%e : tensor<?x320xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x320xf32>
  return %h : tensor<?x320xf32>
}

// GEMV: #include <KokkosBlas2_gemv.hpp>
// GEMV: library_gemv<'N'>("{{.*}}::y", space, a, x, 0, y);
func.func @vector(%a: tensor<1024x1030xf32>, %x: tensor<1030xf32>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %y = linalg.matvec ins(%a, %x : tensor<1024x1030xf32>, tensor<1030xf32>) outs(%z : tensor<1024xf32>) -> tensor<1024xf32>
  return %y : tensor<1024xf32>
}

// SPMV: #include <KokkosSparse_CrsMatrix.hpp>
// SPMV: #include <KokkosSparse_spmv.hpp>
// SPMV: KokkosSparse::spmv(space, "N", Scalar(1), a, x, Scalar(beta), y);
// SPMV: library_spmv("{{.*}}", space, a_positions, a_coordinates, a_values, x, 1, y);
func.func @sparse(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %z = linalg.matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %z : tensor<?xf64>
}

// More than a product is one kernel of ours.
// OWN-NOT: KokkosSparse::spmv(
// OWN: for_streamed_rows(
func.func @residual(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %b: tensor<?xf64>, %r: tensor<?xf64>) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %b, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %p = linalg.matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
  %s = linalg.sub ins(%b, %p : tensor<?xf64>, tensor<?xf64>) outs(%r : tensor<?xf64>) -> tensor<?xf64>
  return %s : tensor<?xf64>
}
