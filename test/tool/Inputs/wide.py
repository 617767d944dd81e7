"""A product whose weights are too many to be embedded by default."""

weights = [[float(row * 17 + column) for column in range(17)] for row in range(16)]
print(f"""func.func @wide(%x: tensor<2x16xf32>) -> tensor<2x17xf32> {{
  %w = arith.constant dense<{weights}> : tensor<16x17xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x17xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x17xf32>) -> tensor<2x17xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x16xf32>, tensor<16x17xf32>) outs(%start : tensor<2x17xf32>) -> tensor<2x17xf32>
  return %y : tensor<2x17xf32>
}}""")
