// Contractions that each take what the one before made are marked as one kernel of devices: where nobody else reads what
// lies between them, where the rows of a team fit its scratch, where an argument of the function keeps the first operand
// apart from the last result, and where there is work to do.
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-settle-packings,ml2k-choose-blocks,ml2k-chain-products))' | FileCheck %s
// RUN: ml2kokkos-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(ml2k-settle-packings,ml2k-choose-blocks{target=host},ml2k-chain-products{target=host}))' | FileCheck %s --check-prefix=HOST

// HOST-NOT: nest.in_turn = {{[23]}}

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @three
// CHECK: nest.contract "a" {{.*}}nest.in_turn = 3
// CHECK: nest.contract "b"
// CHECK-NOT: nest.in_turn
func.func @three(%x: memref<?x91xf32>, %y: memref<?x11xf32>, %rows: index) {
  %u = nest.weight "u" packing <panels> : memref<91x100xf32> = dense<1.0> : tensor<91x100xf32>
  %v = nest.weight "v" packing <panels> : memref<100x100xf32> = dense<1.0> : tensor<100x100xf32>
  %w = nest.weight "w" packing <panels> : memref<100x11xf32> = dense<1.0> : tensor<100x11xf32>
  %a = nest.buffer "a"(%rows) : memref<?x100xf32>
  %b = nest.buffer "b"(%rows) : memref<?x100xf32>
  nest.contract "a" [m, n, k] ins(%x, %u : memref<?x91xf32>, memref<91x100xf32>) outs(%a : memref<?x100xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "b" [m, n, k] ins(%a, %v : memref<?x100xf32>, memref<100x100xf32>) outs(%b : memref<?x100xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "y" [m, n, k] ins(%b, %w : memref<?x100xf32>, memref<100x11xf32>) outs(%y : memref<?x11xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The first result is read twice: the others are still one kernel. What stands already as alone stays so.
// CHECK-LABEL: func.func @read_twice
// CHECK: nest.contract "a"
// CHECK-NOT: nest.in_turn
// CHECK: nest.contract "b" {{.*}}nest.in_turn = 2
// CHECK: nest.contract "y"
// CHECK-NOT: nest.in_turn = 2
// CHECK: nest.contract "alone" {{.*}}nest.in_turn = 1
func.func @read_twice(%x: memref<800x91xf32>, %y: memref<800x100xf32>, %z: memref<800x100xf32>, %t: memref<800x100xf32>) {
  %u = nest.weight "u" packing <panels> : memref<91x100xf32> = dense<1.0> : tensor<91x100xf32>
  %v = nest.weight "v" packing <panels> : memref<100x100xf32> = dense<1.0> : tensor<100x100xf32>
  %w = nest.weight "w" packing <panels> : memref<100x100xf32> = dense<1.0> : tensor<100x100xf32>
  %a = nest.buffer "a" : memref<800x100xf32>
  %b = nest.buffer "b" : memref<800x100xf32>
  nest.contract "a" [m, n, k] ins(%x, %u : memref<800x91xf32>, memref<91x100xf32>) outs(%a : memref<800x100xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "b" [m, n, k] ins(%a, %v : memref<800x100xf32>, memref<100x100xf32>) outs(%b : memref<800x100xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "y" [m, n, k] ins(%b, %w : memref<800x100xf32>, memref<100x100xf32>) outs(%y : memref<800x100xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.map "copy" ins(%a : memref<800x100xf32>) outs(%z : memref<800x100xf32>) maps [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>] {
  ^bb0(%value: f32):
    nest.yield %value : f32
  }
  nest.contract "alone" [m, n, k] ins(%a, %w : memref<800x100xf32>, memref<100x100xf32>) outs(%t : memref<800x100xf32>) maps [#mk, #kn, #mn] attributes {nest.in_turn = 1 : i64} epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Too wide for scratch, with memory between them that may be shared, with too little to do
// CHECK-LABEL: func.func @apart
// CHECK-NOT: nest.in_turn
func.func @apart(%x: memref<800x300xf32>, %few: memref<8x16xf32>, %y: memref<8x16xf32>) {
  %u = nest.weight "u" packing <panels> : memref<300x300xf32> = dense<1.0> : tensor<300x300xf32>
  %v = nest.weight "v" packing <panels> : memref<300x64xf32> = dense<1.0> : tensor<300x64xf32>
  %w = nest.weight "w" packing <panels> : memref<64x64xf32> = dense<1.0> : tensor<64x64xf32>
  %s = nest.weight "s" packing <panels> : memref<16x16xf32> = dense<1.0> : tensor<16x16xf32>
  %t = nest.weight "t" packing <panels> : memref<16x16xf32> = dense<1.0> : tensor<16x16xf32>
  %a = nest.buffer "a" : memref<800x300xf32>
  %b = nest.buffer "b" : memref<800x64xf32>
  %c = nest.buffer "c" : memref<800x64xf32>
  %d = nest.buffer "d" : memref<8x16xf32>
  nest.contract "a" [m, n, k] ins(%x, %u : memref<800x300xf32>, memref<300x300xf32>) outs(%a : memref<800x300xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "b" [m, n, k] ins(%a, %v : memref<800x300xf32>, memref<300x64xf32>) outs(%b : memref<800x64xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "c" [m, n, k] ins(%b, %w : memref<800x64xf32>, memref<64x64xf32>) outs(%c : memref<800x64xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "d" [m, n, k] ins(%few, %s : memref<8x16xf32>, memref<16x16xf32>) outs(%d : memref<8x16xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "y" [m, n, k] ins(%d, %t : memref<8x16xf32>, memref<16x16xf32>) outs(%y : memref<8x16xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}
