// One explicit step of the heat equation on a plate: five-point stencil inside, the edge keeps its temperature. %change gets
// the largest change, by which the caller sees when the plate is at rest.
func.func @heat(%plate: memref<?x?xf64>, %next: memref<?x?xf64>, %change: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %four = arith.constant 4.0 : f64
  %alpha = arith.constant 0.25 : f64 // diffusivity * time step / spacing^2, the largest stable one
  %rows = memref.dim %plate, %c0 : memref<?x?xf64>
  %columns = memref.dim %plate, %c1 : memref<?x?xf64>
  %last_row = arith.subi %rows, %c1 : index
  %last_column = arith.subi %columns, %c1 : index

  scf.parallel (%i, %j) = (%c1, %c1) to (%last_row, %last_column) step (%c1, %c1) {
    %above = arith.subi %i, %c1 : index
    %below = arith.addi %i, %c1 : index
    %left = arith.subi %j, %c1 : index
    %right = arith.addi %j, %c1 : index
    %here = memref.load %plate[%i, %j] : memref<?x?xf64>
    %n = memref.load %plate[%above, %j] : memref<?x?xf64>
    %s = memref.load %plate[%below, %j] : memref<?x?xf64>
    %w = memref.load %plate[%i, %left] : memref<?x?xf64>
    %e = memref.load %plate[%i, %right] : memref<?x?xf64>
    %ns = arith.addf %n, %s : f64
    %we = arith.addf %w, %e : f64
    %around = arith.addf %ns, %we : f64
    %middle = arith.mulf %here, %four : f64
    %laplacian = arith.subf %around, %middle : f64
    %flow = arith.mulf %laplacian, %alpha : f64
    %new = arith.addf %here, %flow : f64
    memref.store %new, %next[%i, %j] : memref<?x?xf64>
    scf.reduce
  }

  %largest = scf.parallel (%i, %j) = (%c1, %c1) to (%last_row, %last_column) step (%c1, %c1) init (%zero) -> f64 {
    %old = memref.load %plate[%i, %j] : memref<?x?xf64>
    %new = memref.load %next[%i, %j] : memref<?x?xf64>
    %difference = arith.subf %new, %old : f64
    %size = math.absf %difference : f64
    scf.reduce (%size : f64) {
    ^bb0(%a: f64, %b: f64):
      %max = arith.maximumf %a, %b : f64
      scf.reduce.return %max : f64
    }
  }
  memref.store %largest, %change[] : memref<f64>
  return
}
