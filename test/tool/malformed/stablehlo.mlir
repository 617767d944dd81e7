// StableHLO is converted by its own tools; the message says how.
//
// RUN: rm -rf %t && mkdir -p %t
// RUN: %S/refused.sh 3 %t/out %s -o %t/out/model.cpp | FileCheck %s
// CHECK: stablehlo.mlir:[[#@LINE+3]]:{{[0-9]+}}: error: {{.*}}torch-mlir-opt stablehlo.mlir --stablehlo-legalize-to-linalg

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  return %y : tensor<2xf32>
}
