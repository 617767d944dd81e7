func.func @rows(%x: tensor<?x4xf32>) -> tensor<?x3xf32> {
  %w = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<4x3xf32>
  %zero = arith.constant 0.0 : f32
  %first = arith.constant 0 : index
  %rows = tensor.dim %x, %first : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>) outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
