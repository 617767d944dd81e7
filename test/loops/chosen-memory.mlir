// A time loop inside a kernel, whose arrays change places after each step, carries their numbers.
// RUN: ml2kokkos %s --entry=rows -o - | FileCheck %s --check-prefix=ROWS
// ROWS: double old[2][64];
// ROWS: int a = 0;
// ROWS: int b = 1;
// ROWS: for (int t = 0; t < steps; ++t) {
// ROWS: old[b][i] = 0.25 * (old[a][i - 1] + old[a][i + 1]{{.*}}old[a][i]
// Memory of the caller stays where it is.
// RUN: ml2kokkos %s --entry=sweep -o - | FileCheck %s --check-prefix=SWEEP
// SWEEP: a == 0 ? x(
// RUN: not ml2kokkos %s --entry=callers -o - 2>&1 | FileCheck %s --check-prefix=CALLERS
// CALLERS: error: 'memref.dim': memory that changes places inside a kernel can only be loaded from and stored to there

func.func @rows(%plates: memref<?x64xf64>, %out: memref<?x64xf64>, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %quarter = arith.constant 0.25 : f64
  %n = memref.dim %plates, %c0 : memref<?x64xf64>
  scf.parallel (%p) = (%c0) to (%n) step (%c1) {
    %old = memref.alloca() : memref<64xf64>
    %new = memref.alloca() : memref<64xf64>
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %plates[%p, %i] : memref<?x64xf64>
      memref.store %x, %old[%i] : memref<64xf64>
      memref.store %x, %new[%i] : memref<64xf64>
    }
    %r:2 = scf.for %t = %c0 to %steps step %c1 iter_args(%a = %old, %b = %new) -> (memref<64xf64>, memref<64xf64>) {
      scf.for %i = %c1 to %c63 step %c1 {
        %l = arith.subi %i, %c1 : index
        %m = arith.addi %i, %c1 : index
        %x = memref.load %a[%l] : memref<64xf64>
        %y = memref.load %a[%i] : memref<64xf64>
        %z = memref.load %a[%m] : memref<64xf64>
        %s = arith.addf %x, %z : f64
        %d = arith.addf %s, %y : f64
        %v = arith.mulf %quarter, %d : f64
        memref.store %v, %b[%i] : memref<64xf64>
      }
      scf.yield %b, %a : memref<64xf64>, memref<64xf64>
    }
    scf.for %i = %c0 to %c64 step %c1 {
      %x = memref.load %r#0[%i] : memref<64xf64>
      memref.store %x, %out[%p, %i] : memref<?x64xf64>
    }
    scf.reduce
  }
  return
}

func.func @sweep(%x: memref<8xf64>, %y: memref<8xf64>, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %half = arith.constant 0.5 : f64
  %r:2 = scf.for %t = %c0 to %steps step %c1 iter_args(%a = %x, %b = %y) -> (memref<8xf64>, memref<8xf64>) {
    scf.for %i = %c1 to %c7 step %c1 {
      %l = arith.subi %i, %c1 : index
      %u = memref.load %b[%l] : memref<8xf64>
      %v = memref.load %a[%i] : memref<8xf64>
      %s = arith.addf %u, %v : f64
      %d = arith.mulf %half, %s : f64
      memref.store %d, %b[%i] : memref<8xf64>
    }
    scf.yield %b, %a : memref<8xf64>, memref<8xf64>
  }
  return
}

// RUN: not ml2kokkos %s --entry=late -o - 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: memory that changes places inside a kernel has to be made in front of the loop or branch that chooses it
func.func @late(%x: memref<8xf64>, %y: memref<8xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %z = memref.load %x[%i] : memref<8xf64>
    %zero = arith.constant 0.0 : f64
    %c = arith.cmpf ogt, %z, %zero : f64
    %m = scf.if %c -> memref<8xf64> {
      scf.yield %x : memref<8xf64>
    } else {
      %own = memref.alloca() : memref<8xf64>
      memref.store %z, %own[%i] : memref<8xf64>
      scf.yield %own : memref<8xf64>
    }
    %v = memref.load %m[%i] : memref<8xf64>
    memref.store %v, %y[%i] : memref<8xf64>
    scf.reduce
  }
  return
}

func.func @callers(%x: memref<8xf64>, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %own = memref.alloca() : memref<8xf64>
    %z = arith.constant 0.0 : f64
    memref.store %z, %own[%i] : memref<8xf64>
    %cast = memref.cast %own : memref<8xf64> to memref<?xf64>
    %other = memref.cast %x : memref<8xf64> to memref<?xf64>
    %m = scf.if %c -> memref<?xf64> {
      scf.yield %cast : memref<?xf64>
    } else {
      scf.yield %other : memref<?xf64>
    }
    %v = memref.load %m[%i] : memref<?xf64>
    %size = memref.dim %m, %c0 : memref<?xf64>
    %last = arith.subi %size, %c1 : index
    memref.store %v, %x[%last] : memref<8xf64>
    scf.reduce
  }
  return
}
