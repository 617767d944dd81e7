// RUN: ml2kokkos-opt %s --ml2k-forward-copies | FileCheck %s

#id = affine_map<(a) -> (a)>

// The caller's memory takes the result at once, in the shape that the kernel wants.
// CHECK-LABEL: func.func @reshaped
// CHECK-SAME:  (%[[X:.*]]: memref<2x3xf32>, %[[Y:.*]]: memref<6xf32>)
func.func @reshaped(%x: memref<2x3xf32>, %y: memref<6xf32>) {
  // CHECK: %[[V:.*]] = memref.expand_shape %[[Y]]
  // CHECK: nest.map "a" {{.*}} outs(%[[V]] : memref<2x3xf32>)
  // CHECK-NEXT: ^bb0
  // CHECK-NOT: memref.copy
  // CHECK: return
  %a = memref.alloc() : memref<2x3xf32>
  nest.map "a" ins(%x : memref<2x3xf32>) outs(%a : memref<2x3xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %flat = memref.collapse_shape %a [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  memref.copy %flat, %y : memref<6xf32> to memref<6xf32>
  return
}

// The target is read after the kernel has run and before the copy: the copy stays.
// CHECK-LABEL: func.func @readBetween
func.func @readBetween(%s: memref<4xf32>, %z: memref<4xf32>) {
  // CHECK: %[[A:.*]] = memref.alloc
  // CHECK: nest.map "a" {{.*}} outs(%[[A]]
  // CHECK: nest.map "z"
  // CHECK: memref.copy %[[A]]
  %a = memref.alloc() : memref<4xf32>
  nest.map "a" ins(%s : memref<4xf32>) outs(%a : memref<4xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  nest.map "z" ins(%s : memref<4xf32>) outs(%z : memref<4xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  memref.copy %a, %s : memref<4xf32> to memref<4xf32>
  return
}

// A map may overwrite what it reads at the same position, but not at another one.
// CHECK-LABEL: func.func @inPlace
// CHECK-SAME:  (%[[S:.*]]: memref<4xf32>, %[[T:.*]]: memref<4xf32>)
func.func @inPlace(%s: memref<4xf32>, %t: memref<4xf32>) {
  // CHECK: %[[B:.*]] = memref.alloc
  // CHECK: nest.map "same" ins(%[[S]] : {{.*}} outs(%[[S]] :
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  nest.map "same" ins(%s : memref<4xf32>) outs(%a : memref<4xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    %w = arith.negf %v : f32
    nest.yield %w : f32
  }
  memref.copy %a, %s : memref<4xf32> to memref<4xf32>
  // CHECK: nest.map "reversed" ins(%[[T]] : {{.*}} outs(%[[B]] :
  nest.map "reversed" ins(%t : memref<4xf32>) outs(%b : memref<4xf32>) maps [affine_map<(a) -> (3 - a)>, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  // CHECK: memref.copy %[[B]], %[[T]]
  memref.copy %b, %t : memref<4xf32> to memref<4xf32>
  return
}

// A packed contraction writes contiguous matrices only; a map writes the slice.
// CHECK-LABEL: func.func @matrix
// CHECK-SAME:  (%[[X:.*]]: memref<2x4xf32>, %[[Y:.*]]: memref<2x8xf32>)
func.func @matrix(%x: memref<2x4xf32>, %y: memref<2x8xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x4xf32> = dense<1.0> : tensor<4x4xf32>
  %a = memref.alloc() : memref<2x4xf32>
  %b = memref.alloc() : memref<2x4xf32>
  // CHECK: nest.contract "a" {{.*}} outs(%[[A:.*]] : memref<2x4xf32>)
  nest.contract "a" [m, n, k] ins(%x, %w : memref<2x4xf32>, memref<4x4xf32>) outs(%a : memref<2x4xf32>)
    maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: memref.copy %[[A]]
  %left = memref.subview %y[0, 0] [2, 4] [1, 1] : memref<2x8xf32> to memref<2x4xf32, strided<[8, 1]>>
  memref.copy %a, %left : memref<2x4xf32> to memref<2x4xf32, strided<[8, 1]>>
  // CHECK: nest.map "b" {{.*}} outs(%{{.*}} : memref<2x4xf32, strided<[8, 1], offset: 4>>)
  // CHECK-NOT: memref.copy
  nest.map "b" ins(%x : memref<2x4xf32>) outs(%b : memref<2x4xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %right = memref.subview %y[0, 4] [2, 4] [1, 1] : memref<2x8xf32> to memref<2x4xf32, strided<[8, 1], offset: 4>>
  memref.copy %b, %right : memref<2x4xf32> to memref<2x4xf32, strided<[8, 1], offset: 4>>
  return
}

// So does a part of a concatenation that lies in pieces, where only dimensions of extent 1 stand between the two.
// CHECK-LABEL: func.func @part
// CHECK-SAME:  (%[[X:.*]]: memref<2x1x3xf32>, %[[Y:.*]]: memref<2x2x1x3xf32>)
func.func @part(%x: memref<2x1x3xf32>, %y: memref<2x2x1x3xf32>) {
  // CHECK: %[[P:.*]] = memref.subview %[[Y]][0, 1, 0, 0] [2, 1, 1, 3]
  // CHECK: %[[V:.*]] = memref.collapse_shape %[[P]] {{\[\[}}0], [1], [2, 3]]
  // CHECK: nest.map "a" {{.*}} outs(%[[V]] : memref<2x1x3xf32, strided<[6, 3, 1], offset: 3>>)
  // CHECK-NOT: memref.copy
  // CHECK: return
  %a = memref.alloc() : memref<2x1x3xf32>
  nest.map "a" ins(%x : memref<2x1x3xf32>) outs(%a : memref<2x1x3xf32>)
      maps [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %wide = memref.expand_shape %a [[0], [1], [2, 3]] output_shape [2, 1, 1, 3] : memref<2x1x3xf32> into memref<2x1x1x3xf32>
  %part = memref.subview %y[0, 1, 0, 0] [2, 1, 1, 3] [1, 1, 1, 1] : memref<2x2x1x3xf32>
      to memref<2x1x1x3xf32, strided<[6, 3, 3, 1], offset: 3>>
  memref.copy %wide, %part : memref<2x1x1x3xf32> to memref<2x1x1x3xf32, strided<[6, 3, 3, 1], offset: 3>>
  return
}

// A result of run-time size that is reshaped before it is copied, from parts and into parts.
// CHECK-LABEL: func.func @sized
// CHECK-SAME:  (%[[X:[a-z0-9]*]]: memref<?x2x3xf32>, %[[Y:[a-z0-9]*]]: memref<?x6xf32>
func.func @sized(%x: memref<?x2x3xf32>, %y: memref<?x6xf32>) {
  // CHECK: %[[N:.*]] = memref.dim %[[X]]
  // CHECK: %[[V:.*]] = memref.expand_shape %[[Y]] {{\[\[}}0], [1, 2]] output_shape [%[[N]], 2, 3]
  // CHECK: nest.map "sized" {{.*}} outs(%[[V]] : memref<?x2x3xf32>)
  // CHECK-NOT: memref.copy
  // CHECK: return
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x2x3xf32>
  %a = memref.alloc(%n) : memref<?x2x3xf32>
  nest.map "sized" ins(%x : memref<?x2x3xf32>) outs(%a : memref<?x2x3xf32>)
      maps [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %flat = memref.collapse_shape %a [[0], [1, 2]] : memref<?x2x3xf32> into memref<?x6xf32>
  memref.copy %flat, %y : memref<?x6xf32> to memref<?x6xf32>
  return
}

// One of two directions, whose rows run time tells: a slice of the result without the dimension of the directions.
// CHECK-LABEL: func.func @direction
// CHECK-SAME:  (%[[X:[a-z0-9]*]]: memref<?x3xf32>, %[[Y:[a-z0-9]*]]: memref<2x?x3xf32>
func.func @direction(%x: memref<?x3xf32>, %y: memref<2x?x3xf32>) {
  // CHECK: %[[N:.*]] = memref.dim %[[X]]
  // CHECK: %[[V:.*]] = memref.subview %[[Y]][1, 0, 0] [1, %[[N]], 3] [1, 1, 1] : memref<2x?x3xf32> to memref<?x3xf32, strided<[3, 1], offset: ?>>
  // CHECK: nest.map "direction" {{.*}} outs(%[[V]] :
  // CHECK-NOT: memref.copy
  // CHECK: return
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x3xf32>
  %a = memref.alloc(%n) : memref<?x3xf32>
  nest.map "direction" ins(%x : memref<?x3xf32>) outs(%a : memref<?x3xf32>)
      maps [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %row = memref.expand_shape %a [[0, 1], [2]] output_shape [1, %n, 3] : memref<?x3xf32> into memref<1x?x3xf32>
  %part = memref.subview %y[1, 0, 0] [1, %n, 3] [1, 1, 1] : memref<2x?x3xf32> to memref<1x?x3xf32, strided<[?, 3, 1], offset: ?>>
  memref.copy %row, %part : memref<1x?x3xf32> to memref<1x?x3xf32, strided<[?, 3, 1], offset: ?>>
  return
}

// Rows of run-time number go into the caller's memory, where they are split.
// CHECK-LABEL: func.func @splitRows
// CHECK-SAME:  (%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?x3xf32>, %[[N:.*]]: index, %[[M:.*]]: index)
func.func @splitRows(%x: memref<?xf32>, %y: memref<?x3xf32>, %n: index, %m: index) {
  // CHECK: %[[V:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1]]
  // CHECK: nest.map "a" {{.*}} outs(%[[V]] : memref<?xf32>)
  // CHECK-NEXT: ^bb0
  // CHECK-NOT: memref.copy
  // CHECK: return
  %a = memref.alloc(%n) : memref<?xf32>
  nest.map "a" ins(%x : memref<?xf32>) outs(%a : memref<?xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %rows = memref.expand_shape %a [[0, 1]] output_shape [%m, 3] : memref<?xf32> into memref<?x3xf32>
  memref.copy %rows, %y : memref<?x3xf32> to memref<?x3xf32>
  return
}

// The place asks for an extent of what is copied there: it is what the allocation was made with.
// CHECK-LABEL: func.func @asksForExtent
// CHECK-SAME:  (%[[X:[a-z0-9]*]]: memref<?x2x3xf32>, %[[Y:[a-z0-9]*]]: memref<?x10xf32>
func.func @asksForExtent(%x: memref<?x2x3xf32>, %y: memref<?x10xf32>) {
  // CHECK: %[[N:.*]] = memref.dim %[[X]]
  // CHECK: %[[P:.*]] = memref.subview %[[Y]][0, 4] [%[[N]], 6] [1, 1]
  // CHECK: %[[V:.*]] = memref.expand_shape %[[P]]
  // CHECK: nest.map "part" {{.*}} outs(%[[V]] :
  // CHECK-NOT: memref.copy
  // CHECK: return
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x2x3xf32>
  %a = memref.alloc(%n) : memref<?x2x3xf32>
  nest.map "part" ins(%x : memref<?x2x3xf32>) outs(%a : memref<?x2x3xf32>)
      maps [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %flat = memref.collapse_shape %a [[0], [1, 2]] : memref<?x2x3xf32> into memref<?x6xf32>
  %rows = memref.dim %flat, %zero : memref<?x6xf32>
  %part = memref.subview %y[0, 4] [%rows, 6] [1, 1] : memref<?x10xf32> to memref<?x6xf32, strided<[10, 1], offset: 4>>
  memref.copy %flat, %part : memref<?x6xf32> to memref<?x6xf32, strided<[10, 1], offset: 4>>
  return
}

// One side of the copy knows an extent that the other has at run time: the copy stays.
// CHECK-LABEL: func.func @knownOnOneSide
func.func @knownOnOneSide(%x: memref<?xf32>, %y: memref<4x3xf32>, %z: memref<1x8xf32, strided<[16, 1], offset: 3>>, %n: index, %m: index) {
  // CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK: %[[ROWS:.*]] = memref.expand_shape %[[A]]
  // CHECK: memref.copy %[[ROWS]], %{{.*}} : memref<?x3xf32> to memref<4x3xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  nest.map "a" ins(%x : memref<?xf32>) outs(%a : memref<?xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %rows = memref.expand_shape %a [[0, 1]] output_shape [%m, 3] : memref<?xf32> into memref<?x3xf32>
  memref.copy %rows, %y : memref<?x3xf32> to memref<4x3xf32>
  // CHECK: %[[B:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
  // CHECK: memref.copy %{{.*}}, %{{.*}} : memref<1x?xf32> to memref<1x8xf32, strided<[16, 1], offset: 3>>
  %b = memref.alloc(%n) : memref<?xf32>
  nest.map "b" ins(%x : memref<?xf32>) outs(%b : memref<?xf32>) maps [#id, #id] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %row = memref.expand_shape %b [[0, 1]] output_shape [1, %n] : memref<?xf32> into memref<1x?xf32>
  memref.copy %row, %z : memref<1x?xf32> to memref<1x8xf32, strided<[16, 1], offset: 3>>
  // CHECK: %[[C:.*]] = memref.alloc() : memref<4x3xf32>
  // CHECK: memref.copy %{{.*}}, %{{.*}} : memref<12xf32> to memref<?xf32>
  %c = memref.alloc() : memref<4x3xf32>
  nest.map "c" ins(%y : memref<4x3xf32>) outs(%c : memref<4x3xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %flat = memref.collapse_shape %c [[0, 1]] : memref<4x3xf32> into memref<12xf32>
  memref.copy %flat, %x : memref<12xf32> to memref<?xf32>
  return
}

// Somebody reads the result with an extent that run time is told to have
// CHECK-LABEL: func.func @cast
// CHECK-SAME:  (%{{.*}}: memref<?x?xf32>, %[[Y:.*]]: memref<?x?xf32>, %{{.*}}: memref<?x4xf32>)
// CHECK:       nest.map "a" {{.*}} outs(%[[Y]]
// CHECK:       %[[C:.*]] = memref.cast %[[Y]] : memref<?x?xf32> to memref<?x4xf32>
// CHECK:       nest.map "b" ins(%[[C]]
// CHECK-NOT:   memref.copy
func.func @cast(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %z: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %a = memref.alloc(%m, %n) : memref<?x?xf32>
  nest.map "a" ins(%x : memref<?x?xf32>) outs(%a : memref<?x?xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  %cast = memref.cast %a : memref<?x?xf32> to memref<?x4xf32>
  nest.map "b" ins(%cast : memref<?x4xf32>) outs(%z : memref<?x4xf32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  memref.copy %a, %y : memref<?x?xf32> to memref<?x?xf32>
  return
}

// A product of packed weights, and a reduction, add to what they overwrite: the element that an epilogue reads is the one that it
// stores. Not to what the sums are made of, and not from other places.
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
// CHECK-LABEL: func.func @added
// CHECK-SAME:  (%[[X:.*]]: memref<4x8xf32>, %[[S:.*]]: memref<4x4xf32>, %[[T:.*]]: memref<4x4xf32>)
func.func @added(%x: memref<4x8xf32>, %s: memref<4x4xf32>, %t: memref<4x4xf32>) {
  %w = nest.weight "w" packing <panels> : memref<4x8xf32> = dense<1.0> : tensor<4x8xf32>
  %v = nest.weight "v" packing <panels> : memref<4x4xf32> = dense<1.0> : tensor<4x4xf32>
  // CHECK: nest.contract "added" {{.*}} extras(%[[S]] {{.*}} outs(%[[S]]
  %a = memref.alloc() : memref<4x4xf32>
  nest.contract "added" [m, n, k] ins(%x, %w : memref<4x8xf32>, memref<4x8xf32>) extras(%s : memref<4x4xf32>)
      outs(%a : memref<4x4xf32>) maps [#mk, #nk, #mn, #mn] epilogue {
  ^bb0(%sum: f32, %e: f32):
    %r = arith.addf %sum, %e : f32
    nest.yield %r : f32
  }
  memref.copy %a, %s : memref<4x4xf32> to memref<4x4xf32>
  // CHECK: nest.contract "elsewhere" {{.*}} extras(%[[S]] {{.*}} outs(%[[B:.*]] : memref<4x4xf32>)
  // CHECK: memref.copy %[[B]], %[[S]]
  %b = memref.alloc() : memref<4x4xf32>
  nest.contract "elsewhere" [m, n, k] ins(%x, %w : memref<4x8xf32>, memref<4x8xf32>) extras(%s : memref<4x4xf32>)
      outs(%b : memref<4x4xf32>) maps [#mk, #nk, #nm, #mn] epilogue {
  ^bb0(%sum: f32, %e: f32):
    %r = arith.addf %sum, %e : f32
    nest.yield %r : f32
  }
  memref.copy %b, %s : memref<4x4xf32> to memref<4x4xf32>
  // CHECK: nest.contract "of_itself" {{.*}} outs(%[[C:.*]] : memref<4x4xf32>)
  // CHECK: memref.copy %[[C]], %[[S]]
  %c = memref.alloc() : memref<4x4xf32>
  nest.contract "of_itself" [m, n, k] ins(%s, %v : memref<4x4xf32>, memref<4x4xf32>) extras(%s : memref<4x4xf32>)
      outs(%c : memref<4x4xf32>) maps [#mk, #nk, #mn, #mn] epilogue {
  ^bb0(%sum: f32, %e: f32):
    %r = arith.addf %sum, %e : f32
    nest.yield %r : f32
  }
  memref.copy %c, %s : memref<4x4xf32> to memref<4x4xf32>
  // CHECK: nest.reduce "summed" {{.*}} extras(%[[T]] {{.*}} outs(%[[T]]
  %d = memref.alloc() : memref<4x4xf32>
  nest.reduce "summed" <sum> from 0.0 : f32 over [2] ins(%x : memref<4x8xf32>) extras(%t : memref<4x4xf32>)
      outs(%d : memref<4x4xf32>) maps [#mk, #mn, #mn]
  term {
  ^bb0(%e: f32):
    nest.yield %e : f32
  } finish {
  ^bb0(%sum: f32, %e: f32):
    %r = arith.addf %sum, %e : f32
    nest.yield %r : f32
  }
  memref.copy %d, %t : memref<4x4xf32> to memref<4x4xf32>
  // CHECK: return
  return
}
