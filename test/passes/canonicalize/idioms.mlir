// One spelling, the same bits.
// RUN: ml2kokkos-opt %s --ml2k-idioms | FileCheck %s

// torch-mlir's ReLU lets NaN through, as a maximum does.
// CHECK-LABEL: func.func @relu
// CHECK: arith.maximumf %arg0, %{{.*}} : f32
func.func @relu(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %greater = arith.cmpf ugt, %x, %zero : f32
  %0 = arith.select %greater, %x, %zero : f32
  return %0 : f32
}

// An ordered comparison turns NaN into the constant: no maximum.
// CHECK-LABEL: func.func @ordered
// CHECK: arith.cmpf ogt
// CHECK: arith.select
func.func @ordered(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %greater = arith.cmpf ogt, %x, %zero : f32
  %0 = arith.select %greater, %x, %zero : f32
  return %0 : f32
}

// max(x, -0) is +0 or -0 as the operation likes; the selection is exact, so it stays.
// CHECK-LABEL: func.func @negative_zero
// CHECK: arith.select
func.func @negative_zero(%x: f32) -> f32 {
  %zero = arith.constant -0.0 : f32
  %greater = arith.cmpf ugt, %x, %zero : f32
  %0 = arith.select %greater, %x, %zero : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @square
// CHECK: arith.mulf %arg0, %arg0
func.func @square(%x: f32) -> f32 {
  %two = arith.constant 2 : i32
  %0 = math.fpowi %x, %two : f32, i32
  return %0 : f32
}
