// What others got wrong: each function is compared with upstream's lowering, on inputs with NaN, infinities and the ends of the
// integers among them (run_models.py --edges). One signature a line: upstream_run.py reads them.

// The operation says whether an integer has a sign.
func.func @unsigned_integers(%a: tensor<24xi32>, %b: tensor<24xi32>) -> (tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>) {
  %one = arith.constant dense<1> : tensor<24xi32>
  %low = arith.constant dense<31> : tensor<24xi32>
  %odd = arith.ori %b, %one : tensor<24xi32>
  %count = arith.andi %b, %low : tensor<24xi32>
  %quotient = arith.divui %a, %odd : tensor<24xi32>
  %remainder = arith.remui %a, %odd : tensor<24xi32>
  %shifted = arith.shrui %a, %count : tensor<24xi32>
  %larger = arith.maxui %a, %b : tensor<24xi32>
  %smaller = arith.minui %a, %b : tensor<24xi32>
  %below = arith.cmpi ult, %a, %b : tensor<24xi32>
  %chosen = arith.select %below, %a, %b : tensor<24xi1>, tensor<24xi32>
  return %quotient, %remainder, %shifted, %larger, %smaller, %chosen : tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>
}

func.func @signed_integers(%a: tensor<24xi32>, %b: tensor<24xi32>) -> (tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>) {
  %seven = arith.constant dense<7> : tensor<24xi32>
  %three = arith.constant dense<-3> : tensor<24xi32>
  %one = arith.constant dense<1> : tensor<24xi32>
  %half = arith.shrsi %a, %one : tensor<24xi32>
  %quotient = arith.divsi %half, %three : tensor<24xi32>
  %remainder = arith.remsi %half, %three : tensor<24xi32>
  %floor = arith.floordivsi %half, %seven : tensor<24xi32>
  %below = arith.cmpi slt, %a, %b : tensor<24xi32>
  %chosen = arith.select %below, %a, %b : tensor<24xi1>, tensor<24xi32>
  return %half, %quotient, %remainder, %floor, %chosen : tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi32>
}

func.func @widened(%a: tensor<24xi8>) -> (tensor<24xi32>, tensor<24xi32>, tensor<24xf32>, tensor<24xf32>) {
  %z = arith.extui %a : tensor<24xi8> to tensor<24xi32>
  %s = arith.extsi %a : tensor<24xi8> to tensor<24xi32>
  %u = arith.uitofp %a : tensor<24xi8> to tensor<24xf32>
  %f = arith.sitofp %a : tensor<24xi8> to tensor<24xf32>
  return %z, %s, %u, %f : tensor<24xi32>, tensor<24xi32>, tensor<24xf32>, tensor<24xf32>
}

// As a signed number a true i1 is -1.
func.func @booleans(%a: tensor<24xi1>, %b: tensor<24xi1>) -> (tensor<24xi1>, tensor<24xi1>, tensor<24xi1>, tensor<24xi32>, tensor<24xi32>, tensor<24xf32>, tensor<24xf32>) {
  %unsigned = arith.cmpi ult, %a, %b : tensor<24xi1>
  %signed = arith.cmpi slt, %a, %b : tensor<24xi1>
  %equal = arith.cmpi eq, %a, %b : tensor<24xi1>
  %z = arith.extui %a : tensor<24xi1> to tensor<24xi32>
  %s = arith.extsi %a : tensor<24xi1> to tensor<24xi32>
  %u = arith.uitofp %a : tensor<24xi1> to tensor<24xf32>
  %f = arith.sitofp %a : tensor<24xi1> to tensor<24xf32>
  return %unsigned, %signed, %equal, %z, %s, %u, %f : tensor<24xi1>, tensor<24xi1>, tensor<24xi1>, tensor<24xi32>, tensor<24xi32>, tensor<24xf32>, tensor<24xf32>
}

// Signedness on index, too: a negative index is a large unsigned one.
func.func @indices(%a: memref<24xi32>, %out: memref<24xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %c5 = arith.constant 5 : index
  scf.parallel (%i) = (%c0) to (%c24) step (%c1) {
    %v = memref.load %a[%i] : memref<24xi32>
    %signed = arith.index_cast %v : i32 to index
    %small = arith.minui %signed, %c5 : index
    %below = arith.cmpi ult, %signed, %c5 : index
    %picked = arith.select %below, %small, %c1 : index
    %r = arith.index_cast %picked : index to i32
    memref.store %r, %out[%i] : memref<24xi32>
    scf.reduce
  }
  return
}

func.func @wrapping(%a: tensor<24xi32>, %b: tensor<24xi32>, %c: tensor<24xi8>, %d: tensor<24xi8>) -> (tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi8>, tensor<24xi8>, tensor<24xi32>) {
  %sum = arith.addi %a, %b : tensor<24xi32>
  %difference = arith.subi %a, %b : tensor<24xi32>
  %product = arith.muli %a, %b : tensor<24xi32>
  %bytes = arith.addi %c, %d : tensor<24xi8>
  %more = arith.muli %c, %d : tensor<24xi8>
  %wide = arith.extsi %bytes : tensor<24xi8> to tensor<24xi32>
  return %sum, %difference, %product, %bytes, %more, %wide : tensor<24xi32>, tensor<24xi32>, tensor<24xi32>, tensor<24xi8>, tensor<24xi8>, tensor<24xi32>
}

func.func @not_numbers(%a: tensor<24xf32>, %b: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xi1>, tensor<24xi1>, tensor<24xi1>, tensor<24xi1>) {
  %zero = arith.constant dense<0.0> : tensor<24xf32>
  %max = arith.maximumf %a, %b : tensor<24xf32>
  %min = arith.minimumf %a, %b : tensor<24xf32>
  %maxnum = arith.maxnumf %a, %b : tensor<24xf32>
  %minnum = arith.minnumf %a, %b : tensor<24xf32>
  %ugt = arith.cmpf ugt, %a, %zero : tensor<24xf32>
  %ogt = arith.cmpf ogt, %a, %zero : tensor<24xf32>
  %kept = arith.select %ugt, %a, %zero : tensor<24xi1>, tensor<24xf32>
  %lost = arith.select %ogt, %a, %zero : tensor<24xi1>, tensor<24xf32>
  %une = arith.cmpf une, %a, %b : tensor<24xf32>
  %one = arith.cmpf one, %a, %b : tensor<24xf32>
  %uno = arith.cmpf uno, %a, %b : tensor<24xf32>
  %ule = arith.cmpf ule, %a, %b : tensor<24xf32>
  return %max, %min, %maxnum, %minnum, %kept, %lost, %une, %one, %uno, %ule : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xf32>, tensor<24xi1>, tensor<24xi1>, tensor<24xi1>, tensor<24xi1>
}

// ReLU in both spellings keeps a NaN; the constant may stand first.
func.func @relus(%a: tensor<24xf32>) -> (tensor<24xf32>, tensor<24xf32>) {
  %zero = arith.constant dense<0.0> : tensor<24xf32>
  %after = arith.maximumf %a, %zero : tensor<24xf32>
  %before = arith.maximumf %zero, %a : tensor<24xf32>
  return %after, %before : tensor<24xf32>, tensor<24xf32>
}

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @maxima_of_rows(%a: tensor<6x9xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6xf32>
  %init = linalg.fill ins(%lowest : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %with = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x9xf32>) outs(%init : tensor<6xf32>) {
  ^bb0(%x: f32, %m: f32):
    %n = arith.maximumf %m, %x : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>
  %without = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<6x9xf32>) outs(%init : tensor<6xf32>) {
  ^bb0(%x: f32, %m: f32):
    %n = arith.maxnumf %m, %x : f32
    linalg.yield %n : f32
  } -> tensor<6xf32>
  return %with, %without : tensor<6xf32>, tensor<6xf32>
}

// f64 stays f64.
func.func @doubles(%a: tensor<24xf64>, %b: tensor<24xf64>) -> (tensor<24xf64>, tensor<24xf64>) {
  %third = arith.constant dense<0.33333333333333331> : tensor<24xf64>
  %e = arith.mulf %a, %third : tensor<24xf64>
  %q = arith.divf %a, %b : tensor<24xf64>
  return %e, %q : tensor<24xf64>, tensor<24xf64>
}

func.func @no_rank(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %s = arith.addf %a, %b : tensor<f32>
  return %s : tensor<f32>
}

func.func @nine_dimensions(%a: tensor<2x1x2x1x2x3x1x2x2xf32>, %b: tensor<2x1x2x1x2x3x1x2x2xf32>) -> tensor<2x1x2x1x2x3x1x2x2xf32> {
  %s = arith.subf %a, %b : tensor<2x1x2x1x2x3x1x2x2xf32>
  return %s : tensor<2x1x2x1x2x3x1x2x2xf32>
}

func.func @run_time_sizes(%a: tensor<?x?xf32>, %b: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x?xf32>
  %m = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %t : tensor<?x?xf32>
}

// Iterations that hit an element twice stay in order: x[k] = x[k] * 3 + i.
func.func @scatter(%x: memref<8xi32>, %where: memref<40xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %three = arith.constant 3 : i32
  %seven = arith.constant 7 : i32
  scf.for %i = %c0 to %c40 step %c1 {
    %w = memref.load %where[%i] : memref<40xi32>
    %in = arith.andi %w, %seven : i32
    %k = arith.index_cast %in : i32 to index
    %n = arith.index_cast %i : index to i32
    %old = memref.load %x[%k] : memref<8xi32>
    %p = arith.muli %old, %three : i32
    %s = arith.addi %p, %n : i32
    memref.store %s, %x[%k] : memref<8xi32>
  }
  return
}

// Each row reads the one above it; inside a row elements are independent.
func.func @recurrence(%x: memref<9x7xf32>) {
  affine.for %i = 1 to 9 {
    affine.for %j = 0 to 7 {
      %up = affine.load %x[%i - 1, %j] : memref<9x7xf32>
      %here = affine.load %x[%i, %j] : memref<9x7xf32>
      %half = arith.constant 0.5 : f32
      %h = arith.mulf %up, %half : f32
      %s = arith.addf %h, %here : f32
      affine.store %s, %x[%i, %j] : memref<9x7xf32>
    }
  }
  return
}

// Carried values turn as a set; the initial value of a reduction counts.
func.func @rotation(%n: index, %a: memref<5xi32>) -> (i32, i32, i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 2 : i32
  %i3 = arith.constant 3 : i32
  %i100 = arith.constant 100 : i32
  %r:3 = scf.for %t = %c0 to %n step %c1 iter_args(%p = %i1, %q = %i2, %s = %i3) -> (i32, i32, i32) {
    scf.yield %q, %s, %p : i32, i32, i32
  }
  %sum = scf.parallel (%i) = (%c0) to (%c5) step (%c1) init (%i100) -> i32 {
    %v = memref.load %a[%i] : memref<5xi32>
    scf.reduce(%v : i32) {
    ^bb0(%l: i32, %m: i32):
      %u = arith.addi %l, %m : i32
      scf.reduce.return %u : i32
    }
  }
  return %r#0, %r#1, %r#2, %sum : i32, i32, i32, i32
}

// Two memrefs change places; what the last round wrote is copied out.
func.func @ping_pong(%a: memref<?xf64>, %steps: index) -> memref<?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f64
  %n = memref.dim %a, %c0 : memref<?xf64>
  %last = arith.subi %n, %c1 : index
  %b = memref.alloc(%n) : memref<?xf64>
  memref.copy %a, %b : memref<?xf64> to memref<?xf64>
  %r:2 = scf.for %t = %c0 to %steps step %c1 iter_args(%old = %a, %new = %b) -> (memref<?xf64>, memref<?xf64>) {
    scf.for %i = %c1 to %last step %c1 {
      %left = arith.subi %i, %c1 : index
      %right = arith.addi %i, %c1 : index
      %x = memref.load %old[%left] : memref<?xf64>
      %y = memref.load %old[%right] : memref<?xf64>
      %s = arith.addf %x, %y : f64
      %m = arith.mulf %s, %half : f64
      memref.store %m, %new[%i] : memref<?xf64>
    }
    scf.yield %new, %old : memref<?xf64>, memref<?xf64>
  }
  %out = memref.alloc(%n) : memref<?xf64>
  memref.copy %r#0, %out : memref<?xf64> to memref<?xf64>
  return %out : memref<?xf64>
}

func.func @two_reductions(%a: memref<?xf64>) -> (f64, f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %lowest = arith.constant 0xFFF0000000000000 : f64
  %n = memref.dim %a, %c0 : memref<?xf64>
  %sum, %largest = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero, %lowest) -> (f64, f64) {
    %x = memref.load %a[%i] : memref<?xf64>
    %y = math.absf %x : f64
    scf.reduce(%x, %y : f64, f64) {
    ^bb0(%l: f64, %m: f64):
      %s = arith.addf %l, %m : f64
      scf.reduce.return %s : f64
    }, {
    ^bb0(%l: f64, %m: f64):
      %s = arith.maximumf %l, %m : f64
      scf.reduce.return %s : f64
    }
  }
  return %sum, %largest : f64, f64
}

// A branch that sizes decide, and an argument that is returned.
func.func @branches(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %few = arith.cmpi ult, %n, %c8 : index
  %y = scf.if %few -> tensor<?xf32> {
    %a = math.absf %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  } else {
    %b = math.tanh %x : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %y, %x : tensor<?xf32>, tensor<?xf32>
}

// linalg in memory: one input, a fill, a scalar operand.
func.func @linalg_in_memory(%s: f32, %a: memref<24xf32>, %b: memref<24xf32>, %c: memref<24xf32>, %d: memref<8x4xf32>, %e: memref<8x4xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : memref<24xf32>) outs(%b : memref<24xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = math.sqrt %x : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : memref<24xf32>) outs(%c : memref<24xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.fill ins(%one : f32) outs(%d : memref<8x4xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s : f32) outs(%e : memref<8x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  }
  return
}

// A product, and a dot product, added to an argument; the argument stays as it is.
func.func @added_to_arguments(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>, %v: tensor<?xf32>, %w: tensor<?xf32>, %t: tensor<f32>) -> (tensor<?x?xf32>, tensor<f32>) {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %d = linalg.dot ins(%v, %w : tensor<?xf32>, tensor<?xf32>) outs(%t : tensor<f32>) -> tensor<f32>
  return %r, %d : tensor<?x?xf32>, tensor<f32>
}

// A number is a result like a tensor.
func.func @number_as_result(%a: tensor<8xf32>, %t: f32) -> (tensor<8xf32>, f32) {
  %r = math.absf %a : tensor<8xf32>
  %u = arith.addf %t, %t : f32
  return %r, %u : tensor<8xf32>, f32
}

// A loop that counts, written as scf.while, around a tensor.
func.func @counting_while(%b: tensor<8xf64>) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5 : index
  %h = arith.constant 0.5 : f64
  %e = tensor.empty() : tensor<8xf64>
  %r0 = linalg.copy ins(%b : tensor<8xf64>) outs(%e : tensor<8xf64>) -> tensor<8xf64>
  %r, %k = scf.while (%x = %r0, %i = %c0) : (tensor<8xf64>, index) -> (tensor<8xf64>, index) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %x, %i : tensor<8xf64>, index
  } do {
  ^bb0(%x: tensor<8xf64>, %i: index):
    %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%x : tensor<8xf64>) {
    ^bb0(%v: f64):
      %w = arith.mulf %v, %h : f64
      linalg.yield %w : f64
    } -> tensor<8xf64>
    %j = arith.addi %i, %c1 : index
    scf.yield %y, %j : tensor<8xf64>, index
  }
  return %r : tensor<8xf64>
}

// The result of a branch that has the name of a member of the workspace.
func.func @named_like_a_member(%v: tensor<8xf64>, %alpha: f64) -> tensor<8xf64> {
  %zero = arith.constant 0.0 : f64
  %n = arith.cmpf olt, %alpha, %zero : f64
  %val = scf.if %n -> f64 {
    %m = arith.negf %alpha : f64
    scf.yield %m : f64
  } else {
    scf.yield %alpha : f64
  }
  %s = tensor.splat %val : tensor<8xf64>
  %o = tensor.empty() : tensor<8xf64>
  %r = linalg.add ins(%v, %s : tensor<8xf64>, tensor<8xf64>) outs(%o : tensor<8xf64>) -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// scf.forall in memory and on a tensor whose slices it inserts.
func.func @forall_in_memory(%a: memref<8xf32>, %b: memref<8xf32>) {
  scf.forall (%i) in (8) {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
  }
  return
}

func.func @forall_on_tensors(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %r = scf.forall (%i) in (8) shared_outs(%o = %b) -> tensor<8xf32> {
    %s = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// A histogram by atomic additions, and one by an operation that is spelled out.
func.func @atomic_updates(%a: memref<64xi32>, %h: memref<8xi32>, %m: memref<8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %seven = arith.constant 7 : i32
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %a[%i] : memref<64xi32>
    %low = arith.andi %x, %seven : i32
    %k = arith.index_cast %low : i32 to index
    %o = memref.atomic_rmw addi %x, %h[%k] : (i32, memref<8xi32>) -> i32
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %a[%i] : memref<64xi32>
    %low = arith.andi %x, %seven : i32
    %k = arith.index_cast %low : i32 to index
    %o = memref.generic_atomic_rmw %m[%k] : memref<8xi32> {
    ^bb0(%old: i32):
      %y = arith.maxsi %old, %x : i32
      memref.atomic_yield %y : i32
    }
    scf.reduce
  }
  return
}
