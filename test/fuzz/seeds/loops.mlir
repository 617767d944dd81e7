func.func @f(%a: memref<8x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    affine.for %j = 0 to 8 {
      %x = memref.load %a[%j, %i] : memref<8x?xf32>
      %y = math.exp %x : f32
      memref.store %y, %a[%j, %i] : memref<8x?xf32>
    }
  }
  return
}
