// RUN: ml2kokkos-opt %s --ml2k-update-in-memory | FileCheck %s
// RUN: ml2kokkos-opt %s --ml2k-lower | FileCheck %s --check-prefix=NEST

// Two scatters in a row: neither loop carries a tensor, and what the second one starts from is a tensor of its own to
// the analysis.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[AT:.*]]: tensor<2xindex>, %[[U:.*]]: tensor<2xf32>)
// CHECK: %[[M0:.*]] = bufferization.to_memref %[[X]]
// CHECK: scf.for
// CHECK: %[[P:.*]] = tensor.extract %[[AT]]
// CHECK: %[[BEFORE:.*]] = memref.load %[[M0]][%[[P]]]
// CHECK: memref.store %{{.*}}, %[[M0]][%[[P]]]
// CHECK: } {nest.unordered}
// CHECK: %[[Y0:.*]] = bufferization.to_tensor %[[M0]] restrict writable
// CHECK: %[[M1:.*]] = bufferization.to_memref %[[Y0]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[M1]]
// CHECK: bufferization.to_tensor %[[M1]] restrict writable
// NEST-LABEL: func.func @chain
// NEST: nest.map "{{.*}}.copy" ins(%arg0 : memref<4xf32>) outs(%arg3
// NEST-NOT: copy
// NEST: return
func.func @chain(%x: tensor<4xf32>, %at: tensor<2xindex>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %x) -> (tensor<4xf32>) {
    %p = tensor.extract %at[%i] : tensor<2xindex>
    %v = tensor.extract %u[%i] : tensor<2xf32>
    %before = tensor.extract %t[%p] : tensor<4xf32>
    %sum = arith.addf %before, %v : f32
    %next = tensor.insert %sum into %t[%p] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  } {nest.unordered}
  %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %a) -> (tensor<4xf32>) {
    %row = scf.for %j = %c0 to %c1 step %c1 iter_args(%s = %t) -> (tensor<4xf32>) {
      %v = tensor.extract %u[%j] : tensor<2xf32>
      %next = tensor.insert %v into %s[%i] : tensor<4xf32>
      scf.yield %next : tensor<4xf32>
    }
    scf.yield %row : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}

// What the loop overwrites is read inside it and behind it: a copy.
// NEST-LABEL: func.func @read_later
// NEST: %[[OWN:.*]] = nest.buffer
// NEST: nest.kernel
// NEST: memref.load
func.func @read_later(%x: tensor<4xf32>, %at: tensor<2xindex>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %x) -> (tensor<4xf32>) {
    %p = tensor.extract %at[%i] : tensor<2xindex>
    %v = tensor.extract %x[%i] : tensor<4xf32>
    %next = tensor.insert %v into %t[%p] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  } {nest.unordered}
  %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%t = %a) -> (tensor<4xf32>) {
    %p = tensor.extract %at[%i] : tensor<2xindex>
    %v = tensor.extract %a[%i] : tensor<4xf32>
    %next = tensor.insert %v into %t[%p] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  } {nest.unordered}
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A tensor that is read after it was handed on, and one that another value takes the place of, stay as they are.
// CHECK-LABEL: func.func @older
// CHECK-NOT: memref
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK: return
func.func @older(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %a, %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x, %t = %y) -> (tensor<4xf32>, tensor<4xf32>) {
    %next = tensor.insert %one into %s[%i] : tensor<4xf32>
    %v = tensor.extract %s[%c0] : tensor<4xf32>
    %other = tensor.insert %v into %t[%i] : tensor<4xf32>
    scf.yield %other, %next : tensor<4xf32>, tensor<4xf32>
  }
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
