// Memory of blocks and of threads.
func.func @f(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1)
      workgroup(%tile : memref<8x4xf32, #gpu.address_space<workgroup>>)
      private(%own : memref<4xf32, #gpu.address_space<private>>) {
    %v = memref.load %x[%tx] : memref<8xf32>
    memref.store %v, %own[%c0] : memref<4xf32, #gpu.address_space<private>>
    memref.store %v, %tile[%tx, %c1] : memref<8x4xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = memref.load %tile[%c0, %c1] : memref<8x4xf32, #gpu.address_space<workgroup>>
    %u = memref.load %own[%c0] : memref<4xf32, #gpu.address_space<private>>
    %s = arith.addf %u, %w : f32
    memref.store %s, %x[%tx] : memref<8xf32>
    gpu.terminator
  }
  return
}
