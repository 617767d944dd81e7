// A block that nothing reaches ends with more values than the function has results.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: unreached-block.mlir:[[#@LINE+6]]:{{[0-9]+}}: error: 'cf.br': branches are not supported

func.func @f(%x: memref<4xf32>) {
  return
^again(%s: f32):
  %v = arith.addf %s, %s : f32
  cf.br ^again(%v : f32)
}
