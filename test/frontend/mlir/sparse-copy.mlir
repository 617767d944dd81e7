// A copy of an argument stays a copy beside sparse operands: the loop changes the copy.
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// CHECK: func.func @f({{.*}}, %[[B:.*]]: memref<8xf64> {nest.name = "b"}
// CHECK: %[[OWN:.*]] = memref.alloc() {{.*}}: memref<8xf64>
// CHECK: linalg.copy ins(%[[B]] : {{.*}}outs(%[[OWN]] :
// CHECK: scf.while
// CHECK-NOT: outs(%[[B]] :
// CHECK: linalg.generic {{.*}} outs(%[[OWN]] : memref<8xf64>)
#id = affine_map<(i) -> (i)>
#S = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @f(%A: tensor<8x8xf64, #S>, %b: tensor<8xf64>, %p: tensor<8xf64>) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %h = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<8xf64>
  %r0 = linalg.copy ins(%b : tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  %r = scf.while (%x = %r0) : (tensor<8xf64>) -> (tensor<8xf64>) {
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %p : tensor<8xf64>, tensor<8xf64>) outs(%x : tensor<8xf64>) {
    ^bb0(%v: f64, %q: f64, %o: f64):
      %w = arith.mulf %v, %h : f64
      %s = arith.addf %w, %q : f64
      linalg.yield %s : f64
    } -> tensor<8xf64>
    %z = tensor.extract %y[%c0] : tensor<8xf64>
    %c = arith.cmpf ogt, %z, %h : f64
    scf.condition(%c) %y : tensor<8xf64>
  } do {
  ^bb0(%x: tensor<8xf64>):
    scf.yield %x : tensor<8xf64>
  }
  %e3 = tensor.empty() : tensor<8xf64>
  %zz = arith.constant 0.0 : f64
  %f3 = linalg.fill ins(%zz : f64) outs(%e3 : tensor<8xf64>) -> tensor<8xf64>
  %o = linalg.matvec ins(%A, %r : tensor<8x8xf64, #S>, tensor<8xf64>) outs(%f3 : tensor<8xf64>) -> tensor<8xf64>
  return %o : tensor<8xf64>
}
