// Every stage can be printed, from a file, from standard input and from bytecode, and read again by ml2kokkos-opt.
//
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// RUN: ml2kokkos - --emit=imported <%s | FileCheck %s
// RUN: mlir-opt %s --emit-bytecode -o %t.mlirbc && ml2kokkos %t.mlirbc --emit=imported | FileCheck %s
// RUN: rm -f %t.mlir %t.nest && ml2kokkos %s --emit=imported -o %t.mlir && ml2kokkos-opt %t.mlir | FileCheck %s
// RUN: ml2kokkos %s --emit=nest | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --emit=nest | ml2kokkos-opt | FileCheck %s --check-prefix=NEST
// CHECK: func.func @doubled
// CHECK: linalg.add
// NEST: nest.map
//
// RUN: rm -rf %t.stages && ml2kokkos %s --emit=nest --dump-stages=%t.stages -o %t.nest && ls %t.stages | FileCheck %s --check-prefix=DUMP
// DUMP: 0-imported.mlir
// DUMP: 1-canonical.mlir
// DUMP: 2-scheduled.mlir
// DUMP: 3-nest.mlir
//
// RUN: ml2kokkos %s --report | FileCheck %s --check-prefix=REPORT
// REPORT: kernel{{ +}}pattern{{ +}}shapes{{ +}}flops{{ +}}bytes
// REPORT: {{.*}}map{{ +}}{{.*}} -> {{.*}}{{ +}}6{{ +}}48
// REPORT: 1 kernels, 6 flop, 48 B moved

func.func @doubled(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %out = tensor.empty() : tensor<2x3xf32>
  %y = linalg.add ins(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) outs(%out : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
