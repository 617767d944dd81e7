// Elementwise kernels: broadcasts are indices, values used twice have names, precedence decides parentheses, signedness comes
// from the operation, NaN goes where the operation sends it.
// RUN: ml2kokkos %s -o %t.cpp --namespace maps && FileCheck %s < %t.cpp

#id = affine_map<(n, i) -> (n, i)>
#column = affine_map<(n, i) -> (n, 0)>
#row = affine_map<(n, i) -> (i)>
module {
  func.func @main(%x: memref<32x768xf32> {nest.name = "x"}, %scale: memref<32x1xf32> {nest.name = "scale"},
                  %shift: memref<768xf32> {nest.name = "shift"}, %k: memref<32x768xi32> {nest.name = "k"},
                  %y: memref<32x768xf32> {nest.name = "y", nest.output}, %z: memref<32x768xf32> {nest.name = "z", nest.output},
                  %u: memref<32x768xi32> {nest.name = "u", nest.output}) {
    // Rows of one piece are not divided
    // CHECK:      bool const is_whole = pieces == 1;
    // CHECK-NEXT: int const row = is_whole ? item : item / pieces;
    // CHECK:      // --- gelu: Gelu "/gelu"
    // CHECK-NEXT: // x[32,768], scale[32,1], shift[768] -> y[32,768], z[32,768]
    // CHECK:        "maps::gelu", space, 32, 768, KOKKOS_LAMBDA(int n, int i) {
    // CHECK-NEXT:     float const x_ni = x(n, i);
    // CHECK-NEXT:     float const scale_n0 = scale(n, 0);
    // CHECK-NEXT:     float const shift_i = shift(i);
    // CHECK-NEXT:     float const t = x_ni * scale_n0 + shift_i;
    // CHECK-NEXT:     y(n, i) = t * 0.5f * (fast_erf(t * 0.70710677f) + 1.f);
    nest.map "gelu" ins(%x, %scale, %shift : memref<32x768xf32>, memref<32x1xf32>, memref<768xf32>) outs(%y : memref<32x768xf32>)
      maps [#id, #column, #row, #id] {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %half = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %root = arith.constant 1.4142135 : f32
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %p, %c : f32
      %r = arith.divf %t, %root : f32
      %e = math.erf %r : f32
      %f = arith.addf %one, %e : f32
      %h = arith.mulf %t, %half : f32
      %o = arith.mulf %h, %f : f32
      nest.yield %o : f32
    } loc("Gelu \22/gelu\22")
    // CHECK-NEXT: z(n, i) = Kokkos::max(x_ni, 0.f) + maximum(x_ni - 1.f, scale_n0) + Kokkos::fmax(shift_i, 2.f);
    nest.map "choices" ins(%x, %x, %scale, %shift : memref<32x768xf32>, memref<32x768xf32>, memref<32x1xf32>, memref<768xf32>)
      outs(%z : memref<32x768xf32>) maps [#id, #id, #column, #row, #id] {
    ^bb0(%a: f32, %a2: f32, %b: f32, %c: f32):
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %two = arith.constant 2.0 : f32
      %r = arith.maximumf %zero, %a : f32
      %d = arith.subf %a2, %one : f32
      %m = arith.maximumf %d, %b : f32
      %g = arith.maxnumf %c, %two : f32
      %s = arith.addf %r, %m : f32
      %o = arith.addf %s, %g : f32
      nest.yield %o : f32
    }
    // CHECK: u(n, i) = !(x(n, i) <= 0.f) ? wrapping_add(k(n, i), 3) : int(unsigned(k(n, i)) / 7u);
    nest.map "integers" ins(%x, %k, %k : memref<32x768xf32>, memref<32x768xi32>, memref<32x768xi32>)
      outs(%u : memref<32x768xi32>) maps [#id, #id, #id, #id] {
    ^bb0(%a: f32, %i: i32, %j: i32):
      %zero = arith.constant 0.0 : f32
      %three = arith.constant 3 : i32
      %seven = arith.constant 7 : i32
      %c = arith.cmpf ugt, %a, %zero : f32
      %s = arith.addi %i, %three : i32
      %q = arith.divui %j, %seven : i32
      %o = arith.select %c, %s, %q : i32
      nest.yield %o : i32
    }
    return
  }
}
