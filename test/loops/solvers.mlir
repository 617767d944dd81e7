// A conjugate gradient: three kernels and one read-back a round, whether it is written on memrefs or on tensors, with a
// dense or a sparse matrix.
// RUN: ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=descent -o - | FileCheck %s --check-prefixes=CHECK,MEMREFS
// RUN: ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=solve -o - | FileCheck %s --check-prefixes=CHECK,TENSORS
// RUN: ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=solve_sparse -o - | FileCheck %s --check-prefixes=CHECK,TENSORS

// CHECK: void forward(
// CHECK: double [[RR:[a-z]+]] = read_back(space, work.{{.*}});
// CHECK: while (true) {
// CHECK-NEXT: if (!([[RR]] > tolerance))
// CHECK-NEXT: break;
// CHECK-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}});
// CHECK-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}}[[RR]]);
// CHECK-NEXT: {{[a-z0-9_]+}}(space, work, {{n|b_size}}, [[RR]]);
// MEMREFS-NEXT: double const next_rr = read_back(space, work.next);
// MEMREFS-NEXT: std::int64_t const next_round = wrapping_add(round, 1);
// MEMREFS-NEXT: rr = next_rr;
// MEMREFS-NEXT: round = next_round;
// TENSORS-NEXT: [[RR]] = read_back(space, work.{{.*}});
// CHECK-NEXT: }
