// Loops over the steps of a recurrent layer become one kernel; what has two products in a step stays a loop.
// RUN: ml2kokkos-opt %s --ml2k-form-recurrences --split-input-file | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(a, b) -> (a, b)>
#second = affine_map<(a, b) -> (a, b + 8)>
#bias = affine_map<(a, b) -> (b)>

// Two gates, from the last step to the first; the cell is a state of its own, the sequence is kept
// CHECK-LABEL: func.func @backwards
// CHECK-NOT: scf.for
// CHECK: %[[ALL:.*]]:3 = nest.recurrent "" steps 5 ins(%{{.*}} : tensor<16x8xf32>)
// CHECK-SAME: extras(%{{.*}}, %{{.*}}, %{{.*}} : tensor<5x2x16xf32>, tensor<5x2x16xf32>, tensor<8xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<5x2x8xf32>, tensor<2x8xf32>)
// CHECK-SAME: next
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[Z:.*]]: f32, %[[X:.*]]: f32, %[[BIAS:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32, %[[C:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[X]], %[[A]]
// CHECK-NEXT: %[[D:.*]] = arith.addf %[[S]], %[[BIAS]]
// CHECK-NEXT: %[[N:.*]] = arith.addf %[[D]], %[[C]] {{.*}}nest.name = "next_cell"
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[Z]], %[[B]]
// CHECK-NEXT: %[[H:.*]] = arith.mulf %[[P]], %[[N]]
// CHECK-NEXT: nest.yield %[[H]], %[[H]], %[[N]]
// CHECK: return %[[ALL]]#1, %[[ALL]]#0
func.func @backwards(%x: tensor<5x2x16xf32>, %bias: tensor<8xf32>, %h0: tensor<2x8xf32>, %c0: tensor<2x8xf32>)
    -> (tensor<5x2x8xf32>, tensor<2x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %r = nest.weight "r" : tensor<16x8xf32> = dense<1.0> : tensor<16x8xf32>
  %y0 = tensor.empty() : tensor<5x2x8xf32>
  %y, %h, %c = scf.for %t = %zero to %five step %one iter_args(%yi = %y0, %hi = %h0, %ci = %c0)
      -> (tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
    %at = arith.subi %four, %t : index
    %xt = tensor.extract_slice %x[%at, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<5x2x16xf32> to tensor<2x16xf32>
    %e = tensor.empty() : tensor<2x16xf32>
    %p = nest.contract "" [m, n, k] ins(%hi, %r : tensor<2x8xf32>, tensor<16x8xf32>) outs(%e : tensor<2x16xf32>)
        maps [#mk, #nk, #mn] epilogue {
    ^bb0(%sum: f32):
      nest.yield %sum : f32
    } -> tensor<2x16xf32>
    %es = tensor.empty() : tensor<2x8xf32>
    %cn = nest.map "" ins(%xt, %p, %bias, %ci : tensor<2x16xf32>, tensor<2x16xf32>, tensor<8xf32>, tensor<2x8xf32>)
        outs(%es : tensor<2x8xf32>) maps [#id, #id, #bias, #id, #id] {
    ^bb0(%a: f32, %b: f32, %s: f32, %before: f32):
      %1 = arith.addf %a, %b : f32
      %2 = arith.addf %1, %s : f32
      %3 = arith.addf %2, %before : f32
      nest.yield %3 : f32
    } -> tensor<2x8xf32>
    %hn = nest.map "" ins(%xt, %p, %cn : tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x8xf32>)
        outs(%es : tensor<2x8xf32>) maps [#second, #second, #id, #id] {
    ^bb0(%a: f32, %b: f32, %now: f32):
      %1 = arith.mulf %a, %b : f32
      %2 = arith.mulf %1, %now : f32
      nest.yield %2 : f32
    } -> tensor<2x8xf32>
    %yn = tensor.insert_slice %hn into %yi[%at, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<5x2x8xf32>
    scf.yield %yn, %hn, %cn : tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y, %h : tensor<5x2x8xf32>, tensor<2x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(a, b) -> (a, b)>
#second = affine_map<(a, b) -> (a, b + 8)>
#bias = affine_map<(a, b) -> (b)>

// A given state and a cell of zeros: the kernel sets the cell.
// CHECK-LABEL: func.func @given_state
// CHECK-SAME: %[[H0:[a-z0-9]*]]: tensor<2x8xf32>) ->
// CHECK: nest.recurrent "" steps 5 {{.*}} outs(%[[H0]], %{{.*}}, %{{.*}} : {{.*}}starts = [unit, unit, 0.000000e+00 : f32]
func.func @given_state(%x: tensor<5x2x16xf32>, %bias: tensor<8xf32>, %h0: tensor<2x8xf32>)
    -> (tensor<5x2x8xf32>, tensor<2x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %five = arith.constant 5 : index
  %r = nest.weight "r" : tensor<16x8xf32> = dense<1.0> : tensor<16x8xf32>
  %y0 = tensor.empty() : tensor<5x2x8xf32>
  %c0 = nest.weight "zeros" : tensor<2x8xf32> = dense<0.0> : tensor<2x8xf32>
  %y, %h, %c = scf.for %t = %zero to %five step %one iter_args(%yi = %y0, %hi = %h0, %ci = %c0)
      -> (tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) {
    %at = arith.subi %four, %t : index
    %xt = tensor.extract_slice %x[%at, 0, 0] [1, 2, 16] [1, 1, 1] : tensor<5x2x16xf32> to tensor<2x16xf32>
    %e = tensor.empty() : tensor<2x16xf32>
    %p = nest.contract "" [m, n, k] ins(%hi, %r : tensor<2x8xf32>, tensor<16x8xf32>) outs(%e : tensor<2x16xf32>)
        maps [#mk, #nk, #mn] epilogue {
    ^bb0(%sum: f32):
      nest.yield %sum : f32
    } -> tensor<2x16xf32>
    %es = tensor.empty() : tensor<2x8xf32>
    %cn = nest.map "" ins(%xt, %p, %bias, %ci : tensor<2x16xf32>, tensor<2x16xf32>, tensor<8xf32>, tensor<2x8xf32>)
        outs(%es : tensor<2x8xf32>) maps [#id, #id, #bias, #id, #id] {
    ^bb0(%a: f32, %b: f32, %s: f32, %before: f32):
      %1 = arith.addf %a, %b : f32
      %2 = arith.addf %1, %s : f32
      %3 = arith.addf %2, %before : f32
      nest.yield %3 : f32
    } -> tensor<2x8xf32>
    %hn = nest.map "" ins(%xt, %p, %cn : tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x8xf32>)
        outs(%es : tensor<2x8xf32>) maps [#second, #second, #id, #id] {
    ^bb0(%a: f32, %b: f32, %now: f32):
      %1 = arith.mulf %a, %b : f32
      %2 = arith.mulf %1, %now : f32
      nest.yield %2 : f32
    } -> tensor<2x8xf32>
    %yn = tensor.insert_slice %hn into %yi[%at, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<5x2x8xf32>
    scf.yield %yn, %hn, %cn : tensor<5x2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %y, %h : tensor<5x2x8xf32>, tensor<2x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A first state that is one number is set by the kernel; nobody reads the sequence of a single gate with an epilogue
// CHECK-LABEL: func.func @last
// CHECK: %[[FIRST:.*]] = tensor.empty() : tensor<2x8xf32>
// CHECK-NOT: scf.for
// CHECK: nest.recurrent "" steps 3 {{.*}} outs(%[[FIRST]] : tensor<2x8xf32>) {{.*}}attributes {starts = [5.000000e-01 : f32]}
// CHECK: math.tanh
func.func @last() -> tensor<2x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = nest.weight "r" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %h0 = nest.weight "h0" : tensor<2x8xf32> = dense<0.5> : tensor<2x8xf32>
  %y0 = tensor.empty() : tensor<3x2x8xf32>
  %y, %h = scf.for %t = %zero to %three step %one iter_args(%yi = %y0, %hi = %h0) -> (tensor<3x2x8xf32>, tensor<2x8xf32>) {
    %e = tensor.empty() : tensor<2x8xf32>
    %p = nest.contract "" [m, n, k] ins(%hi, %r : tensor<2x8xf32>, tensor<8x8xf32>) outs(%e : tensor<2x8xf32>)
        maps [#mk, #nk, #mn] epilogue {
    ^bb0(%sum: f32):
      %1 = math.tanh %sum : f32
      nest.yield %1 : f32
    } -> tensor<2x8xf32>
    %yn = tensor.insert_slice %p into %yi[%t, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<2x8xf32> into tensor<3x2x8xf32>
    scf.yield %yn, %p : tensor<3x2x8xf32>, tensor<2x8xf32>
  }
  return %h : tensor<2x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func.func @two_products
// CHECK: scf.for
// CHECK-NOT: nest.recurrent
func.func @two_products(%h0: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %r = nest.weight "r" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %h = scf.for %t = %zero to %three step %one iter_args(%hi = %h0) -> (tensor<2x8xf32>) {
    %e = tensor.empty() : tensor<2x8xf32>
    %p = nest.contract "" [m, n, k] ins(%hi, %r : tensor<2x8xf32>, tensor<8x8xf32>) outs(%e : tensor<2x8xf32>)
        maps [#mk, #nk, #mn] epilogue {
    ^bb0(%sum: f32):
      nest.yield %sum : f32
    } -> tensor<2x8xf32>
    %q = nest.contract "" [m, n, k] ins(%p, %r : tensor<2x8xf32>, tensor<8x8xf32>) outs(%e : tensor<2x8xf32>)
        maps [#mk, #nk, #mn] epilogue {
    ^bb0(%sum: f32):
      nest.yield %sum : f32
    } -> tensor<2x8xf32>
    scf.yield %q : tensor<2x8xf32>
  }
  return %h : tensor<2x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(a, b) -> (a, b)>

// Rows and steps that run time tells: the number of the steps is a symbol of the maps
// CHECK-DAG: #[[$BACK:.*]] = affine_map<(d0, d1, d2)[s0] -> (-d0 + s0 - 1, d1, d2)>
// CHECK-LABEL: func.func @sized
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x?x8xf32>
// CHECK: %[[STEPS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: nest.map
// CHECK-NOT: scf.for
// CHECK: %[[H:.*]] = tensor.empty(%[[ROWS]]) : tensor<?x8xf32>
// CHECK: %[[Y:.*]] = tensor.empty(%[[STEPS]], %[[ROWS]]) : tensor<?x?x8xf32>
// CHECK: nest.recurrent "" steps(%[[STEPS]]) ins(%{{.*}} : tensor<8x8xf32>) extras(%[[X]] : tensor<?x?x8xf32>) outs(%[[H]], %[[Y]] :
// CHECK-SAME: maps [#[[$BACK]], {{.*}}, #[[$BACK]]] attributes {starts = [0.000000e+00 : f32, unit]} next
func.func @sized(%x: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %none = arith.constant 0.0 : f32
  %r = nest.weight "r" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %steps = tensor.dim %x, %zero : tensor<?x?x8xf32>
  %rows = tensor.dim %x, %one : tensor<?x?x8xf32>
  %last = arith.subi %steps, %one : index
  %y0 = tensor.empty(%steps, %rows) : tensor<?x?x8xf32>
  %e0 = tensor.empty(%rows) : tensor<?x8xf32>
  %h0 = nest.map "" outs(%e0 : tensor<?x8xf32>) maps [#id] {
    nest.yield %none : f32
  } -> tensor<?x8xf32>
  %y, %h = scf.for %t = %zero to %steps step %one iter_args(%yi = %y0, %hi = %h0) -> (tensor<?x?x8xf32>, tensor<?x8xf32>) {
    %at = arith.subi %last, %t : index
    %xt = tensor.extract_slice %x[%at, 0, 0] [1, %rows, 8] [1, 1, 1] : tensor<?x?x8xf32> to tensor<?x8xf32>
    %e = tensor.empty(%rows) : tensor<?x8xf32>
    %hn = nest.contract "" [m, n, k] ins(%hi, %r : tensor<?x8xf32>, tensor<8x8xf32>) extras(%xt : tensor<?x8xf32>)
        outs(%e : tensor<?x8xf32>) maps [#mk, #nk, #mn, #mn] epilogue {
    ^bb0(%sum: f32, %in: f32):
      %1 = arith.addf %sum, %in : f32
      nest.yield %1 : f32
    } -> tensor<?x8xf32>
    %yn = tensor.insert_slice %hn into %yi[%at, 0, 0] [1, %rows, 8] [1, 1, 1] : tensor<?x8xf32> into tensor<?x?x8xf32>
    scf.yield %yn, %hn : tensor<?x?x8xf32>, tensor<?x8xf32>
  }
  return %y, %h : tensor<?x?x8xf32>, tensor<?x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(a, b) -> (a, b)>

// A second state with rows of its own, which nothing says are as many
// CHECK-LABEL: func.func @other_rows
// CHECK: scf.for
func.func @other_rows(%x: tensor<5x?x8xf32>, %h0: tensor<?x8xf32>, %c0: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  %r = nest.weight "r" : tensor<8x8xf32> = dense<1.0> : tensor<8x8xf32>
  %rows = tensor.dim %h0, %zero : tensor<?x8xf32>
  %others = tensor.dim %c0, %zero : tensor<?x8xf32>
  %h, %c = scf.for %t = %zero to %five step %one iter_args(%hi = %h0, %ci = %c0) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, %rows, 8] [1, 1, 1] : tensor<5x?x8xf32> to tensor<?x8xf32>
    %e = tensor.empty(%rows) : tensor<?x8xf32>
    %hn = nest.contract "" [m, n, k] ins(%hi, %r : tensor<?x8xf32>, tensor<8x8xf32>) extras(%xt : tensor<?x8xf32>)
        outs(%e : tensor<?x8xf32>) maps [#mk, #nk, #mn, #mn] epilogue {
    ^bb0(%sum: f32, %in: f32):
      %1 = arith.addf %sum, %in : f32
      nest.yield %1 : f32
    } -> tensor<?x8xf32>
    %ec = tensor.empty(%others) : tensor<?x8xf32>
    %cn = nest.map "" ins(%ci : tensor<?x8xf32>) outs(%ec : tensor<?x8xf32>) maps [#id, #id] {
    ^bb0(%v: f32):
      %1 = math.tanh %v : f32
      nest.yield %1 : f32
    } -> tensor<?x8xf32>
    scf.yield %hn, %cn : tensor<?x8xf32>, tensor<?x8xf32>
  }
  return %h, %c : tensor<?x8xf32>, tensor<?x8xf32>
}
