// Rows: reductions along the row have names that say what they are, one value per row is written by one thread, a temporary
// inside a pass is local to it.
// RUN: ml2kokkos %s -o %t.cpp --namespace rows && FileCheck %s < %t.cpp

// CHECK:      // --- softmax: Softmax "/softmax/Softmax"
// CHECK-NEXT: // x[4,10] -> y[4,10]
// CHECK-NEXT: static void softmax(ExecutionSpace const &space, X const &x, Y const &y) {
// CHECK-NEXT:   for_rows(
// CHECK-NEXT:       "rows::softmax", space, 4, 10, KOKKOS_LAMBDA(int n, Row const &along) {
// CHECK-NEXT:         float const largest = along.fold<Max>(10, [&](int i) { return x(n, i); });
// CHECK-NEXT:         float const total = along.fold<Sum>(10, [&](int i) { return fast_exp(x(n, i) - largest); });
// CHECK-NEXT:         along.each(10, [&](int i) { y(n, i) = fast_exp(x(n, i) - largest) / total; });
// CHECK-NEXT:       });
// CHECK-NEXT: }

#row = affine_map<(n, i) -> (n, i)>
module {
  func.func @main(%x: memref<4x10xf32> {nest.name = "x"}, %y: memref<4x10xf32> {nest.name = "y", nest.output}) {
    nest.row "softmax" ins(%x : memref<4x10xf32>) outs(%y : memref<4x10xf32>) maps [#row, #row] {
    ^bb0(%in: !nest.row<f32>, %out: !nest.row<f32>):
      %m = nest.fold <max> {
      ^bb0(%i: index):
        %v = nest.get %in[%i] : !nest.row<f32> -> f32
        nest.yield %v : f32
      } -> f32
      %s = nest.fold <sum> {
      ^bb0(%i: index):
        %v = nest.get %in[%i] : !nest.row<f32> -> f32
        %d = arith.subf %v, %m : f32
        %e = math.exp %d : f32
        nest.yield %e : f32
      } -> f32
      nest.each {
      ^bb0(%i: index):
        %v = nest.get %in[%i] : !nest.row<f32> -> f32
        %d = arith.subf %v, %m : f32
        %e = math.exp %d : f32
        %q = arith.divf %e, %s : f32
        nest.set %q, %out[%i] : f32, !nest.row<f32>
        nest.yield
      }
      nest.yield
    } loc("Softmax \22/softmax/Softmax\22")
    return
  }
}
