// A parallel reduction inside a parallel loop is a fold of one thread; its index and what it joins keep their names. Sums in order, and
// few terms, stay loops.
// RUN: ml2kokkos %s -o - | FileCheck %s
// RUN: ml2kokkos %s -o - --target=device | FileCheck %s --check-prefix=DEVICE

// CHECK: if constexpr (on_host)
// CHECK-NEXT: if (range.end - i >= 2 * SideBySide<Combiner, Value>::lanes) {
// CHECK: double const total = fold_span<Sum, double>(Span{0, columns}, [&](int column) { return x(row, column); });
// CHECK-NEXT: sums(row) = total;
// CHECK: double const largest = fold_span<Max, double>(Span{0, columns}, [&](int column) {
// CHECK: double ordered = 0.0;
// CHECK-NEXT: for (int column = 0; column < columns; ++column){{$}}
// CHECK-NEXT: ordered += x(row, column);
// CHECK: for (int column = 0; column < 8; ++column){{$}}
// DEVICE-NOT: SideBySide
// DEVICE: double const total = fold_span<Sum, double>(Span{0, columns}, [&](int column) { return x(row, column); });
func.func @rows(%x: memref<?x?xf64> {nest.dims = ["rows", "columns"]}, %sums: memref<?xf64> {nest.dims = ["rows"]},
                %maxima: memref<?xf64> {nest.dims = ["rows"]}, %others: memref<?x2xf64> {nest.dims = ["rows", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f64
  %low = arith.constant 0xFFF0000000000000 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  scf.for %row = %c0 to %rows step %c1 {
    %sum = scf.parallel (%column) = (%c0) to (%columns) step (%c1) init (%zero) -> f64 {
      %term = memref.load %x[%row, %column] : memref<?x?xf64>
      scf.reduce(%term : f64) {
      ^bb0(%total: f64, %next: f64):
        %joined = arith.addf %total, %next : f64
        scf.reduce.return %joined : f64
      }
    }
    memref.store %sum, %sums[%row] : memref<?xf64>
  }
  scf.for %row = %c0 to %rows step %c1 {
    %largest = scf.for %column = %c0 to %columns step %c1 iter_args(%largest = %low) -> f64 {
      %term = memref.load %x[%row, %column] : memref<?x?xf64>
      %square = arith.mulf %term, %term : f64
      %more = arith.maximumf %largest, %square : f64
      scf.yield %more : f64
    }
    memref.store %largest, %maxima[%row] : memref<?xf64>
  }
  scf.for %row = %c0 to %rows step %c1 {
    %ordered = scf.for %column = %c0 to %columns step %c1 iter_args(%ordered = %zero) -> f64 {
      %term = memref.load %x[%row, %column] : memref<?x?xf64>
      %more = arith.addf %ordered, %term : f64
      scf.yield %more : f64
    }
    memref.store %ordered, %others[%row, %c0] : memref<?x2xf64>
    %few = scf.for %column = %c0 to %c8 step %c1 iter_args(%few = %zero) -> f64 {
      %term = memref.load %x[%row, %column] : memref<?x?xf64>
      %more = arith.addf %few, %term fastmath<reassoc> : f64
      scf.yield %more : f64
    }
    memref.store %few, %others[%row, %c1] : memref<?x2xf64>
  }
  return
}
