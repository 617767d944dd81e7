// Loops over steps whose columns do not meet become one kernel; what the steps exchange between columns keeps them apart.
// RUN: ml2kokkos-opt %s --ml2k-form-columns --split-input-file | FileCheck %s

#nc = affine_map<(n, c) -> (n, c)>
#n = affine_map<(n, c) -> (n)>
#c = affine_map<(n, c) -> (c)>
#i = affine_map<(n) -> (n)>

// A selective scan: what stands in front of the steps is computed where they read it, the sum reads the new state
// CHECK-LABEL: func.func @selective
// CHECK-NOT: linalg.generic
// CHECK: %[[Y:.*]] = nest.in_memory {
// CHECK: %[[OUT:.*]] = memref.alloc() : memref<9x6xf32>
// CHECK: scf.parallel (%[[N:.*]]) = (%{{.*}}) to (%c6{{.*}})
// CHECK: %[[H:.*]] = memref.alloca() : memref<4xf32>
// CHECK: memref.store %{{.*}}, %[[H]]
// CHECK: scf.for %[[T:.*]] = %c0{{.*}} to %c9
// CHECK: scf.for %[[C:.*]] = %
// CHECK: %[[OLD:.*]] = memref.load %[[H]][%[[C]]]
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[T]], %[[N]], %[[C]]]
// CHECK: %[[E:.*]] = math.exp %[[X]]
// CHECK: arith.mulf %[[OLD]], %[[E]]
// CHECK: memref.store %{{.*}}, %[[H]][%[[C]]]
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args
// CHECK: memref.load %[[H]]
// CHECK: } {nest.any_order}
// CHECK: memref.store %[[SUM]], %[[OUT]][%[[T]], %[[N]]]
// CHECK: nest.yield
// CHECK: return %[[Y]]
func.func @selective(%x: tensor<9x6x4xf32>, %w: tensor<9x4xf32>, %h0: tensor<6x4xf32>) -> tensor<9x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %all = tensor.empty() : tensor<9x6x4xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(t, n, c) -> (t, n, c)>, affine_map<(t, n, c) -> (t, n, c)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<9x6x4xf32>) outs(%all : tensor<9x6x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<9x6x4xf32>
  %y0 = tensor.empty() : tensor<9x6xf32>
  %part = tensor.empty() : tensor<6x4xf32>
  %row = tensor.empty() : tensor<6xf32>
  %r:2 = scf.for %t = %c0 to %c9 step %c1 iter_args(%h = %h0, %y = %y0) -> (tensor<6x4xf32>, tensor<9x6xf32>) {
    %a = tensor.extract_slice %e[%t, 0, 0] [1, 6, 4] [1, 1, 1] : tensor<9x6x4xf32> to tensor<6x4xf32>
    %next = linalg.generic {indexing_maps = [#nc, #nc, #nc], iterator_types = ["parallel", "parallel"]}
        ins(%h, %a : tensor<6x4xf32>, tensor<6x4xf32>) outs(%part : tensor<6x4xf32>) {
    ^bb0(%in: f32, %b: f32, %out: f32):
      %0 = arith.mulf %in, %b : f32
      %1 = arith.addf %0, %in : f32
      linalg.yield %1 : f32
    } -> tensor<6x4xf32>
    %c = tensor.extract_slice %w[%t, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%row : tensor<6xf32>) -> tensor<6xf32>
    %sum = linalg.generic {indexing_maps = [#nc, #c, #n], iterator_types = ["parallel", "reduction"]}
        ins(%next, %c : tensor<6x4xf32>, tensor<4xf32>) outs(%fill : tensor<6xf32>) {
    ^bb0(%in: f32, %b: f32, %out: f32):
      %0 = arith.mulf %in, %b : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<6xf32>
    %put = tensor.insert_slice %sum into %y[%t, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<9x6xf32>
    scf.yield %next, %put : tensor<6x4xf32>, tensor<9x6xf32>
  }
  return %r#1 : tensor<9x6xf32>
}

// -----

#i = affine_map<(n) -> (n)>

// Numbers that the loop carries, in columns that run time counts; one state becomes what the other was
// CHECK-LABEL: func.func @numbers
// CHECK: %[[D:.*]] = tensor.dim %{{.*}}, %
// CHECK: scf.parallel (%[[N:.*]]) = (%{{.*}}) to (%[[D]])
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (f32, f32)
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%{{.*}}, %[[N]]]
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[X]]
// CHECK: scf.yield %[[S]], %[[A]]
func.func @numbers(%x: tensor<9x?xf32>, %a0: tensor<?xf32>, %b0: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %n = tensor.dim %x, %c1 : tensor<9x?xf32>
  %row = tensor.empty(%n) : tensor<?xf32>
  %r:2 = scf.for %t = %c0 to %c9 step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<?xf32>, tensor<?xf32>) {
    %part = tensor.extract_slice %x[%t, 0] [1, %n] [1, 1] : tensor<9x?xf32> to tensor<?xf32>
    %next = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel"]}
        ins(%a, %part : tensor<?xf32>, tensor<?xf32>) outs(%row : tensor<?xf32>) {
    ^bb0(%in: f32, %p: f32, %out: f32):
      %0 = arith.addf %in, %p : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    scf.yield %next, %a : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// -----

#nc = affine_map<(n, c) -> (n, c)>
#turned = affine_map<(n, c) -> (n, 1 - c)>
#ij = affine_map<(n, c, k) -> (n, k)>
#w = affine_map<(n, c, k) -> (k, c)>
#out = affine_map<(n, c, k) -> (n, c)>

// A small product of what a column holds needs the state as it was until the end: the next one gets an array of its own
// CHECK-LABEL: func.func @product
// CHECK: scf.parallel
// CHECK: %[[H:.*]] = memref.alloca() : memref<2xf32>
// CHECK: %[[NEXT:.*]] = memref.alloca() : memref<2xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c9
// CHECK: memref.load %[[H]]
// CHECK: memref.store %{{.*}}, %[[NEXT]]
// CHECK: %[[V:.*]] = memref.load %[[NEXT]]
// CHECK-NEXT: memref.store %[[V]], %[[H]]
func.func @product(%w: tensor<2x2xf32>, %h0: tensor<6x2xf32>) -> tensor<6x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %part = tensor.empty() : tensor<6x2xf32>
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%h = %h0) -> (tensor<6x2xf32>) {
    %fill = linalg.fill ins(%zero : f32) outs(%part : tensor<6x2xf32>) -> tensor<6x2xf32>
    %next = linalg.generic {indexing_maps = [#ij, #w, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%h, %w : tensor<6x2xf32>, tensor<2x2xf32>) outs(%fill : tensor<6x2xf32>) {
    ^bb0(%in: f32, %b: f32, %out: f32):
      %0 = arith.mulf %in, %b : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<6x2xf32>
    scf.yield %next : tensor<6x2xf32>
  }
  return %r : tensor<6x2xf32>
}

// -----

#i = affine_map<(n) -> (n)>
#none = affine_map<(n) -> ()>

// Every step needs a sum over all columns
// CHECK-LABEL: func.func @meet
// CHECK-NOT: nest.in_memory
// CHECK: scf.for
// CHECK: linalg.generic
func.func @meet(%h0: tensor<6xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<6xf32>
  %one = tensor.empty() : tensor<f32>
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%h = %h0) -> (tensor<6xf32>) {
    %fill = linalg.fill ins(%zero : f32) outs(%one : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]} ins(%h : tensor<6xf32>) outs(%fill : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<f32>
    %next = linalg.generic {indexing_maps = [#i, #none, #i], iterator_types = ["parallel"]}
        ins(%h, %sum : tensor<6xf32>, tensor<f32>) outs(%row : tensor<6xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %0 = arith.divf %in, %s : f32
      linalg.yield %0 : f32
    } -> tensor<6xf32>
    scf.yield %next : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}
