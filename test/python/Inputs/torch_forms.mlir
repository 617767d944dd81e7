// Each of torch-mlir's own operations; test_torch_forms.py knows the values.
func.func @forms(%x: tensor<3x40xf32>, %counts: tensor<4x7xi64>, %updates: tensor<6x3xf32>, %rows: tensor<6x1xi64>, %table: tensor<9x3xf32>,
                 %q: tensor<2x6x16xf32>, %k: tensor<2x8x16xf32>, %v: tensor<2x8x12xf32>, %mask: tensor<6x8xf32>)
    -> (tensor<3x40xf32>, tensor<3x40xf32>, tensor<4x7xi64>, tensor<3x40xf32>, tensor<3x40xi64>, tensor<3x40xf32>, tensor<3x5xf32>, tensor<3x5xi32>,
        tensor<9x3xf32>, tensor<9x3xf32>, tensor<2x6x12xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 5 : i64
  %e = tensor.empty() : tensor<3x40xf32>
  %s = tensor.empty() : tensor<3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%s : tensor<3xf32>) -> tensor<3xf32>
  %running:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<3x40xf32>) outs(%e, %start : tensor<3x40xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %sum = arith.addf %a, %b : f32
    tm_tensor.yield %sum : f32
  } -> tensor<3x40xf32>, tensor<3xf32>
  %largest:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%x : tensor<3x40xf32>) outs(%e, %start : tensor<3x40xf32>, tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    tm_tensor.yield %m : f32
  } -> tensor<3x40xf32>, tensor<3xf32>
  %ce = tensor.empty() : tensor<4x7xi64>
  %cs = tensor.empty() : tensor<7xi64>
  %five = linalg.fill ins(%none : i64) outs(%cs : tensor<7xi64>) -> tensor<7xi64>
  %before:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%counts : tensor<4x7xi64>) outs(%ce, %five : tensor<4x7xi64>, tensor<7xi64>) {
  ^bb0(%a: i64, %b: i64):
    %sum = arith.addi %a, %b : i64
    tm_tensor.yield %sum : i64
  } -> tensor<4x7xi64>, tensor<7xi64>
  %pe = tensor.empty() : tensor<3x40xi64>
  %places = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%pe : tensor<3x40xi64>) {
  ^bb0(%o: i64):
    %j = linalg.index 1 : index
    %p = arith.index_cast %j : index to i64
    linalg.yield %p : i64
  } -> tensor<3x40xi64>
  %ordered:3 = tm_tensor.sort dimension(1) outs(%x, %places, %running#0 : tensor<3x40xf32>, tensor<3x40xi64>, tensor<3x40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64, %f: f32, %g: f32):
    %stays = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %stays : i1
  } -> tensor<3x40xf32>, tensor<3x40xi64>, tensor<3x40xf32>
  %fe = tensor.empty() : tensor<3x5xf32>
  %ge = tensor.empty() : tensor<3x5xi32>
  %first:2 = tm_tensor.topk dimension(1) ins(%x : tensor<3x40xf32>) outs(%fe, %ge : tensor<3x5xf32>, tensor<3x5xi32>) {
  ^bb0(%next: f32, %kept: f32):
    %goes = arith.cmpf ogt, %next, %kept : f32
    tm_tensor.yield %goes : i1
  } -> tensor<3x5xf32>, tensor<3x5xi32>
  %added = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%updates, %rows : tensor<6x3xf32>, tensor<6x1xi64>) outs(%table : tensor<9x3xf32>) {
  ^bb0(%update: f32, %current: f32):
    %sum = arith.addf %update, %current : f32
    tm_tensor.yield %sum : f32
  } -> tensor<9x3xf32>
  %put = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%updates, %rows : tensor<6x3xf32>, tensor<6x1xi64>) outs(%table : tensor<9x3xf32>) {
  ^bb0(%update: f32, %current: f32):
    tm_tensor.yield %update : f32
  } -> tensor<9x3xf32>
  %oe = tensor.empty() : tensor<2x6x12xf32>
  %out = tm_tensor.attention ins(%q, %k, %v, %mask : tensor<2x6x16xf32>, tensor<2x8x16xf32>, tensor<2x8x12xf32>, tensor<6x8xf32>)
      outs(%oe : tensor<2x6x12xf32>) -> tensor<2x6x12xf32>
  return %running#0, %largest#0, %before#0, %ordered#0, %ordered#1, %ordered#2, %first#0, %first#1, %added, %put, %out
      : tensor<3x40xf32>, tensor<3x40xf32>, tensor<4x7xi64>, tensor<3x40xf32>, tensor<3x40xi64>, tensor<3x40xf32>, tensor<3x5xf32>, tensor<3x5xi32>,
        tensor<9x3xf32>, tensor<9x3xf32>, tensor<2x6x12xf32>
}
