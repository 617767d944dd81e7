// A schedule in the transform dialect, of the input or of a file, runs before ours. What it cannot do is an error at its line.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/own.mlir --emit=imported -o - | FileCheck %s
// RUN: ml2kokkos %t/program.mlir --schedule=%t/tiles.mlir --emit=imported -o - | FileCheck %s
// RUN: ml2kokkos %t/two.mlir --emit=imported -o - | FileCheck %s
// RUN: ml2kokkos-opt --ml2k-run-schedule %t/own.mlir | FileCheck %s --check-prefix=OPT
// RUN: ml2kokkos-opt --ml2k-run-schedule=file=%t/tiles.mlir %t/program.mlir | FileCheck %s --check-prefix=OPT
// CHECK-NOT: transform.
// CHECK: scf.for %{{.*}} = %c0 to %c16
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<4x8xf32>)
// CHECK-NOT: transform.
// OPT-NOT: transform.
// OPT: scf.for
// OPT: tensor<8x4xf32>
// OPT-NOT: transform.

// The command that prints the same again names the file, and --check takes it.
// RUN: ml2kokkos %t/program.mlir --schedule=%t/tiles.mlir -o %t/program.cpp --style=llvm
// RUN: FileCheck %s --check-prefix=BANNER < %t/program.hpp
// RUN: ml2kokkos %t/program.mlir --schedule=%t/tiles.mlir -o %t/program.cpp --style=llvm --check
// RUN: not ml2kokkos %t/program.mlir -o %t/program.cpp --style=llvm --check
// BANNER: // Regenerate: ml2kokkos program.mlir -o program.cpp --style=llvm --schedule=tiles.mlir     (verify: add --check)
// The file takes the place of the sequence that the input has.
// RUN: ml2kokkos %t/own.mlir --schedule=%t/remark.mlir --emit=imported -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: own.mlir:3:8: remark: the product

// RUN: not ml2kokkos %t/program.mlir --schedule=%t/absent.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: absent.mlir: error: cannot be read
// RUN: not ml2kokkos %t/program.mlir --schedule=fast -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=CHOICE
// CHOICE: ml2kokkos: error: --schedule=fast: one of tuned, naive, or a file FILE.mlir
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/program.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: program.mlir:1:1: error: is no schedule: there is no transform.named_sequence
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/main.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=MAIN
// MAIN: main.mlir:1:1: error: has no transform.named_sequence @__transform_main
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/own.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: own.mlir:2:1: error: a file of a schedule holds sequences of the transform dialect only
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/syntax.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=SYNTAX
// SYNTAX: syntax.mlir:3:3: error: custom op 'transform.structured.frobnicate' is unknown
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/target.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: target.mlir:4:12: error: only TilingInterface ops are supported
// TARGET: program.mlir:1:1: note: target op
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/handle.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=HANDLE
// HANDLE: handle.mlir:5:{{.*}} error: op uses a handle invalidated by a previously executed transform op
// What it makes vectors are loops again.
// RUN: ml2kokkos %t/program.mlir --schedule=%t/vectors.mlir --emit=imported -o - | FileCheck %s --check-prefix=VECTORS
// VECTORS-NOT: vector
// VECTORS: scf.for
// VECTORS: arith.mulf
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/prints.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=PRINTS
// PRINTS: prints.mlir:3:3: error: 'transform.print' op is refused: a schedule prints nothing
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/pass.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: pass.mlir:3:8: error: 'transform.apply_registered_pass' op is refused: a schedule runs no passes by name
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/doubling.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=ENDLESS
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/itself.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: error: includes itself, or has more than 10000 steps with all that it includes
// RUN: not ml2kokkos %t/program.mlir --schedule=%t/foreign.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=FOREIGN
// FOREIGN: foreign.mlir:3:8: error: 'arith.constant' op is no step of a schedule
// RUN: not ml2kokkos %t/old.mlir -o %t/x.cpp 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: old.mlir:1:1: error: 'transform.sequence' op is not run; write the schedule as transform.named_sequence @__transform_main

//--- program.mlir
func.func @f(%a: tensor<16x4xf32>, %b: tensor<4x8xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x4xf32>, tensor<4x8xf32>) outs(%c : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

//--- tiles.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

//--- own.mlir
module attributes {transform.with_named_sequence} {
func.func @f(%a: tensor<16x4xf32>, %b: tensor<4x8xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x4xf32>, tensor<4x8xf32>) outs(%c : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

//--- two.mlir
module {
module {
func.func @f(%a: tensor<16x4xf32>, %b: tensor<4x8xf32>, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<16x4xf32>, tensor<4x8xf32>) outs(%c : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}
}
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  transform.include @tile failures(propagate) (%program) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @tile(%program: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_for %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
}

//--- remark.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  transform.debug.emit_remark_at %op, "the product" : !transform.any_op
  transform.yield
}
}

//--- main.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @other(%program: !transform.any_op) {
  transform.yield
}
}

//--- syntax.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  transform.structured.frobnicate %program : !transform.any_op
  transform.yield
}
}

//--- target.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["func.func"]} in %program : (!transform.any_op) -> !transform.any_op
  %t, %l = transform.structured.tile_using_forall %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

//--- handle.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  %t, %l = transform.structured.tile_using_for %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %u, %m = transform.structured.tile_using_for %op tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

//--- vectors.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %op = transform.structured.match ops{["linalg.matmul"]} in %program : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %op : !transform.any_op
  transform.yield
}
}

//--- prints.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  transform.print %program : !transform.any_op
  transform.yield
}
}

//--- pass.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %f = transform.apply_registered_pass "canonicalize" to %program : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}

//--- doubling.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%p: !transform.any_op) {
  transform.include @s11 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s11 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s11 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s11 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s11(%p: !transform.any_op {transform.readonly}) {
  transform.include @s10 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s10 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s10(%p: !transform.any_op {transform.readonly}) {
  transform.include @s9 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s9 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s9(%p: !transform.any_op {transform.readonly}) {
  transform.include @s8 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s8 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s8(%p: !transform.any_op {transform.readonly}) {
  transform.include @s7 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s7 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s7(%p: !transform.any_op {transform.readonly}) {
  transform.include @s6 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s6 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s6(%p: !transform.any_op {transform.readonly}) {
  transform.include @s5 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s5 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s5(%p: !transform.any_op {transform.readonly}) {
  transform.include @s4 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s4 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s4(%p: !transform.any_op {transform.readonly}) {
  transform.include @s3 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s3 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s3(%p: !transform.any_op {transform.readonly}) {
  transform.include @s2 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s2 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s2(%p: !transform.any_op {transform.readonly}) {
  transform.include @s1 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s1 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s1(%p: !transform.any_op {transform.readonly}) {
  transform.include @s0 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.include @s0 failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @s0(%p: !transform.any_op {transform.readonly}) {
  transform.yield
}
}

//--- itself.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%p: !transform.any_op) {
  transform.include @again failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
transform.named_sequence @again(%p: !transform.any_op {transform.readonly}) {
  transform.include @again failures(propagate) (%p) : (!transform.any_op) -> ()
  transform.yield
}
}

//--- old.mlir
transform.sequence failures(propagate) {
^bb0(%program: !transform.any_op):
  transform.yield
}

//--- foreign.mlir
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%program: !transform.any_op) {
  %n = arith.constant 8 : index
  transform.yield
}
}
