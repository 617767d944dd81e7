// Reductions along a short row that read the same elements are one loop, which computes what they share once.
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-join-folds))' | FileCheck %s

#along = affine_map<(i, j) -> (i, j)>
#once = affine_map<(i, j) -> (i)>

// The second state is made of the first one.
// CHECK-LABEL: func.func @states
// CHECK: %[[SUMS:.*]]:2 = nest.fold <sum> "total" {
// CHECK-NEXT: ^bb0(%[[J:.*]]: index):
// CHECK-COUNT-4: nest.get %{{.*}}[%[[J]]]
// CHECK-NOT: nest.get
// CHECK: nest.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: } -> f32, f32
// CHECK-NOT: nest.fold
// CHECK: nest.set %[[SUMS]]#0
// CHECK: nest.set %[[SUMS]]#1
func.func @states(%a: memref<32x8xf32> {nest.name = "a"}, %b: memref<32x8xf32> {nest.name = "b"},
                  %c: memref<32x8xf32> {nest.name = "c"}, %d: memref<32x8xf32> {nest.name = "d"},
                  %y: memref<32xf32> {nest.name = "y", nest.output}, %z: memref<32xf32> {nest.name = "z", nest.output}) {
  nest.row "y" ins(%a, %b, %c, %d : memref<32x8xf32>, memref<32x8xf32>, memref<32x8xf32>, memref<32x8xf32>)
      outs(%y, %z : memref<32xf32>, memref<32xf32>) maps [#along, #along, #along, #along, #once, #once]
      attributes {nest.schedule = #nest.schedule<for_each>} {
  ^bb0(%ra: !nest.row<f32>, %rb: !nest.row<f32>, %rc: !nest.row<f32>, %rd: !nest.row<f32>, %ry: !nest.row<f32>, %rz: !nest.row<f32>):
    %first = nest.fold <sum> "total" {
    ^bb0(%j: index):
      %x = nest.get %ra[%j] : !nest.row<f32> -> f32
      %w = nest.get %rb[%j] : !nest.row<f32> -> f32
      %p = arith.mulf %x, %w : f32
      nest.yield %p : f32
    } -> f32
    %second = nest.fold <sum> "total" {
    ^bb0(%j: index):
      %x = nest.get %ra[%j] : !nest.row<f32> -> f32
      %s = nest.get %rc[%j] : !nest.row<f32> -> f32
      %h = arith.mulf %x, %s : f32
      %w = nest.get %rd[%j] : !nest.row<f32> -> f32
      %p = arith.mulf %h, %w : f32
      nest.yield %p : f32
    } -> f32
    nest.set %first, %ry : f32, !nest.row<f32>
    nest.set %second, %rz : f32, !nest.row<f32>
    nest.yield
  }
  return
}

// -----

#along = affine_map<(i, j) -> (i, j)>
#once = affine_map<(i, j) -> (i)>

// A sum of distances from the mean waits for the mean, and rows of a long block stay as they are.
// CHECK-LABEL: func.func @waits
// CHECK-COUNT-2: } -> f32{{$}}
// CHECK-COUNT-2: } -> f32{{$}}
func.func @waits(%a: memref<32x8xf32> {nest.name = "a"}, %y: memref<32xf32> {nest.name = "y", nest.output}, %z: memref<32xf32> {nest.name = "z", nest.output}) {
  nest.row "y" ins(%a : memref<32x8xf32>) outs(%y : memref<32xf32>) maps [#along, #once] attributes {nest.schedule = #nest.schedule<for_each>} {
  ^bb0(%ra: !nest.row<f32>, %ry: !nest.row<f32>):
    %mean = nest.fold <sum> "total" {
    ^bb0(%j: index):
      %x = nest.get %ra[%j] : !nest.row<f32> -> f32
      nest.yield %x : f32
    } -> f32
    %sum = nest.fold <sum> "total" {
    ^bb0(%j: index):
      %x = nest.get %ra[%j] : !nest.row<f32> -> f32
      %d = arith.subf %x, %mean : f32
      nest.yield %d : f32
    } -> f32
    nest.set %sum, %ry : f32, !nest.row<f32>
    nest.yield
  }
  nest.row "z" ins(%a : memref<32x8xf32>) outs(%z : memref<32xf32>) maps [#along, #once] attributes {nest.schedule = #nest.schedule<for_rows>} {
  ^bb0(%ra: !nest.row<f32>, %rz: !nest.row<f32>):
    %s = nest.fold <sum> "total" {
    ^bb0(%j: index):
      %x = nest.get %ra[%j] : !nest.row<f32> -> f32
      nest.yield %x : f32
    } -> f32
    %q = nest.fold <sum> "total" {
    ^bb0(%j: index):
      %x = nest.get %ra[%j] : !nest.row<f32> -> f32
      %d = arith.mulf %x, %x : f32
      nest.yield %d : f32
    } -> f32
    %both = arith.addf %s, %q : f32
    nest.set %both, %rz : f32, !nest.row<f32>
    nest.yield
  }
  return
}
