// A value that an operation takes and that its own region defines: LLVM's parser would build the operation with freed
// memory. Each is refused before it is parsed; what only looks alike is not.
//
// RUN: split-file %s %t
// RUN: not ml2kokkos %t/second.mlir -o - 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: not ml2kokkos %t/block.mlir -o - 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not ml2kokkos %t/generic.mlir -o - 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: not ml2kokkos %t/several.mlir -o - 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: ml2kokkos %t/siblings.mlir -o - | FileCheck %s --check-prefix=SIBLINGS

// SECOND: second.mlir:5:5: error: %c is defined inside an operation that has a value of this name as its operand
//--- second.mlir
func.func @f(%x: memref<4xf32>) {
  scf.if %c {
    // %c = in a comment
  } else {
    %c = arith.constant true
  }
  return
}

// BLOCK: block.mlir:3:8: error: %s is defined inside an operation that has a value of this name as its operand
//--- block.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%s : tensor<4xf32>) {
  ^bb0(%s: f32):
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// GENERIC: generic.mlir:3:5: error: %n is defined inside
//--- generic.mlir
func.func @f(%x: memref<4xf32>, %c: i1) {
  "scf.if"(%n) ({
    %n = arith.constant true
    scf.yield
  }, {
  }) : (i1) -> ()
  return
}

// SEVERAL: several.mlir:3:9: error: %b is defined inside
//--- several.mlir
func.func @f(%x: memref<4xf32>) {
  scf.if %b {
    %a, %b = arith.addui_extended %x, %x : i32, i1
  }
  return
}

// SIBLINGS: Kokkos::parallel_for
//--- siblings.mlir
func.func @f(%x: memref<4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = arith.constant 1.0 : f32
    memref.store %v, %x[%i] : memref<4xf32>
  }
  scf.for %j = %c0 to %n step %c1 {
    %i = arith.index_cast %j : index to i32
    %v = arith.sitofp %i : i32 to f32
    memref.store %v, %x[%j] : memref<4xf32>
  }
  return
}
