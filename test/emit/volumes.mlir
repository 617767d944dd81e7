// A convolution of volumes that starts from its bias, with an activation, is one kernel, and one puts the results into
// the caller's order.
//
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: void forward(ExecutionSpace const &space, Weights const &weights, Workspace const &work, X const &x, Y const &y) {
// CHECK-NEXT: sums(space, weights, work, x);
// CHECK-NEXT: compute_y(space, work, y);
// CHECK-NEXT: }

#channel = affine_map<(n, c, d, h, w) -> (c)>
#whole = affine_map<(n, c, d, h, w) -> (n, c, d, h, w)>

func.func @f(%x: tensor<1x1x6x6x6xf32>) -> (tensor<1x2x5x5x5xf32> {nest.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %weight = arith.constant dense<[[[[[-0.625, 1.125], [-0.875, -0.125]], [[-0.75, 0.75], [0.625, 0.75]]]], [[[[0.375, -0.375], [-0.75, 0.75]], [[-1.125, 0.375], [0.5, -1.125]]]]]> : tensor<2x1x2x2x2xf32>
  %bias = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<1x2x5x5x5xf32>
  %start = linalg.generic {indexing_maps = [#channel, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<2xf32>) outs(%empty : tensor<1x2x5x5x5xf32>) {
  ^bb0(%b: f32, %out: f32):
    linalg.yield %b : f32
  } -> tensor<1x2x5x5x5xf32>
  %sums = linalg.conv_3d_ncdhw_fcdhw ins(%x, %weight : tensor<1x1x6x6x6xf32>, tensor<2x1x2x2x2xf32>)
      outs(%start : tensor<1x2x5x5x5xf32>) -> tensor<1x2x5x5x5xf32>
  %y = linalg.generic {indexing_maps = [#whole, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%sums : tensor<1x2x5x5x5xf32>) outs(%empty : tensor<1x2x5x5x5xf32>) {
  ^bb0(%s: f32, %out: f32):
    %positive = arith.maximumf %s, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<1x2x5x5x5xf32>
  return %y : tensor<1x2x5x5x5xf32>
}
