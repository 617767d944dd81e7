// RUN: ml2kokkos-opt %s --ml2k-label-copies | FileCheck %s

// Copies are named after where they go and what they carry: an output, a part of a concatenation, anything else.
// CHECK-LABEL: func.func @copies
func.func @copies(%x: memref<4xf32> {nest.name = "x"}, %w: memref<5xf32> {nest.name = "w"},
                  %v: memref<6xf32> {nest.name = "v"}, %y: memref<4xf32> {nest.name = "y", nest.output}) {
  // CHECK: nest.map "y.copy" ins(%{{.*}} : memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  %all = memref.alloc() : memref<9xf32>
  %part = memref.subview %all[4] [5] [1] : memref<9xf32> to memref<5xf32, strided<[1], offset: 4>>
  // CHECK: nest.map "join.w"
  memref.copy %w, %part : memref<5xf32> to memref<5xf32, strided<[1], offset: 4>> loc("Concat \"/join/Concat\"")
  %own = memref.alloc() : memref<6xf32>
  // CHECK: nest.map "v.copy"
  memref.copy %v, %own : memref<6xf32> to memref<6xf32>
  // The same name twice: four characters of a hash, no counter
  // CHECK: nest.map "y.copy_{{....}}"
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}

// In a naive program a copy is a loop kernel; inside a kernel the work item copies for itself.
// CHECK-LABEL: @naive
// CHECK: nest.kernel "{{.*}}" mdrange (%[[I:.*]], %[[J:.*]]) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) {
// CHECK:   %[[V:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK:   memref.store %[[V]], %{{.*}}[%[[I]], %[[J]]]
// CHECK: nest.kernel "one"
// CHECK-NOT: nest.kernel
// CHECK:   scf.for
// CHECK-NOT: memref.copy
func.func @naive(%x: memref<2x3xf32> {nest.name = "x"}, %y: memref<2x3xf32> {nest.name = "y"},
                 %z: memref<2x3xf32> {nest.name = "z"}) attributes {nest.naive} {
  memref.copy %x, %y : memref<2x3xf32> to memref<2x3xf32>
  nest.kernel "one" range () = () to () {
    memref.copy %x, %z : memref<2x3xf32> to memref<2x3xf32>
  }
  return
}

// Zeros around what every step writes: filled once. Not where steps write different parts, or read what the step before has left.
#ij = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @hoisted
// CHECK: nest.map "zeros"
// CHECK: scf.for
// CHECK-NOT: nest.map "zeros"
// CHECK: nest.map
// CHECK: return
func.func @hoisted(%x: memref<4x6xf32> {nest.name = "x"}, %y: memref<6x8xf32> {nest.name = "y", nest.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %all = memref.alloc() : memref<6x8xf32>
  %part = memref.subview %all[1, 1] [4, 6] [1, 1] : memref<6x8xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
  scf.for %t = %c0 to %c9 step %c1 {
    nest.map "zeros" outs(%all : memref<6x8xf32>) maps [#ij] {
      nest.yield %zero : f32
    }
    memref.copy %x, %part : memref<4x6xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
    nest.map "read" ins(%all : memref<6x8xf32>) outs(%y : memref<6x8xf32>) maps [#ij, #ij] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    }
  }
  return
}

// CHECK-LABEL: func.func @moving
// CHECK: scf.for
// CHECK: nest.map "zeros"
func.func @moving(%x: memref<1x6xf32> {nest.name = "x"}, %y: memref<6x8xf32> {nest.name = "y", nest.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %all = memref.alloc() : memref<6x8xf32>
  scf.for %t = %c0 to %c4 step %c1 {
    nest.map "zeros" outs(%all : memref<6x8xf32>) maps [#ij] {
      nest.yield %zero : f32
    }
    %row = memref.subview %all[%t, 1] [1, 6] [1, 1] : memref<6x8xf32> to memref<1x6xf32, strided<[8, 1], offset: ?>>
    memref.copy %x, %row : memref<1x6xf32> to memref<1x6xf32, strided<[8, 1], offset: ?>>
    nest.map "read" ins(%all : memref<6x8xf32>) outs(%y : memref<6x8xf32>) maps [#ij, #ij] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    }
  }
  return
}

// CHECK-LABEL: func.func @read_first
// CHECK: scf.for
// CHECK: nest.map "zeros"
func.func @read_first(%x: memref<4x6xf32> {nest.name = "x"}, %y: memref<6x8xf32> {nest.name = "y", nest.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %all = memref.alloc() : memref<6x8xf32>
  %part = memref.subview %all[1, 1] [4, 6] [1, 1] : memref<6x8xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
  scf.for %t = %c0 to %c9 step %c1 {
    nest.map "zeros" outs(%all : memref<6x8xf32>) maps [#ij] {
      nest.yield %zero : f32
    }
    nest.map "read" ins(%all : memref<6x8xf32>) outs(%y : memref<6x8xf32>) maps [#ij, #ij] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    }
    memref.copy %x, %part : memref<4x6xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
  }
  return
}

// CHECK-LABEL: func.func @other_number
// CHECK: scf.for
// CHECK: nest.map "numbers"
func.func @other_number(%x: memref<4x6xf32> {nest.name = "x"}, %n: memref<9xf32> {nest.name = "n"},
                        %y: memref<6x8xf32> {nest.name = "y", nest.output}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %all = memref.alloc() : memref<6x8xf32>
  %part = memref.subview %all[1, 1] [4, 6] [1, 1] : memref<6x8xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
  scf.for %t = %c0 to %c9 step %c1 {
    %number = memref.load %n[%t] : memref<9xf32>
    nest.map "numbers" outs(%all : memref<6x8xf32>) maps [#ij] {
      nest.yield %number : f32
    }
    memref.copy %x, %part : memref<4x6xf32> to memref<4x6xf32, strided<[8, 1], offset: 9>>
    nest.map "read" ins(%all : memref<6x8xf32>) outs(%y : memref<6x8xf32>) maps [#ij, #ij] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    }
  }
  return
}
