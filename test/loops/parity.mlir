// Red and black elements: loops are parallel where the sums of subscripts are even in one access and odd in the other.
// RUN: ml2kokkos-opt %s --ml2k-parallelize-loops | FileCheck %s

// A condition says which elements are written.
// CHECK-LABEL: @guarded
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK-NOT: scf.for
func.func @guarded(%u: memref<?x?xf64>, %n: index, %m: index, %color: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c1 to %m step %c1 {
      %sum = arith.addi %i, %j : index
      %rest = arith.remsi %sum, %c2 : index
      %mine = arith.cmpi eq, %rest, %color : index
      scf.if %mine {
        %left = arith.subi %j, %c1 : index
        %below = arith.addi %i, %c1 : index
        %x = memref.load %u[%i, %left] : memref<?x?xf64>
        %y = memref.load %u[%below, %j] : memref<?x?xf64>
        %z = arith.addf %x, %y : f64
        memref.store %z, %u[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

// So does the other branch of one.
// CHECK-LABEL: @otherwise
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK-NOT: scf.for
func.func @otherwise(%u: memref<?x?xf32>, %zero: f32, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c1 to %m step %c1 {
      %sum = arith.subi %i, %j : index
      %rest = arith.remsi %sum, %c2 : index
      %even = arith.cmpi eq, %rest, %c0 : index
      scf.if %even {
      } else {
        %below = arith.addi %i, %c1 : index
        %x = memref.load %u[%below, %j] : memref<?x?xf32>
        memref.store %x, %u[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}

// Subscripts are computed so; what stands between the loops goes into the inner one.
// CHECK-LABEL: @computed
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK-NOT: scf.for
func.func @computed(%u: memref<?x?xf64>, %n: index, %half: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    %rest = arith.remui %next, %c2 : index
    scf.for %j = %c0 to %half step %c1 {
      %twice = arith.muli %j, %c2 : index
      %column = arith.addi %twice, %rest : index
      %right = arith.addi %column, %c1 : index
      %x = memref.load %u[%i, %right] : memref<?x?xf64>
      %y = memref.load %u[%next, %column] : memref<?x?xf64>
      %z = arith.addf %x, %y : f64
      memref.store %z, %u[%i, %column] : memref<?x?xf64>
    }
  }
  return
}

// Steps of two start at a row's color: a grid with a branch.
// CHECK-LABEL: @steps
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK: %[[SUM:.*]] = arith.addi %[[I]], %[[J]]
// CHECK: %[[REST:.*]] = arith.remsi %[[SUM]]
// CHECK: arith.cmpi ne, %[[REST]]
// CHECK: scf.if
// CHECK: nest.note = "parallel: no iteration touches what another one writes"
func.func @steps(%u: memref<?x?xf64>, %n: index, %m: index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %n step %c1 {
    %rest = arith.remsi %i, %c2 : index
    %first = arith.addi %rest, %c1 : index
    scf.for %j = %first to %m step %c2 {
      %above = arith.subi %i, %c1 : index
      %x = memref.load %u[%above, %j] : memref<?x?xf64>
      memref.store %x, %u[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

// In three dimensions, and where a remainder is made positive by a choice.
// CHECK-LABEL: @cube
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) =
// CHECK-NOT: scf.for
func.func @cube(%u: memref<?x?x?xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c1 to %n step %c1 {
      scf.for %k = %c1 to %n step %c1 {
        %ij = arith.addi %i, %j : index
        %sum = arith.subi %ij, %k : index
        %rest = arith.remsi %sum, %c2 : index
        %isNegative = arith.cmpi slt, %rest, %c0 : index
        %more = arith.addi %rest, %c2 : index
        %color = arith.select %isNegative, %more, %rest : index
        %mine = arith.cmpi eq, %color, %c1 : index
        scf.if %mine {
          %before = arith.subi %k, %c1 : index
          %above = arith.subi %i, %c1 : index
          %x = memref.load %u[%i, %j, %before] : memref<?x?x?xf64>
          %y = memref.load %u[%above, %j, %k] : memref<?x?x?xf64>
          %z = arith.addf %x, %y : f64
          memref.store %z, %u[%i, %j, %k] : memref<?x?x?xf64>
        }
      }
    }
  }
  return
}

// Diagonal neighbours have the color of the element itself.
// CHECK-LABEL: @diagonal
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may read what others write of u"
func.func @diagonal(%u: memref<?x?xf64> {nest.name = "u"}, %n: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c1 to %m step %c1 {
      %sum = arith.addi %i, %j : index
      %rest = arith.remsi %sum, %c2 : index
      %mine = arith.cmpi eq, %rest, %c0 : index
      scf.if %mine {
        %below = arith.addi %i, %c1 : index
        %left = arith.subi %j, %c1 : index
        %x = memref.load %u[%below, %left] : memref<?x?xf64>
        memref.store %x, %u[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

// A remainder of three says nothing about halves, nor does one of two that is not -1.
// CHECK-LABEL: @thirds
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may read what others write of u"
// CHECK: scf.for
// CHECK: nest.note = "sequential: iterations may read what others write of u"
func.func @thirds(%u: memref<?x?xf64> {nest.name = "u"}, %n: index, %m: index, %offset: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %last = arith.constant -1 : index
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c1 to %m step %c1 {
      %sum = arith.addi %i, %j : index
      %rest = arith.remsi %sum, %c3 : index
      %mine = arith.cmpi eq, %rest, %c0 : index
      scf.if %mine {
        %below = arith.addi %i, %c1 : index
        %x = memref.load %u[%below, %j] : memref<?x?xf64>
        memref.store %x, %u[%i, %j] : memref<?x?xf64>
      }
    }
  }
  scf.for %i = %c1 to %n step %c1 {
    scf.for %j = %c1 to %m step %c1 {
      %both = arith.addi %i, %j : index
      %sum = arith.subi %both, %offset : index
      %rest = arith.remsi %sum, %c2 : index
      %mine = arith.cmpi ne, %rest, %last : index
      scf.if %mine {
        %below = arith.addi %i, %c1 : index
        %x = memref.load %u[%below, %j] : memref<?x?xf64>
        memref.store %x, %u[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
