// --graph: a class that launches forward() as one graph, with its place in the example and in the banner.
// RUN: ml2kokkos %s -o - --graph | FileCheck %s
// RUN: ml2kokkos %s -o - | FileCheck %s --check-prefix=PLAIN
// RUN: sh -c 'test -z "$Kokkos_ROOT" || ml2kokkos %s -o - --graph --verify >%t.cpp'
// RUN: not ml2kokkos %s -o - --graph --form=team 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=descent -o - --graph 2>&1 | FileCheck %s --check-prefix=WAITS

// CHECK: // Regenerate: ml2kokkos graph.mlir -o {{.*}} --graph
// CHECK: #include <functional>
// CHECK: class Captured {
// CHECK: explicit Captured(ExecutionSpace const &space, Arguments const &...arguments)
// CHECK: void replay() const {
// CHECK: //   Captured const captured(space, x, y, result0);
// CHECK: //   captured.replay();
// PLAIN-NOT: Captured
// FORM: error: --graph is for --form=launch
// WAITS: programs.mlir:[[#]]:{{[0-9]+}}: error: --graph: forward() waits here for a number that its kernels compute
func.func @twice(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %0 = linalg.add ins(%x, %x : tensor<64xf32>, tensor<64xf32>) outs(%y : tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
