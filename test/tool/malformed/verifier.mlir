// An operation that does not verify.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: verifier.mlir:[[#@LINE+3]]:{{[0-9]+}}: error:

func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  return %x : tensor<2xf32>
}
