// A recurrent loop: the states stay in place, each step reads and overwrites them; the sequence is written slice by slice.
// RUN: ml2kokkos-opt %s --ml2k-lower | FileCheck %s

// CHECK-LABEL: func.func @lstm
// CHECK-SAME:  (%[[X:.*]]: memref<5x1x32xf32> {{.*}}, %[[Y:.*]]: memref<5x1x8xf32> {{.*}}, %[[LAST:.*]]: memref<1x8xf32>
func.func @lstm(%x: tensor<5x1x32xf32> {nest.name = "x"})
    -> (tensor<5x1x8xf32> {nest.name = "y"}, tensor<1x8xf32> {nest.name = "last"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = nest.weight "lstm.R" : tensor<32x8xf32> = dense<1.0> : tensor<32x8xf32>
  %e = tensor.empty() : tensor<1x8xf32>
  %zero = nest.map "lstm.zero" outs(%e : tensor<1x8xf32>) maps [affine_map<(a, b) -> (a, b)>] {
    %c = arith.constant 0.0 : f32
    nest.yield %c : f32
  } -> tensor<1x8xf32>
  %ey = tensor.empty() : tensor<5x1x8xf32>
  // CHECK-DAG: %[[GATES:.*]] = nest.buffer "lstm.gates" offset
  // CHECK-DAG: %[[C:.*]] = nest.buffer "lstm.step.1.state" offset
  // CHECK-NOT: nest.buffer
  // CHECK: nest.map "lstm.zero{{.*}}" outs(%[[LAST]]
  // CHECK: nest.map "lstm.zero{{.*}}" outs(%[[C]]
  // CHECK: scf.for %[[T:[^ ]*]] = {{.*}} {
  %h, %c, %y = scf.for %t = %c0 to %c5 step %c1 iter_args(%hi = %zero, %ci = %zero, %yi = %ey)
      -> (tensor<1x8xf32>, tensor<1x8xf32>, tensor<5x1x8xf32>) {
    %eg = tensor.empty() : tensor<1x32xf32>
    // CHECK: nest.contract "lstm.gates" {{.*}} ins(%[[LAST]], {{.*}} outs(%[[GATES]]
    %g = nest.contract "lstm.gates" [m, n, k] ins(%hi, %r : tensor<1x8xf32>, tensor<32x8xf32>) outs(%eg : tensor<1x32xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
    ^bb0(%sum: f32):
      nest.yield %sum : f32
    } -> tensor<1x32xf32>
    %gi = tensor.extract_slice %g[0, 0] [1, 8] [1, 1] : tensor<1x32xf32> to tensor<1x8xf32>
    %gf = tensor.extract_slice %g[0, 8] [1, 8] [1, 1] : tensor<1x32xf32> to tensor<1x8xf32>
    // CHECK: %[[YT:.*]] = memref.subview %[[Y]][%[[T]], 0, 0]
    // CHECK: nest.map "lstm.step" ins({{.*}}, %[[C]] : {{.*}} outs(%[[LAST]], %[[C]], %[[YT]] :
    %hn, %cn = nest.map "lstm.step" ins(%gi, %gf, %ci : tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>)
        outs(%hi, %ci : tensor<1x8xf32>, tensor<1x8xf32>)
        maps [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>,
              affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>] {
    ^bb0(%i: f32, %f: f32, %s: f32):
      %1 = arith.mulf %f, %s : f32
      %2 = arith.addf %1, %i : f32
      %3 = math.tanh %2 : f32
      nest.yield %3, %2 : f32, f32
    } -> tensor<1x8xf32>, tensor<1x8xf32>
    // CHECK-NOT: nest.map
    %yn = tensor.insert_slice %hn into %yi[%t, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<1x8xf32> into tensor<5x1x8xf32>
    scf.yield %hn, %cn, %yn : tensor<1x8xf32>, tensor<1x8xf32>, tensor<5x1x8xf32>
  }
  // CHECK: return
  return %y, %h : tensor<5x1x8xf32>, tensor<1x8xf32>
}
