// A loop over steps whose every use is `first - step`, and its neighbours, is over those: down where the order matters, up where it is
// free. Remainders of divisions that round down are calls.
// RUN: ml2kokkos --entry=column %s -o %t.cpp && FileCheck --check-prefix=COLUMN %s < %t.cpp
// RUN: ml2kokkos --entry=host %s -o %t.cpp && FileCheck --check-prefix=HOST %s < %t.cpp
// RUN: ml2kokkos --entry=free %s -o %t.cpp && FileCheck --check-prefix=FREE %s < %t.cpp
// RUN: ml2kokkos --entry=both %s -o %t.cpp && FileCheck --check-prefix=BOTH %s < %t.cpp
// RUN: ml2kokkos --entry=remainders %s -o %t.cpp && FileCheck --check-prefix=REMAINDERS %s < %t.cpp
// RUN: ml2kokkos --entry=column --emit=prepared %s -o %t.mlir && FileCheck --check-prefix=IR %s < %t.mlir
// RUN: sed 's|//misused: ||' %s > %t.misused.mlir
// RUN: not ml2kokkos --entry=misused %t.misused.mlir -o %t.cpp 2>&1 | FileCheck --check-prefix=MISUSED %s

// COLUMN: compute_y
// COLUMN: Strip<4096>::Of<double> below(strip);
// COLUMN-NEXT: for_columns(strip, [&](int i) { below(i) = 0.0; });
// COLUMN-NEXT: for (int level = n - 2; level >= m; --level) {
// COLUMN-NEXT: for_columns(strip, [&](int i) {
// COLUMN-NEXT: below(i) = 0.5 * below(i) + x(level, i) - x(level + 1, i);
// COLUMN-NEXT: y(level, i) = below(i);
// IR: scf.for %[[STEP:.*]] = %{{.*}} to %{{.*}} step %c1
// IR-NEXT: nest.from_end %[[STEP]]
func.func @column(%x: memref<?x?xf64> {nest.dims = ["n", "c"]}, %y: memref<?x?xf64> {nest.dims = ["n", "c"]}, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %c = memref.dim %x, %c1 : memref<?x?xf64>
  %last = arith.subi %n, %c1 : index
  %steps = arith.subi %last, %m : index
  scf.parallel (%i) = (%c0) to (%c) step (%c1) {
    %sum = scf.for %step = %c0 to %steps step %c1 iter_args(%below = %zero) -> (f64) {
      %level_above = arith.subi %last, %step : index
      %level = arith.subi %level_above, %c1 : index
      %a = memref.load %x[%level, %i] : memref<?x?xf64>
      %b = memref.load %x[%level_above, %i] : memref<?x?xf64>
      %h = arith.mulf %below, %half : f64
      %s = arith.addf %h, %a : f64
      %t = arith.subf %s, %b : f64
      memref.store %t, %y[%level, %i] : memref<?x?xf64>
      scf.yield %t : f64
    }
    scf.reduce
  }
  return
}

// HOST: x(i, j) += x(i + 1, 0);
// HOST: for (int i = n - 2; i >= 0; --i)
// HOST-NEXT: compute_x(space, x, i, n)
func.func @host(%x: memref<?x?xf64> {nest.dims = ["n", "n"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64>
  %rows = arith.subi %n, %c1 : index
  scf.for %step = %c0 to %rows step %c1 {
    %next = arith.subi %rows, %step : index
    %i = arith.subi %next, %c1 : index
    scf.for %j = %c0 to %n step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x?xf64>
      %b = memref.load %x[%next, %c0] : memref<?x?xf64>
      %s = arith.addf %a, %b : f64
      memref.store %s, %x[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

// FREE: Span{0, n - 1}
// FREE-SAME: y(i) = x(i + 1);
func.func @free(%x: memref<?xf64> {nest.dims = ["n"]}, %y: memref<?xf64> {nest.dims = ["n"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %last = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %last step %c1 {
    %from = arith.subi %last, %i : index
    %to = arith.subi %from, %c1 : index
    %a = memref.load %x[%from] : memref<?xf64>
    memref.store %a, %y[%to] : memref<?xf64>
  }
  return
}

// An index that is used as it is, too, keeps its direction.
// BOTH: y(n - 1 - i) = x(i);
func.func @both(%x: memref<?xf64> {nest.dims = ["n"]}, %y: memref<?xf64> {nest.dims = ["n"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %last = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %to = arith.subi %last, %i : index
    %a = memref.load %x[%i] : memref<?xf64>
    memref.store %a, %y[%to] : memref<?xf64>
  }
  return
}

// REMAINDERS: y(i, 0) = floor_mod(a, 7);
// REMAINDERS-NEXT: y(i, 1) = floor_mod(a, m);
// REMAINDERS-NEXT: y(i, 2) = a % 3 == 0 ? 1 : m;
// REMAINDERS-NEXT: y(i, 3) = floor_mod(a, 5);
func.func @remainders(%x: memref<?xi32> {nest.dims = ["n"]}, %y: memref<?x4xi32> {nest.dims = ["n", ""]}, %m: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %five = arith.constant 5 : i32
  %seven = arith.constant 7 : i32
  %bits = arith.constant 31 : i32
  %n = memref.dim %x, %c0 : memref<?xi32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xi32>
    %r = arith.remsi %a, %seven : i32
    %sign = arith.shrsi %r, %bits : i32
    %more = arith.andi %sign, %seven : i32
    %s = arith.addi %r, %more : i32
    memref.store %s, %y[%i, %c0] : memref<?x4xi32>
    %q = arith.remsi %a, %m : i32
    %less = arith.cmpi slt, %q, %zero : i32
    %below = arith.cmpi slt, %m, %zero : i32
    %differ = arith.xori %less, %below : i1
    %some = arith.cmpi ne, %q, %zero : i32
    %wrong = arith.andi %some, %differ : i1
    %moved = arith.addi %q, %m : i32
    %t = arith.select %wrong, %moved, %q : i32
    memref.store %t, %y[%i, %c1] : memref<?x4xi32>
    %u = arith.remsi %a, %three : i32
    %usign = arith.shrsi %u, %bits : i32
    %umore = arith.andi %usign, %three : i32
    %v = arith.addi %u, %umore : i32
    %even = arith.cmpi eq, %v, %zero : i32
    %w = arith.select %even, %one, %m : i32
    memref.store %w, %y[%i, %c2] : memref<?x4xi32>
    %d = arith.remsi %a, %five : i32
    %down = arith.cmpi slt, %d, %zero : i32
    %up = arith.addi %d, %five : i32
    %e = arith.select %down, %up, %d : i32
    memref.store %e, %y[%i, %c3] : memref<?x4xi32>
  }
  return
}

// MISUSED: error: 'nest.from_end' op requires the index of its scf.for by ones, which nothing else uses, in front
//misused: func.func @misused(%x: memref<9xindex>, %n: index) {
//misused:   %k = nest.from_end %n
//misused:   memref.store %k, %x[%n] : memref<9xindex>
//misused:   return
//misused: }
