// A table whose extent is known at run time only, too: just the element that the condition chooses is read.
// RUN: ml2kokkos %s --entry=decided -o %t.cpp && FileCheck %s < %t.cpp
// RUN: ml2kokkos %s --entry=wrapped -o %t.wrapped.cpp && FileCheck %s --check-prefix=WRAPPED < %t.wrapped.cpp
// RUN: ml2kokkos %s --entry=behind -o %t.behind.cpp && FileCheck %s --check-prefix=BEHIND < %t.behind.cpp
func.func @decided(%table: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %above = arith.cmpf ogt, %v, %zero : f32
    %k = arith.select %above, %c1, %c0 : index
    // CHECK: float const chosen = v > 0.f ? table(1) : table(0);
    %chosen = memref.load %table[%k] : memref<?xf32>
    %scaled = arith.mulf %chosen, %v : f32
    memref.store %scaled, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// A negative index counts from behind; a converted comparison is none.
func.func @wrapped(%x: tensor<200xf32>, %table: tensor<2xf32>) -> tensor<200xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c2 = arith.constant 2 : i64
  %numbers = tensor.empty() : tensor<200xi64>
  %above = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<200xf32>) outs(%numbers : tensor<200xi64>) {
  ^bb0(%v: f32, %out: i64):
    %is_above = arith.cmpf ogt, %v, %zero : f32
    %number = arith.extui %is_above : i1 to i64
    linalg.yield %number : i64
  } -> tensor<200xi64>
  %empty = tensor.empty() : tensor<200xf32>
  // WRAPPED: wrapped(i) = x(i) > 0.f ? table(1) : table(0);
  %wrapped = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%above : tensor<200xi64>) outs(%empty : tensor<200xf32>) {
  ^bb0(%number: i64, %out: f32):
    %is_negative = arith.cmpi slt, %number, %c0 : i64
    %around = arith.addi %number, %c2 : i64
    %inside = arith.select %is_negative, %around, %number : i64
    %at = arith.index_cast %inside : i64 to index
    %element = tensor.extract %table[%at] : tensor<2xf32>
    linalg.yield %element : f32
  } -> tensor<200xf32>
  return %wrapped : tensor<200xf32>
}

// What else the subscript is made of stays. Two conditions choose one of four.
func.func @behind(%table: memref<?xf32>, %x: memref<?xf32>, %y: memref<?xf32>, %first: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %above = arith.cmpf ogt, %v, %zero : f32
    %far = arith.cmpf ogt, %v, %half : f32
    %a = arith.extui %above : i1 to i32
    %b = arith.extui %far : i1 to i32
    %sum = arith.addi %a, %b : i32
    %number = arith.index_cast %sum : i32 to index
    %k = arith.addi %first, %number : index
    // BEHIND: bool const far = v > 0.5f;
    // BEHIND: if (v > 0.f) {
    // BEHIND-NEXT: far ? table(first + 2) : table(first + 1);
    // BEHIND: far ? table(first + 1) : table(first);
    %chosen = memref.load %table[%k] : memref<?xf32>
    memref.store %chosen, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
