// RUN: ml2kokkos-opt %s --ml2k-label-copies | FileCheck %s

#heads = affine_map<(h, t, d) -> (t, h, d)>
#id = affine_map<(h, t, d) -> (h, t, d)>

// Keys and values of earlier tokens: one kernel. What is new behind them is written in between.
// CHECK-LABEL: func.func @cache(
// CHECK-SAME: %[[PK:.*]]: memref<2x3x4xf32>, %[[PV:.*]]: memref<2x3x4xf32>, %[[K:.*]]: memref<1x2x4xf32>
// CHECK: nest.map "k.copy" ins(%[[PK]], %[[PV]] : {{.*}}) outs(%{{.*}}, %{{.*}} : {{.*}}) maps [#[[$ID:.*]], #[[$ID]], #[[$ID]], #[[$ID]]] {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: nest.yield %[[A]], %[[B]] : f32, f32
// CHECK: nest.map "new"
// CHECK-NOT: nest.map
// CHECK: return
func.func @cache(%pk: memref<2x3x4xf32>, %pv: memref<2x3x4xf32>, %new: memref<1x2x4xf32>,
                 %k: memref<2x4x4xf32> {nest.name = "k"}, %v: memref<2x4x4xf32> {nest.name = "v"}) {
  %k0 = memref.subview %k[0, 0, 0] [2, 3, 4] [1, 1, 1] : memref<2x4x4xf32> to memref<2x3x4xf32, strided<[16, 4, 1]>>
  memref.copy %pk, %k0 : memref<2x3x4xf32> to memref<2x3x4xf32, strided<[16, 4, 1]>>
  %v1 = memref.subview %v[0, 3, 0] [2, 1, 4] [1, 1, 1] : memref<2x4x4xf32> to memref<2x1x4xf32, strided<[16, 4, 1], offset: 12>>
  nest.map "new" ins(%new : memref<1x2x4xf32>) outs(%v1 : memref<2x1x4xf32, strided<[16, 4, 1], offset: 12>>)
      maps [#heads, #id] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  }
  %v0 = memref.subview %v[0, 0, 0] [2, 3, 4] [1, 1, 1] : memref<2x4x4xf32> to memref<2x3x4xf32, strided<[16, 4, 1]>>
  memref.copy %pv, %v0 : memref<2x3x4xf32> to memref<2x3x4xf32, strided<[16, 4, 1]>>
  return
}

// Extents that the model gives one name are the same; others may differ.
// CHECK-LABEL: func.func @named(
// CHECK: nest.map "k.copy" ins(%{{.*}}, %{{.*}} : memref<?x4xf32>, memref<?x4xf32>)
// CHECK: nest.map "x.copy" ins(%{{.*}} : memref<?x4xf32>)
func.func @named(%pk: memref<?x4xf32> {nest.dims = ["past", ""]}, %pv: memref<?x4xf32> {nest.dims = ["past", ""]},
                 %px: memref<?x4xf32> {nest.dims = ["other", ""]}, %k: memref<?x4xf32> {nest.name = "k", nest.dims = ["past", ""]},
                 %v: memref<?x4xf32> {nest.dims = ["past", ""]}, %x: memref<?x4xf32> {nest.name = "x", nest.dims = ["other", ""]}) {
  memref.copy %pk, %k : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %px, %x : memref<?x4xf32> to memref<?x4xf32>
  memref.copy %pv, %v : memref<?x4xf32> to memref<?x4xf32>
  return
}

// The second one reads what the first one writes, each element at its place: that is at hand.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>, %[[Z:.*]]: memref<4xf32>
// CHECK: nest.map "y" ins(%[[X]] : memref<4xf32>) outs(%[[Y]], %[[Z]] : memref<4xf32>, memref<4xf32>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: f32):
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[V]], %[[V]] : f32
// CHECK-NEXT: %[[OUT:.*]] = math.tanh %[[NEW]] : f32
// CHECK-NEXT: nest.yield %[[NEW]], %[[OUT]] : f32, f32
func.func @chain(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  nest.map "y" ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
      maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
  ^bb0(%v: f32):
    %new = arith.addf %v, %v : f32
    nest.yield %new : f32
  }
  nest.map "z" ins(%y : memref<4xf32>) outs(%z : memref<4xf32>)
      maps [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>] {
  ^bb0(%v: f32):
    %out = math.tanh %v : f32
    nest.yield %out : f32
  }
  return
}

// It reads other elements, too; or overwrites elements that the first one reads elsewhere.
// CHECK-LABEL: func.func @turned(
// CHECK: nest.map "y" ins(%{{.*}} : memref<4x4xf32>) outs(%{{.*}} : memref<4x4xf32>)
// CHECK: nest.map "z" ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : memref<4x4xf32>)
// CHECK-LABEL: func.func @in_place(
// CHECK: nest.map "y" ins(%{{.*}} : memref<4x4xf32>) outs(%{{.*}} : memref<4x4xf32>)
// CHECK: nest.map "x" ins(%{{.*}} : memref<4x4xf32>) outs(%{{.*}} : memref<4x4xf32>)
func.func @turned(%x: memref<4x4xf32>, %y: memref<4x4xf32>, %z: memref<4x4xf32>) {
  nest.map "y" ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    %new = arith.addf %v, %v : f32
    nest.yield %new : f32
  }
  nest.map "z" ins(%y, %y : memref<4x4xf32>, memref<4x4xf32>) outs(%z : memref<4x4xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32, %w: f32):
    %out = arith.addf %v, %w : f32
    nest.yield %out : f32
  }
  return
}
func.func @in_place(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
  nest.map "y" ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)
      maps [affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    %new = arith.addf %v, %v : f32
    nest.yield %new : f32
  }
  nest.map "x" ins(%y : memref<4x4xf32>) outs(%x : memref<4x4xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    %out = math.tanh %v : f32
    nest.yield %out : f32
  }
  return
}

// In between somebody reads what the second one overwrites, and what the first one writes.
// CHECK-LABEL: func.func @overwritten(
// CHECK: nest.map "y.copy" ins(%{{.*}} : memref<4xf32>)
// CHECK: nest.map "use"
// CHECK: nest.map "z.copy" ins(%{{.*}} : memref<4xf32>)
func.func @overwritten(%x: memref<4xf32>, %y: memref<4xf32> {nest.name = "y"}, %z: memref<4xf32> {nest.name = "z"},
                       %u: memref<4x4xf32>) {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  nest.map "use" ins(%z, %y : memref<4xf32>, memref<4xf32>) outs(%u : memref<4x4xf32>)
      maps [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.addf %v, %w : f32
    nest.yield %0 : f32
  }
  memref.copy %x, %z : memref<4xf32> to memref<4xf32>
  return
}

// Keys and values of one product: parts of its rows, as they lie.
// CHECK-LABEL: func.func @parts(
// CHECK: nest.map "k" ins(%[[ALL:.*]], %[[ALL]] : {{.*}}) outs(%{{.*}}, %{{.*}} : {{.*}})
// CHECK-NOT: nest.map
// CHECK: return
#keys = affine_map<(h, t, d) -> (t, h * 4 + d + 8)>
#values = affine_map<(h, t, d) -> (t, h * 4 + d + 16)>
func.func @parts(%all: memref<3x24xf32>, %k: memref<2x3x4xf32>, %v: memref<2x3x4xf32>) {
  nest.map "k" ins(%all : memref<3x24xf32>) outs(%k : memref<2x3x4xf32>) maps [#keys, #id] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  }
  nest.map "v" ins(%all : memref<3x24xf32>) outs(%v : memref<2x3x4xf32>) maps [#values, #id] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  }
  return
}

// Work on the same memory: queries and keys are turned by the same angles. What joined the keys joins the queries, too.
// CHECK-LABEL: func.func @angles(
// CHECK-SAME: %[[Q:.*]]: memref<4xf32>, %[[ANGLE:.*]]: memref<4xf32>, %[[K:.*]]: memref<4xf32>, %[[X:.*]]: memref<4xf32>, %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// CHECK: nest.map "keys" ins(%[[X]], %[[Q]], %[[ANGLE]] : {{.*}}) outs(%[[K]], %[[A]], %[[B]] :
// CHECK-NOT: nest.map
// CHECK: return
#i = affine_map<(i) -> (i)>
func.func @angles(%q: memref<4xf32>, %angle: memref<4xf32>, %k: memref<4xf32>, %x: memref<4xf32>, %a: memref<4xf32>,
                  %b: memref<4xf32>) {
  nest.map "q" ins(%q, %angle : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>) maps [#i, #i, #i] {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.mulf %v, %w : f32
    nest.yield %0 : f32
  }
  nest.map "keys" ins(%x : memref<4xf32>) outs(%k : memref<4xf32>) maps [#i, #i] {
  ^bb0(%v: f32):
    %0 = arith.negf %v : f32
    nest.yield %0 : f32
  }
  nest.map "k" ins(%k, %angle : memref<4xf32>, memref<4xf32>) outs(%b : memref<4xf32>) maps [#i, #i, #i] {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.mulf %v, %w : f32
    nest.yield %0 : f32
  }
  return
}

// One that reads what the other writes, or writes what the other reads, stays behind it.
// CHECK-LABEL: func.func @ordered(
// CHECK: nest.map "first"
// CHECK: nest.map "second"
// CHECK: nest.map "third"
func.func @ordered(%x: memref<4xf32>, %a: memref<4xf32>, %b: memref<4xf32>) {
  nest.map "first" ins(%x : memref<4xf32>) outs(%a : memref<4xf32>) maps [affine_map<(i) -> ((i + 1) mod 4)>, #i] {
  ^bb0(%v: f32):
    %0 = arith.negf %v : f32
    nest.yield %0 : f32
  }
  nest.map "second" ins(%a, %x : memref<4xf32>, memref<4xf32>) outs(%b : memref<4xf32>)
      maps [affine_map<(i) -> ((i + 1) mod 4)>, #i, #i] {
  ^bb0(%v: f32, %w: f32):
    %0 = arith.addf %v, %w : f32
    nest.yield %0 : f32
  }
  nest.map "third" ins(%b : memref<4xf32>) outs(%x : memref<4xf32>) maps [#i, #i] {
  ^bb0(%v: f32):
    %0 = arith.negf %v : f32
    nest.yield %0 : f32
  }
  return
}
