// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-lower-loops

func.func @perIteration(%b: memref<?xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-error @+1 {{memory made inside a parallel loop is local to a thread and must have a known shape}}
    %own = memref.alloc(%n) : memref<?xf32>
    memref.store %v, %own[%c0] : memref<?xf32>
    %x = memref.load %own[%i] : memref<?xf32>
    memref.store %x, %b[%i] : memref<?xf32>
  }
  return
}

// -----
memref.global "private" @state : memref<2xf32> = dense<0.0>
func.func @mutable(%out: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{global 'state' is not constant; pass it as an argument}}
  %w = memref.get_global @state : memref<2xf32>
  %x = memref.load %w[%c0] : memref<2xf32>
  memref.store %x, %out[%c0] : memref<2xf32>
  return
}
