// Every stage can be printed, from a file, from standard input and from bytecode, and read again by ml2kokkos-opt.
//
// RUN: ml2kokkos %s --emit=imported | FileCheck %s
// RUN: ml2kokkos - --emit=imported <%s | FileCheck %s
// RUN: mlir-opt %s --emit-bytecode -o %t.mlirbc && ml2kokkos %t.mlirbc --emit=imported | FileCheck %s
// RUN: rm -f %t.mlir %t.nest && ml2kokkos %s --emit=imported -o %t.mlir && ml2kokkos-opt %t.mlir | FileCheck %s
// RUN: ml2kokkos %s --emit=nest | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --emit=nest | ml2kokkos-opt | FileCheck %s --check-prefix=NEST
// RUN: ml2kokkos %s --emit=prepared | ml2kokkos-opt | FileCheck %s --check-prefix=PREPARED
// CHECK: func.func @doubled
// CHECK: linalg.add
// NEST: nest.map
// PREPARED: func.func @doubled({{.*}}nest.output{{.*}}) attributes {{.*}}nest.launches = #nest.launches<never>, {{.*}}nest.placement = #nest.placement<own>, nest.weights = #nest.storage<file>}
//
// Each stage is a pipeline of ml2kokkos-opt, which replays it from the text of the stage before. (Text without locations
// has no names: labels are given on the way to `scheduled`.)
// RUN: ml2kokkos %s --emit=imported | ml2kokkos-opt --ml2k-to-canonical --ml2k-to-scheduled --ml2k-to-nest --ml2k-to-prepared | FileCheck %s --check-prefix=PREPARED
// RUN: ml2kokkos %s --emit=prepared | grep -v '^//' >%t.prepared
// RUN: ml2kokkos %s --emit=scheduled | ml2kokkos-opt --ml2k-to-nest --ml2k-to-prepared | diff - %t.prepared
// RUN: ml2kokkos %s --emit=nest | ml2kokkos-opt --ml2k-to-prepared | diff - %t.prepared
// RUN: ml2kokkos %s --emit=prepared --weights=embed | grep -v '^//' >%t.embedded
// RUN: ml2kokkos %s --emit=nest | ml2kokkos-opt --ml2k-to-prepared=weights=embed | diff - %t.embedded
// RUN: ml2kokkos %s --emit=canonical | ml2kokkos-opt --ml2k-to-scheduled=naive=true | FileCheck %s --check-prefix=NAIVE
// NAIVE: linalg.generic
//
// RUN: rm -rf %t.stages && ml2kokkos %s --emit=prepared --dump-stages=%t.stages -o %t.prepared.mlir && ls %t.stages | FileCheck %s --check-prefix=DUMP
// DUMP: 0-imported.mlir
// DUMP: 1-canonical.mlir
// DUMP: 2-scheduled.mlir
// DUMP: 3-nest.mlir
// DUMP: 4-prepared.mlir
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
