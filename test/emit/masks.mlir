// What keeps compilers from vectors: bools in memory, and memory that is met under a condition only. Bools are read as bytes, loops call a copy of
// their closure, sums compute their terms in front of the additions.
// RUN: ml2kokkos --entry=store %s -o %t.cpp && FileCheck --check-prefix=STORE %s < %t.cpp
// RUN: ml2kokkos --entry=masked %s -o %t.cpp && FileCheck --check-prefix=MASKED %s < %t.cpp
// RUN: ml2kokkos --entry=plain %s -o %t.cpp && FileCheck --check-prefix=PLAIN %s < %t.cpp
// RUN: ml2kokkos --entry=found %s -o %t.cpp && FileCheck --check-prefix=FOUND %s < %t.cpp

// STORE: Body const own = body;
// STORE: own(i);
// STORE: if (is_set(m(i))) {
func.func @store(%m: memref<?xi1>, %a: memref<?xf64>, %out: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %c = memref.load %m[%i] : memref<?xi1>
    scf.if %c {
      %x = memref.load %a[%i] : memref<?xf64>
      memref.store %x, %out[%i] : memref<?xf64>
    }
    scf.reduce
  }
  return
}

// MASKED: decltype(sums.all()) terms[many];
// MASKED: Term const own = term;
// MASKED: return is_set(m(i)) ? a(i) : 0.0;
func.func @masked(%m: memref<?xi1>, %a: memref<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?xf64>
  %total = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %c = memref.load %m[%i] : memref<?xi1>
    %x = memref.load %a[%i] : memref<?xf64>
    %t = arith.select %c, %x, %zero : f64
    scf.reduce(%t : f64) {
    ^bb0(%l: f64, %r: f64):
      %s = arith.addf %l, %r : f64
      scf.reduce.return %s : f64
    }
  }
  return %total : f64
}

// PLAIN-NOT: own
// PLAIN-NOT: terms[
// PLAIN: add_terms(sums, first, last, term)
func.func @plain(%a: memref<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %n = memref.dim %a, %c0 : memref<?xf64>
  %total = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %x = memref.load %a[%i] : memref<?xf64>
    scf.reduce(%x : f64) {
    ^bb0(%l: f64, %r: f64):
      %s = arith.addf %l, %r : f64
      scf.reduce.return %s : f64
    }
  }
  return %total : f64
}

// FOUND: using Lane = std::conditional_t<std::is_same_v<Value, bool>, int, Value>;
// FOUND: Joining<Or, bool>
func.func @found(%a: memref<?xf64>) -> i1 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %no = arith.constant false
  %n = memref.dim %a, %c0 : memref<?xf64>
  %any = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%no) -> i1 {
    %x = memref.load %a[%i] : memref<?xf64>
    %c = arith.cmpf olt, %x, %zero : f64
    scf.reduce(%c : i1) {
    ^bb0(%l: i1, %r: i1):
      %s = arith.ori %l, %r : i1
      scf.reduce.return %s : i1
    }
  }
  return %any : i1
}
