// RUN: split-file %s %t
// RUN: ml2kokkos %t/calls.mlir --emit=imported | FileCheck %s
// RUN: not ml2kokkos %t/unmarked.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=UNMARKED
// RUN: not ml2kokkos %t/hostile.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=HOSTILE
// RUN: not ml2kokkos %t/tensor.mlir --emit=imported 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not ml2kokkos %t/differ.mlir --emit=nest 2>&1 | FileCheck %s --check-prefix=DIFFER

// CHECK: nest.call "f"(%{{.*}}) {on_device, writes = array<i1: false>} : (f64) -> f64
// CHECK: nest.call "g"(%{{.*}}, %{{.*}}) {writes = array<i1: true, false>}
// CHECK-NOT: func.func private
// UNMARKED: unmarked.mlir:2:{{.*}}: error: call cannot be inlined: the function is recursive, or declared only
// HOSTILE: hostile.mlir:2:{{.*}}: error: a function of C cannot be called "x\22); system(\22ls": it is no identifier of C
// TENSOR: tensor.mlir:2:{{.*}}: error: a function of C takes numbers and memrefs
// DIFFER: differ.mlir:7:{{.*}}: error: "f" is called with other types elsewhere

//--- calls.mlir
func.func @main(%x: memref<4xf64>, %s: f64) {
  %y = func.call @f(%s) : (f64) -> f64
  func.call @g(%x, %y) : (memref<4xf64>, f64) -> ()
  return
}
func.func private @f(f64) -> f64 attributes {nest.extern = "device"}
func.func private @g(memref<4xf64> {nest.output}, f64) attributes {nest.extern = "host"}

//--- unmarked.mlir
func.func @main(%s: f64, %x: memref<f64>) {
  %y = func.call @f(%s) : (f64) -> f64
  memref.store %y, %x[] : memref<f64>
  return
}
func.func private @f(f64) -> f64

//--- hostile.mlir
func.func @main(%s: f64, %x: memref<f64>) {
  %y = func.call @"x\22); system(\22ls"(%s) : (f64) -> f64
  memref.store %y, %x[] : memref<f64>
  return
}
func.func private @"x\22); system(\22ls"(f64) -> f64 attributes {nest.extern = "host"}

//--- tensor.mlir
func.func @main(%s: tensor<4xf64>) -> f64 {
  %y = func.call @f(%s) : (tensor<4xf64>) -> f64
  return %y : f64
}
func.func private @f(tensor<4xf64>) -> f64 attributes {nest.extern = "host"}

//--- differ.mlir
func.func @main(%x: memref<4xf64>, %s: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %a = nest.call "f"(%s) {writes = array<i1: false>} : (f64) -> f64
    %b = nest.call "f"(%a, %s) {writes = array<i1: false, false>} : (f64, f64) -> f64
    memref.store %b, %x[%i] : memref<4xf64>
    scf.reduce
  }
  return
}
