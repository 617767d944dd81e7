// Functions of C: declared in front, called by their global names; numbers by value, arrays as pointer, extents, strides.
// RUN: ml2kokkos %s -o %t.cpp && FileCheck %s < %t.cpp

// CHECK:      // Functions that are linked
// CHECK-NEXT: extern "C" {
// CHECK-NEXT: void relax(double *a, std::int64_t a_extent_0, std::int64_t a_stride_0, float const *b, std::int64_t b_extent_0,
// CHECK-NEXT:            std::int64_t b_extent_1, std::int64_t b_stride_0, std::int64_t b_stride_1, std::int64_t c);
// CHECK-NEXT: int status();
// CHECK-NEXT: KOKKOS_FUNCTION double upwind(double a, double b);
// CHECK-NEXT: }
// CHECK:      static_assert(Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible,
// CHECK-NEXT:               "relax() is declared for a host");
// CHECK-NOT:  "upwind() is declared
// CHECK:      "status() is declared for a host");

// CHECK:      Kokkos::RangePolicy(space, 0, n), KOKKOS_LAMBDA(int i) {
// CHECK-NEXT: double const flux = ::upwind(u(i), u(i + 1));
// CHECK-NEXT: rate(i) = flux * flux;
// CHECK:      float own[2][3];
// CHECK:      ::relax(&m(i, 1), columns - 1, m.stride(1), &own[0][0], 2, 3, 3, 1, code(i));
// CHECK:      ::m_update"
// CHECK:      ::relax(&m(0, j), rows, m.stride(0), &own[0][0], 2, 3, 3, 1, code(j));
// CHECK:      code_0() = ::status();
func.func @main(%u: memref<?xf64> {nest.name = "u"}, %rate: memref<?xf64> {nest.name = "rate"},
                %m: memref<?x?xf64> {nest.name = "m", nest.dims = ["rows", "columns"]},
                %code: memref<?xi64> {nest.name = "code"}, %last: memref<i32> {nest.name = "code_0"}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %rows = memref.dim %m, %c0 : memref<?x?xf64>
  %columns = memref.dim %m, %c1 : memref<?x?xf64>
  %rest = arith.subi %columns, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %a = memref.load %u[%i] : memref<?xf64>
    %b = memref.load %u[%next] : memref<?xf64>
    %flux = func.call @upwind(%a, %b) : (f64, f64) -> f64
    %square = arith.mulf %flux, %flux : f64
    memref.store %square, %rate[%i] : memref<?xf64>
  }
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %own = memref.alloca() : memref<2x3xf32>
    scf.for %k = %c0 to %c2 step %c1 {
      scf.for %l = %c0 to %c3 step %c1 {
        memref.store %zero, %own[%k, %l] : memref<2x3xf32>
      }
    }
    %row = memref.subview %m[%i, %c1] [1, %rest] [1, 1] : memref<?x?xf64> to memref<?xf64, strided<[1], offset: ?>>
    %passed = memref.cast %row : memref<?xf64, strided<[1], offset: ?>> to memref<?xf64, strided<[?], offset: ?>>
    %all = memref.cast %own : memref<2x3xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %c = memref.load %code[%i] : memref<?xi64>
    func.call @relax(%passed, %all, %c) : (memref<?xf64, strided<[?], offset: ?>>, memref<?x?xf32, strided<[?, ?], offset: ?>>, i64) -> ()
    scf.reduce
  }
  scf.for %j = %c0 to %columns step %c1 {
    %own = memref.alloca() : memref<2x3xf32>
    scf.for %k = %c0 to %c2 step %c1 {
      scf.for %l = %c0 to %c3 step %c1 {
        memref.store %zero, %own[%k, %l] : memref<2x3xf32>
      }
    }
    %column = memref.subview %m[0, %j] [%rows, 1] [1, 1] : memref<?x?xf64> to memref<?xf64, strided<[?], offset: ?>>
    %all = memref.cast %own : memref<2x3xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
    %c = memref.load %code[%j] : memref<?xi64>
    func.call @relax(%column, %all, %c) : (memref<?xf64, strided<[?], offset: ?>>, memref<?x?xf32, strided<[?, ?], offset: ?>>, i64) -> ()
  }
  %status = func.call @status() : () -> i32
  memref.store %status, %last[] : memref<i32>
  return
}
func.func private @upwind(f64, f64) -> f64 attributes {nest.extern = "device"}
func.func private @relax(memref<?xf64, strided<[?], offset: ?>> {nest.output}, memref<?x?xf32, strided<[?, ?], offset: ?>>, i64)
  attributes {nest.extern = "host"}
func.func private @status() -> i32 attributes {nest.extern = "host"}
