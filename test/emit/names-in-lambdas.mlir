// A name of a lambda never hides what the lambda reads; a constant that changes nothing is not joined; what is repeated has a name.
// RUN: ml2kokkos %s -o %t.cpp --namespace names && FileCheck %s < %t.cpp

#id = affine_map<(i) -> (i)>
#all = affine_map<(n, i) -> (n, i)>
#one = affine_map<(n, i) -> (n)>
module {
  func.func @main(%a: memref<9xf32> {nest.name = "a"}, %k: memref<4x9xi32> {nest.name = "k"},
                  %b: memref<9xf32> {nest.name = "b", nest.output}, %c: memref<9xf32> {nest.name = "c", nest.output},
                  %m: memref<4xi32> {nest.name = "m", nest.output}) {
    %w = nest.weight "fc.a_i" : memref<9xf32> = dense<2.0> : tensor<9xf32>
    // CHECK: auto const fc_a_i = weights.fc_a_i;
    // CHECK: float const a_i = a(i);
    // CHECK-NEXT: float const x = 1.f / a_i;
    // CHECK-NEXT: b(i) = a_i * a_i + fc_a_i(i);
    // CHECK-NEXT: c(i) = x < 2.f || x > 2.f ? 1.f : 2.f;
    nest.map "square" ins(%a, %w : memref<9xf32>, memref<9xf32>) outs(%b : memref<9xf32>) maps [#id, #id, #id] {
    ^bb0(%v: f32, %u: f32):
      %s = arith.mulf %v, %v : f32
      %o = arith.addf %s, %u : f32
      nest.yield %o : f32
    }
    nest.map "differs" ins(%a : memref<9xf32>) outs(%c : memref<9xf32>) maps [#id, #id] {
    ^bb0(%v: f32):
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %r = arith.divf %one, %v : f32
      %d = arith.cmpf one, %r, %two : f32
      %o = arith.select %d, %one, %two : f32
      nest.yield %o : f32
    }
    // CHECK: int const largest = along.fold<Max>(9, [&](int ii) { return k(i, ii); });
    // CHECK-NEXT: along.once([&] { m(i) = largest; });
    nest.reduce "most" <maxsi> from -2147483648 : i32 over [1] ins(%k : memref<4x9xi32>) outs(%m : memref<4xi32>) maps [#all, #one] term {
    ^bb0(%v: i32):
      nest.yield %v : i32
    } finish {
    ^bb0(%t: i32):
      nest.yield %t : i32
    }
    return
  }
}
