// Reductions down the columns of a matrix become nest.reduce; those along its rows, of a few terms, or in order do not.
// RUN: ml2kokkos %s --entry=sums --emit=nest -o - | FileCheck %s --check-prefix=SUMS
// RUN: ml2kokkos %s --entry=sums --emit=prepared | ml2kokkos-opt -o /dev/null
// RUN: ml2kokkos %s --entry=largest --emit=nest -o - | FileCheck %s --check-prefix=LARGEST
// RUN: ml2kokkos %s --entry=rows --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=few --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=ordered --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=halo --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=before --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=sums -o - | FileCheck %s --check-prefix=TEXT

// The matrix comes first, the vector is no matrix. What was in the result is joined behind the sum.
// SUMS: nest.reduce "c" <sum> from 0.000000e+00 : f64 over [1] ins(%arg0, %arg1 : {{.*}}) extras(%arg2 : {{.*}}) outs(%arg2 :
// SUMS-SAME: nest.loop_names = ["", ""]
// SUMS: arith.mulf
// SUMS: finish
// SUMS: ^bb0(%[[SUM:.*]]: f64, %[[BEFORE:.*]]: f64):
// SUMS-NEXT: arith.addf %[[BEFORE]], %[[SUM]]
// TEXT: fold_columns<Sum>(
// TEXT-NEXT: "column_sums::c", space, 1, 64, 100, KOKKOS_LAMBDA(int, int k, int i) { return a(k, i) * b(k); },
// TEXT-NEXT: KOKKOS_LAMBDA(double total, int, int i) { c(i) += total; });
#a = affine_map<(i, k) -> (k, i)>
#b = affine_map<(i, k) -> (k)>
#c = affine_map<(i, k) -> (i)>
func.func @sums(%a: memref<100x64xf64>, %b: memref<100xf64>, %c: memref<64xf64>) {
  linalg.generic {indexing_maps = [#b, #a, #c], iterator_types = ["parallel", "reduction"]}
      ins(%b, %a : memref<100xf64>, memref<100x64xf64>) outs(%c : memref<64xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %p = arith.mulf %y, %x : f64
    %s = arith.addf %o, %p : f64
    linalg.yield %s : f64
  }
  return
}

// An order of loops is none of maxima. Two loops stay, one of them goes along memory.
// LARGEST: nest.reduce "c" <max> from 0xFF800000 : f32 over [2]
// LARGEST-SAME: nest.loop_names = ["page", "column", "row"]
func.func @largest(%a: memref<4x?x?xf32> {nest.dims = ["", "n", "m"]}, %c: memref<4x?xf32> {nest.dims = ["", "m"]}) {
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %a, %c1 : memref<4x?x?xf32>
  %m = memref.dim %a, %c2 : memref<4x?x?xf32>
  scf.parallel (%page, %column) = (%c0, %c0) to (%c4, %m) step (%c1, %c1) {
    %top = scf.for %row = %c0 to %n step %c1 iter_args(%carried = %low) -> (f32) {
      %x = memref.load %a[%page, %row, %column] : memref<4x?x?xf32>
      %y = math.absf %x : f32
      %z = arith.maximumf %carried, %y : f32
      scf.yield %z : f32
    }
    memref.store %top, %c[%page, %column] : memref<4x?xf32>
  }
  return
}

// LOOPS-NOT: nest.reduce
// LOOPS: nest.kernel
// LOOPS-NOT: nest.reduce

// Neighbouring terms lie side by side.
func.func @rows(%a: memref<64x100xf64>, %b: memref<100xf64>, %c: memref<64xf64>) {
  linalg.matvec ins(%a, %b : memref<64x100xf64>, memref<100xf64>) outs(%c : memref<64xf64>)
  return
}

func.func @few(%a: memref<3x64xf64>, %b: memref<3xf64>, %c: memref<64xf64>) {
  linalg.vecmat ins(%b, %a : memref<3xf64>, memref<3x64xf64>) outs(%c : memref<64xf64>)
  return
}

// The sum keeps its order.
func.func @ordered(%a: memref<100x64xf64>, %c: memref<64xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to 64 {
    %total = affine.for %k = 0 to 100 iter_args(%carried = %zero) -> (f64) {
      %x = affine.load %a[%k, %i] : memref<100x64xf64>
      %s = arith.addf %carried, %x : f64
      affine.yield %s : f64
    }
    affine.store %total, %c[%i] : memref<64xf64>
  }
  return
}

// A position is more than a loop.
func.func @halo(%a: memref<100x65xf64>, %c: memref<64xf64>) {
  %low = arith.constant 0xFFF0000000000000 : f64
  affine.for %i = 0 to 64 {
    %top = affine.for %k = 0 to 100 iter_args(%carried = %low) -> (f64) {
      %x = affine.load %a[%k, %i + 1] : memref<100x65xf64>
      %s = arith.maximumf %carried, %x : f64
      affine.yield %s : f64
    }
    affine.store %top, %c[%i] : memref<64xf64>
  }
  return
}

// Terms need what is computed in front of them.
func.func @before(%a: memref<100x64xf64>, %factors: memref<64xf64>, %c: memref<64xf64>) {
  %low = arith.constant 0xFFF0000000000000 : f64
  affine.parallel (%i) = (0) to (64) {
    %w = affine.load %factors[%i] : memref<64xf64>
    %factor = math.exp %w : f64
    %top = affine.for %k = 0 to 100 iter_args(%carried = %low) -> (f64) {
      %x = affine.load %a[%k, %i] : memref<100x64xf64>
      %y = arith.mulf %x, %factor : f64
      %z = arith.maximumf %carried, %y : f64
      affine.yield %z : f64
    }
    affine.store %top, %c[%i] : memref<64xf64>
  }
  return
}
