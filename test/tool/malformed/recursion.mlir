// A function that calls itself cannot be inlined.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: recursion.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: {{.*}}recursive

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
