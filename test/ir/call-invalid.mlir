// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: f64) {
  // expected-error @+1 {{a function of C cannot be called "a b": it is no identifier of C}}
  %y = nest.call "a b"(%x) {writes = array<i1: false>} : (f64) -> f64
  return
}

// -----
func.func @f(%x: f64) {
  // expected-error @+1 {{a function of C cannot be called "f();system": it is no identifier of C}}
  %y = nest.call "f();system"(%x) {writes = array<i1: false>} : (f64) -> f64
  return
}

// -----
func.func @f(%x: f64) {
  // expected-error @+1 {{a function of C cannot be called "class": it is a word of C++}}
  %y = nest.call "class"(%x) {writes = array<i1: false>} : (f64) -> f64
  return
}

// -----
func.func @f(%x: f64) {
  // expected-error @+1 {{a function of C cannot be called "__f": it belongs to the compiler}}
  %y = nest.call "__f"(%x) {writes = array<i1: false>} : (f64) -> f64
  return
}

// -----
func.func @f(%x: i32) {
  // expected-error @+1 {{a function of C cannot be called "exit": it is declared by the C library}}
  nest.call "exit"(%x) {writes = array<i1: false>} : (i32) -> ()
  return
}

// -----
func.func @f(%x: f16) {
  // expected-error @+1 {{a function of C takes no 'f16'}}
  %y = nest.call "g"(%x) {writes = array<i1: false>} : (f16) -> f64
  return
}

// -----
func.func @f(%x: f64) {
  // expected-error @+1 {{a function of C takes no 'f64' that it writes}}
  %y = nest.call "g"(%x) {writes = array<i1: true>} : (f64) -> f64
  return
}

// -----
func.func @f(%x: f64) {
  // expected-error @+1 {{a function of C returns no 'index'}}
  %y = nest.call "g"(%x) {writes = array<i1: false>} : (f64) -> index
  return
}

// -----
func.func @f(%x: f64) {
  // expected-error @+1 {{wants to know of each argument whether it is written}}
  %y = nest.call "g"(%x) {writes = array<i1>} : (f64) -> f64
  return
}

// -----
// expected-error @+1 {{requires "host" or "device"}}
func.func private @g(f64) -> f64 attributes {nest.extern = "gpu"}
