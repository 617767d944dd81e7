// What the columns of a strip cannot do.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics

func.func @reduced(%n: index, %a: memref<f64>) {
  // expected-error @+1 {{of strips has no reduction of its own and no order}}
  nest.kernel "k" strips (%i) = (%n) to (%n) reduce (sum into %a : memref<f64>) {
    %one = arith.constant 1.0 : f64
    nest.yield %one : f64
  }
  return
}

// -----

func.func @carried(%n: index, %a: memref<?xf64>) {
  %c1 = arith.constant 1 : index
  nest.kernel "k" strips (%i) = (%n) to (%n) {
    %zero = arith.constant 0.0 : f64
    // expected-error @+1 {{is no loop of the columns of a strip}}
    %end = scf.for %k = %c1 to %n step %c1 iter_args(%s = %zero) -> (f64) {
      scf.yield %s : f64
    } {nest.strip}
    memref.store %end, %a[%i] : memref<?xf64>
  }
  return
}

// -----

func.func @bounds(%n: index, %a: memref<?x?xf64>) {
  %c1 = arith.constant 1 : index
  nest.kernel "k" strips (%i) = (%n) to (%n) {
    %zero = arith.constant 0.0 : f64
    // expected-error @+1 {{differs among the columns of a strip}}
    scf.for %k = %c1 to %i step %c1 {
      memref.store %zero, %a[%k, %i] : memref<?x?xf64>
    } {nest.strip}
  }
  return
}

// -----

func.func @memory(%n: index, %a: memref<?x?xf64>) {
  %c1 = arith.constant 1 : index
  nest.kernel "k" strips (%i) = (%n) to (%n) {
    %zero = arith.constant 0.0 : f64
    scf.for %k = %c1 to %n step %c1 {
      // expected-error @+1 {{is no memory of the columns of a strip}}
      %sum = memref.alloca() {nest.of_columns} : memref<f64>
      memref.store %zero, %sum[] : memref<f64>
    }
  }
  return
}
