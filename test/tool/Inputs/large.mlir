func.func @large(%a: tensor<128x256xf32>, %b: tensor<256x256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x256xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x256xf32>) -> tensor<128x256xf32>
  %y = linalg.matmul ins(%a, %b : tensor<128x256xf32>, tensor<256x256xf32>) outs(%start : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %y : tensor<128x256xf32>
}
