// Complex numbers are pairs of reals: arrays have one more dimension, scalars are two.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/gemm.mlir -o - --style=llvm | FileCheck %s --check-prefix=GEMM
// RUN: ml2kokkos %t/waves.mlir -o - --style=llvm | FileCheck %s --check-prefix=WAVES
// RUN: ml2kokkos %t/dot.mlir -o - --style=llvm | FileCheck %s --check-prefix=DOT
// RUN: ml2kokkos %t/layout.mlir --emit=imported -o - | FileCheck %s --check-prefix=LAYOUT
// RUN: not ml2kokkos %t/tanh.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=TANH
// RUN: not ml2kokkos %t/cast.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not ml2kokkos %t/reduce.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=REDUCE
// GEMM: using A = Tensor<float const[8][4][2]>;
// GEMM: for (int k = 0; k < 4; ++k) {
// GEMM: += a_re * b_re - a_im * b_im;
// GEMM-NEXT: += a_re * b_im + a_im * b_re;
// GEMM: c(i, j, 0) = {{.*}};
// GEMM-NEXT: c(i, j, 1) = {{.*}};
// WAVES: double phase_re,
// WAVES: double phase_im,
// WAVES: parallel: no iteration touches what another
// WAVES: double const here_re = z(i, 0);
// WAVES-NEXT: double const here_im = z(i, 1);
// DOT: reduce_span(
// DOT: JoiningTerms<double, Sum, Sum>
// LAYOUT: memref<4x3x2xf32, strided<[12, 2, 1], offset: 8>>
// TANH: tanh.mlir:2:8: error: 'complex.tanh' is not supported on complex numbers
// CAST: cast.mlir:2:8: error: 'memref.reinterpret_cast' is not supported on complex numbers
// REDUCE: reduce.mlir:4:8: error: 'scf.parallel' is not supported on complex numbers

//--- gemm.mlir
func.func @gemm(%a: tensor<8x4xcomplex<f32>>, %b: tensor<4x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>> {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %empty = tensor.empty() : tensor<8x6xcomplex<f32>>
  %init = linalg.fill ins(%zero : complex<f32>) outs(%empty : tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %c = linalg.matmul ins(%a, %b : tensor<8x4xcomplex<f32>>, tensor<4x6xcomplex<f32>>) outs(%init : tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  return %c : tensor<8x6xcomplex<f32>>
}

//--- waves.mlir
func.func @waves(%z: memref<?xcomplex<f64>>, %phase: complex<f64>, %out: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %z, %c0 : memref<?xcomplex<f64>>
  scf.for %i = %c0 to %n step %c1 {
    %here = memref.load %z[%i] : memref<?xcomplex<f64>>
    %turned = complex.mul %here, %phase : complex<f64>
    memref.store %turned, %z[%i] : memref<?xcomplex<f64>>
    %size = complex.abs %turned : complex<f64>
    memref.store %size, %out[%i] : memref<?xf64>
  }
  return
}

//--- dot.mlir
func.func @dot(%a: tensor<100xcomplex<f64>>, %b: tensor<100xcomplex<f64>>, %init: tensor<complex<f64>>) -> tensor<complex<f64>> {
  %c = linalg.dot ins(%a, %b : tensor<100xcomplex<f64>>, tensor<100xcomplex<f64>>) outs(%init : tensor<complex<f64>>) -> tensor<complex<f64>>
  return %c : tensor<complex<f64>>
}

//--- layout.mlir
func.func @layout(%a: memref<6x6xcomplex<f32>>, %b: memref<4x3xcomplex<f32>>) {
  %rows = memref.subview %a[0, 4] [4, 2] [1, 1] : memref<6x6xcomplex<f32>> to memref<4x2xcomplex<f32>, strided<[6, 1], offset: 4>>
  %view = memref.subview %a[0, 4] [4, 3] [1, 1] : memref<6x6xcomplex<f32>> to memref<4x3xcomplex<f32>, strided<[6, 1], offset: 4>>
  memref.copy %view, %b : memref<4x3xcomplex<f32>, strided<[6, 1], offset: 4>> to memref<4x3xcomplex<f32>>
  return
}

//--- tanh.mlir
func.func @f(%z: complex<f32>, %out: memref<1xcomplex<f32>>) {
  %t = complex.tanh %z : complex<f32>
  %c0 = arith.constant 0 : index
  memref.store %t, %out[%c0] : memref<1xcomplex<f32>>
  return
}

//--- cast.mlir
func.func @f(%z: memref<4x4xcomplex<f32>>, %out: memref<16xcomplex<f32>>) {
  %t = memref.reinterpret_cast %z to offset: [0], sizes: [16], strides: [1] : memref<4x4xcomplex<f32>> to memref<16xcomplex<f32>, strided<[1]>>
  memref.copy %t, %out : memref<16xcomplex<f32>, strided<[1]>> to memref<16xcomplex<f32>>
  return
}

//--- reduce.mlir
func.func @f(%a: memref<8xcomplex<f32>>, %zero: complex<f32>, %out: memref<complex<f32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index %c8 = arith.constant 8 : index
  %s = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> complex<f32> {
    %x = memref.load %a[%i] : memref<8xcomplex<f32>>
    scf.reduce(%x : complex<f32>) {
    ^bb0(%l: complex<f32>, %r: complex<f32>):
      %t = complex.add %l, %r : complex<f32>
      scf.reduce.return %t : complex<f32>
    }
  }
  memref.store %s, %out[] : memref<complex<f32>>
  return
}
