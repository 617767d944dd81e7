// Types and constants that later steps would crash on: written out, or refused with their place.
// RUN: ml2kokkos %s --entry=constant --emit=imported | FileCheck %s --check-prefix=CONSTANT
// CONSTANT{LITERAL}: arith.constant dense<[[1.000000e+00, 0.000000e+00], [0.000000e+00, 2.000000e+00]]> : tensor<2x2xf32>
// RUN: not ml2kokkos %s --entry=wide --emit=imported 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: early-forms.mlir:[[#@LINE+15]]:{{.*}}: error: a constant written as sparse<...> has at most 16777216 integers or floating-point numbers
// RUN: not ml2kokkos %s --entry=integers --emit=imported 2>&1 | FileCheck %s --check-prefix=INTEGERS
// INTEGERS: early-forms.mlir:[[#@LINE+18]]:{{.*}}: error: argument 0: complex numbers of integers are not supported
// RUN: not ml2kokkos %s --entry=specifier --emit=imported 2>&1 | FileCheck %s --check-prefix=SPECIFIER
// SPECIFIER: early-forms.mlir:[[#@LINE+21]]:{{.*}}: error: argument 0: storage specifiers are not supported; translate the program before its sparse tensors are lowered
// A step that folding makes zero.
// RUN: not ml2kokkos %s --entry=zero_step --emit=prepared 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: 'scf.for' op has a step of 0; a loop goes forward
func.func @constant(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = arith.constant sparse<[[0, 0], [1, 1], [1, 1]], [1.0, 2.0, 3.0]> : tensor<2x2xf32>
  %r = arith.addf %x, %c : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

func.func @wide(%i: index) -> f32 {
  %c = arith.constant sparse<[[0, 0]], [1.0]> : tensor<1048576x1048576xf32>
  %r = tensor.extract %c[%i, %i] : tensor<1048576x1048576xf32>
  return %r : f32
}

func.func @integers(%x: tensor<3xcomplex<i32>>) -> tensor<3xcomplex<i32>> {
  return %x : tensor<3xcomplex<i32>>
}

#vector = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>
func.func @specifier(%s: !sparse_tensor.storage_specifier<#vector>) -> index {
  %n = sparse_tensor.storage_specifier.get %s lvl_sz at 0 : !sparse_tensor.storage_specifier<#vector>
  return %n : index
}

func.func @zero_step(%x: memref<i64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.subi %c1, %c1 : index
  scf.for %i = %c0 to %c1 step %none {
    %v = arith.index_cast %i : index to i64
    memref.store %v, %x[] : memref<i64>
  }
  return
}
