// A total of many elements is joined by all threads; rows that are also written, and short ones, stay one kernel.
// RUN: ml2kokkos %s -o %t.cpp && FileCheck %s < %t.cpp
#x = affine_map<(i, j) -> (i, j)>
#total = affine_map<(i, j) -> ()>
#line = affine_map<(i) -> (i)>
#sum = affine_map<(i) -> ()>
// CHECK: fold_few_columns<Sum, 1, 1>(
// CHECK-NEXT: reduce1", space, 262144, KOKKOS_LAMBDA(int, int i, int) { return in(i); },
// CHECK-NEXT: KOKKOS_LAMBDA(float total, int, int) { result0() = total; });
// CHECK: fold_few_columns<Max, 1, 1>(
// CHECK-NEXT: reduce2", space, batch, KOKKOS_LAMBDA(int, int i, int) { return z(i); },
// CHECK: for_rows(
// CHECK-NEXT: rows1", space, 1, 4096,
func.func @totals(%x: tensor<512x512xf32>, %z: tensor<?xf32> {nest.name = "z"}, %short: tensor<4096xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %none = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %least = linalg.fill ins(%lowest : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#x, #total], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<512x512xf32>) outs(%none : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#line, #sum], iterator_types = ["reduction"]} ins(%z : tensor<?xf32>) outs(%least : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.maximumf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %2 = linalg.generic {indexing_maps = [#line, #sum], iterator_types = ["reduction"]} ins(%short : tensor<4096xf32>) outs(%none : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
}
