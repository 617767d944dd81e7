// Calls are inlined, --entry selects, several public functions without --entry are an error that lists them.
// RUN: not ml2kokkos %s --emit=imported 2>&1 | FileCheck %s --check-prefix=AMBIGUOUS
// RUN: ml2kokkos %s --emit=imported --entry=first | FileCheck %s
// RUN: not ml2kokkos %s --emit=imported --entry=third 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// AMBIGUOUS: error: {{.*}}several public functions; choose one with --entry: first, second
// UNKNOWN: error: {{.*}}no function 'third'; it has: first, second
// CHECK: func.func @first(
// CHECK-NOT: call
// CHECK: math.exp
// CHECK-NOT: func.func
// CHECK-NOT: ml_program
ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
func.func private @helper(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @helper(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
