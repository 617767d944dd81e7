// Conjugate gradients with Jacobi's preconditioner d = 1 / diagonal(A) on a matrix in CSR, written on tensors, on memrefs
// and as affine loops whose sums may be joined in any order: all print the same kernels.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
#id = affine_map<(i) -> (i)>

func.func @pcg_tensors(%A: tensor<?x?xf64, #CSR>, %d: tensor<?xf64>, %b: tensor<?xf64>, %tolerance: f64) -> tensor<?xf64> {
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

func.func @pcg_memrefs(%positions: memref<?xi32>, %columns: memref<?xi32>, %values: memref<?xf64>, %d: memref<?xf64>, %b: memref<?xf64>, %tolerance: f64, %x: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %b, %c0 : memref<?xf64>
  %r = memref.alloc(%n) : memref<?xf64>
  %p = memref.alloc(%n) : memref<?xf64>
  %q = memref.alloc(%n) : memref<?xf64>
  %z = memref.alloc(%n) : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %x[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %bi = memref.load %b[%i] : memref<?xf64>
    memref.store %bi, %r[%i] : memref<?xf64>
    %di = memref.load %d[%i] : memref<?xf64>
    %zi = arith.mulf %di, %bi : f64
    memref.store %zi, %p[%i] : memref<?xf64>
  }
  %rz0 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %one = memref.load %r[%i] : memref<?xf64>
    %other = memref.load %p[%i] : memref<?xf64>
    %term = arith.mulf %one, %other : f64
    scf.reduce(%term : f64) {
    ^bb0(%left: f64, %right: f64):
      %both = arith.addf %left, %right : f64
      scf.reduce.return %both : f64
    }
  }
  %rr0 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %one = memref.load %r[%i] : memref<?xf64>
    %term = arith.mulf %one, %one : f64
    scf.reduce(%term : f64) {
    ^bb0(%left: f64, %right: f64):
      %both = arith.addf %left, %right : f64
      scf.reduce.return %both : f64
    }
  }
  %last:2 = scf.while (%rz = %rz0, %rr = %rr0) : (f64, f64) -> (f64, f64) {
    %more = arith.cmpf ogt, %rr, %tolerance : f64
    scf.condition(%more) %rz, %rr : f64, f64
  } do {
  ^bb0(%rz: f64, %rr: f64):
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %i1 = arith.addi %i, %c1 : index
      %from = memref.load %positions[%i] : memref<?xi32>
      %to = memref.load %positions[%i1] : memref<?xi32>
      %begin = arith.index_cast %from : i32 to index
      %end = arith.index_cast %to : i32 to index
      %sum = scf.for %entry = %begin to %end step %c1 iter_args(%partial = %zero) -> f64 {
        %column = memref.load %columns[%entry] : memref<?xi32>
        %j = arith.index_cast %column : i32 to index
        %a = memref.load %values[%entry] : memref<?xf64>
        %pj = memref.load %p[%j] : memref<?xf64>
        %term = arith.mulf %a, %pj : f64
        %next = arith.addf %partial, %term fastmath<reassoc> : f64
        scf.yield %next : f64
      }
      memref.store %sum, %q[%i] : memref<?xf64>
    }
    %pq = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %one = memref.load %p[%i] : memref<?xf64>
      %other = memref.load %q[%i] : memref<?xf64>
      %term = arith.mulf %one, %other : f64
      scf.reduce(%term : f64) {
      ^bb0(%left: f64, %right: f64):
        %both = arith.addf %left, %right : f64
        scf.reduce.return %both : f64
      }
    }
    %alpha = arith.divf %rz, %pq : f64
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %xi = memref.load %x[%i] : memref<?xf64>
      %pi = memref.load %p[%i] : memref<?xf64>
      %step = arith.mulf %alpha, %pi : f64
      %xn = arith.addf %xi, %step : f64
      memref.store %xn, %x[%i] : memref<?xf64>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %ri = memref.load %r[%i] : memref<?xf64>
      %qi = memref.load %q[%i] : memref<?xf64>
      %back = arith.mulf %alpha, %qi : f64
      %rn = arith.subf %ri, %back : f64
      memref.store %rn, %r[%i] : memref<?xf64>
    }
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %di = memref.load %d[%i] : memref<?xf64>
      %ri = memref.load %r[%i] : memref<?xf64>
      %zi = arith.mulf %di, %ri : f64
      memref.store %zi, %z[%i] : memref<?xf64>
    }
    %rz_next = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %one = memref.load %r[%i] : memref<?xf64>
      %other = memref.load %z[%i] : memref<?xf64>
      %term = arith.mulf %one, %other : f64
      scf.reduce(%term : f64) {
      ^bb0(%left: f64, %right: f64):
        %both = arith.addf %left, %right : f64
        scf.reduce.return %both : f64
      }
    }
    %rr_next = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
      %one = memref.load %r[%i] : memref<?xf64>
      %term = arith.mulf %one, %one : f64
      scf.reduce(%term : f64) {
      ^bb0(%left: f64, %right: f64):
        %both = arith.addf %left, %right : f64
        scf.reduce.return %both : f64
      }
    }
    %beta = arith.divf %rz_next, %rz : f64
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %zi = memref.load %z[%i] : memref<?xf64>
      %pi = memref.load %p[%i] : memref<?xf64>
      %part = arith.mulf %beta, %pi : f64
      %pn = arith.addf %zi, %part : f64
      memref.store %pn, %p[%i] : memref<?xf64>
    }
    scf.yield %rz_next, %rr_next : f64, f64
  }
  return
}

func.func @pcg_loops(%positions: memref<?xi32>, %columns: memref<?xi32>, %values: memref<?xf64>, %d: memref<?xf64>, %b: memref<?xf64>, %tolerance: f64, %x: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %b, %c0 : memref<?xf64>
  %r = memref.alloc(%n) : memref<?xf64>
  %p = memref.alloc(%n) : memref<?xf64>
  %q = memref.alloc(%n) : memref<?xf64>
  %z = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to %n {
    affine.store %zero, %x[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    %bi = affine.load %b[%i] : memref<?xf64>
    affine.store %bi, %r[%i] : memref<?xf64>
    %di = affine.load %d[%i] : memref<?xf64>
    %zi = arith.mulf %di, %bi : f64
    affine.store %zi, %p[%i] : memref<?xf64>
  }
  %rz0 = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f64 {
    %one = affine.load %r[%i] : memref<?xf64>
    %other = affine.load %p[%i] : memref<?xf64>
    %term = arith.mulf %one, %other : f64
    %next = arith.addf %sum, %term fastmath<reassoc> : f64
    affine.yield %next : f64
  }
  %rr0 = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f64 {
    %one = affine.load %r[%i] : memref<?xf64>
    %term = arith.mulf %one, %one : f64
    %next = arith.addf %sum, %term fastmath<reassoc> : f64
    affine.yield %next : f64
  }
  %last:2 = scf.while (%rz = %rz0, %rr = %rr0) : (f64, f64) -> (f64, f64) {
    %more = arith.cmpf ogt, %rr, %tolerance : f64
    scf.condition(%more) %rz, %rr : f64, f64
  } do {
  ^bb0(%rz: f64, %rr: f64):
    affine.for %i = 0 to %n {
      %i1 = arith.addi %i, %c1 : index
      %from = memref.load %positions[%i] : memref<?xi32>
      %to = memref.load %positions[%i1] : memref<?xi32>
      %begin = arith.index_cast %from : i32 to index
      %end = arith.index_cast %to : i32 to index
      %sum = scf.for %entry = %begin to %end step %c1 iter_args(%partial = %zero) -> f64 {
        %column = memref.load %columns[%entry] : memref<?xi32>
        %j = arith.index_cast %column : i32 to index
        %a = memref.load %values[%entry] : memref<?xf64>
        %pj = memref.load %p[%j] : memref<?xf64>
        %term = arith.mulf %a, %pj : f64
        %next = arith.addf %partial, %term fastmath<reassoc> : f64
        scf.yield %next : f64
      }
      affine.store %sum, %q[%i] : memref<?xf64>
    }
    %pq = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f64 {
      %one = affine.load %p[%i] : memref<?xf64>
      %other = affine.load %q[%i] : memref<?xf64>
      %term = arith.mulf %one, %other : f64
      %next = arith.addf %sum, %term fastmath<reassoc> : f64
      affine.yield %next : f64
    }
    %alpha = arith.divf %rz, %pq : f64
    affine.for %i = 0 to %n {
      %xi = affine.load %x[%i] : memref<?xf64>
      %pi = affine.load %p[%i] : memref<?xf64>
      %step = arith.mulf %alpha, %pi : f64
      %xn = arith.addf %xi, %step : f64
      affine.store %xn, %x[%i] : memref<?xf64>
    }
    affine.for %i = 0 to %n {
      %ri = affine.load %r[%i] : memref<?xf64>
      %qi = affine.load %q[%i] : memref<?xf64>
      %back = arith.mulf %alpha, %qi : f64
      %rn = arith.subf %ri, %back : f64
      affine.store %rn, %r[%i] : memref<?xf64>
    }
    affine.for %i = 0 to %n {
      %di = affine.load %d[%i] : memref<?xf64>
      %ri = affine.load %r[%i] : memref<?xf64>
      %zi = arith.mulf %di, %ri : f64
      affine.store %zi, %z[%i] : memref<?xf64>
    }
    %rz_next = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f64 {
      %one = affine.load %r[%i] : memref<?xf64>
      %other = affine.load %z[%i] : memref<?xf64>
      %term = arith.mulf %one, %other : f64
      %next = arith.addf %sum, %term fastmath<reassoc> : f64
      affine.yield %next : f64
    }
    %rr_next = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f64 {
      %one = affine.load %r[%i] : memref<?xf64>
      %term = arith.mulf %one, %one : f64
      %next = arith.addf %sum, %term fastmath<reassoc> : f64
      affine.yield %next : f64
    }
    %beta = arith.divf %rz_next, %rz : f64
    affine.for %i = 0 to %n {
      %zi = affine.load %z[%i] : memref<?xf64>
      %pi = affine.load %p[%i] : memref<?xf64>
      %part = arith.mulf %beta, %pi : f64
      %pn = arith.addf %zi, %part : f64
      affine.store %pn, %p[%i] : memref<?xf64>
    }
    scf.yield %rz_next, %rr_next : f64, f64
  }
  return
}
