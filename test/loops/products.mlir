// Kernels of loops that are a matrix product become nest.contract, whatever their layout; sums that keep their order do not.
// RUN: ml2kokkos %s --entry=linalg --emit=nest -o - | FileCheck %s --check-prefix=LINALG
// RUN: ml2kokkos %s --entry=sizes --emit=nest -o - | FileCheck %s --check-prefix=SIZES
// RUN: ml2kokkos %s --entry=batches --emit=nest -o - | FileCheck %s --check-prefix=BATCHES
// RUN: ml2kokkos %s --entry=transposed --emit=nest -o - | FileCheck %s --check-prefix=TRANSPOSED
// RUN: ml2kokkos %s --entry=ordered --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=part --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=few --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=position --emit=nest -o - | FileCheck %s --check-prefix=LOOPS
// RUN: ml2kokkos %s --entry=sizes -o - | FileCheck %s --check-prefix=TEXT

// The result of before is an operand of the epilogue.
// LINALG: nest.contract "c" [m, n, k] ins(%[[A:.*]], %[[B:.*]] : {{.*}}) extras(%[[C:.*]] : {{.*}}) outs(%[[C]] :
// LINALG: ^bb0(%[[SUM:.*]]: f32, %[[BEFORE:.*]]: f32):
// LINALG: arith.addf %[[BEFORE]], %[[SUM]]
func.func @linalg(%a: memref<32x24xf32>, %b: memref<24x40xf32>, %c: memref<32x40xf32>) {
  linalg.matmul ins(%a, %b : memref<32x24xf32>, memref<24x40xf32>) outs(%c : memref<32x40xf32>)
  return
}

// A fill is no start, a scalar of the caller and a vector are read behind the sum. Loops keep their names.
// SIZES: nest.contract "c" [m, n, k] ins(%[[A:[^,]*]], %[[B:[^ ]*]] : {{.*}}) extras(%[[BIAS:[^ ]*]] :
// SIZES-SAME: nest.loop_names = ["row", "column", "term"]
// SIZES: ^bb0(%[[SUM:.*]]: f64, %[[OF:.*]]: f64):
// SIZES: arith.mulf %{{.*}}, %[[SUM]]
// SIZES-NOT: nest.kernel
// TEXT: batched_contract<Columns::adjacent, Columns::adjacent>(
// TEXT-NEXT: "products::c", space, 1, n, m, k,
// TEXT: KOKKOS_LAMBDA(double sum, int, int row, int column) { c(row, column) = alpha * sum + bias(column); }
func.func @sizes(%a: memref<?x?xf64> {nest.dims = ["n", "k"]}, %b: memref<?x?xf64> {nest.dims = ["k", "m"]},
                 %bias: memref<?xf64> {nest.dims = ["m"]}, %alpha: f64, %c: memref<?x?xf64> {nest.dims = ["n", "m"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?x?xf64>
  %k = memref.dim %a, %c1 : memref<?x?xf64>
  %m = memref.dim %b, %c1 : memref<?x?xf64>
  scf.parallel (%row, %column) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %total = scf.for %term = %c0 to %k step %c1 iter_args(%carried = %zero) -> (f64) {
      %x = memref.load %a[%row, %term] : memref<?x?xf64>
      %y = memref.load %b[%term, %column] : memref<?x?xf64>
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %carried, %p fastmath<reassoc> : f64
      scf.yield %s : f64
    }
    %scaled = arith.mulf %alpha, %total : f64
    %of = memref.load %bias[%column] : memref<?xf64>
    %r = arith.addf %scaled, %of : f64
    memref.store %r, %c[%row, %column] : memref<?x?xf64>
  }
  return
}

// BATCHES: nest.contract "c" [batch, m, n, k]
func.func @batches(%a: memref<5x16x24xf32>, %b: memref<5x24x32xf32>, %c: memref<5x16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x16x32xf32>)
  linalg.batch_matmul ins(%a, %b : memref<5x16x24xf32>, memref<5x24x32xf32>) outs(%c : memref<5x16x32xf32>)
  return
}

// The operand with the columns of the result is the right one.
// TRANSPOSED-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// TRANSPOSED-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// TRANSPOSED: nest.contract "c" [m, n, k] ins(%arg1, %arg0 :
// TRANSPOSED-SAME: maps [#[[B]], #[[A]],
#left = affine_map<(i, j, k) -> (k, i)>
#right = affine_map<(i, j, k) -> (j, k)>
#result = affine_map<(i, j, k) -> (j, i)>
func.func @transposed(%a: memref<24x40xf32>, %b: memref<32x24xf32>, %c: memref<32x40xf32>) {
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<24x40xf32>, memref<32x24xf32>) outs(%c : memref<32x40xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// LOOPS-NOT: nest.contract
// LOOPS: nest.kernel
// LOOPS-NOT: nest.contract

// The sum keeps its order.
func.func @ordered(%a: memref<32x24xf32>, %b: memref<24x40xf32>, %c: memref<32x40xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 40 {
      %total = affine.for %k = 0 to 24 iter_args(%carried = %zero) -> (f32) {
        %x = affine.load %a[%i, %k] : memref<32x24xf32>
        %y = affine.load %b[%k, %j] : memref<24x40xf32>
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %carried, %p : f32
        affine.yield %s : f32
      }
      affine.store %total, %c[%i, %j] : memref<32x40xf32>
    }
  }
  return
}

// The result has more rows.
func.func @part(%a: memref<32x24xf32>, %b: memref<24x40xf32>, %c: memref<64x40xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.parallel (%i, %j) = (0, 0) to (32, 40) {
    %total = affine.for %k = 0 to 24 iter_args(%carried = %zero) -> (f32) {
      %x = affine.load %a[%i, %k] : memref<32x24xf32>
      %y = affine.load %b[%k, %j] : memref<24x40xf32>
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %carried, %p fastmath<reassoc> : f32
      affine.yield %s : f32
    }
    affine.store %total, %c[%i, %j] : memref<64x40xf32>
  }
  return
}

// Unrolled by the compiler, if at all.
func.func @few(%a: memref<32x3xf32>, %b: memref<3x40xf32>, %c: memref<32x40xf32>) {
  linalg.matmul ins(%a, %b : memref<32x3xf32>, memref<3x40xf32>) outs(%c : memref<32x40xf32>)
  return
}

// What stands behind the sum needs the position.
func.func @position(%a: memref<32x24xf32>, %b: memref<24x40xf32>, %c: memref<32x40xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.parallel (%i, %j) = (0, 0) to (32, 40) {
    %total = affine.for %k = 0 to 24 iter_args(%carried = %zero) -> (f32) {
      %x = affine.load %a[%i, %k] : memref<32x24xf32>
      %y = affine.load %b[%k, %j] : memref<24x40xf32>
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %carried, %p fastmath<reassoc> : f32
      affine.yield %s : f32
    }
    %above = arith.cmpi slt, %i, %j : index
    %r = arith.select %above, %total, %zero : f32
    affine.store %r, %c[%i, %j] : memref<32x40xf32>
  }
  return
}
