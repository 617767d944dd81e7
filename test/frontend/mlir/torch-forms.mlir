// torch-mlir's own operations: running sums, sorts, the first elements, scatters, attention.
//
// RUN: split-file %s %t
// RUN: ml2kokkos %t/scan.mlir -o - | FileCheck %s --check-prefix=SCAN
// RUN: ml2kokkos %t/sort.mlir -o - | FileCheck %s --check-prefix=SORT
// RUN: ml2kokkos %t/first.mlir -o - | FileCheck %s --check-prefix=FIRST
// RUN: ml2kokkos %t/scatter.mlir -o - | FileCheck %s --check-prefix=SCATTER
// RUN: ml2kokkos %t/attention.mlir -o - | FileCheck %s --check-prefix=ATTENTION
// RUN: not ml2kokkos %t/refused.mlir -o - 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ml2kokkos %t/shapes.mlir -o - 2>&1 | FileCheck %s --check-prefix=SHAPES

// SCAN: scan_rows<float>(
//--- scan.mlir
func.func @f(%x: tensor<5x1000xf32>) -> tensor<5x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x1000xf32>
  %s = tensor.empty() : tensor<5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%s : tensor<5xf32>) -> tensor<5xf32>
  %y:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<5x1000xf32>) outs(%e, %start : tensor<5x1000xf32>, tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tm_tensor.yield %sum : f32
  } -> tensor<5x1000xf32>, tensor<5xf32>
  return %y#0 : tensor<5x1000xf32>
}

// Of 200 elements 10 are read.
// SORT: top_k<float, 10>(
//--- sort.mlir
func.func @f(%x: tensor<4x200xf32>) -> (tensor<4x10xf32>, tensor<4x10xi64>) {
  %e = tensor.empty() : tensor<4x200xi64>
  %places = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x200xi64>) {
  ^bb0(%o: i64):
    %j = linalg.index 1 : index
    %p = arith.index_cast %j : index to i64
    linalg.yield %p : i64
  } -> tensor<4x200xi64>
  %y:2 = tm_tensor.sort dimension(1) outs(%x, %places : tensor<4x200xf32>, tensor<4x200xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %stays = arith.cmpf oge, %a, %b : f32
    tm_tensor.yield %stays : i1
  } -> tensor<4x200xf32>, tensor<4x200xi64>
  %v = tensor.extract_slice %y#0[0, 0] [4, 10] [1, 1] : tensor<4x200xf32> to tensor<4x10xf32>
  %i = tensor.extract_slice %y#1[0, 0] [4, 10] [1, 1] : tensor<4x200xi64> to tensor<4x10xi64>
  return %v, %i : tensor<4x10xf32>, tensor<4x10xi64>
}

// FIRST: top_k<float, 3>(
//--- first.mlir
func.func @f(%x: tensor<4x20xf32>, %v: tensor<4x3xf32>, %i: tensor<4x3xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %y:2 = tm_tensor.topk dimension(1) ins(%x : tensor<4x20xf32>) outs(%v, %i : tensor<4x3xf32>, tensor<4x3xi32>) {
  ^bb0(%next: f32, %kept: f32):
    %goes = arith.cmpf olt, %next, %kept : f32
    tm_tensor.yield %goes : i1
  } -> tensor<4x3xf32>, tensor<4x3xi32>
  return %y#0, %y#1 : tensor<4x3xf32>, tensor<4x3xi32>
}

// SCATTER: checked_index(
//--- scatter.mlir
func.func @f(%u: tensor<6x3xf32>, %i: tensor<6x1xi64>, %x: tensor<9x3xf32>) -> tensor<9x3xf32> {
  %y = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%u, %i : tensor<6x3xf32>, tensor<6x1xi64>) outs(%x : tensor<9x3xf32>) {
  ^bb0(%update: f32, %current: f32):
    %sum = arith.addf %update, %current : f32
    tm_tensor.yield %sum : f32
  } -> tensor<9x3xf32>
  return %y : tensor<9x3xf32>
}

// Scores, their softmax, the mix: the scale and the mask join the sums.
// ATTENTION: = sum / 4.f + mask(n, o);
// ATTENTION-COUNT-2: {{^}}static void
// ATTENTION-NOT: {{^}}static void
// ATTENTION: {{^}}void forward(
//--- attention.mlir
func.func @f(%q: tensor<4x6x16xf32>, %k: tensor<4x8x16xf32>, %v: tensor<4x8x12xf32>, %mask: tensor<6x8xf32>) -> tensor<4x6x12xf32> {
  %e = tensor.empty() : tensor<4x6x12xf32>
  %y = tm_tensor.attention ins(%q, %k, %v, %mask : tensor<4x6x16xf32>, tensor<4x8x16xf32>, tensor<4x8x12xf32>, tensor<6x8xf32>)
      outs(%e : tensor<4x6x12xf32>) -> tensor<4x6x12xf32>
  return %y : tensor<4x6x12xf32>
}

// REFUSED: refused.mlir:3:10: error: 'tm_tensor.scan' op has a body that is no sum, product, minimum or maximum
// REFUSED: refused.mlir:8:8: error: 'tm_tensor.sort' op has a body that does not compare two elements of the first output
//--- refused.mlir
func.func @f(%x: tensor<5xf32>, %s: tensor<f32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %true = arith.constant true
  %y:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<5xf32>) outs(%x, %s : tensor<5xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    tm_tensor.yield %d : f32
  } -> tensor<5xf32>, tensor<f32>
  %z = tm_tensor.sort dimension(0) outs(%x : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32):
    tm_tensor.yield %true : i1
  } -> tensor<5xf32>
  return %y#0, %z : tensor<5xf32>, tensor<5xf32>
}

// SHAPES: shapes.mlir:2:8: error: 'tm_tensor.attention' op is of matrices that do not fit each other
//--- shapes.mlir
func.func @f(%q: tensor<4x6x16xf32>, %k: tensor<4x8x17xf32>, %e: tensor<4x6x16xf32>) -> tensor<4x6x16xf32> {
  %y = tm_tensor.attention ins(%q, %k, %k : tensor<4x6x16xf32>, tensor<4x8x17xf32>, tensor<4x8x17xf32>)
      outs(%e : tensor<4x6x16xf32>) -> tensor<4x6x16xf32>
  return %y : tensor<4x6x16xf32>
}
