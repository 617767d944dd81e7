// Rows that are sorted by counting what comes before each element: the first k of them are one kernel.
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-raise-top-k))' | FileCheck %s

#own = affine_map<(i, j, k) -> (i, j)>
#along = affine_map<(i, j, k) -> (i, k)>
#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @largest
// CHECK-NOT: linalg.generic
// CHECK: %[[K:.*]]:2 = nest.top_k "top_k" along 1 ins(%{{.*}} : tensor<4x9xf32>) outs({{.*}} : tensor<4x2xf32>, tensor<4x2xi64>) before {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT: %[[WINS:.*]] = arith.cmpf ugt, %[[A]], %[[B]] : f32
// CHECK-NEXT: %[[NUMBER:.*]] = arith.cmpf ord, %[[A]], %[[A]] : f32
// CHECK-NEXT: %[[FIRST:.*]] = arith.andi %[[WINS]], %[[NUMBER]] : i1
// CHECK-NEXT: nest.yield %[[FIRST]] : i1
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @largest(%x: tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>) {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4x9xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<4x9xi64>) -> tensor<4x9xi64>
  %places = linalg.generic {indexing_maps = [#own, #along, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<4x9xf32>, tensor<4x9xf32>) outs(%f : tensor<4x9xi64>) {
  ^bb0(%a: f32, %b: f32, %sum: i64):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %earlier = arith.cmpi slt, %j, %i : index
    %true = arith.constant true
    %above = arith.cmpf ugt, %b, %a : f32
    %number = arith.cmpf ord, %b, %b : f32
    %passes = arith.andi %above, %number : i1
    %below = arith.cmpf ugt, %a, %b : f32
    %own = arith.cmpf ord, %a, %a : f32
    %falls = arith.andi %below, %own : i1
    %stays = arith.xori %falls, %true : i1
    %first = arith.select %earlier, %stays, %passes : i1
    %one = arith.extui %first : i1 to i64
    %s = arith.addi %one, %sum : i64
    linalg.yield %s : i64
  } -> tensor<4x9xi64>
  %e2 = tensor.empty() : tensor<4x2xi64>
  %f2 = linalg.fill ins(%zero : i64) outs(%e2 : tensor<4x2xi64>) -> tensor<4x2xi64>
  %indices = linalg.generic {indexing_maps = [#along, #own], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%places : tensor<4x9xi64>) outs(%f2 : tensor<4x2xi64>) {
  ^bb0(%p: i64, %sum: i64):
    %i = linalg.index 1 : index
    %place = arith.index_cast %i : index to i64
    %j = linalg.index 2 : index
    %at = arith.index_cast %j : index to i64
    %is = arith.cmpi eq, %p, %place : i64
    %t = arith.select %is, %at, %zero : i64
    %s = arith.addi %t, %sum : i64
    linalg.yield %s : i64
  } -> tensor<4x2xi64>
  %e3 = tensor.empty() : tensor<4x2xf32>
  %values = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%indices : tensor<4x2xi64>) outs(%e3 : tensor<4x2xf32>) {
  ^bb0(%at: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %at : i64 to index
    %v = tensor.extract %x[%i, %j] : tensor<4x9xf32>
    linalg.yield %v : f32
  } -> tensor<4x2xf32>
  return %values, %indices : tensor<4x2xf32>, tensor<4x2xi64>
}

// -----
// Other words for an order: the smallest unsigned numbers first.
#own = affine_map<(i, j) -> (i)>
#along = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @smallest
// CHECK-NOT: linalg.generic
// CHECK: %[[K:.*]]:2 = nest.top_k "top_k" along 0
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: return %[[K]]#1
func.func @smallest(%x: tensor<9xi32>) -> tensor<2xi64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<9xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<9xi64>) -> tensor<9xi64>
  %places = linalg.generic {indexing_maps = [#own, #along, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<9xi32>, tensor<9xi32>) outs(%f : tensor<9xi64>) {
  ^bb0(%a: i32, %b: i32, %sum: i64):
    %wins = arith.cmpi ult, %b, %a : i32
    %equal = arith.cmpi eq, %b, %a : i32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %earlier = arith.cmpi slt, %j, %i : index
    %tie = arith.andi %equal, %earlier : i1
    %first = arith.ori %wins, %tie : i1
    %one = arith.extui %first : i1 to i64
    %s = arith.addi %one, %sum : i64
    linalg.yield %s : i64
  } -> tensor<9xi64>
  %e2 = tensor.empty() : tensor<2xi64>
  %f2 = linalg.fill ins(%zero : i64) outs(%e2 : tensor<2xi64>) -> tensor<2xi64>
  %indices = linalg.generic {indexing_maps = [#along, #own], iterator_types = ["parallel", "reduction"]}
      ins(%places : tensor<9xi64>) outs(%f2 : tensor<2xi64>) {
  ^bb0(%p: i64, %sum: i64):
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i64
    %j = linalg.index 1 : index
    %at = arith.index_cast %j : index to i64
    %is = arith.cmpi eq, %p, %place : i64
    %t = arith.select %is, %at, %zero : i64
    %s = arith.addi %t, %sum : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %indices : tensor<2xi64>
}

// -----
// Where a NaN is equal to nothing, it takes the place of another element.
#own = affine_map<(i, j) -> (i)>
#along = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @not_total
// CHECK-NOT: nest.top_k
// CHECK: return
func.func @not_total(%x: tensor<9xf32>) -> tensor<2xi64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<9xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<9xi64>) -> tensor<9xi64>
  %places = linalg.generic {indexing_maps = [#own, #along, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<9xf32>, tensor<9xf32>) outs(%f : tensor<9xi64>) {
  ^bb0(%a: f32, %b: f32, %sum: i64):
    %wins = arith.cmpf ogt, %b, %a : f32
    %equal = arith.cmpf oeq, %b, %a : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %earlier = arith.cmpi slt, %j, %i : index
    %tie = arith.andi %equal, %earlier : i1
    %first = arith.ori %wins, %tie : i1
    %one = arith.extui %first : i1 to i64
    %s = arith.addi %one, %sum : i64
    linalg.yield %s : i64
  } -> tensor<9xi64>
  %e2 = tensor.empty() : tensor<2xi64>
  %f2 = linalg.fill ins(%zero : i64) outs(%e2 : tensor<2xi64>) -> tensor<2xi64>
  %indices = linalg.generic {indexing_maps = [#along, #own], iterator_types = ["parallel", "reduction"]}
      ins(%places : tensor<9xi64>) outs(%f2 : tensor<2xi64>) {
  ^bb0(%p: i64, %sum: i64):
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i64
    %j = linalg.index 1 : index
    %at = arith.index_cast %j : index to i64
    %is = arith.cmpi eq, %p, %place : i64
    %t = arith.select %is, %at, %zero : i64
    %s = arith.addi %t, %sum : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %indices : tensor<2xi64>
}

// -----
// `not less` is no order: of equal elements both would come first.
#own = affine_map<(i, j) -> (i)>
#along = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @not_strict
// CHECK-NOT: nest.top_k
// CHECK: return
func.func @not_strict(%x: tensor<9xi32>) -> tensor<2xi64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<9xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<9xi64>) -> tensor<9xi64>
  %places = linalg.generic {indexing_maps = [#own, #along, #own], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<9xi32>, tensor<9xi32>) outs(%f : tensor<9xi64>) {
  ^bb0(%a: i32, %b: i32, %sum: i64):
    %wins = arith.cmpi sge, %b, %a : i32
    %equal = arith.cmpi eq, %b, %a : i32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %earlier = arith.cmpi slt, %j, %i : index
    %tie = arith.andi %equal, %earlier : i1
    %first = arith.ori %wins, %tie : i1
    %one = arith.extui %first : i1 to i64
    %s = arith.addi %one, %sum : i64
    linalg.yield %s : i64
  } -> tensor<9xi64>
  %e2 = tensor.empty() : tensor<2xi64>
  %f2 = linalg.fill ins(%zero : i64) outs(%e2 : tensor<2xi64>) -> tensor<2xi64>
  %indices = linalg.generic {indexing_maps = [#along, #own], iterator_types = ["parallel", "reduction"]}
      ins(%places : tensor<9xi64>) outs(%f2 : tensor<2xi64>) {
  ^bb0(%p: i64, %sum: i64):
    %i = linalg.index 0 : index
    %place = arith.index_cast %i : index to i64
    %j = linalg.index 1 : index
    %at = arith.index_cast %j : index to i64
    %is = arith.cmpi eq, %p, %place : i64
    %t = arith.select %is, %at, %zero : i64
    %s = arith.addi %t, %sum : i64
    linalg.yield %s : i64
  } -> tensor<2xi64>
  return %indices : tensor<2xi64>
}
