// What the threads of a team cannot do.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: memref<f64>, %n: index) {
  // expected-error @+1 {{of teams has no reduction of its own and no order}}
  nest.kernel "k" team (%i) = (%n) to (%n) reduce (sum into %a : memref<f64>) {
    %x = memref.load %a[] : memref<f64>
    nest.yield %x : f64
  }
  return
}

// -----
func.func @f(%n: index) {
  nest.kernel "k" range (%i) = (%n) to (%n) {
    // expected-error @+1 {{stands outside of a kernel of teams}}
    nest.barrier
  }
  return
}

// -----
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  nest.kernel "k" team (%i) = (%n) to (%n) {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      // expected-error @+1 {{stands in a loop of a team's threads}}
      nest.barrier
    }
  }
  return
}

// -----
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  nest.kernel "k" team (%i) = (%n) to (%n) {
    // expected-error @+1 {{of a team's threads has a step}}
    scf.parallel (%j) = (%c0) to (%n) step (%c2) {
    }
  }
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  nest.kernel "k" team (%i) = (%n) to (%n) {
    // expected-error @+1 {{of a team's threads has several reductions}}
    %s:2 = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%zero, %zero) -> (f64, f64) {
      %x = memref.load %a[%j] : memref<?xf64>
      scf.reduce (%x, %x : f64, f64) {
      ^bb0(%p: f64, %q: f64):
        %t = arith.addf %p, %q : f64
        scf.reduce.return %t : f64
      }, {
      ^bb0(%p: f64, %q: f64):
        %t = arith.addf %p, %q : f64
        scf.reduce.return %t : f64
      }
    }
  }
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  nest.kernel "k" team (%i) = (%n) to (%n) {
    // expected-error @+1 {{joins values by no single known operation}}
    %s = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %x = memref.load %a[%j] : memref<?xf64>
      scf.reduce (%x : f64) {
      ^bb0(%p: f64, %q: f64):
        %t = arith.subf %p, %q : f64
        scf.reduce.return %t : f64
      }
    }
  }
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  nest.kernel "k" team (%i) = (%n) to (%n) {
    // expected-error @+1 {{has results for all threads of a team, but one of them runs it}}
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%x = %zero) -> f64 {
      memref.store %x, %a[%j] : memref<?xf64>
      scf.yield %x : f64
    }
    memref.store %s, %a[%i] : memref<?xf64>
  }
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  nest.kernel "k" team (%i) = (%n) to (%n) {
    // expected-error @+1 {{cannot stand around loops of a team's threads}}
    scf.while : () -> () {
      %true = arith.constant true
      scf.condition(%true)
    } do {
      scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      }
      scf.yield
    }
  }
  return
}

// -----
func.func @f(%n: index) {
  // expected-error @+1 {{team has threads, each of a power of two of lanes up to 32; other blocks have none}}
  nest.kernel "k" team (%i) = (%n) to (%n) {} {nest.schedule = #nest.schedule<team, threads = 4, lanes = 24>}
  return
}

// -----
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  nest.kernel "k" team (%i) = (%n) to (%n) {
    // expected-error @+1 {{of a team's threads has no scf.reduce at its end}}
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      nest.barrier
    ^bb0(%p: f32):
      linalg.yield %p : f32
    }
  }
  return
}
