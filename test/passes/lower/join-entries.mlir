// RUN: ml2kokkos-opt %s --ml2k-join-entries | FileCheck %s

#out = affine_map<(n, i, j, k) -> (n, i, j)>
#left = affine_map<(n, i, j, k) -> (n, i, k)>
#right = affine_map<(n, i, j, k) -> (n, k, j)>
#diagonal = affine_map<(n, k) -> (n, k, k)>
#entry = affine_map<(n, k) -> (n)>
#element = affine_map<(n, i) -> (n, i)>
#each = affine_map<(n, i) -> (n)>

// The deviator of a product: the product is an array, its trace a number, and nothing of them is left in memory.
// CHECK-LABEL: func.func @deviator
// CHECK-SAME: (%[[A:.*]]: memref<?x3x3xf32>, %[[OUT:.*]]: memref<?x9xf32> {nest.output})
// CHECK-NOT: memref.alloc(
// CHECK: nest.kernel "dev" range (%[[AT:.*]]) =
// CHECK: %[[P:.*]] = memref.alloca() : memref<9xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.load %[[A]][%[[AT]],
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK: %[[TRACE:.*]] = scf.for
// CHECK: memref.load %[[P]]
// CHECK: scf.for
// CHECK: memref.load %[[P]]
// CHECK: arith.subf %{{.*}}, %[[TRACE]]
// CHECK: memref.store %{{.*}}, %[[OUT]][%[[AT]],
// CHECK: nest.schedule = #nest.schedule<range>
// CHECK-NOT: nest.map
func.func @deviator(%a: memref<?x3x3xf32>, %out: memref<?x9xf32> {nest.output}) attributes {nest.symbols = ["n"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %out, %c0 : memref<?x9xf32>
  %p = memref.alloc(%n) : memref<?x3x3xf32>
  %t = memref.alloc(%n) : memref<?xf32>
  nest.reduce "product" <sum> from 0.0 : f32 over [3] ins(%a, %a : memref<?x3x3xf32>, memref<?x3x3xf32>) outs(%p : memref<?x3x3xf32>) maps [#left, #right, #out] term {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } finish {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.reduce "trace" <sum> from 0.0 : f32 over [1] ins(%p : memref<?x3x3xf32>) outs(%t : memref<?xf32>) maps [#diagonal, #entry] term {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } finish {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  %flat = memref.collapse_shape %p [[0], [1, 2]] : memref<?x3x3xf32> into memref<?x9xf32>
  nest.map "dev" ins(%flat, %t : memref<?x9xf32>, memref<?xf32>) outs(%out : memref<?x9xf32>) maps [#element, #each, #element] {
  ^bb0(%x: f32, %y: f32):
    %d = arith.subf %x, %y : f32
    nest.yield %d : f32
  }
  return
}

// A kernel that reads another entry of what the product writes stays behind it; the product alone is a kernel.
// CHECK-LABEL: func.func @other_entries
// CHECK: nest.kernel "product" range
// CHECK: nest.map "first"
func.func @other_entries(%a: memref<20x3x3xf32>, %p: memref<20x3x3xf32> {nest.output}, %out: memref<20xf32> {nest.output}) {
  nest.reduce "product" <sum> from 0.0 : f32 over [3] ins(%a, %a : memref<20x3x3xf32>, memref<20x3x3xf32>) outs(%p : memref<20x3x3xf32>) maps [#left, #right, #out] term {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    nest.yield %z : f32
  } finish {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.map "first" ins(%p : memref<20x3x3xf32>) outs(%out : memref<20xf32>) maps [affine_map<(n) -> (0, 0, 0)>, affine_map<(n) -> (n)>] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  }
  return
}

// Without a product of matrices nothing changes.
// CHECK-LABEL: func.func @elementwise
// CHECK-NOT: nest.kernel
func.func @elementwise(%a: memref<?x9xf32>, %out: memref<?x9xf32> {nest.output}) {
  nest.map "copy" ins(%a : memref<?x9xf32>) outs(%out : memref<?x9xf32>) maps [#element, #element] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  }
  return
}
