// Vectors are computed element by element where they are read; what is read twice, or carried by a loop, is a small array.
// RUN: ml2kokkos %s --entry=axpy -o - | FileCheck %s --check-prefix=AXPY
// AXPY: Span{0, 8}, Span{0, 8}, KOKKOS_LAMBDA(int i, int j)
// AXPY: int const [[AT:.*]] = i * 8 + j;
// AXPY: y([[AT]]) = Kokkos::fma(a, x([[AT]]), y([[AT]]));
// RUN: ml2kokkos %s --entry=matmul -o - | FileCheck %s --check-prefix=MATMUL
// MATMUL: float start[4][8];
// MATMUL: for (int k = 0; k < 16; ++k) {
// MATMUL: float column[4];
// MATMUL: float row[8];
// MATMUL: start[{{.*}} += column[
// What is read from memory that a store changes is read before.
// RUN: ml2kokkos %s --entry=swap --emit=imported | FileCheck %s --check-prefix=SWAP
// SWAP: %[[W:.*]] = memref.alloca() : memref<8xf32>
// SWAP: scf.for
// SWAP: memref.load %arg1
// SWAP: memref.store %{{.*}}, %[[W]]
// SWAP: scf.for
// SWAP: memref.store %{{.*}}, %arg1
// SWAP: scf.for
// SWAP: memref.load %[[W]]
// SWAP: memref.store %{{.*}}, %arg0
// RUN: not ml2kokkos %s --entry=typed -o %t.cpp 2>&1 | FileCheck %s --check-prefix=TYPED
// TYPED: error: 'memref.alloc': memory of vectors is not supported; make it memory of their elements and read it by vector.load
// RUN: ml2kokkos %s --entry=argument -o - | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: float const v_i = v(i);
// ARGUMENT-NEXT: r(i) = v_i + v_i;

func.func @axpy(%a: f32, %x: memref<64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %s = vector.splat %a : vector<8xf32>
  scf.for %i = %c0 to %c64 step %c8 {
    %v = vector.load %x[%i] : memref<64xf32>, vector<8xf32>
    %w = vector.load %y[%i] : memref<64xf32>, vector<8xf32>
    %r = vector.fma %s, %v, %w : vector<8xf32>
    vector.store %r, %y[%i] : memref<64xf32>, vector<8xf32>
  }
  return
}

func.func @matmul(%a: memref<32x16xf32>, %b: memref<16x64xf32>, %c: memref<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c32 step %c4 {
    scf.for %j = %c0 to %c64 step %c8 {
      %start = vector.transfer_read %c[%i, %j], %zero {in_bounds = [true, true]} : memref<32x64xf32>, vector<4x8xf32>
      %sum = scf.for %k = %c0 to %c16 step %c1 iter_args(%acc = %start) -> (vector<4x8xf32>) {
        %column = vector.transfer_read %a[%i, %k], %zero {in_bounds = [true], permutation_map = affine_map<(i, j) -> (i)>} : memref<32x16xf32>, vector<4xf32>
        %row = vector.transfer_read %b[%k, %j], %zero {in_bounds = [true]} : memref<16x64xf32>, vector<8xf32>
        %next = vector.outerproduct %column, %row, %acc {kind = #vector.kind<add>} : vector<4xf32>, vector<8xf32>
        scf.yield %next : vector<4x8xf32>
      }
      vector.transfer_write %sum, %c[%i, %j] {in_bounds = [true, true]} : vector<4x8xf32>, memref<32x64xf32>
    }
  }
  return
}

func.func @swap(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %w = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  vector.store %v, %y[%c0] : memref<8xf32>, vector<8xf32>
  vector.store %w, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}

func.func @typed(%x: memref<f32>) {
  %m = memref.alloc() : memref<4xvector<4xf32>>
  %c0 = arith.constant 0 : index
  %v = memref.load %m[%c0] : memref<4xvector<4xf32>>
  %s = vector.extract %v[0] : f32 from vector<4xf32>
  memref.store %s, %x[] : memref<f32>
  return
}

func.func @argument(%v: vector<4xf32>) -> vector<4xf32> {
  %r = arith.addf %v, %v : vector<4xf32>
  return %r : vector<4xf32>
}
