// Operations that are said by others before anything else sees them.
// RUN: split-file %s %t
// RUN: ml2kokkos %t/pack.mlir --emit=imported | FileCheck %s --check-prefix=PACK
// RUN: ml2kokkos %t/unpack.mlir --emit=imported | FileCheck %s --check-prefix=UNPACK
// RUN: ml2kokkos %t/while.mlir --emit=imported | FileCheck %s --check-prefix=WHILE
// RUN: ml2kokkos %t/forall.mlir --emit=imported | FileCheck %s --check-prefix=FORALL
// RUN: ml2kokkos %t/scalar.mlir --emit=imported | FileCheck %s --check-prefix=SCALAR
// RUN: ml2kokkos %t/driver.mlir --entry=wanted --emit=imported | FileCheck %s --check-prefix=DRIVER

// RUN: ml2kokkos %t/switch.mlir --emit=imported | FileCheck %s --check-prefix=SWITCH
// RUN: ml2kokkos %t/gather.mlir --emit=imported | FileCheck %s --check-prefix=GATHER
// RUN: ml2kokkos %t/print.mlir --emit=imported | FileCheck %s --check-prefix=PRINT

//--- switch.mlir
// SWITCH: arith.cmpi eq, %{{.*}}, %c2
// SWITCH: scf.if
// SWITCH-NOT: scf.index_switch
func.func @f(%k: index, %x: f32) -> f32 {
  %r = scf.index_switch %k -> f32
  case 2 {
    %y = arith.negf %x : f32
    scf.yield %y : f32
  }
  default {
    scf.yield %x : f32
  }
  return %r : f32
}

//--- gather.mlir
// GATHER: linalg.generic
// GATHER: %[[AT:.*]] = tensor.extract %{{.*}}[%{{.*}}, %c0] : tensor<3x1xindex>
// GATHER: tensor.extract %{{.*}}[%[[AT]], %{{.*}}] : tensor<4x6xf32>
func.func @f(%a: tensor<4x6xf32>, %k: tensor<3x1xindex>) -> tensor<3x6xf32> {
  %r = tensor.gather %a[%k] gather_dims([0]) : (tensor<4x6xf32>, tensor<3x1xindex>) -> tensor<3x6xf32>
  return %r : tensor<3x6xf32>
}

//--- print.mlir
// PRINT: vector.print punctuation <open>
// PRINT: scf.for %[[I:.*]] =
// PRINT: tensor.extract %{{.*}}[%[[I]]]
// PRINT: vector.print %{{.*}} : f32 punctuation <no_punctuation>
// PRINT: vector.print punctuation <comma>
// PRINT: vector.print punctuation <close>
// PRINT: {{^ *vector.print *$}}
func.func @f(%a: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0], %z : tensor<4xf32>, vector<4xf32>
  vector.print %v : vector<4xf32>
  return
}

//--- pack.mlir
// PACK: %[[TILES:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2, 3]] {{.*}} into tensor<2x4x2x4xf32>
// PACK: linalg.transpose ins(%[[TILES]] : tensor<2x4x2x4xf32>) {{.*}} permutation = [0, 2, 1, 3]
func.func @f(%a: tensor<8x8xf32>, %o: tensor<2x2x4x4xf32>) -> tensor<2x2x4x4xf32> {
  %r = tensor.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %o : tensor<8x8xf32> -> tensor<2x2x4x4xf32>
  return %r : tensor<2x2x4x4xf32>
}

//--- unpack.mlir
// UNPACK: linalg.transpose {{.*}} permutation = [0, 2, 1, 3]
// UNPACK: tensor.collapse_shape {{.*}} into tensor<8x8xf32>
func.func @f(%a: tensor<2x2x4x4xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = tensor.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %o : tensor<2x2x4x4xf32> -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

//--- while.mlir
// WHILE-NOT: scf.while
// WHILE: scf.for
// WHILE-NOT: scf.while
func.func @f(%b: tensor<8xf64>, %n: index) -> tensor<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %k = scf.while (%x = %b, %i = %c0) : (tensor<8xf64>, index) -> (tensor<8xf64>, index) {
    %c = arith.cmpi slt, %i, %n : index
    scf.condition(%c) %x, %i : tensor<8xf64>, index
  } do {
  ^bb0(%x: tensor<8xf64>, %i: index):
    %y = math.sqrt %x : tensor<8xf64>
    %j = arith.addi %i, %c1 : index
    scf.yield %y, %j : tensor<8xf64>, index
  }
  return %r : tensor<8xf64>
}

//--- forall.mlir
// FORALL: scf.parallel (%[[I:.*]]) =
// FORALL: memref.load %{{.*}}[%[[I]]]
// FORALL: memref.store %{{.*}}[%[[I]]]
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
  scf.forall (%i) in (8) {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
  }
  return
}

//--- scalar.mlir
// SCALAR: -> (tensor<8xf32> {nest.name = "r"}, tensor<f32> {nest.name = "u"})
// SCALAR: tensor.from_elements %{{.*}} : tensor<f32>
func.func @f(%a: tensor<8xf32>, %t: f32) -> (tensor<8xf32>, f32) {
  %r = math.exp %a : tensor<8xf32>
  %u = arith.addf %t, %t : f32
  return %r, %u : tensor<8xf32>, f32
}

//--- driver.mlir
// What only a function that is not translated has is not asked about.
// DRIVER: func.func @wanted
// DRIVER-NOT: vector
func.func @wanted(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %r = math.exp %a : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func @driver(%a: tensor<4x4xf32>) {
  %i = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %p = tensor.empty() : tensor<2x2x2x2xf32>
  %q = tensor.pack %a inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<4x4xf32> -> tensor<2x2x2x2xf32>
  %s = call @wanted(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = vector.transfer_read %s[%i, %i], %z : tensor<4x4xf32>, vector<4xf32>
  vector.print %v : vector<4xf32>
  return
}
