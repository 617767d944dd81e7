func.func @selected(%x: memref<5000xf32>, %y: memref<5000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 5000 : index
  %zero = arith.constant 0 : i64
  %limit = arith.constant 0.5 : f32
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%count = %zero) -> i64 {
    %element = memref.load %x[%i] : memref<5000xf32>
    %kept = arith.cmpf ogt, %element, %limit : f32
    scf.if %kept {
      %place = arith.index_cast %count : i64 to index
      memref.store %element, %y[%place] : memref<5000xf32>
    }
    %one = arith.extui %kept : i1 to i64
    %next = arith.addi %count, %one : i64
    scf.yield %next : i64
  }
  return
}
