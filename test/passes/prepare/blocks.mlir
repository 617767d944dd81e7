// What each kernel is printed as, by its loops, its operands' places in memory and the packing of its weights.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-to-prepared | FileCheck %s --check-prefixes=CHECK,DEVICES
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-to-prepared | ml2kokkos-opt --split-input-file -o /dev/null
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-to-prepared=target=host | FileCheck %s --check-prefixes=CHECK,HOST

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @maps
func.func @maps(%x: memref<16x32xf32>, %t: memref<32x16xf32>, %u: memref<32x16xi32> {nest.unsigned}, %v: memref<16x32xi32>,
                %y: memref<16x32xf32>, %rows: memref<16xi64>) {
  // CHECK: nest.map "along" {{.*}} attributes {nest.schedule = #nest.schedule<for_each, inner = 1>}
  nest.map "along" ins(%x : memref<16x32xf32>) outs(%y : memref<16x32xf32>) maps [#ij, #ij] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  // CHECK: nest.map "copied" {{.*}} attributes {nest.schedule = #nest.schedule<transposed_copy, inner = 1, crossing = 0>}
  nest.map "copied" ins(%t : memref<32x16xf32>) outs(%y : memref<16x32xf32>) maps [#ji, #ij] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  // CHECK: nest.map "squared" {{.*}} attributes {nest.schedule = #nest.schedule<for_squares, inner = 1, crossing = 0>}
  nest.map "squared" ins(%t : memref<32x16xf32>) outs(%y : memref<16x32xf32>) maps [#ji, #ij] {
  ^bb0(%a: f32):
    %s = arith.mulf %a, %a : f32
    nest.yield %s : f32
  }
  // Unsigned memory to signed is no plain copy
  // CHECK: nest.map "converted" {{.*}} attributes {nest.schedule = #nest.schedule<for_squares, inner = 1, crossing = 0>}
  nest.map "converted" ins(%u : memref<32x16xi32>) outs(%v : memref<16x32xi32>) maps [#ji, #ij] {
  ^bb0(%a: i32):
    nest.yield %a : i32
  }
  // A row is looked up once: what checks its position stands in front of the loop along it
  // CHECK: nest.map "looked_up" {{.*}} attributes {nest.schedule = #nest.schedule<for_spans, inner = 1>}
  nest.map "looked_up" ins(%rows : memref<16xi64>) outs(%y : memref<16x32xf32>) maps [#i, #ij] {
  ^bb0(%a: i64):
    %c = arith.constant 16 : index
    %row = nest.position %a, %c : i64
    %column = nest.index 1
    %e = memref.load %x[%row, %column] : memref<16x32xf32>
    nest.yield %e : f32
  }
  return
}

// -----
// Few channels are written pixel by pixel.
#planes = affine_map<(n, h, w, c) -> (n, c, h, w)>
#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
// CHECK-LABEL: func.func @images
func.func @images(%x: memref<1x3x8x8xf32>, %z: memref<1x8x8x3xf32>) {
  %b = nest.buffer "b" border [1, 1] : memref<1x8x8x3xf32>
  // CHECK: nest.map "arranged" {{.*}} attributes {nest.schedule = #nest.schedule<channels_last>}
  nest.map "arranged" ins(%x : memref<1x3x8x8xf32>) outs(%b : memref<1x8x8x3xf32>) maps [#planes, #image] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  }
  // CHECK: nest.map "scaled" {{.*}} attributes {nest.schedule = #nest.schedule<for_each, inner = 2, channel = 3>}
  nest.map "scaled" ins(%z : memref<1x8x8x3xf32>) outs(%b : memref<1x8x8x3xf32>) maps [#image, #image] {
  ^bb0(%a: f32):
    %s = arith.addf %a, %a : f32
    nest.yield %s : f32
  }
  return
}

// -----
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: memref<16x32xf32>, %y: memref<16xf32>, %z: memref<32xf32>) {
  // CHECK: nest.reduce "rows" {{.*}} attributes {nest.schedule = #nest.schedule<fold_rows>}
  nest.reduce "rows" <sum> from 0.0 : f32 over [1] ins(%x : memref<16x32xf32>) outs(%y : memref<16xf32>) maps [#ij, #i]
  term {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } finish {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  // CHECK: nest.reduce "columns" {{.*}} attributes {nest.schedule = #nest.schedule<fold_columns, inner = 1>}
  nest.reduce "columns" <sum> from 0.0 : f32 over [0] ins(%x : memref<16x32xf32>) outs(%z : memref<32xf32>) maps [#ij, #j]
  term {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } finish {
  ^bb0(%s: f32):
    nest.yield %s : f32
  }
  return
}

// -----
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @contractions
func.func @contractions(%x: memref<4x8xf32>, %b: memref<8x3xf32>, %y: memref<4x3xf32>, %t: memref<3x8xf32>,
                        %large: memref<4096x64xf32>, %out: memref<4096x64xf32>, %row: memref<1x1024xf32>,
                        %result: memref<1x1024xf32>) {
  %w = nest.weight "w" packing <panels> : memref<3x8xf32> = dense<1.0> : tensor<3x8xf32>
  %v = nest.weight "v" packing <panels> : memref<64x64xf32> = dense<1.0> : tensor<64x64xf32>
  // CHECK: nest.contract "packed" {{.*}} attributes {nest.schedule = #nest.schedule<contract>}
  nest.contract "packed" [m, n, k] ins(%x, %w : memref<4x8xf32>, memref<3x8xf32>) outs(%y : memref<4x3xf32>) maps [#mk, #nk, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.contract "large" {{.*}} attributes {nest.schedule = #nest.schedule<contract, device = large_product>}
  nest.contract "large" [m, n, k] ins(%large, %v : memref<4096x64xf32>, memref<64x64xf32>) outs(%out : memref<4096x64xf32>) maps [#mk, #nk, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // One row of it: split along k
  %u = nest.weight "u" packing <panels> : memref<1024x1024xf32> = dense<1.0> : tensor<1024x1024xf32>
  // CHECK: nest.contract "row" {{.*}} attributes {nest.schedule = #nest.schedule<contract, device = few_rows>}
  nest.contract "row" [m, n, k] ins(%row, %u : memref<1x1024xf32>, memref<1024x1024xf32>) outs(%result : memref<1x1024xf32>) maps [#mk, #nk, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.contract "plain" {{.*}} attributes {nest.fixed_extents, nest.schedule = #nest.schedule<batched_contract, left = true, right = true, in_place = true, device = small_products>}
  nest.contract "plain" [m, n, k] ins(%x, %b : memref<4x8xf32>, memref<8x3xf32>) outs(%y : memref<4x3xf32>) maps [#mk, #kn, #mn] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.contract "by_rows" {{.*}} attributes {nest.schedule = #nest.schedule<batched_contract, left = true, device = small_products>}
  nest.contract "by_rows" [m, n, k] ins(%x, %t : memref<4x8xf32>, memref<3x8xf32>) outs(%y : memref<4x3xf32>) maps [#mk, #nk, #mn] epilogue {
  ^bb0(%sum: f32):
    %n = arith.negf %sum : f32
    nest.yield %n : f32
  }
  // What stands already stays, if it asks for less
  // CHECK: nest.contract "given" {{.*}} attributes {nest.schedule = #nest.schedule<batched_contract>}
  nest.contract "given" [m, n, k] ins(%x, %b : memref<4x8xf32>, memref<8x3xf32>) outs(%y : memref<4x3xf32>) maps [#mk, #kn, #mn]
      attributes {nest.schedule = #nest.schedule<batched_contract>} epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: memref<1x6x6x8xf32>, %y: memref<1x4x4x8xf32>) {
  %w = nest.weight "w" packing <panels> : memref<8x8x3x3xf32> = dense<1.0> : tensor<8x8x3x3xf32>
  %u = nest.weight "u" packing <panels, winograd = 2> : memref<8x8x3x3xf32> = dense<1.0> : tensor<8x8x3x3xf32>
  %t = nest.weight "t" packing <taps> : memref<8x1x3x3xf32> = dense<1.0> : tensor<8x1x3x3xf32>
  // CHECK: nest.conv "direct" {{.*}} attributes {nest.schedule = #nest.schedule<conv>}
  nest.conv "direct" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%x, %w : memref<1x6x6x8xf32>, memref<8x8x3x3xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // A host thread transforms 28 tiles of 4 x 4 of 8 + 8 channels at a time
  // CHECK: nest.conv "winograd" {{.*}} attributes {nest.schedule = #nest.schedule<winograd, scratch = 7168>}
  nest.conv "winograd" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%x, %u : memref<1x6x6x8xf32>, memref<8x8x3x3xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.conv "depthwise" {{.*}} attributes {nest.schedule = #nest.schedule<depthwise>}
  nest.conv "depthwise" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 8 ins(%x, %t : memref<1x6x6x8xf32>, memref<8x1x3x3xf32>) outs(%y : memref<1x4x4x8xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
// CHECK-LABEL: func.func @pools
func.func @pools(%x: memref<1x16x16x8xf32>, %y: memref<1x8x8x8xf32>, %all: memref<1x1x1x8xf32>) {
  // CHECK: nest.window "pool" {{.*}} attributes {nest.schedule = #nest.schedule<pool>}
  nest.window "pool" <max> kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] ins(%x : memref<1x16x16x8xf32>) outs(%y : memref<1x8x8x8xf32>) finish {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  // CHECK: nest.window "global" {{.*}} attributes {nest.schedule = #nest.schedule<pool, device = broad_windows>}
  nest.window "global" <max> kernel [16, 16] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] ins(%x : memref<1x16x16x8xf32>) outs(%all : memref<1x1x1x8xf32>) finish {
  ^bb0(%v: f32):
    nest.yield %v : f32
  }
  return
}

// -----
// Many pixels and a long sum: devices have larger tiles, also where hosts take Winograd's method
#p = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @images
func.func @images(%x: memref<32x58x58x64xf32>, %y: memref<32x56x56x64xf32>, %few: memref<1x58x58x64xf32>, %one: memref<1x56x56x64xf32>) {
  %w = nest.weight "w" packing <panels> : memref<64x64x3x3xf32> = dense<0.0> : tensor<64x64x3x3xf32>
  %u = nest.weight "u" packing <panels, winograd = 4> : memref<64x64x3x3xf32> = dense<0.0> : tensor<64x64x3x3xf32>
  // CHECK: nest.conv "many" {{.*}} attributes {nest.schedule = #nest.schedule<conv, device = large_product>}
  nest.conv "many" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%x, %w : memref<32x58x58x64xf32>, memref<64x64x3x3xf32>) outs(%y : memref<32x56x56x64xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.conv "winograd" {{.*}} attributes {nest.schedule = #nest.schedule<winograd, device = large_product, scratch = 129024>}
  nest.conv "winograd" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%x, %u : memref<32x58x58x64xf32>, memref<64x64x3x3xf32>) outs(%y : memref<32x56x56x64xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  // CHECK: nest.conv "few" {{.*}} attributes {nest.schedule = #nest.schedule<conv>}
  nest.conv "few" strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 ins(%few, %w : memref<1x58x58x64xf32>, memref<64x64x3x3xf32>) outs(%one : memref<1x56x56x64xf32>) epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----
// What only devices gain from is for files that serve any.
#ij = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @devices
func.func @devices(%x: memref<1024x2048xf32>, %y: memref<1024x2048xf32>) {
  // DEVICES: nest.map "many" {{.*}} attributes {nest.schedule = #nest.schedule<assign_each, inner = 1>}
  // HOST: nest.map "many" {{.*}} attributes {nest.schedule = #nest.schedule<for_each, inner = 1>}
  nest.map "many" ins(%x : memref<1024x2048xf32>) outs(%y : memref<1024x2048xf32>) maps [#ij, #ij] {
  ^bb0(%a: f32):
    %e = math.exp %a : f32
    nest.yield %e : f32
  }
  // A loop is no value
  // CHECK: nest.map "looped" {{.*}} attributes {nest.schedule = #nest.schedule<for_each, inner = 1>}
  nest.map "looped" ins(%x : memref<1024x2048xf32>) outs(%y : memref<1024x2048xf32>) maps [#ij, #ij] {
  ^bb0(%a: f32):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %p = scf.for %i = %c0 to %c9 step %c1 iter_args(%q = %a) -> f32 {
      %r = arith.mulf %q, %q : f32
      scf.yield %r : f32
    }
    nest.yield %p : f32
  }
  // The second pass reads what the first one wrote, and the row fits registers
  // DEVICES: nest.row "kept" {{.*}} attributes {nest.schedule = #nest.schedule<for_wide_rows, kept = 1>}
  // HOST: nest.row "kept" {{.*}} attributes {nest.schedule = #nest.schedule<for_rows>}
  nest.row "kept" ins(%x : memref<1024x2048xf32>) outs(%y : memref<1024x2048xf32>) maps [#ij, #ij] {
  ^bb0(%in: !nest.row<f32>, %out: !nest.row<f32>):
    nest.each {
    ^bb0(%i: index):
      %v = nest.get %in[%i] : !nest.row<f32> -> f32
      %e = math.exp %v : f32
      nest.set %e, %out[%i] : f32, !nest.row<f32>
      nest.yield
    }
    nest.each {
    ^bb0(%i: index):
      %v = nest.get %out[%i] : !nest.row<f32> -> f32
      %d = arith.addf %v, %v : f32
      nest.set %d, %out[%i] : f32, !nest.row<f32>
      nest.yield
    }
    nest.yield
  }
  // The second pass reads an element other than its own
  // CHECK: nest.row "first" {{.*}} attributes {nest.schedule = #nest.schedule<for_rows>}
  nest.row "first" ins(%x : memref<1024x2048xf32>) outs(%y : memref<1024x2048xf32>) maps [#ij, #ij] {
  ^bb0(%in: !nest.row<f32>, %out: !nest.row<f32>):
    %c0 = arith.constant 0 : index
    nest.each {
    ^bb0(%i: index):
      %v = nest.get %in[%i] : !nest.row<f32> -> f32
      nest.set %v, %out[%i] : f32, !nest.row<f32>
      nest.yield
    }
    nest.each {
    ^bb0(%i: index):
      %v = nest.get %out[%c0] : !nest.row<f32> -> f32
      nest.set %v, %out[%i] : f32, !nest.row<f32>
      nest.yield
    }
    nest.yield
  }
  return
}

// -----
// CHECK-LABEL: func.func @loops
func.func @loops(%x: memref<4x5x6xf32>, %y: memref<4xf32>, %total: memref<f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: nest.kernel "one"
  // CHECK: } {nest.schedule = #nest.schedule<range>}
  nest.kernel "one" range (%i) = (%c0) to (%c4) {
    memref.store %zero, %y[%i] : memref<4xf32>
    nest.yield
  }
  // CHECK: nest.kernel "three"
  // CHECK: } {nest.schedule = #nest.schedule<for_grid, fused = 2>}
  nest.kernel "three" mdrange (%i, %j, %k) = (%c0, %c0, %c0) to (%c4, %c5, %c6) {
    memref.store %zero, %x[%i, %j, %k] : memref<4x5x6xf32>
    nest.yield
  }
  // What all iterations compute alike from a scalar in memory, which they do not write, is computed once
  // CHECK: nest.kernel "scaled"
  // CHECK: arith.divf {{.*}} {nest.shared}
  // CHECK: } {nest.schedule = #nest.schedule<for_shared_span>}
  nest.kernel "scaled" range (%i) = (%c0) to (%n) {
    %t = memref.load %total[] : memref<f32>
    %s = arith.divf %zero, %t : f32
    %v = memref.load %y[%i] : memref<4xf32>
    %w = arith.mulf %s, %v : f32
    memref.store %w, %y[%i] : memref<4xf32>
    nest.yield
  }
  // CHECK: nest.kernel "written"
  // CHECK-NOT: nest.shared
  // CHECK: } {nest.schedule = #nest.schedule<reduce_span>}
  nest.kernel "written" range (%i) = (%c0) to (%c4) reduce (sum into %total : memref<f32>) {
    %t = memref.load %total[] : memref<f32>
    %s = arith.divf %zero, %t : f32
    %v = memref.load %y[%i] : memref<4xf32>
    %w = arith.mulf %s, %v : f32
    nest.yield %w : f32
  }
  // CHECK: nest.kernel "sum"
  // CHECK: } {nest.schedule = #nest.schedule<reduce_span>}
  nest.kernel "sum" range (%i) = (%c0) to (%c4) reduce (sum into %total : memref<f32>) {
    %v = memref.load %y[%i] : memref<4xf32>
    nest.yield %v : f32
  }
  return
}

// -----
// One loop whose positions take as many steps each is for vector registers.
// CHECK-LABEL: func.func @lines
func.func @lines(%x: memref<?xf32>, %y: memref<?xf32>, %n: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1000 = arith.constant 1000 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  // CHECK: nest.kernel "short_loop"
  // CHECK: } {nest.schedule = #nest.schedule<for_grid>}
  nest.kernel "short_loop" range (%i) = (%c0) to (%size) {
    scf.for %k = %c0 to %c64 step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
    nest.yield
  }
  // CHECK: nest.kernel "long_loop"
  // CHECK: } {nest.schedule = #nest.schedule<range>}
  nest.kernel "long_loop" range (%i) = (%c0) to (%size) {
    scf.for %k = %c0 to %c1000 step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
    nest.yield
  }
  // CHECK: nest.kernel "run_time_loop"
  // CHECK: } {nest.schedule = #nest.schedule<range>}
  nest.kernel "run_time_loop" range (%i) = (%c0) to (%size) {
    scf.for %k = %c0 to %size step %c1 {
      %v = memref.load %x[%k] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
    nest.yield
  }
  // CHECK: nest.kernel "counted"
  // CHECK: } {nest.schedule = #nest.schedule<range>}
  nest.kernel "counted" range (%i) = (%c0) to (%size) {
    %one = arith.constant 1 : i32
    %old = memref.atomic_rmw addi %one, %n[%i] : (i32, memref<?xi32>) -> i32
    nest.yield
  }
  return
}

// -----
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// Rows of an image with a border do not lie at equal distances: no vectors of them are copied.
// CHECK-LABEL: func.func @across_borders
func.func @across_borders(%y: memref<32x64xf32>) {
  %inside = nest.buffer "inside" border [1, 1] : memref<1x8x8x32xf32>
  %whole = nest.buffer "whole" border [0, 0] : memref<1x8x8x32xf32>
  %a = memref.collapse_shape %inside [[0, 1, 2], [3]] : memref<1x8x8x32xf32> into memref<64x32xf32>
  %b = memref.collapse_shape %whole [[0, 1, 2], [3]] : memref<1x8x8x32xf32> into memref<64x32xf32>
  // CHECK: nest.map "apart" {{.*}} attributes {nest.schedule = #nest.schedule<for_squares, inner = 1, crossing = 0>}
  nest.map "apart" ins(%a : memref<64x32xf32>) outs(%y : memref<32x64xf32>) maps [#ji, #ij] {
  ^bb0(%e: f32):
    nest.yield %e : f32
  }
  // CHECK: nest.map "adjoining" {{.*}} attributes {nest.schedule = #nest.schedule<transposed_copy, inner = 1, crossing = 0>}
  nest.map "adjoining" ins(%b : memref<64x32xf32>) outs(%y : memref<32x64xf32>) maps [#ji, #ij] {
  ^bb0(%e: f32):
    nest.yield %e : f32
  }
  return
}
