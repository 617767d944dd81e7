// A type that ends too early.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: bad-syntax.mlir:[[#@LINE+3]]:{{[0-9]+}}: error:
// CHECK-NEXT: func.func @f(%x: tensor<2xf32) -> tensor<2xf32> {

func.func @f(%x: tensor<2xf32) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
