// --calls=kokkoskernels: which products are calls, what becomes of an epilogue, and why others are not.
// RUN: ml2kokkos-opt %s --split-input-file --ml2k-to-prepared=calls=kokkoskernels | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#bias = affine_map<(m, n, k) -> (n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @epilogue
// CHECK: nest.contract "fc" [m, n, k] ins(%{{.*}}, %{{.*}} : memref<256x256xf32>, memref<256x256xf32>) outs(
// CHECK-SAME: nest.schedule = #nest.schedule<library_gemm, left = true>
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
// CHECK-NEXT: nest.yield %[[SUM]]
// CHECK: nest.map "fc.epilogue"
// CHECK-SAME: #nest.schedule<for_each, inner = 1>
// CHECK: arith.addf
func.func @epilogue(%x: memref<256x256xf32> {nest.name = "x"}, %y: memref<256x256xf32> {nest.name = "y", nest.output}) {
  %w = nest.weight "w" packing <panels> : memref<256x256xf32> = dense<1.0> : tensor<256x256xf32>
  %v = nest.weight "v" : memref<256xf32> = dense<2.0> : tensor<256xf32>
  nest.contract "fc" [m, n, k] ins(%x, %w : memref<256x256xf32>, memref<256x256xf32>) extras(%v : memref<256xf32>)
      outs(%y : memref<256x256xf32>) maps [#a, #b, #bias, #c] epilogue {
  ^bb0(%sum: f32, %add: f32):
    %s = arith.addf %sum, %add : f32
    nest.yield %s : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// What the result holds is added by the call.
// CHECK-LABEL: func.func @added
// CHECK: nest.contract "sum"
// CHECK-SAME: extras(
// CHECK-SAME: nest.schedule = #nest.schedule<library_gemm, right = true>
// CHECK-NOT: nest.map
func.func @added(%x: memref<256x256xf64> {nest.name = "x"}, %w: memref<256x256xf64> {nest.name = "w"},
                 %y: memref<256x256xf64> {nest.name = "y", nest.output}) {
  nest.contract "sum" [m, n, k] ins(%x, %w : memref<256x256xf64>, memref<256x256xf64>) extras(%y : memref<256x256xf64>)
      outs(%y : memref<256x256xf64>) maps [#a, #b, #c, #c] epilogue {
  ^bb0(%sum: f64, %old: f64):
    %s = arith.addf %sum, %old : f64
    nest.yield %s : f64
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @small
// CHECK: nest.contract "small"
// CHECK-SAME: nest.kept = "fewer than 2^24 multiplications"
// CHECK-SAME: #nest.schedule<batched_contract
// CHECK: nest.contract "halves"
// CHECK-SAME: nest.kept = "not all of one type, f32 or f64"
func.func @small(%x: memref<64x64xf32> {nest.name = "x"}, %w: memref<64x64xf32> {nest.name = "w"},
                 %y: memref<64x64xf32> {nest.name = "y", nest.output}, %h: memref<512x512xf16> {nest.name = "h"},
                 %g: memref<512x512xf32> {nest.name = "g", nest.output}) {
  nest.contract "small" [m, n, k] ins(%x, %w : memref<64x64xf32>, memref<64x64xf32>) outs(%y : memref<64x64xf32>)
      maps [#a, #b, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  nest.contract "halves" [m, n, k] ins(%h, %h : memref<512x512xf16>, memref<512x512xf16>) outs(%g : memref<512x512xf32>)
      maps [#a, #b, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// A halo lies between the rows of an image.
// CHECK-LABEL: func.func @image
// CHECK: nest.contract "fc"
// CHECK-SAME: nest.kept = "an operand is a part of an image, or of memory of unknown sizes"
func.func @image(%w: memref<512x512xf32> {nest.name = "w"}, %y: memref<256x512xf32> {nest.name = "y", nest.output}) {
  %x = nest.buffer "x" border [1, 1] : memref<256x4x8x16xf32>
  %rows = memref.collapse_shape %x [[0], [1, 2, 3]] : memref<256x4x8x16xf32> into memref<256x512xf32>
  nest.contract "fc" [m, n, k] ins(%rows, %w : memref<256x512xf32>, memref<512x512xf32>) outs(%y : memref<256x512xf32>)
      maps [#a, #b, #c] epilogue {
  ^bb0(%sum: f32):
    nest.yield %sum : f32
  }
  return
}
