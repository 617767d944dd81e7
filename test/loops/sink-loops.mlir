// A loop around one kernel goes into its iterations where these never meet.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// CHECK-LABEL: @down(
// CHECK: nest.kernel "arg1" mdrange (%[[I:.*]], %[[J:.*]]) = {{.*}} note "parallel: each takes all steps by itself" {
// CHECK: scf.for %[[K:.*]] =
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[K]], %[[I]], %[[J]]]
func.func @down(%x: memref<?x?x?xf64>, %y: memref<?x?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %levels = memref.dim %x, %c0 : memref<?x?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?x?xf64>
  %m = memref.dim %x, %c2 : memref<?x?x?xf64>
  scf.for %k = %c1 to %levels step %c1 {
    %above = arith.subi %k, %c1 : index
    scf.for %i = %c0 to %n step %c1 {
      scf.for %j = %c0 to %m step %c1 {
        %a = memref.load %y[%above, %i, %j] : memref<?x?x?xf64>
        %b = memref.load %x[%k, %i, %j] : memref<?x?x?xf64>
        %c = arith.addf %a, %b : f64
        memref.store %c, %y[%k, %i, %j] : memref<?x?x?xf64>
      }
    }
  }
  return
}

// -----

// What the neighbour has written in the step before is read: a launch for each step.
// CHECK-LABEL: @wave(
// CHECK: scf.for
// CHECK: nest.kernel "arg0"
func.func @wave(%y: memref<?x?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = memref.dim %y, %c0 : memref<?x?xf64>
  %n = memref.dim %y, %c1 : memref<?x?xf64>
  scf.for %k = %c1 to %steps step %c1 {
    %before = arith.subi %k, %c1 : index
    scf.for %i = %c1 to %n step %c1 {
      %left = arith.subi %i, %c1 : index
      %a = memref.load %y[%before, %left] : memref<?x?xf64>
      memref.store %a, %y[%k, %i] : memref<?x?xf64>
    }
  }
  return
}

// -----

// Three elements are made by one thread before a kernel is launched for them.
// CHECK-LABEL: @few(
// CHECK-NOT: nest.buffer
// CHECK: nest.kernel "arg1" range () = () to ()
// CHECK-NOT: nest.kernel
func.func @few(%x: memref<?x3xf64>, %sums: memref<3xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?x3xf64>
  scf.for %i = %c0 to %n step %c1 {
    %own = memref.alloc() : memref<3xf64>
    scf.for %c = %c0 to %c3 step %c1 {
      %v = memref.load %x[%i, %c] : memref<?x3xf64>
      %w = math.sqrt %v : f64
      memref.store %w, %own[%c] : memref<3xf64>
    }
    %a = memref.load %own[%c1] : memref<3xf64>
    scf.for %c = %c0 to %c3 step %c1 {
      %s = memref.load %sums[%c] : memref<3xf64>
      %t = arith.addf %s, %a : f64
      memref.store %t, %sums[%c] : memref<3xf64>
    }
  }
  return
}
