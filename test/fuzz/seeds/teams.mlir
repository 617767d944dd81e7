func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  nest.kernel "k" team (%i) = (%n) to (%n) {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      nest.barrier
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
    }
  }
  return
}

