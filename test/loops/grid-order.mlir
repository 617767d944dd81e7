// Loops of a grid in the order of its memory: the last one along most of it; tiles where some lies along another one.
// RUN: ml2kokkos %s --entry=turned -o - | FileCheck %s --check-prefix=TURNED
// RUN: ml2kokkos %s --entry=turned --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: ml2kokkos %s --entry=transposed -o - | FileCheck %s --check-prefix=TRANSPOSED
// RUN: ml2kokkos %s --entry=transposed --emit=prepared -o - | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=outermost -o - | FileCheck %s --check-prefix=OUTERMOST
// RUN: ml2kokkos %s --entry=left -o - | FileCheck %s --check-prefix=LEFT
// RUN: ml2kokkos %s --entry=short_loop -o - | FileCheck %s --check-prefix=SHORT
// RUN: ml2kokkos %s --entry=gathered -o - | FileCheck %s --check-prefix=GATHERED
// RUN: ml2kokkos %s --entry=reduced -o - | FileCheck %s --check-prefix=REDUCED
// RUN: ml2kokkos %s --entry=product -o - | FileCheck %s --check-prefix=PRODUCT

// Everything lies along the first loop.
// TURNED: "grid_order::y", space, Span{0, n}, Span{0, m}, y, KOKKOS_LAMBDA(int j, int i) { y(j, i) = 2.f * x(j, i); });
// NAIVE: KOKKOS_LAMBDA(int i, int j) { y(j, i) = 2.f * x(j, i); });
func.func @turned(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %v = memref.load %x[%j, %i] : memref<?x?xf32>
    %w = arith.mulf %two, %v : f32
    memref.store %w, %y[%j, %i] : memref<?x?xf32>
  }
  return
}

// What is read lies across what is written.
// TRANSPOSED: void for_squares(
// TRANSPOSED: for_tiles("grid_order::y", space, Span{1, n}, Span{0, m}, KOKKOS_LAMBDA(int i, int j) { y(i, j) += x(j, i - 1); });
// NEST: nest.schedule = #nest.schedule<for_tiles>
func.func @transposed(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?x?xf32>
  %m = memref.dim %y, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c1, %c0) to (%n, %m) step (%c1, %c1) {
    %i1 = arith.subi %i, %c1 : index
    %v = memref.load %x[%j, %i1] : memref<?x?xf32>
    %w = memref.load %y[%i, %j] : memref<?x?xf32>
    %s = arith.addf %w, %v : f32
    memref.store %s, %y[%i, %j] : memref<?x?xf32>
  }
  return
}

// The loop across is the last but one, whatever stands in front of it.
// OUTERMOST: compute_y(
// OUTERMOST: "grid_order::y", space, Span{0, 8 * 64}, Span{0, 128}, KOKKOS_LAMBDA(int row, int j) {
// OUTERMOST-NEXT: int const b = row / 64;
// OUTERMOST-NEXT: int const i = row % 64;
// OUTERMOST-NEXT: y(i, b, j) = x(b, j, i);
func.func @outermost(%x: memref<8x128x64xf32>, %y: memref<64x8x128xf32>) {
  affine.parallel (%i, %b, %j) = (0, 0, 0) to (64, 8, 128) {
    %v = affine.load %x[%b, %j, %i] : memref<8x128x64xf32>
    affine.store %v, %y[%i, %b, %j] : memref<64x8x128xf32>
  }
  return
}

// Strides say which dimension is contiguous.
// LEFT: for_grid(
// LEFT: KOKKOS_LAMBDA(int j, int i)
func.func @left(%x: memref<40x50xf32, strided<[1, 40]>>, %y: memref<40x50xf32, strided<[1, 40]>>) {
  affine.parallel (%i, %j) = (0, 0) to (40, 50) {
    %v = affine.load %x[%i, %j] : memref<40x50xf32, strided<[1, 40]>>
    affine.store %v, %y[%i, %j] : memref<40x50xf32, strided<[1, 40]>>
  }
  return
}

// Three components fill no vector.
// SHORT: Span{0, 3}, Span{0, 50}, KOKKOS_LAMBDA(int c, int i)
func.func @short_loop(%x: memref<50x3xf32>, %y: memref<50x3xf32>) {
  affine.parallel (%c, %i) = (0, 0) to (3, 50) {
    %v = affine.load %x[%i, %c] : memref<50x3xf32>
    affine.store %v, %y[%i, %c] : memref<50x3xf32>
  }
  return
}

// A row that an index in memory names lies across the loop of that index.
// GATHERED: for_tiles("grid_order::y", space, Span{0, 40}, Span{0, m}, KOKKOS_LAMBDA(int i, int j) { y(i, j) = x(at(j), i); });
func.func @gathered(%at: memref<?xindex>, %x: memref<?x40xf32>, %y: memref<40x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %m = memref.dim %y, %c1 : memref<40x?xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c40, %m) step (%c1, %c1) {
    %k = memref.load %at[%j] : memref<?xindex>
    %v = memref.load %x[%k, %i] : memref<?x40xf32>
    memref.store %v, %y[%i, %j] : memref<40x?xf32>
  }
  return
}

// Reductions go along memory, too, by rows.
// REDUCED: reduce_grid(
// REDUCED: "grid_order::s", space, Span{0, n}, Span{0, m}, Joining<Sum, double>{s},
// REDUCED-NEXT: KOKKOS_LAMBDA(int j, int i) { return x(j, i); });
func.func @reduced(%x: memref<?x?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  %s = scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) init (%zero) -> f64 {
    %v = memref.load %x[%j, %i] : memref<?x?xf64>
    scf.reduce (%v : f64) {
    ^bb0(%a: f64, %b: f64):
      %t = arith.addf %a, %b : f64
      scf.reduce.return %t : f64
    }
  }
  return %s : f64
}

// Iterations with loops of their own stay by rows.
// PRODUCT: for_grid(
// PRODUCT: KOKKOS_LAMBDA(int i, int j)
func.func @product(%a: memref<30x40xf32>, %b: memref<40x50xf32>, %x: memref<50x30xf32>, %y: memref<30x50xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.parallel (%j, %i) = (0, 0) to (50, 30) {
    %t = affine.for %k = 0 to 40 iter_args(%s = %zero) -> f32 {
      %u = affine.load %a[%i, %k] : memref<30x40xf32>
      %v = affine.load %b[%k, %j] : memref<40x50xf32>
      %p = arith.mulf %u, %v : f32
      %q = math.absf %p : f32
      %n = arith.addf %s, %q : f32
      affine.yield %n : f32
    }
    %v = affine.load %x[%j, %i] : memref<50x30xf32>
    %w = arith.addf %t, %v : f32
    affine.store %w, %y[%i, %j] : memref<30x50xf32>
  }
  return
}
