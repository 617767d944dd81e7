// Vectors of a grid begin where lines of the cache do, and loops count as the indices of what they store.
// RUN: ml2kokkos %s --entry=rows -o - | FileCheck %s --check-prefix=ROWS
// RUN: ml2kokkos %s --entry=rows --emit=prepared -o - | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=rows --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: ml2kokkos %s --entry=planes -o - | FileCheck %s --check-prefix=PLANES
// RUN: ml2kokkos %s --entry=known -o - | FileCheck %s --check-prefix=KNOWN
// RUN: ml2kokkos %s --entry=flat -o - | FileCheck %s --check-prefix=FLAT
// RUN: ml2kokkos %s --entry=far -o - | FileCheck %s --check-prefix=FAR

// ROWS: void for_lines(
// ROWS: for_lines(
// ROWS-NEXT: "from_line::y", space, Span{1, n - 1}, Span{1, m - 1}, y,
// ROWS-NEXT: KOKKOS_LAMBDA(int i, int j) { y(i, j) = x(i - 1, j) + x(i, j) + x(i, j + 1); });
// NEST: memref.store %{{.*}}, %{{.*}} {nest.from_line} : memref<?x?xf32>
// NEST: nest.schedule = #nest.schedule<for_grid>
// NAIVE: KOKKOS_LAMBDA(int i, int j) {{{.*}} y(i + 1, j + 1) =
func.func @rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  %rows = arith.subi %n, %c2 : index
  %columns = arith.subi %m, %c2 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    %below = arith.addi %i, %c1 : index
    %right = arith.addi %j, %c1 : index
    %far = arith.addi %j, %c2 : index
    %a = memref.load %x[%i, %right] : memref<?x?xf32>
    %b = memref.load %x[%below, %right] : memref<?x?xf32>
    %c = memref.load %x[%below, %far] : memref<?x?xf32>
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    memref.store %abc, %y[%below, %right] : memref<?x?xf32>
  }
  return
}

// PLANES: void for_planes(
// PLANES: for_planes(
// PLANES-NEXT: "from_line::y", space, Span{0, n}, Span{0, m}, Span{1, k}, y,
// PLANES-NEXT: KOKKOS_LAMBDA(int i, int j, int l) { y(i, j, l) = x(i, j, l - 1); });
func.func @planes(%x: memref<?x?x?xf64>, %y: memref<?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?x?xf64>
  %k = memref.dim %x, %c2 : memref<?x?x?xf64>
  scf.parallel (%i, %j, %l) = (%c0, %c0, %c1) to (%n, %m, %k) step (%c1, %c1, %c1) {
    %left = arith.subi %l, %c1 : index
    %a = memref.load %x[%i, %j, %left] : memref<?x?x?xf64>
    memref.store %a, %y[%i, %j, %l] : memref<?x?x?xf64>
  }
  return
}

// Rows of 256 floats begin at a line where the array does.
// KNOWN: for_grid(
func.func @known(%x: memref<512x256xf32>, %y: memref<512x256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 512 : index
  %m = arith.constant 256 : index
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %a = memref.load %x[%i, %j] : memref<512x256xf32>
    %b = math.absf %a : f32
    memref.store %b, %y[%i, %j] : memref<512x256xf32>
  }
  return
}

// What is stored is a part of the array.
// FLAT: for_grid(
func.func @flat(%x: memref<?x?xf64>, %y: memref<3x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %m = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %a = memref.load %x[%i, %j] : memref<?x?xf64>
    memref.store %a, %y[%c1, %i, %j] : memref<3x?x?xf64>
  }
  return
}

// Offsets that no array has stay as they are.
// FAR: void for_grid(
// FAR-NOT: for_lines
// FAR: y(i + std::int64_t(4611686018427387904), j) = x(i, j);
func.func @far(%x: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %far = arith.constant 4611686018427387904 : index
  %n = memref.dim %x, %c0 : memref<?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %m) step (%c1, %c1) {
    %a = arith.addi %i, %far : index
    %v = memref.load %x[%i, %j] : memref<?x?xf32>
    memref.store %v, %y[%a, %j] : memref<?x?xf32>
  }
  return
}
