"""Control flow around tensors and kernels: branches, time loops, solvers, forall, functions, printing."""

import numpy

from . import Program, function, memref, tensor

V = "tensor<?xf64>"
A = tensor(6, 8, "f64")
N = tensor(8, "f64")
C = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n"


def simple(name, arguments, results, lines, **options):
    return Program(name, function(name, arguments, results, C + lines.strip("\n")), **options)


def scaled(result, value, factor, kind=N):
    """result = value * factor, elementwise, as linalg writes it."""
    rank = kind.count("x")
    dims = ", ".join("ijkl"[:rank])
    return f"""%e_{result} = tensor.empty() : {kind}
%{result} = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({dims})>], iterator_types = [{', '.join(['"parallel"'] * rank)}]}}
    ins(%{value} : {kind}) outs(%e_{result} : {kind}) {{
^bb0(%x_{result}: f64, %o_{result}: f64):
  %y_{result} = arith.mulf %x_{result}, {factor} : f64
  linalg.yield %y_{result} : f64
}} -> {kind}"""


def branches():
    half = "%half = arith.constant 0.5 : f64\n%two = arith.constant 2.0 : f64\n"
    yield simple("if_tensors", {"a": N, "c": "i1"}, [N], f"""{half}%r = scf.if %c -> {N} {{
{scaled('p', 'a', '%half')}
  scf.yield %p : {N}
}} else {{
{scaled('q', 'a', '%two')}
  scf.yield %q : {N}
}}
return %r : {N}""")
    yield simple("if_size", {"a": V}, [V], f"""{half}%n = tensor.dim %a, %c0 : {V}
%c = arith.cmpi ugt, %n, %c2 : index
%r = scf.if %c -> {V} {{
  %p = arith.addf %a, %a : {V}
  scf.yield %p : {V}
}} else {{
  scf.yield %a : {V}
}}
return %r : {V}""")
    yield simple("if_element", {"a": N}, [N], f"""{half}%x = tensor.extract %a[%c1] : {N}
%c = arith.cmpf ogt, %x, %half : f64
%r = scf.if %c -> {N} {{
{scaled('p', 'a', '%half')}
  scf.yield %p : {N}
}} else {{
  scf.yield %a : {N}
}}
return %r : {N}""")
    yield simple("if_memref", {"a": memref(8, "f64"), "k": "i32"}, [], """%z = arith.constant 3 : i32
%g = arith.cmpi sgt, %k, %z : i32
%c8 = arith.constant 8 : index
scf.if %g {
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %x = memref.load %a[%i] : memref<8xf64>
    %y = arith.addf %x, %x : f64
    memref.store %y, %a[%i] : memref<8xf64>
    scf.reduce
  }
}
return""", integers=(2, 6))
    yield simple("switch", {"a": N, "k": "index"}, [N], f"""{half}%r = scf.index_switch %k -> {N}
case 2 {{
{scaled('p', 'a', '%half')}
  scf.yield %p : {N}
}}
case 5 {{
  scf.yield %a : {N}
}}
default {{
{scaled('q', 'a', '%two')}
  scf.yield %q : {N}
}}
return %r : {N}""", integers=(2, 3))
    yield simple("switch_scalar", {"k": "index"}, ["i32"], """%r = scf.index_switch %k -> i32
case 2 {
  %p = arith.constant 10 : i32
  scf.yield %p : i32
}
default {
  %q = arith.constant 20 : i32
  scf.yield %q : i32
}
return %r : i32""", integers=(2, 3))
    yield simple("execute_region", {"a": N}, [N], f"""{half}%r = scf.execute_region -> {N} {{
{scaled('p', 'a', '%half')}
  scf.yield %p : {N}
}}
return %r : {N}""")
    yield simple("if_in_generic", {"a": N}, [N], f"""%e = tensor.empty() : {N}
%r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} ins(%a : {N}) outs(%e : {N}) {{
^bb0(%x: f64, %o: f64):
  %z = arith.constant 0.0 : f64
  %g = arith.cmpf ogt, %x, %z : f64
  %v = scf.if %g -> f64 {{
    %s = math.sqrt %x : f64
    scf.yield %s : f64
  }} else {{
    %s = arith.mulf %x, %x : f64
    scf.yield %s : f64
  }}
  linalg.yield %v : f64
}} -> {N}
return %r : {N}""")


def stencil(source, target, memory):
    """One step of the heat equation on 6 x 8."""
    if memory:
        kind = memref(6, 8, "f64")
        return f"""scf.parallel (%i, %j) = (%c1, %c1) to (%c5, %c7) step (%c1, %c1) {{
  %up = arith.subi %i, %c1 : index
  %down = arith.addi %i, %c1 : index
  %left = arith.subi %j, %c1 : index
  %right = arith.addi %j, %c1 : index
  %here = memref.load %{source}[%i, %j] : {kind}
  %no = memref.load %{source}[%up, %j] : {kind}
  %s = memref.load %{source}[%down, %j] : {kind}
  %w = memref.load %{source}[%i, %left] : {kind}
  %e = memref.load %{source}[%i, %right] : {kind}
  %ns = arith.addf %no, %s : f64
  %we = arith.addf %w, %e : f64
  %around = arith.addf %ns, %we : f64
  %own = arith.mulf %here, %four : f64
  %laplacian = arith.subf %around, %own : f64
  %change = arith.mulf %laplacian, %alpha : f64
  %new = arith.addf %here, %change : f64
  memref.store %new, %{target}[%i, %j] : {kind}
  scf.reduce
}}"""
    kind, inner = A, tensor(4, 6, "f64")
    slices = "\n".join(f"%{name} = tensor.extract_slice %{source}[{at}] [4, 6] [1, 1] : {kind} to {inner}" for name, at in
                       [("here", "1, 1"), ("no", "0, 1"), ("s", "2, 1"), ("w", "1, 0"), ("e", "1, 2")])
    identity = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 6)
    return f"""{slices}
%empty = tensor.empty() : {inner}
%inside = linalg.generic {{indexing_maps = [{identity}], iterator_types = ["parallel", "parallel"]}}
    ins(%here, %no, %s, %w, %e : {', '.join([inner] * 5)}) outs(%empty : {inner}) {{
^bb0(%h: f64, %xn: f64, %xs: f64, %xw: f64, %xe: f64, %o: f64):
  %ns = arith.addf %xn, %xs : f64
  %we = arith.addf %xw, %xe : f64
  %around = arith.addf %ns, %we : f64
  %own = arith.mulf %h, %four : f64
  %laplacian = arith.subf %around, %own : f64
  %change = arith.mulf %laplacian, %alpha : f64
  %new = arith.addf %h, %change : f64
  linalg.yield %new : f64
}} -> {inner}
%{target} = tensor.insert_slice %inside into %{source}[1, 1] [4, 6] [1, 1] : {inner} into {kind}"""


HEAT = """%c5 = arith.constant 5 : index
%c7 = arith.constant 7 : index
%four = arith.constant 4.0 : f64
%alpha = arith.constant 0.1 : f64
"""


def time_loops():
    m = memref(6, 8, "f64")
    yield simple("heat_for_tensor", {"a": A, "n": "index"}, [A], f"""{HEAT}%r = scf.for %t = %c0 to %n step %c1 iter_args(%u = %a) -> {A} {{
{stencil('u', 'next', False)}
scf.yield %next : {A}
}}
return %r : {A}""", integers=(3, 4))
    yield simple("heat_while_tensor", {"a": A, "n": "index"}, [A, "index"], f"""{HEAT}%r, %k = scf.while (%u = %a, %t = %c0) : ({A}, index) -> ({A}, index) {{
  %x = tensor.extract %u[%c2, %c2] : {A}
  %big = arith.constant 100.0 : f64
  %in = arith.cmpi ult, %t, %n : index
  %small = arith.cmpf olt, %x, %big : f64
  %go = arith.andi %in, %small : i1
  scf.condition(%go) %u, %t : {A}, index
}} do {{
^bb0(%u: {A}, %t: index):
{stencil('u', 'next', False)}
%t1 = arith.addi %t, %c1 : index
scf.yield %next, %t1 : {A}, index
}}
return %r, %k : {A}, index""", integers=(3, 4))
    yield simple("heat_for_memref", {"a": m, "b": m, "n": "index"}, [], f"""{HEAT}memref.copy %a, %b : {m} to {m}
%r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> ({m}, {m}) {{
{stencil('u', 'v', True)}
scf.yield %v, %u : {m}, {m}
}}
return""", integers=(3, 4))
    yield simple("heat_copy_memref", {"a": m, "n": "index"}, [], f"""{HEAT}%v = memref.alloc() : {m}
memref.copy %a, %v : {m} to {m}
scf.for %t = %c0 to %n step %c1 {{
{stencil('a', 'v', True)}
memref.copy %v, %a : {m} to {m}
}}
memref.dealloc %v : {m}
return""", integers=(3, 4))
    for count, below in (("i32", "slt"), ("index", "ult")):
        yield simple(f"heat_while_memref_{count}", {"a": m, "limit": "f64"}, [count], f"""{HEAT}%v = memref.alloc() : {m}
memref.copy %a, %v : {m} to {m}
%zero = arith.constant 0.0 : f64
%none = arith.constant 0 : {count}
%one = arith.constant 1 : {count}
%most = arith.constant 50 : {count}
%big = arith.constant 1.0e30 : f64
%r:2 = scf.while (%d = %big, %k = %none) : (f64, {count}) -> (f64, {count}) {{
  %more = arith.cmpf ogt, %d, %limit : f64
  %few = arith.cmpi {below}, %k, %most : {count}
  %go = arith.andi %more, %few : i1
  scf.condition(%go) %d, %k : f64, {count}
}} do {{
^bb0(%d: f64, %k: {count}):
{stencil('a', 'v', True)}
  %m = scf.parallel (%i, %j) = (%c1, %c1) to (%c5, %c7) step (%c1, %c1) init (%zero) -> f64 {{
    %x = memref.load %a[%i, %j] : {m}
    %y = memref.load %v[%i, %j] : {m}
    %df = arith.subf %y, %x : f64
    %ab = math.absf %df : f64
    scf.reduce (%ab : f64) {{
    ^bb0(%l: f64, %q: f64):
      %mx = arith.maximumf %l, %q : f64
      scf.reduce.return %mx : f64
    }}
  }}
  memref.copy %v, %a : {m} to {m}
  %k1 = arith.addi %k, %one : {count}
  scf.yield %m, %k1 : f64, {count}
}}
return %r#1 : {count}""", positive=True)
    rod = memref(64, "f64")
    yield simple("heat_while_exchange", {"a": rod, "b": rod, "limit": "f64"}, ["index"], f"""memref.copy %a, %b : {rod} to {rod}
%half = arith.constant 0.5 : f64
%zero = arith.constant 0.0 : f64
%big = arith.constant 1.0e30 : f64
%c50 = arith.constant 50 : index
%c63 = arith.constant 63 : index
%r:4 = scf.while (%d = %big, %k = %c0, %u = %a, %v = %b) : (f64, index, {rod}, {rod}) -> (f64, index, {rod}, {rod}) {{
  %more = arith.cmpf ogt, %d, %limit : f64
  %few = arith.cmpi ult, %k, %c50 : index
  %go = arith.andi %more, %few : i1
  scf.condition(%go) %d, %k, %u, %v : f64, index, {rod}, {rod}
}} do {{
^bb0(%d: f64, %k: index, %u: {rod}, %v: {rod}):
  %largest = scf.parallel (%i) = (%c1) to (%c63) step (%c1) init (%zero) -> f64 {{
    %l = arith.subi %i, %c1 : index
    %h = arith.addi %i, %c1 : index
    %x = memref.load %u[%l] : {rod}
    %y = memref.load %u[%h] : {rod}
    %here = memref.load %u[%i] : {rod}
    %s = arith.addf %x, %y : f64
    %q = arith.mulf %s, %half : f64
    memref.store %q, %v[%i] : {rod}
    %df = arith.subf %q, %here : f64
    %ab = math.absf %df : f64
    scf.reduce (%ab : f64) {{
    ^bb0(%m: f64, %o: f64):
      %mx = arith.maximumf %m, %o : f64
      scf.reduce.return %mx : f64
    }}
  }}
  %k1 = arith.addi %k, %c1 : index
  scf.yield %largest, %k1, %v, %u : f64, index, {rod}, {rod}
}}
return %r#1 : index""", positive=True)
    row = memref(8, "f64")
    step = """scf.for %i = %c1 to %c7 step %c1 {
    %l = arith.subi %i, %c1 : index
    %h = arith.addi %i, %c1 : index
    %x = memref.load %u[%l] : memref<8xf64>
    %y = memref.load %u[%h] : memref<8xf64>
    %s = arith.addf %x, %y : f64
    %q = arith.mulf %s, %half : f64
    memref.store %q, %v[%i] : memref<8xf64>
  }"""
    half = "%half = arith.constant 0.5 : f64\n%c6 = arith.constant 6 : index\n%c7 = arith.constant 7 : index\n%c8 = arith.constant 8 : index\n"
    yield simple("heat_in_kernel", {"a": m, "n": "index"}, [], f"""{half}scf.parallel (%p) = (%c0) to (%c6) step (%c1) {{
  %old = memref.alloca() : {row}
  %new = memref.alloca() : {row}
  scf.for %i = %c0 to %c8 step %c1 {{
    %x = memref.load %a[%p, %i] : {m}
    memref.store %x, %old[%i] : {row}
    memref.store %x, %new[%i] : {row}
  }}
  %r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%u = %old, %v = %new) -> ({row}, {row}) {{
  {step}
  scf.yield %v, %u : {row}, {row}
  }}
  scf.for %i = %c0 to %c8 step %c1 {{
    %x = memref.load %r#0[%i] : {row}
    memref.store %x, %a[%p, %i] : {m}
  }}
  scf.reduce
}}
return""", integers=(2, 6))
    sweep = step.replace("%x = memref.load %u[%l]", "%x = memref.load %v[%l]")
    yield simple("heat_one_kernel", {"a": row, "b": row, "n": "index"}, [], f"""{half}%r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%u = %a, %v = %b) -> ({row}, {row}) {{
  {sweep}
  scf.yield %v, %u : {row}, {row}
}}
return""", integers=(2, 6))
    yield simple("gemm_in_loop", {"a": memref(4, 4, "f64"), "b": memref(4, 4, "f64"), "c": memref(4, 4, "f64"), "n": "index"}, [], """scf.for %t = %c0 to %n step %c1 {
  linalg.matmul ins(%a, %b : memref<4x4xf64>, memref<4x4xf64>) outs(%c : memref<4x4xf64>)
  linalg.copy ins(%c : memref<4x4xf64>) outs(%b : memref<4x4xf64>)
}
return""", integers=(2, 3))
    yield simple("matmul_power", {"a": tensor(4, 4, "f64"), "n": "index"}, [tensor(4, 4, "f64")], """%zero = arith.constant 0.0 : f64
%r = scf.for %t = %c0 to %n step %c1 iter_args(%p = %a) -> tensor<4x4xf64> {
  %e = tensor.empty() : tensor<4x4xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<4x4xf64>) -> tensor<4x4xf64>
  %q = linalg.matmul ins(%p, %a : tensor<4x4xf64>, tensor<4x4xf64>) outs(%z : tensor<4x4xf64>) -> tensor<4x4xf64>
  scf.yield %q : tensor<4x4xf64>
}
return %r : tensor<4x4xf64>""", integers=(2, 4))
    yield simple("swap_tensors", {"a": N, "b": N, "n": "index"}, [N, N], f"""%half = arith.constant 0.5 : f64
%r:2 = scf.for %t = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> ({N}, {N}) {{
{scaled('s', 'p', '%half')}
  scf.yield %q, %s : {N}, {N}
}}
return %r#0, %r#1 : {N}, {N}""", integers=(3, 4))


def placed():
    """Rows at positions that data decide; recurrences that linalg writes as reductions."""
    rows, row = tensor(6, 4, "f32"), tensor(4, "f32")
    yield simple("update_rows", {"a": rows, "x": tensor(5, 4, "f32"), "at": tensor(5, "i32")}, [rows], f"""%c5 = arith.constant 5 : index
%r = scf.for %k = %c0 to %c5 step %c1 iter_args(%s = %a) -> {rows} {{
  %p = tensor.extract %at[%k] : tensor<5xi32>
  %i = arith.index_cast %p : i32 to index
  %old = tensor.extract_slice %s[%i, 0] [1, 4] [1, 1] : {rows} to {row}
  %own = tensor.extract_slice %x[%k, 0] [1, 4] [1, 1] : tensor<5x4xf32> to {row}
  %sum = linalg.add ins(%old, %own : {row}, {row}) outs(%old : {row}) -> {row}
  %n = tensor.insert_slice %sum into %s[%i, 0] [1, 4] [1, 1] : {row} into {rows}
  scf.yield %n : {rows}
}}
return %r : {rows}""", integers=(0, 6))
    yield simple("slice_at_data", {"x": tensor(16, 8, "f32"), "u": tensor(4, 8, "f32"), "at": tensor("i32")},
                 [tensor(4, 8, "f32"), tensor(16, 8, "f32")], """%p = tensor.extract %at[] : tensor<i32>
%i = arith.index_cast %p : i32 to index
%s = tensor.extract_slice %x[%i, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
%r = arith.addf %s, %u : tensor<4x8xf32>
%w = tensor.insert_slice %u into %x[%i, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<16x8xf32>
return %r, %w : tensor<4x8xf32>, tensor<16x8xf32>""", integers=(0, 12))
    yield simple("recurrence_reduction", {"x": tensor(4, 9, "f64"), "a": "f64", "s": tensor(4, "f64")}, [tensor(4, "f64")], """%r = linalg.generic {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x9xf64>) outs(%s : tensor<4xf64>) {
^bb0(%in: f64, %y: f64):
  %g = arith.mulf %y, %a : f64
  %n = arith.addf %in, %g : f64
  linalg.yield %n : f64
} -> tensor<4xf64>
return %r : tensor<4xf64>""")


def dot(result, x, y, kind="tensor<8xf64>"):
    return f"""%e_{result} = tensor.empty() : tensor<f64>
%z_{result} = linalg.fill ins(%zero : f64) outs(%e_{result} : tensor<f64>) -> tensor<f64>
%d_{result} = linalg.dot ins(%{x}, %{y} : {kind}, {kind}) outs(%z_{result} : tensor<f64>) -> tensor<f64>
%{result} = tensor.extract %d_{result}[] : tensor<f64>"""


def axpy(result, x, factor, y, minus=False):
    identity = "affine_map<(i) -> (i)>"
    return f"""%e_{result} = tensor.empty() : {N}
%{result} = linalg.generic {{indexing_maps = [{identity}, {identity}, {identity}], iterator_types = ["parallel"]}}
    ins(%{x}, %{y} : {N}, {N}) outs(%e_{result} : {N}) {{
^bb0(%u_{result}: f64, %v_{result}: f64, %o_{result}: f64):
  %p_{result} = arith.mulf %{factor}, %v_{result} : f64
  %q_{result} = arith.{'subf' if minus else 'addf'} %u_{result}, %p_{result} : f64
  linalg.yield %q_{result} : f64
}} -> {N}"""


def solvers():
    s = tensor(8, 8, "f64")
    product = f"""%e_y = tensor.empty() : {N}
%z_y = linalg.fill ins(%zero : f64) outs(%e_y : {N}) -> {N}
%y = linalg.matvec ins(%A, %x : {s}, {N}) outs(%z_y : {N}) -> {N}"""
    yield simple("power_iteration", {"A": s, "b": N, "n": "index"}, [N], f"""%zero = arith.constant 0.0 : f64
%one = arith.constant 1.0 : f64
%r = scf.for %t = %c0 to %n step %c1 iter_args(%x = %b) -> {N} {{
{product}
{dot('s', 'y', 'y')}
  %norm = math.sqrt %s : f64
  %f = arith.divf %one, %norm : f64
{scaled('w', 'y', '%f')}
  scf.yield %w : {N}
}}
return %r : {N}""", integers=(3, 4))
    yield simple("conjugate_gradient", {"B": s, "b": N, "n": "index"}, [N], f"""%zero = arith.constant 0.0 : f64
%eight = arith.constant 8.0 : f64
%ea = tensor.empty() : {s}
%A = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
    ins(%B, %B : {s}, {s}) outs(%ea : {s}) {{
^bb0(%l: f64, %m: f64, %o: f64):
  %i = linalg.index 0 : index
  %j = linalg.index 1 : index
  %same = arith.cmpi eq, %i, %j : index
  %d = arith.select %same, %eight, %zero : f64
  %sum = arith.addf %l, %m : f64
  %v = arith.addf %sum, %d : f64
  linalg.yield %v : f64
}} -> {s}
%ex = tensor.empty() : {N}
%x0 = linalg.fill ins(%zero : f64) outs(%ex : {N}) -> {N}
{dot('rr0', 'b', 'b')}
%r:4 = scf.for %t = %c0 to %n step %c1 iter_args(%sol = %x0, %res = %b, %x = %b, %rr = %rr0) -> ({N}, {N}, {N}, f64) {{
{product}
{dot('xy', 'x', 'y')}
  %step = arith.divf %rr, %xy : f64
{axpy('sol1', 'sol', 'step', 'x')}
{axpy('res1', 'res', 'step', 'y', minus=True)}
{dot('rr1', 'res1', 'res1')}
  %beta = arith.divf %rr1, %rr : f64
{axpy('dir', 'res1', 'beta', 'x')}
  scf.yield %sol1, %res1, %dir, %rr1 : {N}, {N}, {N}, f64
}}
return %r#0 : {N}""", integers=(3, 4))


def foralls():
    yield simple("forall_memref_2d", {"a": memref(4, 5, "f32"), "b": memref(5, 4, "f32")}, [], """scf.forall (%i, %j) in (4, 5) {
  %x = memref.load %a[%i, %j] : memref<4x5xf32>
  memref.store %x, %b[%j, %i] : memref<5x4xf32>
}
return""")
    yield simple("forall_mapped", {"a": memref(4, 5, "f32")}, [], """scf.forall (%i, %j) in (4, 5) {
  %x = memref.load %a[%i, %j] : memref<4x5xf32>
  %y = arith.addf %x, %x : f32
  memref.store %y, %a[%i, %j] : memref<4x5xf32>
} {mapping = [#gpu.block<x>, #gpu.thread<x>]}
return""", )
    yield simple("forall_steps", {"a": memref(12, "f32")}, [], """scf.forall (%i) = (0) to (12) step (4) {
  %x = memref.load %a[%i] : memref<12xf32>
  %y = arith.addf %x, %x : f32
  memref.store %y, %a[%i] : memref<12xf32>
}
return""")
    t = tensor(8, 6, "f32")
    yield simple("forall_tiles", {"a": t}, [t], f"""%e = tensor.empty() : {t}
%r = scf.forall (%i) in (4) shared_outs(%o = %e) -> {t} {{
  %k = arith.muli %i, %c2 : index
  %s = tensor.extract_slice %a[%k, 0] [2, 6] [1, 1] : {t} to tensor<2x6xf32>
  %d = tensor.extract_slice %o[%k, 0] [2, 6] [1, 1] : {t} to tensor<2x6xf32>
  %x = linalg.exp ins(%s : tensor<2x6xf32>) outs(%d : tensor<2x6xf32>) -> tensor<2x6xf32>
  scf.forall.in_parallel {{
    tensor.parallel_insert_slice %x into %o[%k, 0] [2, 6] [1, 1] : tensor<2x6xf32> into {t}
  }}
}}
return %r : {t}""")


def functions():
    helper = function("@".join(["twice_of"]), {"x": N}, [N], f"%s = arith.addf %x, %x : {N}\nreturn %s : {N}").replace("func.func @", "func.func private @")
    yield Program("calls", helper + function("calls", {"a": N}, [N], f"%s = call @twice_of(%a) : ({N}) -> {N}\n%t = call @twice_of(%s) : ({N}) -> {N}\nreturn %t : {N}"))
    yield simple("many_results", {"a": N, "k": "i32"}, [N, "i32", N, "f64"], f"""%s = arith.addf %a, %a : {N}
%n = arith.addi %k, %k : i32
%m = arith.mulf %a, %a : {N}
%x = tensor.extract %a[%c1] : {N}
return %s, %n, %m, %x : {N}, i32, {N}, f64""")
    yield simple("memref_back", {"a": memref(8, "f64")}, ["memref<8xf64>"], """%c8 = arith.constant 8 : index
scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
  %x = memref.load %a[%i] : memref<8xf64>
  %y = arith.addf %x, %x : f64
  memref.store %y, %a[%i] : memref<8xf64>
  scf.reduce
}
return %a : memref<8xf64>""")
    yield simple("scalars_only", {"x": "f64", "k": "i32"}, ["f64", "i32"], """%y = math.sin %x : f64
%n = arith.muli %k, %k : i32
return %y, %n : f64, i32""")


def nothing(*_):
    return []


def printing():
    """Programs as tests of compilers are written: they print a tensor."""
    kind = tensor(2, 2, "f32")
    yield simple("print_matmul", {}, [], f"""%z = arith.constant 0.0 : f32
%a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
%b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
%e = tensor.empty() : {kind}
%f = linalg.fill ins(%z : f32) outs(%e : {kind}) -> {kind}
%c = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%f : {kind}) -> {kind}
%v = vector.transfer_read %c[%c0, %c0], %z : {kind}, vector<2x2xf32>
vector.print %v : vector<2x2xf32>
return""", prints="( ( 22, 28 ), ( 49, 64 ) )\n", reference=nothing)
    yield simple("print_beyond", {"a": memref(3, "i32")}, [], """%m = arith.constant -1 : i32
%seven = arith.constant 7 : i32
memref.store %seven, %a[%c1] : memref<3xi32>
memref.store %seven, %a[%c2] : memref<3xi32>
%v = vector.transfer_read %a[%c1], %m : memref<3xi32>, vector<4xi32>
vector.print str "from 1: "
vector.print %v : vector<4xi32>
return""", prints="from 1: ( 7, 7, -1, -1 )\n", reference=lambda a: [numpy.array([a[0], 7, 7], a.dtype)])
    yield simple("print_scalar", {"x": "f64"}, [], """%y = arith.constant 2.5 : f64
vector.print %y : f64
vector.print str "done\\0A"
return""", prints="2.5\ndone\n", reference=nothing)


def programs():
    yield from printing()
    yield from branches()
    yield from time_loops()
    yield from solvers()
    yield from placed()
    yield from foralls()
    yield from functions()
