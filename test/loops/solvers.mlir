// A conjugate gradient: three kernels and one read-back a round, whether it is written on memrefs or on tensors, with a
// dense or a sparse matrix.
// RUN: ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=descent -o - | FileCheck %s --check-prefixes=CHECK,MEMREFS
// RUN: ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=solve -o - | FileCheck %s --check-prefixes=CHECK,TENSORS
// RUN: ml2kokkos %S/../run/loops/Inputs/programs.mlir --entry=solve_sparse -o - | FileCheck %s --check-prefixes=CHECK,TENSORS

// CHECK: void forward(
// CHECK: double [[RR:[a-z0-9_]+]] = read_back(space, work.{{.*}});
// CHECK: while ([[RR]] > tolerance) {
// CHECK-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}});
// CHECK-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}}[[RR]]{{.*}});
// CHECK-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}}[[RR]]{{.*}});
// MEMREFS-NEXT: double const next_rr = read_back(space, work.next);
// MEMREFS-NEXT: std::int64_t const next_round = wrapping_add(round, 1);
// MEMREFS-NEXT: rr = next_rr;
// MEMREFS-NEXT: round = next_round;
// TENSORS-NEXT: [[RR]] = read_back(space, work.{{.*}});
// CHECK-NEXT: }

// With a preconditioner two numbers are carried, and both are read back in one wait.
// RUN: ml2kokkos %S/../run/loops/Inputs/solvers.mlir --entry=pcg_tensors -o - | FileCheck %s --check-prefix=PCG
// RUN: ml2kokkos %S/../run/loops/Inputs/solvers.mlir --entry=pcg_memrefs -o - | FileCheck %s --check-prefix=PCG
// RUN: ml2kokkos %S/../run/loops/Inputs/solvers.mlir --entry=pcg_loops -o - | FileCheck %s --check-prefix=PCG
// PCG: reduce_span({{.*}}
// PCG: JoiningTerms<double, Sum, Sum>{
// PCG: reduce_streamed_rows({{.*}}
// PCG: Joining<Sum, double>{
// PCG: reduce_shared_span({{.*}}
// PCG: JoiningTerms<double, Sum, Sum>{
// PCG: for_shared_span(
// PCG: void forward(
// PCG: read_back(space, [[RZ:[a-z0-9_]+]], work.{{.*}}, [[RR:[a-z0-9_]+]], work.{{.*}});
// PCG-NEXT: while ([[RR]] > tolerance) {
// PCG-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}});
// PCG-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}}[[RZ]]{{.*}});
// PCG-NEXT: {{[a-z0-9_]+}}(space, work, {{.*}}[[RZ]]{{.*}});
// PCG-NEXT: read_back(space, [[RZ]], work.{{.*}}, [[RR]], work.{{.*}});
// PCG-NEXT: }
