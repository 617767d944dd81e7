// Launches of the gpu dialect and loops of omp are parallel loops; a block whose threads wait runs phase after phase.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/plain.mlir --emit=imported | FileCheck %s --check-prefix=PLAIN
// RUN: ml2kokkos %t/function.mlir --emit=imported | FileCheck %s --check-prefix=FUNCTION
// RUN: ml2kokkos %t/phases.mlir --emit=imported | FileCheck %s --check-prefix=PHASES
// RUN: ml2kokkos %t/omp.mlir --emit=imported | FileCheck %s --check-prefix=OMP

//--- plain.mlir
// PLAIN: scf.parallel (%[[B:.*]], %[[T:.*]]) = (%{{.*}}) to (%{{.*}}, %c32)
// PLAIN: memref.load %{{.*}}[%[[B]], %[[T]]]
func.func @f(%a: memref<?x32xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%bx, %tx] : memref<?x32xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %a[%bx, %tx] : memref<?x32xf32>
    gpu.terminator
  }
  return
}

//--- function.mlir
// FUNCTION-NOT: gpu.{{func|module|launch}}
// FUNCTION: scf.parallel (%[[I:.*]]) =
// FUNCTION: memref.store %{{.*}}, %{{.*}}[%[[I]]]
// FUNCTION-NOT: gpu
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%a: memref<?xf32>, %x: f32) kernel {
      %b = gpu.block_id x
      memref.store %x, %a[%b] : memref<?xf32>
      gpu.return
    }
  }
  func.func @f(%a: memref<?xf32>, %x: f32, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@fill blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<?xf32>, %x : f32)
    return
  }
}

//--- phases.mlir
// PHASES: scf.parallel (%[[B:.*]]) =
// PHASES:   %[[TILE:.*]] = memref.alloca() : memref<32xf32>
// PHASES:   scf.parallel (%[[T:.*]]) =
// PHASES:     memref.store %{{.*}}, %[[TILE]][%[[T]]]
// PHASES:   %[[SUM:.*]] = scf.parallel (%[[U:.*]]) = {{.*}} init
// PHASES:     memref.load %[[TILE]][%[[U]]]
// PHASES:   scf.parallel
// PHASES:     memref.store %[[SUM]]
func.func @f(%a: memref<?x32xf32>, %s: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
      workgroup(%tile : memref<32xf32, #gpu.address_space<workgroup>>) {
    %x = memref.load %a[%bx, %tx] : memref<?x32xf32>
    memref.store %x, %tile[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %y = memref.load %tile[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    %sum = gpu.all_reduce add %y uniform {} : (f32) -> (f32)
    memref.store %sum, %s[%bx] : memref<?xf32>
    gpu.terminator
  }
  return
}

//--- omp.mlir
// OMP: scf.parallel (%[[I:.*]]) = (%c0) to (%{{.*}}) step (%c1)
func.func @f(%a: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%n) step (%c1) {
        %x = memref.load %a[%i] : memref<?xf32>
        %y = arith.negf %x : f32
        memref.store %y, %a[%i] : memref<?xf32>
        omp.yield
      }
      omp.terminator
    }
    omp.terminator
  }
  return
}
