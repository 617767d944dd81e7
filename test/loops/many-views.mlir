// A kernel that holds more views than Kokkos hands over with any launch has a hint; a host needs none.
// RUN: ml2kokkos %s -o %t.cpp && FileCheck %s < %t.cpp
// RUN: ml2kokkos --target=host %s -o %t.host.cpp && FileCheck --check-prefix=HOST %s < %t.host.cpp

// CHECK: using Light = Kokkos::Experimental::WorkItemProperty::HintLightWeight_t;
// CHECK: Kokkos::RangePolicy<ExecutionSpace, Light>(space, 0,
// HOST-NOT: Light
// HOST: Kokkos::RangePolicy(space, 0,
func.func @kernel(%a: memref<?x?x?xf32>, %b: memref<?x?x?xf32>, %c: memref<?x?x?xf32>, %d: memref<?x?x?xf32>,
                  %e: memref<?x?x?xf32>, %f: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?x?x?xf32>
  %m = memref.dim %a, %c1 : memref<?x?x?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.for %j = %c1 to %m step %c1 {
      %before = arith.subi %j, %c1 : index
      %u = memref.load %a[%i, %before, %c0] : memref<?x?x?xf32>
      %v = memref.load %b[%i, %j, %c0] : memref<?x?x?xf32>
      %w = memref.load %c[%i, %j, %c0] : memref<?x?x?xf32>
      %x = memref.load %d[%i, %j, %c0] : memref<?x?x?xf32>
      %y = memref.load %e[%i, %j, %c0] : memref<?x?x?xf32>
      %z = memref.load %f[%i, %j, %c0] : memref<?x?x?xf32>
      %0 = arith.addf %u, %v : f32
      %1 = arith.mulf %0, %w : f32
      %2 = arith.addf %1, %x : f32
      %3 = arith.mulf %2, %y : f32
      %4 = arith.addf %3, %z : f32
      memref.store %4, %a[%i, %j, %c0] : memref<?x?x?xf32>
    }
    scf.reduce
  }
  return
}
