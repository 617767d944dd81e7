// A shared body is called after what the names of its layers have in common.
// RUN: ml2kokkos %s -o %t.cpp --namespace net && FileCheck %s < %t.cpp

// CHECK: // The kernel of block.0.curve.out and of layers like it
// CHECK-NEXT: static void block_curve_out_kernel(char const *label, ExecutionSpace const &space, X const &x, Y const &y) {
// CHECK: for_each(
// CHECK-NEXT: label, space, 1, 9, KOKKOS_LAMBDA(int, int i) {
// CHECK: static void block_0_curve_out(ExecutionSpace const &space, X const &x, Y const &y) {
// CHECK-NEXT: block_curve_out_kernel("net::block.0.curve.out", space, x, y);
// CHECK: static void block_1_curve_2_out(ExecutionSpace const &space, X const &x, Y const &y) {
// CHECK-NEXT: block_curve_out_kernel("net::block.1.curve.2.out", space, x, y);

#same = affine_map<(i) -> (i)>
module {
  func.func @main(%x: memref<9xf32> {nest.name = "x"}, %y: memref<9xf32> {nest.name = "y", nest.output}) {
    nest.map "block.0.curve.out" ins(%x : memref<9xf32>) outs(%y : memref<9xf32>) maps [#same, #same] {
    ^bb0(%v: f32):
      %square = arith.mulf %v, %v : f32
      %sum = arith.addf %square, %v : f32
      %product = arith.mulf %sum, %square : f32
      %all = arith.addf %product, %sum : f32
      nest.yield %all : f32
    }
    nest.map "block.1.curve.2.out" ins(%x : memref<9xf32>) outs(%y : memref<9xf32>) maps [#same, #same] {
    ^bb0(%v: f32):
      %square = arith.mulf %v, %v : f32
      %sum = arith.addf %square, %v : f32
      %product = arith.mulf %sum, %square : f32
      %all = arith.addf %product, %sum : f32
      nest.yield %all : f32
    }
    return
  }
}
