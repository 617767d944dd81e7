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

// gelu as exporters spell it: no division. Other functions of a quotient keep it.
// CHECK-LABEL: func.func @erf_of_quotient
// CHECK-DAG: %[[INVERSE:.*]] = arith.constant 0.707106{{[0-9]+}} : f32
// CHECK-DAG: %[[ARGUMENT:.*]] = arith.mulf %arg0, %[[INVERSE]] : f32
// CHECK-DAG: math.erf %[[ARGUMENT]] : f32
// CHECK-DAG: %[[QUOTIENT:.*]] = arith.divf
// CHECK: math.tanh %[[QUOTIENT]]
func.func @erf_of_quotient(%x: f32) -> (f32, f32) {
  %root = arith.constant 1.41421354 : f32
  %0 = arith.divf %x, %root : f32
  %1 = math.erf %0 : f32
  %2 = math.tanh %0 : f32
  return %1, %2 : f32, f32
}

// A divisor whose inverse is no normal number stays.
// CHECK-LABEL: func.func @erf_of_large_quotient
// CHECK: arith.divf
func.func @erf_of_large_quotient(%x: f32) -> f32 {
  %large = arith.constant 3.0e+38 : f32
  %0 = arith.divf %x, %large : f32
  %1 = math.erf %0 : f32
  return %1 : f32
}

// A decision needs no exponential; a comparison that is no order, or with what sigmoid never is, stays.
// CHECK-LABEL: func.func @sigmoid_threshold
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[NINTH:.*]] = arith.constant 2.1972{{[0-9]+}} : f32
// CHECK-DAG: arith.cmpf ogt, %arg0, %[[ZERO]] : f32
// CHECK-DAG: arith.cmpf ule, %arg0, %[[NINTH]] : f32
// CHECK-DAG: arith.cmpf oeq, %[[SIGMOID:.*]], %{{.*}} : f32
// CHECK-DAG: arith.cmpf ogt, %[[SIGMOID]], %{{.*}} : f32
func.func @sigmoid_threshold(%x: f32) -> (i1, i1, i1, i1) {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %most = arith.constant 0.9 : f32
  %negated = arith.negf %x : f32
  %exp = math.exp %negated : f32
  %sum = arith.addf %exp, %one : f32
  %sigmoid = arith.divf %one, %sum : f32
  %0 = arith.cmpf ogt, %sigmoid, %half : f32
  %1 = arith.cmpf ule, %sigmoid, %most : f32
  %2 = arith.cmpf oeq, %sigmoid, %half : f32
  %3 = arith.cmpf ogt, %sigmoid, %one : f32
  return %0, %1, %2, %3 : i1, i1, i1, i1
}

// From 17 on the rest of softplus is less than half of the last bit.
// CHECK-LABEL: func.func @softplus_of_large
// CHECK-NOT: arith.select
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: return %[[SUM]]
func.func @softplus_of_large(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant 20.0 : f32
  %magnitude = math.absf %x : f32
  %negated = arith.negf %magnitude : f32
  %exp = math.exp %negated : f32
  %rest = math.log1p %exp : f32
  %positive = arith.maximumf %x, %zero : f32
  %softplus = arith.addf %positive, %rest : f32
  %greater = arith.cmpf ogt, %x, %large : f32
  %0 = arith.select %greater, %x, %softplus : f32
  return %0 : f32
}

// In double it is not.
// CHECK-LABEL: func.func @softplus_of_large_double
// CHECK: arith.select
func.func @softplus_of_large_double(%x: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %large = arith.constant 20.0 : f64
  %magnitude = math.absf %x : f64
  %negated = arith.negf %magnitude : f64
  %exp = math.exp %negated : f64
  %rest = math.log1p %exp : f64
  %positive = arith.maximumf %x, %zero : f64
  %softplus = arith.addf %positive, %rest : f64
  %greater = arith.cmpf ogt, %x, %large : f64
  %0 = arith.select %greater, %x, %softplus : f64
  return %0 : f64
}

// Nor for smaller numbers, of which it is a part.
// CHECK-LABEL: func.func @softplus_of_small
// CHECK: arith.select
func.func @softplus_of_small(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant 15.0 : f32
  %magnitude = math.absf %x : f32
  %negated = arith.negf %magnitude : f32
  %exp = math.exp %negated : f32
  %rest = math.log1p %exp : f32
  %positive = arith.maximumf %x, %zero : f32
  %softplus = arith.addf %positive, %rest : f32
  %greater = arith.cmpf ogt, %x, %large : f32
  %0 = arith.select %greater, %x, %softplus : f32
  return %0 : f32
}

// What is rounded and clamped to bytes stays a float on its way to one.
// CHECK-LABEL: func.func @requantized
// CHECK: %[[CLAMPED:.*]] = arith.minimumf
// CHECK-NOT: arith.fptosi
// CHECK: %[[X:.*]] = arith.subf %[[CLAMPED]], %{{.*}} : f32
// CHECK: return %[[X]]
func.func @requantized(%x: f32) -> f32 {
  %seven = arith.constant 7.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %zero = arith.constant 7 : i32
  %rounded = math.roundeven %x : f32
  %moved = arith.addf %rounded, %seven : f32
  %above = arith.maximumf %moved, %low : f32
  %clamped = arith.minimumf %above, %high : f32
  %byte = arith.fptosi %clamped : f32 to i8
  %wide = arith.extsi %byte : i8 to i32
  %difference = arith.subi %wide, %zero : i32
  %0 = arith.sitofp %difference : i32 to f32
  return %0 : f32
}

// Not where the clamp leaves numbers that the integer does not hold, or halves.
// CHECK-LABEL: func.func @too_wide
// CHECK: arith.fptoui
// CHECK: arith.fptoui
func.func @too_wide(%x: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %higher = arith.constant 256.0 : f32
  %rounded = math.roundeven %x : f32
  %moved = arith.addf %rounded, %one : f32
  %above = arith.maximumf %moved, %low : f32
  %clamped = arith.minimumf %above, %higher : f32
  %byte = arith.fptoui %clamped : f32 to i8
  %wide = arith.extui %byte : i8 to i32
  %0 = arith.sitofp %wide : i32 to f32
  %half_above = arith.maximumf %x, %low : f32
  %half_clamped = arith.minimumf %half_above, %high : f32
  %half_byte = arith.fptoui %half_clamped : f32 to i8
  %half_wide = arith.extui %half_byte : i8 to i32
  %1 = arith.sitofp %half_wide : i32 to f32
  return %0, %1 : f32, f32
}
