// A matrix product of complex numbers is one of real numbers: the right factor with two by two numbers for each, the left one and the
// result as they lie.
// RUN: ml2kokkos --entry=update %s -o %t.cpp && FileCheck --check-prefix=UPDATE %s < %t.cpp
// RUN: ml2kokkos --entry=turned %s -o %t.cpp && FileCheck --check-prefix=TURNED %s < %t.cpp
// RUN: ml2kokkos --entry=small %s -o %t.cpp && FileCheck --check-prefix=SMALL %s < %t.cpp

// UPDATE: parallel: each number as the 2 by 2 matrix that multiplies by it
// UPDATE: pairs(i * 2, j * 2) = b_ij0;
// UPDATE: pairs({{.*}}, j * 2) = -b_ij1;
// UPDATE: a[n,m * 2] * pairs[m * 2,p * 2] + c[n,p * 2] -> c[n,p * 2]
// UPDATE: batched_contract
func.func @update(%a: memref<?x?xcomplex<f64>> {nest.dims = ["n", "m"]}, %b: memref<?x?xcomplex<f64>> {nest.dims = ["m", "p"]},
                  %c: memref<?x?xcomplex<f64>> {nest.dims = ["n", "p"]}) {
  linalg.matmul ins(%a, %b : memref<?x?xcomplex<f64>>, memref<?x?xcomplex<f64>>) outs(%c : memref<?x?xcomplex<f64>>)
  return
}

// Where the terms of a row do not follow each other, they are numbers and then parts; what is done to the sums follows.
// TURNED: a[10,8,2] * pairs[10,2,18] -> product[8,18]
// TURNED: product{{.*}}[8,18], w[8,9] -> c[8,9,2]
func.func @turned(%a: memref<10x8xcomplex<f32>>, %b: memref<10x9xcomplex<f32>>, %w: memref<8x9xf32>, %c: memref<8x9xcomplex<f32>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c9) step (%c1, %c1) {
    %sum = scf.for %k = %c0 to %c10 step %c1 iter_args(%s = %zero) -> (complex<f32>) {
      %x = memref.load %a[%k, %i] : memref<10x8xcomplex<f32>>
      %y = memref.load %b[%k, %j] : memref<10x9xcomplex<f32>>
      %p = complex.mul %x, %y fastmath<reassoc> : complex<f32>
      %t = complex.add %s, %p fastmath<reassoc> : complex<f32>
      scf.yield %t : complex<f32>
    }
    %f = memref.load %w[%i, %j] : memref<8x9xf32>
    %re = complex.re %sum : complex<f32>
    %im = complex.im %sum : complex<f32>
    %u = arith.mulf %re, %f : f32
    %v = arith.mulf %im, %f : f32
    %r = complex.create %u, %v : complex<f32>
    memref.store %r, %c[%i, %j] : memref<8x9xcomplex<f32>>
    scf.reduce
  }
  return
}

// SMALL-NOT: pairs
// SMALL: for (int k = 0; k < 3; ++k)
func.func @small(%a: memref<3x3xcomplex<f64>>, %b: memref<3x3xcomplex<f64>>, %c: memref<3x3xcomplex<f64>>) {
  linalg.matmul ins(%a, %b : memref<3x3xcomplex<f64>>, memref<3x3xcomplex<f64>>) outs(%c : memref<3x3xcomplex<f64>>)
  return
}
