// An operation of a dialect that is not known.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: unknown-dialect.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: {{.*}}acme

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "acme.frobnicate"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
