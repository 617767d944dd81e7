// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics --ml2k-destinations | FileCheck %s

// Results become arguments at the end, with the names of the model; an input that is returned is no special case.
// CHECK-LABEL: func.func @results(
// CHECK-SAME:    %[[A:.*]]: tensor<?x4xf32> {bufferization.writable = false, nest.name = "a"},
// CHECK-SAME:    %[[R0:.*]]: memref<?x4xf32> {nest.name = "same", nest.output},
// CHECK-SAME:    %[[R1:.*]]: memref<?x2xf32> {nest.name = "half", nest.output})
func.func @results(%a: tensor<?x4xf32> {nest.name = "a"})
    -> (tensor<?x4xf32> {nest.name = "same"}, tensor<?x2xf32> {nest.name = "half"}) {
  // CHECK: %[[H:.*]] = tensor.collapse_shape
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.expand_shape %a [[0], [1, 2]] output_shape [%n, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %h = tensor.collapse_shape %e [[0, 1], [2]] : tensor<?x2x2xf32> into tensor<?x2xf32>
  // CHECK-NEXT: bufferization.materialize_in_destination %[[A]] in restrict writable %[[R0]]
  // CHECK-NEXT: bufferization.materialize_in_destination %[[H]] in restrict writable %[[R1]]
  // CHECK-NEXT: return{{$}}
  return %a, %h : tensor<?x4xf32>, tensor<?x2xf32>
}

// -----

func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{result 0 is a 'tensor<*xf32>'; a model returns tensors of known rank}}
  return %a : tensor<*xf32>
}
