// A x = b by conjugate gradients with Jacobi's preconditioner d = 1 / diagonal(A), until |r|^2 <= tolerance.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#id = affine_map<(i) -> (i)>

func.func @solve(%A: tensor<?x?xf64, #CSR>, %d: tensor<?xf64>, %b: tensor<?xf64>, %tolerance: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %b, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %x0 = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %s = tensor.empty() : tensor<f64>
  %none = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %pe = tensor.empty(%n) : tensor<?xf64>
  %p0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%d, %b : tensor<?xf64>, tensor<?xf64>) outs(%pe : tensor<?xf64>) {
  ^bb0(%di: f64, %bi: f64, %out: f64):
    %t = arith.mulf %di, %bi : f64
    linalg.yield %t : f64
  } -> tensor<?xf64>
  %rz_t = linalg.dot ins(%b, %p0 : tensor<?xf64>, tensor<?xf64>) outs(%none : tensor<f64>) -> tensor<f64>
  %rz0 = tensor.extract %rz_t[] : tensor<f64>
  %rr_t = linalg.dot ins(%b, %b : tensor<?xf64>, tensor<?xf64>) outs(%none : tensor<f64>) -> tensor<f64>
  %rr0 = tensor.extract %rr_t[] : tensor<f64>
  %last:5 = scf.while (%x = %x0, %r = %b, %p = %p0, %rz = %rz0, %rr = %rr0)
      : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64) {
    %goes_on = arith.cmpf ogt, %rr, %tolerance : f64
    scf.condition(%goes_on) %x, %r, %p, %rz, %rr : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64
  } do {
  ^bb0(%x: tensor<?xf64>, %r: tensor<?xf64>, %p: tensor<?xf64>, %rz: f64, %rr: f64):
    %qe = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %q = linalg.matvec ins(%A, %p : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%qe : tensor<?xf64>) -> tensor<?xf64>
    %pq_t = linalg.dot ins(%p, %q : tensor<?xf64>, tensor<?xf64>) outs(%none : tensor<f64>) -> tensor<f64>
    %pq = tensor.extract %pq_t[] : tensor<f64>
    %alpha = arith.divf %rz, %pq : f64
    %x_next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<?xf64>) outs(%x : tensor<?xf64>) {
    ^bb0(%pi: f64, %xi: f64):
      %m = arith.mulf %alpha, %pi : f64
      %t = arith.addf %xi, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %r_next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%q : tensor<?xf64>) outs(%r : tensor<?xf64>) {
    ^bb0(%qi: f64, %ri: f64):
      %m = arith.mulf %alpha, %qi : f64
      %t = arith.subf %ri, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %ze = tensor.empty(%n) : tensor<?xf64>
    %z = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%d, %r_next : tensor<?xf64>, tensor<?xf64>) outs(%ze : tensor<?xf64>) {
    ^bb0(%di: f64, %ri: f64, %out: f64):
      %t = arith.mulf %di, %ri : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %rz_next_t = linalg.dot ins(%r_next, %z : tensor<?xf64>, tensor<?xf64>) outs(%none : tensor<f64>) -> tensor<f64>
    %rz_next = tensor.extract %rz_next_t[] : tensor<f64>
    %rr_next_t = linalg.dot ins(%r_next, %r_next : tensor<?xf64>, tensor<?xf64>) outs(%none : tensor<f64>) -> tensor<f64>
    %rr_next = tensor.extract %rr_next_t[] : tensor<f64>
    %beta = arith.divf %rz_next, %rz : f64
    %p_next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%z : tensor<?xf64>) outs(%p : tensor<?xf64>) {
    ^bb0(%zi: f64, %pi: f64):
      %m = arith.mulf %beta, %pi : f64
      %t = arith.addf %zi, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    scf.yield %x_next, %r_next, %p_next, %rz_next, %rr_next : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64, f64
  }
  return %last#0 : tensor<?xf64>
}
