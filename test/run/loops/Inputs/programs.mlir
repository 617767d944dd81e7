// Loop programs whose values Loops.cpp checks, one entry each.

func.func @heat(%plate: memref<?x?xf64>, %alpha: f64, %steps: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %four = arith.constant 4.0 : f64
  %rows = memref.dim %plate, %c0 : memref<?x?xf64>
  %columns = memref.dim %plate, %c1 : memref<?x?xf64>
  %next = memref.alloc(%rows, %columns) : memref<?x?xf64>
  %last_row = arith.subi %rows, %c1 : index
  %last_column = arith.subi %columns, %c1 : index
  scf.for %step = %c0 to %steps step %c1 {
    scf.for %i = %c1 to %last_row step %c1 {
      scf.for %j = %c1 to %last_column step %c1 {
        %up = arith.subi %i, %c1 : index
        %down = arith.addi %i, %c1 : index
        %left = arith.subi %j, %c1 : index
        %right = arith.addi %j, %c1 : index
        %here = memref.load %plate[%i, %j] : memref<?x?xf64>
        %n = memref.load %plate[%up, %j] : memref<?x?xf64>
        %s = memref.load %plate[%down, %j] : memref<?x?xf64>
        %w = memref.load %plate[%i, %left] : memref<?x?xf64>
        %e = memref.load %plate[%i, %right] : memref<?x?xf64>
        %ns = arith.addf %n, %s : f64
        %we = arith.addf %w, %e : f64
        %around = arith.addf %ns, %we : f64
        %own = arith.mulf %here, %four : f64
        %laplacian = arith.subf %around, %own : f64
        %change = arith.mulf %laplacian, %alpha : f64
        %new = arith.addf %here, %change : f64
        memref.store %new, %next[%i, %j] : memref<?x?xf64>
      }
    }
    scf.parallel (%i, %j) = (%c1, %c1) to (%last_row, %last_column) step (%c1, %c1) {
      %new = memref.load %next[%i, %j] : memref<?x?xf64>
      memref.store %new, %plate[%i, %j] : memref<?x?xf64>
    }
  }
  memref.dealloc %next : memref<?x?xf64>
  return
}

// The initial value of a reduction counts, also without terms.
func.func @dot(%a: memref<?xf64>, %b: memref<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  %n = memref.dim %a, %c0 : memref<?xf64>
  %total = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%half) -> f64 {
    %x = memref.load %a[%i] : memref<?xf64>
    %y = memref.load %b[%i] : memref<?xf64>
    %z = arith.mulf %x, %y : f64
    scf.reduce(%z : f64) {
    ^bb0(%l: f64, %r: f64):
      %s = arith.addf %l, %r : f64
      scf.reduce.return %s : f64
    }
  }
  return %total : f64
}

// Loop-carried values swap as a set, around a parallel loop and inside a kernel.
func.func @swap(%out: memref<4xf32>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %outer:2 = scf.for %t = %c0 to %n step %c1 iter_args(%p = %one, %q = %two) -> (f32, f32) {
    scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
      %inner:2 = scf.for %k = %c0 to %n step %c1 iter_args(%x = %p, %y = %q) -> (f32, f32) {
        scf.yield %y, %x : f32, f32
      }
      memref.store %inner#0, %out[%i] : memref<4xf32>
    }
    scf.yield %q, %p : f32, f32
  }
  return %outer#0, %outer#1 : f32, f32
}

// x[i] += x[i - 1]: in order; then every second element in parallel; unsigned and signed division; overflow wraps.
func.func @integers(%x: memref<?xi32>, %quotients: memref<2xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %three = arith.constant 3 : i32
  %zero = arith.constant 0 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  scf.for %i = %c1 to %n step %c1 {
    %before = arith.subi %i, %c1 : index
    %p = memref.load %x[%before] : memref<?xi32>
    %v = memref.load %x[%i] : memref<?xi32>
    %s = arith.addi %p, %v : i32
    memref.store %s, %x[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c2 {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.muli %v, %three : i32
    memref.store %w, %x[%i] : memref<?xi32>
  }
  %first = memref.load %x[%c0] : memref<?xi32>
  %signed = arith.divsi %first, %three : i32
  %unsigned = arith.divui %first, %three : i32
  memref.store %signed, %quotients[%c0] : memref<2xi32>
  memref.store %unsigned, %quotients[%c1] : memref<2xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> i32 {
    %v = memref.load %x[%i] : memref<?xi32>
    %t = arith.addi %acc, %v : i32
    scf.yield %t : i32
  }
  return %sum : i32
}

// Three parallel loops, a branch, a local array; the largest element propagates NaN.
func.func @cube(%a: memref<?x3x5xf32>, %b: memref<?x3x5xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %n = memref.dim %a, %c0 : memref<?x3x5xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c1 to %c3 step %c1 {
      scf.for %k = %c0 to %c5 step %c1 {
        %pair = memref.alloca() : memref<2xf32>
        %x = memref.load %a[%i, %j, %k] : memref<?x3x5xf32>
        memref.store %x, %pair[%c0] : memref<2xf32>
        %y = arith.negf %x : f32
        memref.store %y, %pair[%c1] : memref<2xf32>
        %negative = arith.cmpf olt, %x, %zero : f32
        %z = scf.if %negative -> f32 {
          %v = memref.load %pair[%c1] : memref<2xf32>
          scf.yield %v : f32
        } else {
          %v = memref.load %pair[%c0] : memref<2xf32>
          scf.yield %v : f32
        }
        memref.store %z, %b[%i, %j, %k] : memref<?x3x5xf32>
      }
    }
  }
  %max = scf.parallel (%i, %j, %k) = (%c0, %c1, %c0) to (%n, %c3, %c5) step (%c1, %c1, %c1) init (%lowest) -> f32 {
    %x = memref.load %b[%i, %j, %k] : memref<?x3x5xf32>
    scf.reduce(%x : f32) {
    ^bb0(%l: f32, %r: f32):
      %m = arith.maximumf %l, %r : f32
      scf.reduce.return %m : f32
    }
  }
  return %max : f32
}

// Affine loops and linalg on memrefs.
func.func @matmul(%a: memref<4x3xf32>, %b: memref<3x5xf32>, %c: memref<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 5 {
      affine.store %zero, %c[%i, %j] : memref<4x5xf32>
    }
  }
  linalg.matmul ins(%a, %b : memref<4x3xf32>, memref<3x5xf32>) outs(%c : memref<4x5xf32>)
  return
}

// Two arguments of sizes that their types leave open.
func.func @axpy(%factor: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %factor, %a : f32
    %s = arith.addf %p, %b : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}

func.func @product(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// A matrix in flat memory, its sizes passed by value.
func.func @flat(%x: memref<?xf32>, %rows: i32, %columns: i32, %value: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.index_cast %rows : i32 to index
  %n = arith.index_cast %columns : i32 to index
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %row = arith.muli %i, %n : index
    %at = arith.addi %row, %j : index
    memref.store %value, %x[%at] : memref<?xf32>
  }
  return
}

// A conjugate gradient: dots are parallel reductions, updates parallel loops.
func.func @cg(%a: memref<?x?xf64>, %b: memref<?xf64>, %x: memref<?xf64>, %rounds: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %b, %c0 : memref<?xf64>
  %r = memref.alloc(%n) : memref<?xf64>
  %p = memref.alloc(%n) : memref<?xf64>
  %q = memref.alloc(%n) : memref<?xf64>
  %rr = memref.alloc() : memref<f64>
  %pq = memref.alloc() : memref<f64>
  %next = memref.alloc() : memref<f64>
  linalg.fill ins(%zero : f64) outs(%x : memref<?xf64>)
  linalg.copy ins(%b : memref<?xf64>) outs(%r : memref<?xf64>)
  linalg.copy ins(%b : memref<?xf64>) outs(%p : memref<?xf64>)
  linalg.fill ins(%zero : f64) outs(%rr : memref<f64>)
  linalg.dot ins(%r, %r : memref<?xf64>, memref<?xf64>) outs(%rr : memref<f64>)
  scf.for %round = %c0 to %rounds step %c1 {
    linalg.fill ins(%zero : f64) outs(%q : memref<?xf64>)
    linalg.matvec ins(%a, %p : memref<?x?xf64>, memref<?xf64>) outs(%q : memref<?xf64>)
    linalg.fill ins(%zero : f64) outs(%pq : memref<f64>)
    linalg.dot ins(%p, %q : memref<?xf64>, memref<?xf64>) outs(%pq : memref<f64>)
    %rr0 = memref.load %rr[] : memref<f64>
    %pq0 = memref.load %pq[] : memref<f64>
    %alpha = arith.divf %rr0, %pq0 : f64
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %xi = memref.load %x[%i] : memref<?xf64>
      %pi = memref.load %p[%i] : memref<?xf64>
      %step = arith.mulf %alpha, %pi : f64
      %xn = arith.addf %xi, %step : f64
      memref.store %xn, %x[%i] : memref<?xf64>
      %ri = memref.load %r[%i] : memref<?xf64>
      %qi = memref.load %q[%i] : memref<?xf64>
      %back = arith.mulf %alpha, %qi : f64
      %rn = arith.subf %ri, %back : f64
      memref.store %rn, %r[%i] : memref<?xf64>
    }
    linalg.fill ins(%zero : f64) outs(%next : memref<f64>)
    linalg.dot ins(%r, %r : memref<?xf64>, memref<?xf64>) outs(%next : memref<f64>)
    %next0 = memref.load %next[] : memref<f64>
    %beta = arith.divf %next0, %rr0 : f64
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %ri = memref.load %r[%i] : memref<?xf64>
      %pi = memref.load %p[%i] : memref<?xf64>
      %part = arith.mulf %beta, %pi : f64
      %pn = arith.addf %ri, %part : f64
      memref.store %pn, %p[%i] : memref<?xf64>
    }
    memref.store %next0, %rr[] : memref<f64>
  }
  return
}

// The sum and the maximum in one, on top of what is there.
func.func @both(%a: memref<?x?xf64>, %sum: memref<f64>, %largest: memref<f64>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>],
                  iterator_types = ["reduction", "reduction"]}
      ins(%a : memref<?x?xf64>) outs(%sum, %largest : memref<f64>, memref<f64>) {
  ^bb0(%x: f64, %s: f64, %m: f64):
    %total = arith.addf %x, %s : f64
    %larger = arith.maximumf %m, %x : f64
    linalg.yield %total, %larger : f64, f64
  }
  return
}

// The same while the residual is larger than a tolerance: a kernel decides, the host reads that back.
func.func @descent(%a: memref<?x?xf64>, %b: memref<?xf64>, %x: memref<?xf64>, %tolerance: f64, %rounds: memref<i64>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %one_index = arith.constant 1 : index
  %n = memref.dim %b, %c0 : memref<?xf64>
  %r = memref.alloc(%n) : memref<?xf64>
  %p = memref.alloc(%n) : memref<?xf64>
  %q = memref.alloc(%n) : memref<?xf64>
  %dot = memref.alloc() : memref<f64>
  linalg.fill ins(%zero : f64) outs(%x : memref<?xf64>)
  linalg.copy ins(%b : memref<?xf64>) outs(%r : memref<?xf64>)
  linalg.copy ins(%b : memref<?xf64>) outs(%p : memref<?xf64>)
  memref.store %zero, %dot[] : memref<f64>
  linalg.dot ins(%r, %r : memref<?xf64>, memref<?xf64>) outs(%dot : memref<f64>)
  %first = memref.load %dot[] : memref<f64>
  %last:2 = scf.while (%rr = %first, %round = %none) : (f64, i64) -> (f64, i64) {
    %more = arith.cmpf ogt, %rr, %tolerance : f64
    scf.condition(%more) %rr, %round : f64, i64
  } do {
  ^bb0(%rr: f64, %round: i64):
    linalg.fill ins(%zero : f64) outs(%q : memref<?xf64>)
    linalg.matvec ins(%a, %p : memref<?x?xf64>, memref<?xf64>) outs(%q : memref<?xf64>)
    memref.store %zero, %dot[] : memref<f64>
    linalg.dot ins(%p, %q : memref<?xf64>, memref<?xf64>) outs(%dot : memref<f64>)
    %pq = memref.load %dot[] : memref<f64>
    %alpha = arith.divf %rr, %pq : f64
    scf.parallel (%i) = (%c0) to (%n) step (%one_index) {
      %xi = memref.load %x[%i] : memref<?xf64>
      %pi = memref.load %p[%i] : memref<?xf64>
      %step = arith.mulf %alpha, %pi : f64
      %xn = arith.addf %xi, %step : f64
      memref.store %xn, %x[%i] : memref<?xf64>
      %ri = memref.load %r[%i] : memref<?xf64>
      %qi = memref.load %q[%i] : memref<?xf64>
      %back = arith.mulf %alpha, %qi : f64
      %rn = arith.subf %ri, %back : f64
      memref.store %rn, %r[%i] : memref<?xf64>
    }
    memref.store %zero, %dot[] : memref<f64>
    linalg.dot ins(%r, %r : memref<?xf64>, memref<?xf64>) outs(%dot : memref<f64>)
    %next = memref.load %dot[] : memref<f64>
    %beta = arith.divf %next, %rr : f64
    scf.parallel (%i) = (%c0) to (%n) step (%one_index) {
      %ri = memref.load %r[%i] : memref<?xf64>
      %pi = memref.load %p[%i] : memref<?xf64>
      %part = arith.mulf %beta, %pi : f64
      %pn = arith.addf %ri, %part : f64
      memref.store %pn, %p[%i] : memref<?xf64>
    }
    %done = arith.addi %round, %one : i64
    scf.yield %next, %done : f64, i64
  }
  memref.store %last#1, %rounds[] : memref<i64>
  return
}

// The same on tensors: what the loop carries stays in place.
func.func @solve(%a: tensor<?x?xf64>, %b: tensor<?xf64>, %tolerance: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %b, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %s = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %x0 = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %d0 = linalg.dot ins(%b, %b : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<f64>) -> tensor<f64>
  %rr0 = tensor.extract %d0[] : tensor<f64>
  %w:4 = scf.while (%x = %x0, %r = %b, %p = %b, %rr = %rr0) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64) {
    %go = arith.cmpf ogt, %rr, %tolerance : f64
    scf.condition(%go) %x, %r, %p, %rr : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64
  } do {
  ^bb0(%x: tensor<?xf64>, %r: tensor<?xf64>, %p: tensor<?xf64>, %rr: f64):
    %qe = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %q = linalg.matvec ins(%a, %p : tensor<?x?xf64>, tensor<?xf64>) outs(%qe : tensor<?xf64>) -> tensor<?xf64>
    %d = linalg.dot ins(%p, %q : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<f64>) -> tensor<f64>
    %pq = tensor.extract %d[] : tensor<f64>
    %alpha = arith.divf %rr, %pq : f64
    %x1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<?xf64>) outs(%x : tensor<?xf64>) {
    ^bb0(%pi: f64, %xi: f64):
      %m = arith.mulf %alpha, %pi : f64
      %t = arith.addf %xi, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %r1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q : tensor<?xf64>) outs(%r : tensor<?xf64>) {
    ^bb0(%qi: f64, %ri: f64):
      %m = arith.mulf %alpha, %qi : f64
      %t = arith.subf %ri, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %d1 = linalg.dot ins(%r1, %r1 : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<f64>) -> tensor<f64>
    %new = tensor.extract %d1[] : tensor<f64>
    %beta = arith.divf %new, %rr : f64
    %p1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%r1 : tensor<?xf64>) outs(%p : tensor<?xf64>) {
    ^bb0(%ri: f64, %pi: f64):
      %m = arith.mulf %beta, %pi : f64
      %t = arith.addf %ri, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    scf.yield %x1, %r1, %p1, %new : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64
  }
  return %w#0 : tensor<?xf64>
}

// The same on a sparse matrix: A * p and its product with p in one pass over the rows.
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>
func.func @solve_sparse(%A: tensor<?x?xf64, #CSR>, %b: tensor<?xf64>, %tolerance: f64) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %b, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %s = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%zero : f64) outs(%s : tensor<f64>) -> tensor<f64>
  %x0 = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
  %bb = linalg.dot ins(%b, %b : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<f64>) -> tensor<f64>
  %rr0 = tensor.extract %bb[] : tensor<f64>
  %w:4 = scf.while (%x = %x0, %r = %b, %p = %b, %rr = %rr0) : (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64) -> (tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64) {
    %go = arith.cmpf ogt, %rr, %tolerance : f64
    scf.condition(%go) %x, %r, %p, %rr : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64
  } do {
  ^bb0(%x: tensor<?xf64>, %r: tensor<?xf64>, %p: tensor<?xf64>, %rr: f64):
    %qe = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %q = linalg.matvec ins(%A, %p : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%qe : tensor<?xf64>) -> tensor<?xf64>
    %d = linalg.dot ins(%p, %q : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<f64>) -> tensor<f64>
    %pq = tensor.extract %d[] : tensor<f64>
    %alpha = arith.divf %rr, %pq : f64
    %x1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<?xf64>) outs(%x : tensor<?xf64>) {
    ^bb0(%pi: f64, %xi: f64):
      %m = arith.mulf %alpha, %pi : f64
      %t = arith.addf %xi, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %r1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q : tensor<?xf64>) outs(%r : tensor<?xf64>) {
    ^bb0(%qi: f64, %ri: f64):
      %m = arith.mulf %alpha, %qi : f64
      %t = arith.subf %ri, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    %d1 = linalg.dot ins(%r1, %r1 : tensor<?xf64>, tensor<?xf64>) outs(%z : tensor<f64>) -> tensor<f64>
    %new = tensor.extract %d1[] : tensor<f64>
    %beta = arith.divf %new, %rr : f64
    %p1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%r1 : tensor<?xf64>) outs(%p : tensor<?xf64>) {
    ^bb0(%ri: f64, %pi: f64):
      %m = arith.mulf %beta, %pi : f64
      %t = arith.addf %ri, %m : f64
      linalg.yield %t : f64
    } -> tensor<?xf64>
    scf.yield %x1, %r1, %p1, %new : tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, f64
  }
  return %w#0 : tensor<?xf64>
}
