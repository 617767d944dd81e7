// Launches whose threads wait, and long loops inside a parallel loop, are teams: memory of the team, values of its threads,
// barriers where one thread needs what another one wrote, and nowhere else.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/columns.mlir --emit=prepared | ml2kokkos-opt -o /dev/null
// RUN: ml2kokkos %t/gemm.mlir --emit=nest | FileCheck %s --check-prefix=GEMM
// RUN: ml2kokkos %t/gemm.mlir --emit=prepared | FileCheck %s --check-prefix=SHAPE
// RUN: ml2kokkos %t/gemm.mlir -o - | FileCheck %s --check-prefix=TEXT
// RUN: ml2kokkos %t/rows.mlir --emit=nest | FileCheck %s --check-prefix=ROWS
// RUN: ml2kokkos %t/rows.mlir -o - | FileCheck %s --check-prefix=LINES
// RUN: ml2kokkos %t/proved.mlir -o - | FileCheck %s --check-prefix=PROVED
// RUN: ml2kokkos %t/atomic.mlir -o - | FileCheck %s --check-prefix=ATOMIC
// RUN: ml2kokkos %t/proved.mlir --schedule=naive -o - | FileCheck %s --check-prefix=NAIVE
// RUN: ml2kokkos %t/columns.mlir --emit=nest | FileCheck %s --check-prefix=COLUMNS
// RUN: ml2kokkos %t/mapped.mlir --emit=nest | FileCheck %s --check-prefix=MAPPED
// RUN: ml2kokkos %t/large.mlir -o - | FileCheck %s --check-prefix=LARGE
// RUN: ml2kokkos %t/overwritten.mlir -o - | FileCheck %s --check-prefix=OVERWRITTEN

//--- gemm.mlir
// GEMM: nest.kernel "c" team (%{{.*}}, %{{.*}}) =
// GEMM-DAG: %[[A:.*]] = memref.alloca() : memref<16x16xf32>
// GEMM-DAG: %[[SUM:.*]] = memref.alloca() {nest.of_threads} : memref<16x16xf32>
// GEMM: scf.parallel
// GEMM: memref.store %{{.*}}, %[[SUM]]
// GEMM-NOT: nest.barrier
// GEMM: scf.for
// GEMM: scf.parallel
// GEMM: nest.barrier
// GEMM: scf.parallel
// GEMM: nest.barrier
// GEMM-NEXT: }
// GEMM-NOT: nest.barrier
// SHAPE: nest.schedule = #nest.schedule<team, threads = 16, lanes = 16>
// TEXT: std::size_t const scratch_bytes = TeamArray<float, 16, 16>::bytes() + TeamArray<float, 16, 16>::bytes();
// TEXT: int const level = scratch_level("gemm::c", scratch_bytes);
// TEXT: Kokkos::parallel_for(
// TEXT: "gemm::c", teams(space, 4 * 4, 16, 16).set_scratch_size(level, Kokkos::PerTeam(scratch_bytes)),
// TEXT: KOKKOS_LAMBDA(Team const &team) {
// TEXT:   int const block = team.league_rank();
// TEXT:   int const by = block / 4;
// TEXT:   int const bx = block % 4;
// TEXT-DAG:   TeamArray<float, 16, 16> a_tile(team, level);
// TEXT-DAG:   TeamArray<float, 16, 16> b_tile(team, level);
// TEXT-DAG:   OfThreads<float, 16, 16> acc;
// TEXT:   for_threads(team, Span{0, 16}, Span{0, 16}, [&](int ty, int tx) { acc(ty, tx) = 0.f; });
// TEXT:   team.team_barrier();
!tile = memref<16x16xf32, #gpu.address_space<workgroup>>
func.func @gemm(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c4, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c16, %sz = %c1)
      workgroup(%a_tile : !tile, %b_tile : !tile) {
    %r0 = arith.muli %by, %c16 : index
    %row = arith.addi %r0, %ty : index
    %s0 = arith.muli %bx, %c16 : index
    %column = arith.addi %s0, %tx : index
    %sum = scf.for %tile = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> f32 {
      %k0 = arith.muli %tile, %c16 : index
      %ka = arith.addi %k0, %tx : index
      %kb = arith.addi %k0, %ty : index
      %x = memref.load %a[%row, %ka] : memref<64x64xf32>
      %y = memref.load %b[%kb, %column] : memref<64x64xf32>
      memref.store %x, %a_tile[%ty, %tx] : !tile
      memref.store %y, %b_tile[%ty, %tx] : !tile
      gpu.barrier
      %part = scf.for %k = %c0 to %c16 step %c1 iter_args(%u = %acc) -> f32 {
        %v = memref.load %a_tile[%ty, %k] : !tile
        %w = memref.load %b_tile[%k, %tx] : !tile
        %m = arith.mulf %v, %w : f32
        %z = arith.addf %u, %m : f32
        scf.yield %z : f32
      }
      gpu.barrier
      scf.yield %part : f32
    }
    memref.store %sum, %c[%row, %column] : memref<64x64xf32>
    gpu.terminator
  }
  return
}

//--- rows.mlir
// ROWS: nest.kernel "y" team (%{{.*}}) =
// ROWS: %[[TOTAL:.*]] = scf.parallel
// ROWS-NOT: nest.barrier
// ROWS: scf.parallel
// ROWS: memref.store
// ROWS: nest.barrier
// ROWS: memref.load %{{.*}}[%{{.*}}, %c0]
// ROWS: memref.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<?xf32>
// All threads read what one of them has written: no rows of for_rows.
// LINES: Kokkos::parallel_for(
// LINES: "rows::y", teams(space, rows, 128, 1), KOKKOS_LAMBDA(Team const &team) {
// LINES: int const row = team.league_rank();
// LINES: float const total = fold_threads<Sum>(team, Span{0, columns}, [&](int j) { return x(row, j); });
// LINES: for_threads(team, Span{0, columns}, [&](int j) { y(row, j) = x(row, j) / total; });
// LINES: team.team_barrier();
// LINES: Kokkos::single(Kokkos::PerTeam(team), [&]() { first(row) =
func.func @rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %first: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f32
  scf.parallel (%row) = (%c0) to (%rows) step (%c1) {
    %total = scf.parallel (%j) = (%c0) to (%columns) step (%c1) init (%zero) -> f32 {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      scf.reduce (%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        scf.reduce.return %t : f32
      }
    }
    scf.parallel (%j) = (%c0) to (%columns) step (%c1) {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      %d = arith.divf %v, %total : f32
      memref.store %d, %y[%row, %j] : memref<?x?xf32>
    }
    %f = memref.load %y[%row, %c0] : memref<?x?xf32>
    memref.store %f, %first[%row] : memref<?xf32>
  }
  return
}

//--- proved.mlir
// Sequential loops along a row that are proved to be parallel are shared, too. Beside a sum that keeps its order a fold is one
// thread's.
// PROVED: "proved::y", space, rows, columns, KOKKOS_LAMBDA(int row, Row const &along) {
// PROVED-NEXT: float const largest = along.fold<Max>(columns, [&](int j) { return x(row, j); });
// PROVED-NEXT: along.each(columns, [&](int j) { y(row, j) = x(row, j) - largest; });
// NAIVE-NOT: for_rows
// A read that is the same for all of a row stands in front of it.
// PROVED: float const v = x(row, 0);
// PROVED-NEXT: along.each(columns, [&](int j) { w(row, j) = v * x(row, j); });
// PROVED: fold_span<Max, float>(Span{0, columns}
// PROVED: for (int j = 0; j < columns; ++j)
func.func @proved(%x: memref<?x?xf32> {nest.dims = ["rows", "columns"]}, %y: memref<?x?xf32> {nest.dims = ["rows", "columns"]},
                  %w: memref<?x?xf32> {nest.dims = ["rows", "columns"]}, %z: memref<?xf32> {nest.dims = ["others"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %others = memref.dim %z, %c0 : memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  scf.for %row = %c0 to %rows step %c1 {
    %largest = scf.for %j = %c0 to %columns step %c1 iter_args(%m = %low) -> f32 {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      %n = arith.maximumf %m, %v : f32
      scf.yield %n : f32
    }
    scf.for %j = %c0 to %columns step %c1 {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      %d = arith.subf %v, %largest : f32
      memref.store %d, %y[%row, %j] : memref<?x?xf32>
    }
    scf.for %j = %c0 to %columns step %c1 {
      %v = memref.load %x[%row, %c0] : memref<?x?xf32>
      %u = memref.load %x[%row, %j] : memref<?x?xf32>
      %t = arith.mulf %v, %u : f32
      memref.store %t, %w[%row, %j] : memref<?x?xf32>
    }
  }
  scf.for %row = %c0 to %others step %c1 {
    %largest = scf.for %j = %c0 to %columns step %c1 iter_args(%m = %low) -> f32 {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      %n = arith.maximumf %m, %v : f32
      scf.yield %n : f32
    }
    %sum = scf.for %j = %c0 to %columns step %c1 iter_args(%s = %largest) -> f32 {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    memref.store %sum, %z[%row] : memref<?xf32>
  }
  return
}

//--- atomic.mlir
// Where rows meet in an element, the block for atomic updates has them.
// ATOMIC: "atomic::h", space, Span{0, rows}, Span{0, 1}
// ATOMIC: add_atomically(alone, sums[
func.func @atomic(%x: memref<?x?xf32> {nest.dims = ["rows", "columns"]}, %bins: memref<?xi32> {nest.dims = ["rows"]}, %h: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f32
  scf.parallel (%row) = (%c0) to (%rows) step (%c1) {
    %total = scf.parallel (%j) = (%c0) to (%columns) step (%c1) init (%zero) -> f32 {
      %v = memref.load %x[%row, %j] : memref<?x?xf32>
      scf.reduce (%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        scf.reduce.return %t : f32
      }
    }
    %bin = memref.load %bins[%row] : memref<?xi32>
    %at = arith.index_cast %bin : i32 to index
    %old = memref.atomic_rmw addf %total, %h[%at] : (f32, memref<?xf32>) -> f32
  }
  return
}

//--- columns.mlir
// A thread for each column reads side by side already
// COLUMNS: nest.kernel "s" range
func.func @columns(%x: memref<?x?xf32>, %s: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %columns = memref.dim %x, %c1 : memref<?x?xf32>
  %zero = arith.constant 0.0 : f32
  scf.parallel (%j) = (%c0) to (%columns) step (%c1) {
    %total = scf.parallel (%i) = (%c0) to (%rows) step (%c1) init (%zero) -> f32 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      scf.reduce (%v : f32) {
      ^bb0(%a: f32, %b: f32):
        %t = arith.addf %a, %b : f32
        scf.reduce.return %t : f32
      }
    }
    memref.store %total, %s[%j] : memref<?xf32>
  }
  return
}

//--- mapped.mlir
// MAPPED: nest.kernel "y" team (%{{.*}}) =
// MAPPED: scf.parallel (%{{.*}}, %{{.*}}) =
func.func @mapped(%x: memref<16x8x4xf32>, %y: memref<16x8x4xf32>, %scale: memref<16xf32>) {
  scf.forall (%i) in (16) {
    %s = memref.load %scale[%i] : memref<16xf32>
    %f = math.sqrt %s : f32
    scf.forall (%j, %k) in (8, 4) {
      %v = memref.load %x[%i, %j, %k] : memref<16x8x4xf32>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %y[%i, %j, %k] : memref<16x8x4xf32>
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
  } {mapping = [#gpu.block<x>]}
  return
}

//--- large.mlir
// Memory of a row: its sum, then its elements in turn
// LARGE: TeamArray<float, 20000> row(team, level);
func.func @large(%x: memref<?x20000xf32>, %y: memref<?x20000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20000 = arith.constant 20000 : index
  %c19999 = arith.constant 19999 : index
  %rows = memref.dim %x, %c0 : memref<?x20000xf32>
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %row = memref.alloc() : memref<20000xf32>
    scf.parallel (%j) = (%c0) to (%c20000) step (%c1) {
      %v = memref.load %x[%i, %j] : memref<?x20000xf32>
      %w = math.sin %v : f32
      memref.store %w, %row[%j] : memref<20000xf32>
    }
    scf.parallel (%j) = (%c0) to (%c20000) step (%c1) {
      %back = arith.subi %c19999, %j : index
      %v = memref.load %row[%back] : memref<20000xf32>
      memref.store %v, %y[%i, %j] : memref<?x20000xf32>
    }
    memref.dealloc %row : memref<20000xf32>
  }
  return
}

//--- overwritten.mlir
// No team where nothing needs what its loops compute
// OVERWRITTEN: for_span("overwritten::y", space, Span{0, rows}, KOKKOS_LAMBDA(int i) { y(i) = x(0, i); });
func.func @overwritten(%x: memref<?x?xf64>, %y: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %rows = memref.dim %x, %c0 : memref<?x?xf64>
  %columns = memref.dim %x, %c1 : memref<?x?xf64>
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %sum = scf.for %j = %c0 to %columns step %c1 iter_args(%s = %zero) -> (f64) {
      %v = memref.load %x[%i, %j] : memref<?x?xf64>
      %w = arith.addf %s, %v fastmath<reassoc> : f64
      scf.yield %w : f64
    }
    %half = arith.addf %sum, %sum : f64
    memref.store %half, %y[%i] : memref<?xf64>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %v = memref.load %x[%c0, %i] : memref<?x?xf64>
    memref.store %v, %y[%i] : memref<?xf64>
    scf.reduce
  }
  return
}
