// An index that is known folds to the row it names; one out of range stays, as the program that computes it ends.
// RUN: ml2kokkos-opt %s --canonicalize | FileCheck %s
// CHECK-LABEL: func.func @rows
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[LATE:.*]] = nest.position %{{.*}}, %{{.*}} : i64
// CHECK: return %[[TWO]], %[[FOUR]], %[[LATE]]
func.func @rows() -> (index, index, index) {
  %extent = arith.constant 5 : index
  %first = arith.constant 2 : i64
  %from_end = arith.constant -1 : i64
  %beyond = arith.constant 5 : i64
  %a = nest.position %first, %extent : i64
  %b = nest.position %from_end, %extent : i64
  %c = nest.position %beyond, %extent : i64
  return %a, %b, %c : index, index, index
}
