func.func @gemm(%a: tensor<8x4xcomplex<f32>>, %b: tensor<4x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>> {
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %empty = tensor.empty() : tensor<8x6xcomplex<f32>>
  %init = linalg.fill ins(%zero : complex<f32>) outs(%empty : tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %c = linalg.matmul ins(%a, %b : tensor<8x4xcomplex<f32>>, tensor<4x6xcomplex<f32>>) outs(%init : tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  return %c : tensor<8x6xcomplex<f32>>
}
