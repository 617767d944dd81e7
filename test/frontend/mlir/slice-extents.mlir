// Slices lie inside, operands fit: what that needs of run-time extents is asserted. Results that are computed have extents
// that forward() compares.
// RUN: ml2kokkos %s --entry=slices --emit=imported | FileCheck %s --check-prefix=SLICES
// RUN: ml2kokkos %s --entry=slices -o - | FileCheck %s --check-prefix=PRINTED
// RUN: ml2kokkos %s --entry=inserted --emit=imported | FileCheck %s --check-prefix=INSERTED
// RUN: ml2kokkos %s --entry=padded -o - | FileCheck %s --check-prefix=PADDED
// RUN: ml2kokkos %s --entry=window --emit=imported | FileCheck %s --check-prefix=WINDOW
// RUN: ml2kokkos %s --entry=rows --emit=imported | FileCheck %s --check-prefix=ROWS
// RUN: ml2kokkos %s --entry=repeated --emit=imported | FileCheck %s --check-prefix=REPEATED
// RUN: ml2kokkos %s --entry=chosen --emit=imported | FileCheck %s --check-prefix=CHOSEN
// RUN: ml2kokkos %s --entry=as_cast --emit=imported | FileCheck %s --check-prefix=CAST

// SLICES: #[[MAP:.*]] = affine_map<()[s0] -> (s0 - 1)>
// SLICES: @slices(
// SLICES-SAME: nest.extents = [#[[MAP]]]
// SLICES-SAME: nest.symbols = ["batch"]
// SLICES-DAG: cf.assert %{{.*}}, "y_size has to be at least batch"
// SLICES-DAG: cf.assert %{{.*}}, "z_size has to be at least 12"
// PRINTED: if (s.extent_int(0) != batch - 1)
func.func @slices(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<?xf32> {nest.name = "s"}, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c1 : index
  %a = tensor.extract_slice %x[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %b = tensor.extract_slice %y[1] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %s = arith.addf %a, %b : tensor<?xf32>
  %part = tensor.extract_slice %z[4] [8] [1] : tensor<?xf32> to tensor<8xf32>
  %t = arith.addf %part, %part : tensor<8xf32>
  return %s, %t : tensor<?xf32>, tensor<8xf32>
}

// INSERTED-DAG: cf.assert %{{.*}}, "k has to be at least 0"
// INSERTED-DAG: cf.assert %{{.*}}, "y_size has to be at least k + count"
// INSERTED-DAG: cf.assert %{{.*}}, "batch has to be count"
func.func @inserted(%x: tensor<?xf32>, %y: tensor<?xf32>, %k: index, %count: index) -> tensor<?xf32> {
  %a = tensor.insert_slice %x into %y[%k] [%count] [1] : tensor<?xf32> into tensor<?xf32>
  return %a : tensor<?xf32>
}

// PADDED: if (sum.extent_int(0) != batch + k + 1)
// PADDED: if (y_size != batch + k + 1)
// PADDED-NEXT: y_size has to be batch + k + 1
func.func @padded(%x: tensor<?xf32>, %y: tensor<?xf32>, %k: index) -> (tensor<?xf32> {nest.name = "sum"}) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[%k] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<?xf32>
  %s = arith.addf %p, %y : tensor<?xf32>
  return %s : tensor<?xf32>
}

// WINDOW: cf.assert %{{.*}}, "batch + 1 has to be at least w_size + o_size"
func.func @window(%x: tensor<?xf32>, %w: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.conv_1d ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The largest index of a loop.
// ROWS-DAG: cf.assert %{{.*}}, "batch has to be at least n + 3"
// ROWS-DAG: cf.assert %{{.*}}, "x_size_1 has to be at least sum_size"
func.func @rows(%x: tensor<?x?xf32>, %sum: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = tensor.dim %sum, %c0 : tensor<?xf32>
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%a = %sum) -> tensor<?xf32> {
    %at = arith.addi %t, %c3 : index
    %row = tensor.extract_slice %x[%at, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %s = linalg.add ins(%row, %a : tensor<?xf32>, tensor<?xf32>) outs(%a : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %s : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// A loop that goes on while its numbers say so needs equal extents as another one.
// REPEATED: nest.dims = ["batch", "batch"], nest.name = "a"
// REPEATED-SAME: nest.dims = ["batch"], nest.name = "b"
func.func @repeated(%a: tensor<?x?xf64>, %b: tensor<?xf64>, %limit: i32) -> tensor<?xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = tensor.dim %b, %c0 : tensor<?xf64>
  %e = tensor.empty(%n) : tensor<?xf64>
  %r:2 = scf.while (%x = %b, %k = %none) : (tensor<?xf64>, i32) -> (tensor<?xf64>, i32) {
    %goes = arith.cmpi slt, %k, %limit : i32
    scf.condition(%goes) %x, %k : tensor<?xf64>, i32
  } do {
  ^bb0(%x: tensor<?xf64>, %k: i32):
    %z = linalg.fill ins(%zero : f64) outs(%e : tensor<?xf64>) -> tensor<?xf64>
    %y = linalg.matvec ins(%a, %x : tensor<?x?xf64>, tensor<?xf64>) outs(%z : tensor<?xf64>) -> tensor<?xf64>
    %next = arith.addi %k, %one : i32
    scf.yield %y, %next : tensor<?xf64>, i32
  }
  return %r#0 : tensor<?xf64>
}

// Under a condition nothing is needed.
// CHOSEN-NOT: cf.assert
func.func @chosen(%x: tensor<?xf32>, %y: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %r = scf.if %c -> tensor<4xf32> {
    %part = tensor.extract_slice %x[4] [4] [1] : tensor<?xf32> to tensor<4xf32>
    scf.yield %part : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// A cast says what the extents are.
// CAST-DAG: cf.assert %{{.*}}, "batch has to be 2"
// CAST-DAG: cf.assert %{{.*}}, "y_size_1 has to be 3"
func.func @as_cast(%x: tensor<2x3xf32>, %y: tensor<?x?xf32>) -> tensor<2x3xf32> {
  %as = tensor.cast %y : tensor<?x?xf32> to tensor<2x3xf32>
  %r = arith.addf %x, %as : tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
