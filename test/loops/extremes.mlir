// A choice of what a comparison compares is Kokkos::max or Kokkos::min, where it does the same with NaN and with -0.
// RUN: ml2kokkos %s --entry=clamp -o - | FileCheck %s --check-prefix=CLAMP
// RUN: ml2kokkos %s --entry=clamp --emit=prepared | ml2kokkos-opt | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --entry=kept -o - | FileCheck %s --check-prefix=KEPT
// RUN: ml2kokkos %s --entry=truth -o - | FileCheck %s --check-prefix=TRUTH

// CLAMP: y(i, 0) = Kokkos::min(Kokkos::max(here, 0.0), 1.0);
// CLAMP: y(i, 1) = Kokkos::max(Kokkos::min(a * b, b), a);
// NEST: nest.larger %{{.*}}, %{{.*}} : f64
// NEST: nest.smaller
// NEST: nest.smaller
// NEST: nest.larger
func.func @clamp(%x: memref<100xf64>, %y: memref<100x2xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  scf.for %i = %c0 to %c100 step %c1 {
    %here = memref.load %x[%i] : memref<100xf64>
    %below = arith.cmpf ogt, %zero, %here : f64
    %least = arith.select %below, %zero, %here : f64
    %above = arith.cmpf olt, %one, %least : f64
    %most = arith.select %above, %one, %least : f64
    memref.store %most, %y[%i, %c0] : memref<100x2xf64>
    %a = arith.mulf %here, %here {nest.let, nest.name = "a"} : f64
    %b = arith.addf %here, %one {nest.let, nest.name = "b"} : f64
    %ab = arith.mulf %a, %b : f64
    %more = arith.cmpf ogt, %ab, %b : f64
    %less = arith.select %more, %b, %ab : f64
    %under = arith.cmpf olt, %less, %a : f64
    %last = arith.select %under, %a, %less : f64
    memref.store %last, %y[%i, %c1] : memref<100x2xf64>
  }
  return
}

// Of a NaN, and of 0 and -0, the other one; a condition that others ask, too; what a loop carries.
// KEPT-NOT: Kokkos::max
// KEPT: y(i, 0) = a >= b ? a : b;
// KEPT: most = value > most ? value : most;
// KEPT-NOT: Kokkos::max
func.func @kept(%x: memref<100x8xf64>, %y: memref<100x3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  scf.for %i = %c0 to %c100 step %c1 {
    %here = memref.load %x[%i, %c0] : memref<100x8xf64>
    %a = arith.mulf %here, %here {nest.let, nest.name = "a"} : f64
    %b = arith.addf %here, %one {nest.let, nest.name = "b"} : f64
    %above = arith.cmpf oge, %a, %b : f64
    %larger = arith.select %above, %a, %b : f64
    memref.store %larger, %y[%i, %c0] : memref<100x3xf64>
    %most = scf.for %k = %c0 to %c8 step %c1 iter_args(%most = %zero) -> (f64) {
      %value = memref.load %x[%i, %k] : memref<100x8xf64>
      %more = arith.cmpf ogt, %value, %most : f64
      %next = arith.select %more, %value, %most : f64
      scf.yield %next : f64
    }
    memref.store %most, %y[%i, %c1] : memref<100x3xf64>
    %under = arith.cmpf olt, %a, %b : f64
    %less = arith.select %under, %a, %b : f64
    %flag = arith.uitofp %under : i1 to f64
    %sum = arith.addf %less, %flag : f64
    memref.store %sum, %y[%i, %c2] : memref<100x3xf64>
  }
  return
}

// A choice of truth is a conjunction.
// TRUTH: out(i) = int(!(a > y(i)) && a > 1.f);
func.func @truth(%x: memref<100xf32>, %y: memref<100xf32>, %out: memref<100xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %one = arith.constant 1.0 : f32
  %false = arith.constant false
  scf.for %i = %c0 to %c100 step %c1 {
    %a = memref.load %x[%i] : memref<100xf32>
    %b = memref.load %y[%i] : memref<100xf32>
    %above = arith.cmpf ogt, %a, %b : f32
    %large = arith.cmpf ogt, %a, %one : f32
    %both = arith.select %above, %false, %large : i1
    %number = arith.extui %both : i1 to i32
    memref.store %number, %out[%i] : memref<100xi32>
  }
  return
}
