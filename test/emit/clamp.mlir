// A maximum and a minimum with constant bounds clamp, in either order; bounds that cross, or a value used in between, do not.
// RUN: ml2kokkos %s -o %t.cpp --namespace bounds && FileCheck %s < %t.cpp

// CHECK: template <class T> KOKKOS_FUNCTION T clamp(T x, T low, T high)
// CHECK: y(i) = clamp(x(i), 0.f, 6.f);
// CHECK: y(i) = clamp(x(i), 0.f, 6.f);
// CHECK: y(i) = Kokkos::min(Kokkos::max(x(i), 6.f), 0.f);

#same = affine_map<(i) -> (i)>
module {
  func.func @main(%x: memref<9xf32> {nest.name = "x"}, %y: memref<9xf32> {nest.name = "y", nest.output}) {
    nest.map "relu6" ins(%x : memref<9xf32>) outs(%y : memref<9xf32>) maps [#same, #same] {
    ^bb0(%v: f32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 6.0 : f32
      %a = arith.maximumf %v, %low : f32
      %b = arith.minimumf %a, %high : f32
      nest.yield %b : f32
    }
    nest.map "clip" ins(%x : memref<9xf32>) outs(%y : memref<9xf32>) maps [#same, #same] {
    ^bb0(%v: f32):
      %low = arith.constant 0.0 : f32
      %high = arith.constant 6.0 : f32
      %a = arith.minimumf %v, %high : f32
      %b = arith.maximumf %a, %low : f32
      nest.yield %b : f32
    }
    nest.map "crossed" ins(%x : memref<9xf32>) outs(%y : memref<9xf32>) maps [#same, #same] {
    ^bb0(%v: f32):
      %low = arith.constant 6.0 : f32
      %high = arith.constant 0.0 : f32
      %a = arith.maximumf %v, %low : f32
      %b = arith.minimumf %a, %high : f32
      nest.yield %b : f32
    }
    return
  }
}
