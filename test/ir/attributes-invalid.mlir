// The attributes that nest puts on others' operations are checked, too.
// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{attribute 'nest.nam' is not one of the nest dialect}}
func.func @f(%a: f32 {nest.nam = "a"}) {
  return
}

// -----
// expected-error @+1 {{attribute 'nest.name' requires a string}}
func.func @f(%a: f32 {nest.name = 1 : i64}) {
  return
}

// -----
// expected-error @+1 {{attribute 'nest.naive' does not belong to arguments and results}}
func.func @f(%a: f32 {nest.naive}) {
  return
}

// -----
// expected-error @+1 {{attribute 'nest.dims' requires an element for each of the 2 dimensions}}
func.func @f(%a: memref<?x4xf32> {nest.dims = ["n"]}) {
  return
}

// -----
// expected-error @+1 {{attribute 'nest.extents' requires an array of affine maps with one result, or unit}}
func.func @f(%a: memref<?xf32> {nest.extents = [4]}) {
  return
}

// -----
// expected-error @+1 {{attribute 'nest.counts' requires an array of strings}}
func.func @f(%a: memref<?xf32>) -> (memref<?xf32> {nest.counts = [unit]}) {
  return %a : memref<?xf32>
}

// -----
// expected-error @+1 {{attribute 'nest.symbols' requires an array of strings}}
func.func @f() attributes {nest.symbols = "n"} {
  return
}

// -----
func.func @f(%a: f32) {
  // expected-error @+1 {{attribute 'nest.output' does not belong to this operation}}
  %b = arith.addf %a, %a {nest.output} : f32
  return
}

// -----
func.func @f(%a: f32) {
  // expected-error @+1 {{attribute 'nest.let' requires no value}}
  %b = arith.addf %a, %a {nest.let = true} : f32
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{attribute 'nest.alive' requires two ascending i64}}
  %b = nest.buffer "b" {nest.alive = array<i64: 2, 1>} : memref<4xf32>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{winograd requires panels and tiles of 2 or 4}}
  %w = nest.weight "w" packing <taps, winograd = 2> : memref<4xf32> = dense<0.0> : tensor<4xf32>
  return
}

// -----
func.func @f() {
  // expected-error @+1 {{winograd requires panels and tiles of 2 or 4}}
  %w = nest.weight "w" packing <panels, winograd = 3> : memref<4xf32> = dense<0.0> : tensor<4xf32>
  return
}
