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
  scf.for %i = %c0 to %half step %c1 {
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
  // expected-error @+1 {{'arith.maxsi' cannot be printed between kernels}}
  %m = arith.maxsi %n, %n : index
  return
}

// -----
func.func @f(%n: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{a loop around kernels carries values}}
  %s = scf.for %i = %c0 to %c1 step %c1 iter_args(%v = %n) -> i32 {
    scf.yield %v : i32
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
// expected-error @+1 {{forward() decides by sizes and arguments only}}
func.func @f(%x: memref<?xf32>) {
  %true = arith.constant true
  scf.if %true {
    nest.kernel "k" range () = () to () {}
  }
  return
}
