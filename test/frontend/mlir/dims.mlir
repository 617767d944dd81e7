// --dim fixes a dimension by the name or place of its argument.
// RUN: ml2kokkos %s --emit=imported --dim image.0=8 | FileCheck %s
// RUN: ml2kokkos %s --emit=imported --dim image=8 | FileCheck %s
// RUN: ml2kokkos %s --emit=imported --dim arg0.0=8 | FileCheck %s
// RUN: not ml2kokkos %s --emit=imported --dim picture=8 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ml2kokkos %s --emit=imported --dim image.7=8 2>&1 | FileCheck %s --check-prefix=PLACE
// CHECK: func.func @net(%{{.*}}: tensor<8x3xf32> {nest.name = "image"}) -> (tensor<8x3xf32>
// UNKNOWN: dims.mlir:[[@LINE+2]]:{{.*}}error: --dim picture: no such argument; there are: image
// PLACE: dims.mlir:[[@LINE+1]]:{{.*}}error: --dim image.7: 'image' is a 'tensor<?x3xf32>'; name one of its dimensions, as in image.0
func.func @net(%image: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = math.exp %image : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
