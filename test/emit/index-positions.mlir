// Positions of type index are ints: the one that says `nowhere`, in rows without elements, is too.
// RUN: ml2kokkos %s -o - | FileCheck %s
// CHECK: int const position = along.fold<Max>(
// CHECK: a_size_1, [&](int i) { return a(n, i) == smallest ? i : Kokkos::Experimental::finite_min_v<int>; });
// CHECK: position == Kokkos::Experimental::finite_min_v<int> ? 7 : position
func.func @last_smallest(%a: tensor<5x?xf32> {nest.name = "a"}) -> (tensor<5xf32>, tensor<5xindex>) {
  %c7 = arith.constant 7 : index
  %inf = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<5xf32>
  %p = tensor.empty() : tensor<5xindex>
  %f = linalg.fill ins(%inf : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %q = linalg.fill ins(%c7 : index) outs(%p : tensor<5xindex>) -> tensor<5xindex>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<5x?xf32>) outs(%f, %q : tensor<5xf32>, tensor<5xindex>) {
  ^bb0(%x: f32, %m: f32, %k: index):
    %j = linalg.index 1 : index
    %g = arith.cmpf ole, %x, %m : f32
    %nm = arith.select %g, %x, %m : f32
    %nk = arith.select %g, %j, %k : index
    linalg.yield %nm, %nk : f32, index
  } -> (tensor<5xf32>, tensor<5xindex>)
  return %r#0, %r#1 : tensor<5xf32>, tensor<5xindex>
}
