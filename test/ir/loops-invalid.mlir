// RUN: ml2kokkos-opt %s --split-input-file --verify-diagnostics

func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{'nest.kernel' op has no label}}
  nest.kernel "" range (%i) = (%n) to (%n) {}
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{range does not take 2 loops}}
  nest.kernel "k" range (%i, %j) = (%n, %n) to (%n, %n) {}
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{mdrange does not take 1 loops}}
  nest.kernel "k" mdrange (%i) = (%n) to (%n) {}
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{has 1 lower and 0 upper bounds}}
  nest.kernel "k" range (%i) = (%n) to () {}
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{unknown keyword 'guided'}}
  nest.kernel "k" guided (%i) = (%n) to (%n) {}
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{team does not take 0 loops}}
  nest.kernel "k" team () = () to () {}
  return
}

// -----
func.func @f(%a: memref<4xf64>, %n: index) {
  // expected-error @+1 {{reduces into a 'memref<4xf64>', which is not of rank 0}}
  nest.kernel "k" range (%i) = (%n) to (%n) reduce (sum into %a : memref<4xf64>) {
    %x = memref.load %a[%i] : memref<4xf64>
    nest.yield %x : f64
  }
  return
}

// -----
func.func @f(%a: memref<f64>, %n: index) {
  // expected-error @+1 {{cannot join values of type 'f64' by xor}}
  nest.kernel "k" range (%i) = (%n) to (%n) reduce (xor into %a : memref<f64>) {
    %x = memref.load %a[] : memref<f64>
    nest.yield %x : f64
  }
  return
}

// -----
func.func @f(%a: memref<f64>, %n: index) {
  // expected-error @+1 {{yields 0 values that are not the terms of its reductions}}
  nest.kernel "k" range (%i) = (%n) to (%n) reduce (sum into %a : memref<f64>) {}
  return
}

// -----
func.func @f(%a: memref<f64>, %n: index) {
  nest.kernel "k" range (%i) = (%n) to (%n) {
    // expected-error @+1 {{stands inside the kernel "k"}}
    nest.kernel "inner" range () = () to () {}
  }
  return
}

// -----
func.func @f(%a: memref<f64>, %n: index) {
  nest.kernel "k" range (%i) = (%n) to (%n) {
    // expected-error @+1 {{'memref.alloc' op cannot be printed inside a kernel}}
    %m = memref.alloc(%i) : memref<?xf64>
  }
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{requires a flag per loop in `ordered`}}
  nest.kernel "k" range (%i) = (%n) to (%n) {} {ordered = array<i1: true, false>}
  return
}

// -----
func.func @f(%a: memref<?xf64>, %n: index) {
  // expected-error @+1 {{has no loop in `ordered`}}
  nest.kernel "k" range (%i) = (%n) to (%n) {} {ordered = array<i1: false>}
  return
}

// -----
func.func @f(%a: memref<f64>, %n: index) {
  // expected-error @+1 {{has several reductions, which takes loops and one type}}
  nest.kernel "k" range () = () to () reduce (sum into %a : memref<f64>, max into %a : memref<f64>) {
    %x = memref.load %a[] : memref<f64>
    nest.yield %x, %x : f64, f64
  }
  return
}

// -----
func.func @f(%n: index) {
  nest.kernel "k" range (%i) = (%n) to (%n) {
    // expected-error @+1 {{an array of a thread needs a known size}}
    %m = memref.alloca(%i) : memref<?xf64>
  }
  return
}
