// Elementary functions of f32 are blocks, with what they need above them; those of f64 and with --math=std are libm's.
// RUN: ml2kokkos %s -o %t.cpp --namespace elementary && FileCheck %s --check-prefixes=FAST,BOTH < %t.cpp
// RUN: ml2kokkos %s -o %t_std.cpp --namespace elementary --math=std && FileCheck %s --check-prefixes=STD,BOTH < %t_std.cpp
// RUN: ml2kokkos %s -o %t_host.cpp --namespace elementary --target=host && FileCheck %s --check-prefix=HOST < %t_host.cpp

#id = affine_map<(i) -> (i)>
module {
  // FAST: constexpr bool rounds_vectors() {
  // FAST-NEXT: #if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || (defined(__x86_64__) && !defined(__SSE4_1__))
  // HOST: constexpr bool rounds_vectors() {
  // HOST-NEXT: #if defined(__x86_64__) && !defined(__SSE4_1__)
  // HOST-NOT: quotient
  // STD-NOT: fast_
  func.func @main(%x: memref<100xf32> {nest.name = "x"}, %d: memref<100xf64> {nest.name = "d"},
                  %y: memref<100xf32> {nest.name = "y", nest.output}, %z: memref<100xf32> {nest.name = "z", nest.output},
                  %e: memref<100xf64> {nest.name = "e", nest.output}) {
    // FAST: y(i) = fast_sin([[T:[a-z_]+]]) + fast_cos([[T]]) + fast_tan([[T]]) + fast_atan([[T]]);
    // STD: y(i) = Kokkos::sin([[T:[a-z_]+]]) + Kokkos::cos([[T]]) + Kokkos::tan([[T]]) + Kokkos::atan([[T]]);
    nest.map "turns" ins(%x : memref<100xf32>) outs(%y : memref<100xf32>) maps [#id, #id] {
    ^bb0(%a: f32):
      %s = math.sin %a : f32
      %c = math.cos %a : f32
      %t = math.tan %a : f32
      %g = math.atan %a : f32
      %sc = arith.addf %s, %c : f32
      %sct = arith.addf %sc, %t : f32
      %sum = arith.addf %sct, %g : f32
      nest.yield %sum : f32
    } loc("turns")
    // FAST: z(i) = fast_asin([[A:[a-z_]+]]) + fast_acos([[A]]) + fast_sinh([[A]]) + fast_cosh([[A]]);
    // STD: z(i) = Kokkos::asin([[A:[a-z_]+]]) + Kokkos::acos([[A]]) + Kokkos::sinh([[A]]) + Kokkos::cosh([[A]]);
    nest.map "arcs" ins(%x : memref<100xf32>) outs(%z : memref<100xf32>) maps [#id, #id] {
    ^bb0(%a: f32):
      %s = math.asin %a : f32
      %c = math.acos %a : f32
      %t = math.sinh %a : f32
      %g = math.cosh %a : f32
      %sc = arith.addf %s, %c : f32
      %sct = arith.addf %sc, %t : f32
      %sum = arith.addf %sct, %g : f32
      nest.yield %sum : f32
    } loc("arcs")
    // BOTH: e(i) = Kokkos::sin(d(i));
    nest.map "double" ins(%d : memref<100xf64>) outs(%e : memref<100xf64>) maps [#id, #id] {
    ^bb0(%a: f64):
      %s = math.sin %a : f64
      nest.yield %s : f64
    } loc("double")
    return
  }
}
