// linalg on memrefs that reduces: to a scalar in parallel, along rows in a register, from the value of the fill in front.
// RUN: ml2kokkos-opt --ml2k-lower-loops --split-input-file %s | FileCheck %s

// CHECK-LABEL: @dot(
// CHECK: nest.kernel "total" range (%[[I:.*]]) = (%{{.*}}) to (%{{.*}}) reduce (sum into %{{.*}} : memref<f64>)
// CHECK-NOT: nest.kernel
func.func @dot(%a: memref<?xf64>, %b: memref<?xf64>, %total: memref<f64> {nest.name = "total"}) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%total : memref<f64>)
  linalg.dot ins(%a, %b : memref<?xf64>, memref<?xf64>) outs(%total : memref<f64>)
  return
}

// -----

// The value before joins once, after the terms.
// CHECK-LABEL: @add_to(
// CHECK: nest.kernel "{{.*}}" range ({{.*}}) = {{.*}} reduce (sum into %[[SUM:.*]] : memref<f64>)
// CHECK: nest.kernel "{{.*}}" range () = () to () {
// CHECK-DAG: memref.load %[[SUM]][]
// CHECK-DAG: memref.load %[[TOTAL:.*]][]
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %[[TOTAL]][]
func.func @add_to(%a: memref<?xf64>, %b: memref<?xf64>, %total: memref<f64> {nest.name = "total"}) {
  linalg.dot ins(%a, %b : memref<?xf64>, memref<?xf64>) outs(%total : memref<f64>)
  return
}

// -----

// CHECK-LABEL: @rows(
// CHECK: nest.kernel "y" range (%[[I:.*]]) =
// CHECK-NOT: memref.load %[[Y:.*]][%[[I]]] : memref<4xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %cst)
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]]]
// CHECK-NOT: nest.kernel
func.func @rows(%a: memref<4x8xf32>, %x: memref<8xf32>, %y: memref<4xf32> {nest.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4xf32>)
  linalg.matvec ins(%a, %x : memref<4x8xf32>, memref<8xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// A fill that is read before the reduction is the first value: all three are one kernel.
// CHECK-LABEL: @read_between(
// CHECK-SAME: %[[Y:[a-z0-9]*]]: memref<4xf32> {nest.name = "y"{{[^}]*}}}, %[[COPY:[a-z0-9]*]]: memref<4xf32> {nest.name = "copy"
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: nest.kernel "copy" range (%[[I:.*]]) =
// CHECK: memref.store %[[ONE]], %[[COPY]][%[[I]]]
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[ALL:.*]] = arith.addf %[[SUM]], %[[ONE]]
// CHECK: memref.store %[[ALL]], %[[Y]][%[[I]]]
// CHECK-NOT: nest.kernel
func.func @read_between(%a: memref<4x8xf32>, %x: memref<8xf32>, %y: memref<4xf32> {nest.name = "y"},
                        %copy: memref<4xf32> {nest.name = "copy"}) {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%y : memref<4xf32>)
  linalg.copy ins(%y : memref<4xf32>) outs(%copy : memref<4xf32>)
  linalg.matvec ins(%a, %x : memref<4x8xf32>, memref<8xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// What is joined reads the value before in another way, too: its order counts.
// CHECK-LABEL: @ordered(
// CHECK: nest.kernel "total" range () = () to ()
// CHECK: scf.for {{.*}} iter_args
func.func @ordered(%a: memref<8xf32>, %total: memref<f32> {nest.name = "total"}) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<8xf32>) outs(%total : memref<f32>) {
  ^bb0(%x: f32, %before: f32):
    %scaled = arith.mulf %before, %x : f32
    %sum = arith.addf %scaled, %before : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A reduction to an extremum begins with its initial value: no kernel behind it joins that.
// CHECK-LABEL: @largest(
// CHECK: nest.kernel "{{.*}}" range {{.*}} reduce (max into %[[TOP:.*]] : memref<f64>)
// CHECK: {start = 0.000000e+00 : f64}
// CHECK-NOT: nest.kernel
func.func @largest(%x: memref<?xf64>, %top: memref<f64> {nest.name = "top"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %x, %c0 : memref<?xf64>
  %max = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    scf.reduce (%v : f64) {
    ^bb0(%a: f64, %b: f64):
      %m = arith.maximumf %a, %b : f64
      scf.reduce.return %m : f64
    }
  }
  memref.store %max, %top[] : memref<f64>
  return
}
