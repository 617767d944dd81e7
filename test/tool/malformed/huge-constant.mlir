// Large constants are left out of messages.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: huge-constant.mlir:[[#@LINE+4]]:{{[0-9]+}}: error:
// CHECK-NOT: 3F803F803F803F803F803F803F803F803F803F803F803F80

func.func @f() -> tensor<16xf32> {
  %x = arith.constant dense<"0x3F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F803F80"> : tensor<16xf32>
  return %x : tensor<16xf32>
}
