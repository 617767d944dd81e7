// Structured operations in memory become parallel loops with sequential sums inside, in a naive function only.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(ml2k-naive-loops))' | FileCheck %s

// Positions of a window, its sum in a register, one store.
// CHECK-LABEL: @convolution
// CHECK: scf.parallel (%[[N:.*]], %[[P:.*]]) = (%{{.*}}, %{{.*}}) to (%c2{{.*}}, %c3{{.*}})
// CHECK:   %[[START:.*]] = memref.load %{{.*}}[%[[N]], %[[P]]]
// CHECK:   %[[TOTAL:.*]] = memref.alloca() : memref<f32>
// CHECK:   memref.store %[[START]], %[[TOTAL]][]
// CHECK:   scf.for %[[R:.*]] =
// CHECK:     %[[TWICE:.*]] = arith.muli %[[P]], %c2
// CHECK:     %[[AT:.*]] = arith.addi %[[TWICE]], %[[R]]
// CHECK:     memref.load %{{.*}}[%[[N]], %[[AT]]]
// CHECK:     %[[SOFAR:.*]] = memref.load %[[TOTAL]][]
// CHECK:     arith.addf %[[SOFAR]]
// CHECK:   %[[SUM:.*]] = memref.load %[[TOTAL]][]
// CHECK:   memref.store %[[SUM]], %{{.*}}[%[[N]], %[[P]]]
// CHECK: {nest.label = "conv"}
func.func @convolution(%x: memref<2x7xf32>, %w: memref<3xf32>, %y: memref<2x3xf32>) attributes {nest.naive} {
  linalg.generic {indexing_maps = [affine_map<(n, p, r) -> (n, p * 2 + r)>, affine_map<(n, p, r) -> (r)>,
                                   affine_map<(n, p, r) -> (n, p)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x7xf32>, memref<3xf32>) outs(%y : memref<2x3xf32>) attrs = {nest.label = "conv"} {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %product = arith.mulf %a, %b : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// CHECK-LABEL: @tuned
// CHECK: linalg.fill
func.func @tuned(%y: memref<2xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2xf32>)
  return
}

// -----

func.func @running(%x: memref<4xf32>, %y: memref<4xf32>) attributes {nest.naive} {
  // expected-error @below {{writes its result in every step of a reduction}}
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["reduction"]}
      ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}
