// The factors of a product of integers are stored in 16 bits where both provably fit; otherwise neither is.
// RUN: ml2kokkos-opt %s --ml2k-narrow-factors | FileCheck %s

// A byte less its zero point, brought into another order by a copy that nobody else reads
// CHECK-LABEL: func.func @bytes
// CHECK: %[[W:.*]] = nest.weight "w" packing <panels> : tensor<3x4xi16> = dense<{{.*}}> : tensor<3x4xi16>
// CHECK: %[[X:.*]] = nest.map "x"
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: -> tensor<4x2xi16>
// CHECK: %[[T:.*]] = nest.map "t" ins(%[[X]] : tensor<4x2xi16>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: i16):
// CHECK-NEXT: nest.yield %[[V]] : i16
// CHECK: %[[R:.*]] = tensor.expand_shape {{.*}} tensor<8xi16> into tensor<2x4xi16>
// CHECK: nest.contract "y" {{.*}}ins(%[[R]], %[[W]] : tensor<2x4xi16>, tensor<3x4xi16>)
func.func @bytes(%b: tensor<4x2xi8>, %z: tensor<i8>) -> tensor<2x3xi32> {
  %w = nest.weight "w" packing <panels> : tensor<3x4xi32> = dense<[[1, 2, 3, -255], [5, 6, 7, 8], [0, 32767, -32768, 1]]> : tensor<3x4xi32>
  %e = tensor.empty() : tensor<4x2xi32>
  %x = nest.map "x" ins(%b, %z : tensor<4x2xi8>, tensor<i8>) outs(%e : tensor<4x2xi32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%byte: i8, %zero: i8):
    %wide = arith.extui %byte : i8 to i32
    %point = arith.extui %zero : i8 to i32
    %difference = arith.subi %wide, %point : i32
    nest.yield %difference : i32
  } -> tensor<4x2xi32>
  %f = tensor.empty() : tensor<8xi32>
  %t = nest.map "t" ins(%x : tensor<4x2xi32>) outs(%f : tensor<8xi32>)
      maps [affine_map<(i) -> (i mod 4, i floordiv 4)>, affine_map<(i) -> (i)>] {
  ^bb0(%element: i32):
    nest.yield %element : i32
  } -> tensor<8xi32>
  %r = tensor.expand_shape %t [[0, 1]] output_shape [2, 4] : tensor<8xi32> into tensor<2x4xi32>
  %o = tensor.empty() : tensor<2x3xi32>
  %y = nest.contract "y" [m, n, k] ins(%r, %w : tensor<2x4xi32>, tensor<3x4xi32>) outs(%o : tensor<2x3xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: i32):
    nest.yield %sum : i32
  } -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// 2 * 32767 does not fit, so that the other product of the weight stays as it is, and what is multiplied there
// CHECK-LABEL: func.func @wide
// CHECK: nest.weight "w" packing <panels> : tensor<3x4xi32>
// CHECK: nest.contract "y" {{.*}}: tensor<2x4xi32>, tensor<3x4xi32>)
// CHECK: nest.contract "u" {{.*}}: tensor<2x4xi32>, tensor<3x4xi32>)
func.func @wide(%b: tensor<2x4xi8>, %c: tensor<2x4xi16>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %w = nest.weight "w" packing <panels> : tensor<3x4xi32> = dense<1> : tensor<3x4xi32>
  %e = tensor.empty() : tensor<2x4xi32>
  %x = nest.map "x" ins(%b : tensor<2x4xi8>) outs(%e : tensor<2x4xi32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%byte: i8):
    %wide = arith.extui %byte : i8 to i32
    nest.yield %wide : i32
  } -> tensor<2x4xi32>
  %v = nest.map "v" ins(%c : tensor<2x4xi16>) outs(%e : tensor<2x4xi32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%short: i16):
    %wide = arith.extsi %short : i16 to i32
    %twice = arith.addi %wide, %wide : i32
    nest.yield %twice : i32
  } -> tensor<2x4xi32>
  %o = tensor.empty() : tensor<2x3xi32>
  %y = nest.contract "y" [m, n, k] ins(%x, %w : tensor<2x4xi32>, tensor<3x4xi32>) outs(%o : tensor<2x3xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: i32):
    nest.yield %sum : i32
  } -> tensor<2x3xi32>
  %u = nest.contract "u" [m, n, k] ins(%v, %w : tensor<2x4xi32>, tensor<3x4xi32>) outs(%o : tensor<2x3xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: i32):
    nest.yield %sum : i32
  } -> tensor<2x3xi32>
  return %y, %u : tensor<2x3xi32>, tensor<2x3xi32>
}

// A weight of bytes
// CHECK-LABEL: func.func @byte_weight
// CHECK: nest.weight "w" packing <panels> : tensor<3x4xi8> = dense<-128> : tensor<3x4xi8>
// CHECK: nest.contract "y" {{.*}}: tensor<2x4xi16>, tensor<3x4xi8>)
func.func @byte_weight(%b: tensor<2x4xi8>) -> tensor<2x3xi32> {
  %w = nest.weight "w" packing <panels> : tensor<3x4xi32> = dense<-128> : tensor<3x4xi32>
  %e = tensor.empty() : tensor<2x4xi32>
  %x = nest.map "x" ins(%b : tensor<2x4xi8>) outs(%e : tensor<2x4xi32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%byte: i8):
    %wide = arith.extsi %byte : i8 to i32
    nest.yield %wide : i32
  } -> tensor<2x4xi32>
  %o = tensor.empty() : tensor<2x3xi32>
  %y = nest.contract "y" [m, n, k] ins(%x, %w : tensor<2x4xi32>, tensor<3x4xi32>) outs(%o : tensor<2x3xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: i32):
    nest.yield %sum : i32
  } -> tensor<2x3xi32>
  return %y : tensor<2x3xi32>
}

// A weight that does not fit; a factor that something else reads, too
// CHECK-LABEL: func.func @others
// CHECK-NOT: i16
// CHECK: return
func.func @others(%b: tensor<2x4xi8>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x4xi32>) {
  %w = nest.weight "w" packing <panels> : tensor<3x4xi32> = dense<32768> : tensor<3x4xi32>
  %n = nest.weight "n" packing <panels> : tensor<3x4xi32> = dense<1> : tensor<3x4xi32>
  %e = tensor.empty() : tensor<2x4xi32>
  %x:2 = nest.map "x" ins(%b : tensor<2x4xi8>) outs(%e, %e : tensor<2x4xi32>, tensor<2x4xi32>)
      maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%byte: i8):
    %wide = arith.extui %byte : i8 to i32
    nest.yield %wide, %wide : i32, i32
  } -> tensor<2x4xi32>, tensor<2x4xi32>
  %o = tensor.empty() : tensor<2x3xi32>
  %y = nest.contract "y" [m, n, k] ins(%x#0, %w : tensor<2x4xi32>, tensor<3x4xi32>) outs(%o : tensor<2x3xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: i32):
    nest.yield %sum : i32
  } -> tensor<2x3xi32>
  %u = nest.contract "u" [m, n, k] ins(%x#1, %n : tensor<2x4xi32>, tensor<3x4xi32>) outs(%o : tensor<2x3xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] epilogue {
  ^bb0(%sum: i32):
    nest.yield %sum : i32
  } -> tensor<2x3xi32>
  return %y, %u, %x#1 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x4xi32>
}
