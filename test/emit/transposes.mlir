// Copies of numbers of one type of 4 or 8 bytes between buffers that lie along different indices go by squares of vectors; those of other
// sizes, at uneven places or with arithmetic go element by element, in rectangles.
// RUN: ml2kokkos %s -o %t.cpp --namespace turned && FileCheck %s < %t.cpp

#to = affine_map<(n, i, j) -> (n, i, j)>
#from = affine_map<(n, i, j) -> (n, j, i)>
#folded = affine_map<(n, i, j) -> (n, j floordiv 2, i)>
module {
  func.func @main(%x: memref<2x64x32xf32> {nest.name = "x"}, %h: memref<2x64x32xf16> {nest.name = "h"},
                  %d: memref<2x?x?xf64> {nest.name = "d"}, %k: memref<2x64x32xi32> {nest.name = "k", nest.unsigned},
                  %y: memref<2x32x64xf32> {nest.name = "y", nest.output},
                  %z: memref<2x32x64xf32> {nest.name = "z", nest.output},
                  %w: memref<2x32x128xf32> {nest.name = "w", nest.output},
                  %g: memref<2x32x64xf16> {nest.name = "g", nest.output},
                  %e: memref<2x?x?xf64> {nest.name = "e", nest.output},
                  %u: memref<2x32x64xi32> {nest.name = "u", nest.output, nest.unsigned},
                  %s: memref<2x32x64xi32> {nest.name = "s", nest.output}) {
    // CHECK:      {{^  }}transposed_copy(
    // CHECK-NEXT: "turned::copy", space, 2, 32, 64, KOKKOS_LAMBDA(int n, int i, int j)->float const & { return x(n, j, i); },
    // CHECK-NEXT: KOKKOS_LAMBDA(int n, int i, int j)->float & { return y(n, i, j); });
    nest.map "copy" ins(%x : memref<2x64x32xf32>) outs(%y : memref<2x32x64xf32>) maps [#from, #to] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    }
    // CHECK: for_squares("turned::negate", space, 2, 32, 64, KOKKOS_LAMBDA(int n, int i, int j) { z(n, i, j) = -x(n, j, i); });
    nest.map "negate" ins(%x : memref<2x64x32xf32>) outs(%z : memref<2x32x64xf32>) maps [#from, #to] {
    ^bb0(%a: f32):
      %b = arith.negf %a : f32
      nest.yield %b : f32
    }
    // CHECK: for_squares("turned::twice", space, 2, 32, 128, KOKKOS_LAMBDA(int n, int i, int j) { w(n, i, j) = x(n, j / 2, i); });
    nest.map "twice" ins(%x : memref<2x64x32xf32>) outs(%w : memref<2x32x128xf32>) maps [#folded, #to] {
    ^bb0(%a: f32):
      nest.yield %a : f32
    }
    // CHECK: for_squares("turned::halves", space, 2, 32, 64, KOKKOS_LAMBDA(int n, int i, int j) { g(n, i, j) = h(n, j, i); });
    nest.map "halves" ins(%h : memref<2x64x32xf16>) outs(%g : memref<2x32x64xf16>) maps [#from, #to] {
    ^bb0(%a: f16):
      nest.yield %a : f16
    }
    // CHECK:      {{^  }}transposed_copy(
    // CHECK-NEXT: "turned::doubles", space, 2,
    nest.map "doubles" ins(%d : memref<2x?x?xf64>) outs(%e : memref<2x?x?xf64>) maps [#from, #to] {
    ^bb0(%a: f64):
      nest.yield %a : f64
    }
    // CHECK:      {{^  }}transposed_copy(
    // CHECK-NEXT: "turned::unsigned", space, 2, 32, 64, KOKKOS_LAMBDA(int n, int i, int j)->unsigned const & { return k(n, j, i); },
    // CHECK-NEXT: KOKKOS_LAMBDA(int n, int i, int j)->unsigned & { return u(n, i, j); });
    nest.map "unsigned" ins(%k : memref<2x64x32xi32>) outs(%u : memref<2x32x64xi32>) maps [#from, #to] {
    ^bb0(%a: i32):
      nest.yield %a : i32
    }
    // CHECK: for_squares("turned::signed", space, 2, 32, 64, KOKKOS_LAMBDA(int n, int i, int j) { s(n, i, j) = k(n, j, i); });
    nest.map "signed" ins(%k : memref<2x64x32xi32>) outs(%s : memref<2x32x64xi32>) maps [#from, #to] {
    ^bb0(%a: i32):
      nest.yield %a : i32
    }
    return
  }
}
