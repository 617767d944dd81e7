module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<16x4xf32>, %b: tensor<4x8xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x4xf32>, tensor<4x8xf32>) outs(%c : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

