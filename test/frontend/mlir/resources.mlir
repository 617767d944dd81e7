// Constants that lie in a resource of the file, as torch-mlir writes them, are weights like any other: in the source, too.
//
// RUN: ml2kokkos %s -o - --weights=embed | FileCheck %s
// RUN: sed s/0x04000000/0x04000000FFFFFFFF/ %s | not ml2kokkos - -o - --weights=embed 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: sed s/numbers:/others:/ %s | not ml2kokkos - -o - --weights=embed 2>&1 | FileCheck %s --check-prefix=MISSING
//
// CHECK: numbers_values[] = {1.f, 2.f, 3.f};
// SIZE: error: the data of the constant are not in the file, or of another size
// MISSING: error: the data of the constant are not in the file, or of another size

func.func @shifted(%x: tensor<3xf32>) -> tensor<3xf32> {
  %numbers = arith.constant dense_resource<numbers> : tensor<3xf32>
  %out = tensor.empty() : tensor<3xf32>
  %y = linalg.add ins(%x, %numbers : tensor<3xf32>, tensor<3xf32>) outs(%out : tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x040000000000803F0000004000004040"
    }
  }
#-}
