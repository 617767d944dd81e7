func.func @weights(%scores: tensor<8x40xf32>) -> tensor<8x40xf32> {
  %empty = tensor.empty() : tensor<8x40xf32>
  %y = linalg.softmax dimension(1) ins(%scores : tensor<8x40xf32>) outs(%empty : tensor<8x40xf32>) -> tensor<8x40xf32>
  return %y : tensor<8x40xf32>
}
