// What stands between kernels computes with sizes, arguments and indices of loops around kernels; the rest is refused.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(ml2k-verify-nest))'

func.func @sizes(%x: memref<?x4xf32>, %n: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x4xf32>
  %more = arith.addi %rows, %n : index
  %half = affine.apply affine_map<()[s] -> (s floordiv 2)>()[%more]
  %positive = arith.cmpi sgt, %half, %c0 : index
  cf.assert %positive, "half of the rows"
  %b = nest.buffer "b"(%half) : memref<?xf32>
  %most = arith.minsi %half, %rows : index
  scf.for %i = %c0 to %most step %c1 {
    %first = arith.cmpi eq, %i, %c0 : index
    %both = arith.andi %first, %flag : i1
    scf.if %both {
      nest.kernel "k" range (%j) = (%i) to (%more) {}
    }
  }
  return
}

// -----
func.func @f(%x: memref<4xf32>, %n: index) {
  // expected-error @+1 {{'arith.shli' cannot be printed between kernels}}
  %m = arith.shli %n, %n : index
  return
}

// -----
func.func @f(%n: i32, %flag: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{a loop around kernels carries values}}
  %s = scf.for %i = %c0 to %c1 step %c1 iter_args(%v = %n) -> i32 {
    %next = scf.if %flag -> i32 {
      scf.yield %v : i32
    } else {
      scf.yield %n : i32
    }
    scf.yield %next : i32
  }
  return
}

// -----
func.func @f(%flag: i1, %n: index) {
  // expected-error @+1 {{a branch around kernels has results}}
  %s = scf.if %flag -> index {
    scf.yield %n : index
  } else {
    scf.yield %n : index
  }
  return
}

// -----
func.func @f(%flag: i1, %a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @+1 {{'arith.select' has no printed form}}
  %chosen = arith.select %flag, %a, %b : memref<4xf32>
  return
}

// -----
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %never = arith.cmpi ult, %n, %c0 : index
  // expected-error @+1 {{cannot hold: never}}
  cf.assert %never, "never"
  return
}

// -----
func.func @f(%x: memref<4xf32>, %limit: f32) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %hot = arith.cmpf ogt, %limit, %zero : f32
  scf.if %hot { // computed by forward()
    nest.kernel "k" range () = () to () {}
  }
  %flag = nest.buffer "flag" : memref<i1>
  nest.kernel "decide" range () = () to () {
    %element = memref.load %x[%c0] : memref<4xf32>
    %positive = arith.cmpf ogt, %element, %zero : f32
    memref.store %positive, %flag[] : memref<i1>
  }
  %decided = memref.load %flag[] : memref<i1>
  scf.if %decided { // read back
    nest.kernel "l" range () = () to () {}
  }
  return
}
