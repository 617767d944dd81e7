// Extents that an operation of linalg needs to be equal share a name, which forward() compares; fixed ones are asserted.
// RUN: ml2kokkos %s --entry=tensors --emit=imported | FileCheck %s --check-prefix=TENSORS
// RUN: ml2kokkos %s --entry=memory --emit=imported | FileCheck %s --check-prefix=MEMORY
// RUN: ml2kokkos %s --entry=tensors -o - | FileCheck %s --check-prefix=PRINTED
// RUN: ml2kokkos %s --entry=unrelated --emit=imported | FileCheck %s --check-prefix=UNRELATED

// TENSORS: @tensors(%{{.*}}: tensor<?xf32> {nest.dims = ["batch"], nest.name = "x"}, %{{.*}}: tensor<?xf32> {nest.dims = ["batch"], nest.name = "y"}
// TENSORS-SAME: tensor<?xf32> {nest.dims = ["w_size"], nest.name = "w"}
// TENSORS: cf.assert %{{.*}}, "w_size has to be 4"
// PRINTED: if (y.extent_int(0) != batch || sum.extent_int(0) != batch)
// PRINTED-NEXT: the sizes of the arguments differ
// PRINTED: if (w_size != 4)
#id = affine_map<(i) -> (i)>
func.func @tensors(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>, %w: tensor<?xf32>) -> (tensor<?xf32> {nest.name = "sum"}, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %f = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%z, %w : tensor<4xf32>, tensor<?xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %s, %t : tensor<?xf32>, tensor<4xf32>
}

// MEMORY: @memory(%{{.*}}: memref<?x?xf32> {nest.dims = ["a_size_0", "a_size_1"], nest.name = "a"}
// MEMORY-SAME: memref<?x?xf32> {nest.dims = ["a_size_1", "b_size_1"], nest.name = "b"}
// MEMORY-SAME: memref<?x?xf32> {nest.dims = ["a_size_0", "b_size_1"], nest.name = "c"}
func.func @memory(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// Under a condition nothing is needed, and what two results have is the result's.
// UNRELATED: @unrelated(%{{.*}}: tensor<?xf32> {nest.dims = ["batch"], nest.name = "x"}, %{{.*}}: tensor<?xf32> {nest.dims = ["y_size"], nest.name = "y"}
func.func @unrelated(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %a = math.exp %x : tensor<?xf32>
  %b = math.exp %y : tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}
