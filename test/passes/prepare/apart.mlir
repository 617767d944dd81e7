// Vectors go along a loop whose neighbours lie apart only if there is much to compute; pairs and triples are shuffled.
// RUN: ml2kokkos %s --entry corners -o - | FileCheck %s --check-prefix=CORNERS
// RUN: ml2kokkos %s --entry much -o - | FileCheck %s --check-prefix=MUCH
// RUN: ml2kokkos %s --entry triples -o - | FileCheck %s --check-prefix=TRIPLES

// CORNERS: Kokkos::parallel_for(
// CORNERS-NEXT: "apart::k", Kokkos::RangePolicy(space, 0, n)
func.func @corners(%x: memref<?xf64>, %corner: memref<?x2xindex> {nest.dims = ["n", ""]}, %k: memref<?x5xf64> {nest.name = "k"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %corner, %c0 : memref<?x2xindex>
  scf.parallel (%e) = (%c0) to (%n) step (%c1) {
    %a = memref.load %corner[%e, %c0] : memref<?x2xindex>
    %b = memref.load %corner[%e, %c1] : memref<?x2xindex>
    %u = memref.load %x[%a] : memref<?xf64>
    %v = memref.load %x[%b] : memref<?xf64>
    %d = arith.subf %u, %v : f64
    memref.store %d, %k[%e, %c0] : memref<?x5xf64>
    memref.store %u, %k[%e, %c1] : memref<?x5xf64>
    memref.store %v, %k[%e, %c2] : memref<?x5xf64>
    scf.reduce
  }
  return
}

// MUCH: for_span({{$}}
// MUCH-NEXT: "apart::k"
func.func @much(%x: memref<?x5xf64> {nest.dims = ["n", ""]}, %k: memref<?x5xf64> {nest.name = "k"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x5xf64>
  scf.parallel (%e) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%e, %c0] : memref<?x5xf64>
    %b = memref.load %x[%e, %c1] : memref<?x5xf64>
    %l = math.log %a : f64
    %r = arith.divf %l, %b : f64
    memref.store %r, %k[%e, %c0] : memref<?x5xf64>
    memref.store %l, %k[%e, %c1] : memref<?x5xf64>
    scf.reduce
  }
  return
}

// TRIPLES: for_span({{$}}
// TRIPLES-NEXT: "apart::k"
func.func @triples(%x: memref<?x3xf64> {nest.dims = ["n", ""]}, %k: memref<?x3xf64> {nest.name = "k"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x3xf64>
  scf.parallel (%e) = (%c0) to (%n) step (%c1) {
    %a = memref.load %x[%e, %c0] : memref<?x3xf64>
    %b = memref.load %x[%e, %c1] : memref<?x3xf64>
    %c = memref.load %x[%e, %c2] : memref<?x3xf64>
    memref.store %b, %k[%e, %c0] : memref<?x3xf64>
    memref.store %c, %k[%e, %c1] : memref<?x3xf64>
    memref.store %a, %k[%e, %c2] : memref<?x3xf64>
    scf.reduce
  }
  return
}
