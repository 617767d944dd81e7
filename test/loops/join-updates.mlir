// What one condition changes is changed in one branch, whatever canonicalization made of it.
// RUN: ml2kokkos %s --entry=nearest -o - | FileCheck %s --check-prefix=NEAREST
// RUN: ml2kokkos %s --entry=nearest --emit=prepared | ml2kokkos-opt -o /dev/null
// RUN: ml2kokkos %s --entry=stored -o - | FileCheck %s --check-prefix=STORED
// RUN: ml2kokkos %s --entry=used -o - | FileCheck %s --check-prefix=USED

// NEAREST: if (dist < best) {
// NEAREST-NEXT: at = std::int64_t(k);
// NEAREST-NEXT: best = dist;
// NEAREST-NEXT: }
func.func @nearest(%x: memref<?xf64>, %c: memref<?xf64>, %label: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %far = arith.constant 1.0e300 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %m = memref.dim %c, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %from = memref.load %x[%i] : memref<?xf64>
    %at, %best = scf.for %k = %c0 to %m step %c1 iter_args(%at = %none, %best = %far) -> (i64, f64) {
      %to = memref.load %c[%k] : memref<?xf64>
      %way = arith.subf %from, %to : f64
      %dist = arith.mulf %way, %way {nest.let, nest.name = "dist"} : f64
      %less = arith.cmpf olt, %dist, %best : f64
      %next = scf.if %less -> (i64) {
        %here = arith.index_cast %k : index to i64
        scf.yield %here : i64
      } else {
        scf.yield %at : i64
      }
      %least = arith.select %less, %dist, %best : f64
      scf.yield %next, %least : i64, f64
    }
    memref.store %at, %label[%i] : memref<?xi64>
  }
  return
}

// The branch writes memory.
// STORED: if (term > most) {
// STORED-NEXT: places(i, k) = 1.f;
// STORED-NEXT: most = term;
// STORED-NEXT: }
func.func @stored(%x: memref<?x?xf32>, %places: memref<?x?xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %most = scf.for %k = %c0 to %m step %c1 iter_args(%most = %low) -> (f32) {
      %value = memref.load %x[%i, %k] : memref<?x?xf32>
      %term = arith.mulf %value, %value {nest.let, nest.name = "term"} : f32
      %more = arith.cmpf ogt, %term, %most : f32
      %next = arith.select %more, %term, %most : f32
      scf.if %more {
        memref.store %one, %places[%i, %k] : memref<?x?xf32>
      }
      scf.yield %next : f32
    }
    memref.store %most, %out[%i] : memref<?xf32>
  }
  return
}

// What was carried is stored behind the branch: the choice stays behind that.
// USED: if ({{.*}}) {
// USED-NEXT: places(i, k) = 1.f;
// USED-NEXT: }
// USED: before(i, k) = most;
func.func @used(%x: memref<?x?xf32>, %places: memref<?x?xf32>, %before: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %most = scf.for %k = %c0 to %m step %c1 iter_args(%most = %low) -> (f32) {
      %value = memref.load %x[%i, %k] : memref<?x?xf32>
      %term = arith.mulf %value, %value {nest.let, nest.name = "term"} : f32
      %more = arith.cmpf ogt, %term, %most : f32
      scf.if %more {
        memref.store %one, %places[%i, %k] : memref<?x?xf32>
      }
      memref.store %most, %before[%i, %k] : memref<?x?xf32>
      %next = arith.select %more, %term, %most : f32
      scf.yield %next : f32
    }
  }
  return
}
