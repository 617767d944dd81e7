func.func @"nbody"(%position: memref<?x3xf64> {nest.name = "position", nest.dims = ["N", ""]}, %mass: memref<?xf64> {nest.name = "mass", nest.dims = ["N"]}, %acceleration: memref<?x3xf64> {nest.name = "acceleration", nest.dims = ["N", ""]}, %softening: f64 {nest.name = "softening"}) {
  %c0 = arith.constant 0 : index
  %N = memref.dim %position, %c0 : memref<?x3xf64>
  %c1 = arith.constant 1 : index
  %c2_f64 = arith.constant 0.0 : f64
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %N step %c1 {
    %ax, %ay, %az = scf.for %j = %c0 to %N step %c1 iter_args(%ax = %c2_f64, %ay = %c2_f64, %az = %c2_f64) -> (f64, f64, f64) {
      %1 = memref.load %position[%j, %c0] : memref<?x3xf64>
      %2 = memref.load %position[%i, %c0] : memref<?x3xf64>
      %dx = arith.subf %1, %2 {nest.let, nest.name = "dx"} : f64
      %4 = memref.load %position[%j, %c1] : memref<?x3xf64>
      %5 = memref.load %position[%i, %c1] : memref<?x3xf64>
      %dy = arith.subf %4, %5 {nest.let, nest.name = "dy"} : f64
      %7 = memref.load %position[%j, %c2] : memref<?x3xf64>
      %8 = memref.load %position[%i, %c2] : memref<?x3xf64>
      %dz = arith.subf %7, %8 {nest.let, nest.name = "dz"} : f64
      %10 = arith.mulf %dx, %dx : f64
      %11 = arith.mulf %dy, %dy : f64
      %12 = arith.addf %10, %11 : f64
      %13 = arith.mulf %dz, %dz : f64
      %14 = arith.addf %12, %13 : f64
      %squared = arith.addf %14, %softening {nest.let, nest.name = "squared"} : f64
      %16 = memref.load %mass[%j] : memref<?xf64>
      %17 = math.sqrt %squared : f64
      %18 = arith.mulf %squared, %17 : f64
      %pull = arith.divf %16, %18 {nest.let, nest.name = "pull"} : f64
      %20 = arith.mulf %pull, %dx : f64
      %ax_2 = arith.addf %ax, %20 : f64
      %22 = arith.mulf %pull, %dy : f64
      %ay_2 = arith.addf %ay, %22 : f64
      %24 = arith.mulf %pull, %dz : f64
      %az_2 = arith.addf %az, %24 : f64
      scf.yield %ax_2, %ay_2, %az_2 : f64, f64, f64
    } loc("for j in kk.range(N):")
    memref.store %ax, %acceleration[%i, %c0] : memref<?x3xf64>
    memref.store %ay, %acceleration[%i, %c1] : memref<?x3xf64>
    memref.store %az, %acceleration[%i, %c2] : memref<?x3xf64>
  } loc("for i in kk.range(N):")
  return
}
