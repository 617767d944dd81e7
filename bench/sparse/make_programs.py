#!/usr/bin/env python3
"""Writes the programs of the sparse suite: one file, a function each."""
import sys

CSR = "#sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>"
A, V = f"tensor<?x?xf64, {CSR}>", "tensor<?xf64>"
HEAD = """  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
"""
I, IJ = "affine_map<(i) -> (i)>", "affine_map<(i, j) -> (i, j)>"


def vectors(name, inputs, output, lines, result="t"):
    """`name` = the last of `lines`, for each element of vectors."""
    maps = ", ".join([I] * (len(inputs) + 1))
    arguments = ", ".join(f"%{v}i: f64" for v in [*inputs, output])
    return f"""  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join("%" + v for v in inputs)} : {", ".join([V] * len(inputs))}) outs(%{output} : {V}) {{
  ^bb0({arguments}):
    {chr(10).join("    " + line for line in lines).strip()}
    linalg.yield %{result} : f64
  }} -> {V}
"""


def product(name, a, x, y, n):
    return f"""  %{y}e = tensor.empty({n}) : {V}
  %{y}z = linalg.fill ins(%zero : f64) outs(%{y}e : {V}) -> {V}
  %{name} = linalg.matvec ins(%{a}, %{x} : {A}, {V}) outs(%{y}z : {V}) -> {V}
"""


def spmm(width):
    x = f"tensor<?x{width}xf64>"
    return f"""func.func @spmm{width}(%A: {A}, %x: {x}) -> {x} {{
{HEAD}  %n = tensor.dim %A, %c0 : {A}
  %e = tensor.empty(%n) : {x}
  %z = linalg.fill ins(%zero : f64) outs(%e : {x}) -> {x}
  %y = linalg.matmul ins(%A, %x : {A}, {x}) outs(%z : {x}) -> {x}
  return %y : {x}
}}
"""


def sddmm(width):
    u = f"tensor<?x{width}xf64>"
    return f"""func.func @sddmm{width}(%A: {A}, %u: {u}, %v: {u}) -> {A} {{
{HEAD}  %c1 = arith.constant 1 : index
  %n = tensor.dim %u, %c0 : {u}
  %m = tensor.dim %v, %c0 : {u}
  %e = tensor.empty(%n, %m) : {A}
  %S = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%A, %u, %v : {A}, {u}, {u}) outs(%e : {A}) {{
  ^bb0(%a: f64, %ui: f64, %vj: f64, %o: f64):
    %p = arith.mulf %ui, %vj : f64
    %q = arith.mulf %a, %p : f64
    %s = arith.addf %o, %q : f64
    linalg.yield %s : f64
  }} -> {A}
  return %S : {A}
}}
"""


SPMV = f"""func.func @spmv(%A: {A}, %x: {V}) -> {V} {{
{HEAD}  %n = tensor.dim %A, %c0 : {A}
{product("y", "A", "x", "y", "%n")}  return %y : {V}
}}
"""
RESIDUAL = f"""func.func @residual(%A: {A}, %x: {V}, %b: {V}) -> {V} {{
{HEAD}  %n = tensor.dim %b, %c0 : {V}
{product("q", "A", "x", "q", "%n")}  %re = tensor.empty(%n) : {V}
{vectors("r", ["b", "q"], "re", ["%t = arith.subf %bi, %qi : f64"])}  return %r : {V}
}}
"""
# r = b - A x, d = x / 2 + r / 4, and r·r
CHEBYSHEV = f"""func.func @chebyshev(%A: {A}, %x: {V}, %b: {V}) -> ({V}, tensor<f64>) {{
{HEAD}  %half = arith.constant 0.5 : f64
  %quarter = arith.constant 0.25 : f64
  %n = tensor.dim %b, %c0 : {V}
{product("q", "A", "x", "q", "%n")}  %re = tensor.empty(%n) : {V}
{vectors("r", ["b", "q"], "re", ["%t = arith.subf %bi, %qi : f64"])}  %de = tensor.empty(%n) : {V}
{vectors("d", ["x", "r"], "de", ["%p = arith.mulf %half, %xi : f64", "%q1 = arith.mulf %quarter, %ri : f64", "%t = arith.addf %p, %q1 : f64"])}  %se = tensor.empty() : tensor<f64>
  %s = linalg.fill ins(%zero : f64) outs(%se : tensor<f64>) -> tensor<f64>
  %rr = linalg.dot ins(%r, %r : {V}, {V}) outs(%s : tensor<f64>) -> tensor<f64>
  return %d, %rr : {V}, tensor<f64>
}}
"""
ADD = f"""func.func @add(%A: {A}, %B: {A}) -> {A} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %A, %c0 : {A}
  %e = tensor.empty(%n, %n) : {A}
  %C = linalg.generic {{indexing_maps = [{IJ}, {IJ}, {IJ}], iterator_types = ["parallel", "parallel"]}}
      ins(%A, %B : {A}, {A}) outs(%e : {A}) {{
  ^bb0(%a: f64, %b: f64, %o: f64):
    %s = arith.addf %a, %b : f64
    linalg.yield %s : f64
  }} -> {A}
  return %C : {A}
}}
"""
MULTIPLY = f"""func.func @multiply(%A: {A}, %B: {A}) -> {A} {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %A, %c0 : {A}
  %e = tensor.empty(%n, %n) : {A}
  %C = linalg.matmul ins(%A, %B : {A}, {A}) outs(%e : {A}) -> {A}
  return %C : {A}
}}
"""


def pcg():
    carried = f"{V}, {V}, {V}, f64, f64, index"
    dot = lambda name, a, b: (
        f"    %{name}t = linalg.dot ins(%{a}, %{b} : {V}, {V}) outs(%s : tensor<f64>) -> tensor<f64>\n"
        f"    %{name} = tensor.extract %{name}t[] : tensor<f64>\n"
    )
    update = lambda name, step, a, b, verb: vectors(name, [a], b, [f"%m = arith.mulf %{step}, %{a}i : f64", f"%t = arith.{verb} %{b}i, %m : f64"])
    return f"""func.func @pcg(%A: {A}, %d: {V}, %b: {V}, %rounds: index) -> {V} {{
{HEAD}  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c0 : {V}
  %e = tensor.empty(%n) : {V}
  %se = tensor.empty() : tensor<f64>
  %s = linalg.fill ins(%zero : f64) outs(%se : tensor<f64>) -> tensor<f64>
  %x0 = linalg.fill ins(%zero : f64) outs(%e : {V}) -> {V}
  %pe = tensor.empty(%n) : {V}
{vectors("p0", ["d", "b"], "pe", ["%t = arith.mulf %di, %bi : f64"])}{dot("rz0", "b", "p0")}{dot("rr0", "b", "b")}  %w:6 = scf.while (%x = %x0, %r = %b, %p = %p0, %rz = %rz0, %rr = %rr0, %k = %c0) : ({carried}) -> ({carried}) {{
    %more = arith.cmpf ogt, %rr, %zero : f64
    %less = arith.cmpi slt, %k, %rounds : index
    %go = arith.andi %more, %less : i1
    scf.condition(%go) %x, %r, %p, %rz, %rr, %k : {carried}
  }} do {{
  ^bb0(%x: {V}, %r: {V}, %p: {V}, %rz: f64, %rr: f64, %k: index):
{product("q", "A", "p", "q", "%n")}{dot("pq", "p", "q")}    %alpha = arith.divf %rz, %pq : f64
{update("x1", "alpha", "p", "x", "addf")}{update("r1", "alpha", "q", "r", "subf")}    %ze = tensor.empty(%n) : {V}
{vectors("z", ["d", "r1"], "ze", ["%t = arith.mulf %di, %r1i : f64"])}{dot("new", "r1", "z")}{dot("rr1", "r1", "r1")}    %beta = arith.divf %new, %rz : f64
{vectors("p1", ["z"], "p", ["%m = arith.mulf %beta, %pi : f64", "%t = arith.addf %zi, %m : f64"])}    %k1 = arith.addi %k, %c1 : index
    scf.yield %x1, %r1, %p1, %new, %rr1, %k1 : {carried}
  }}
  return %w#0 : {V}
}}
"""


# A^T x
SPMVT = f"""func.func @spmvt(%A: {A}, %x: {V}, %y: {V}) -> {V} {{
  %r = linalg.generic {{indexing_maps = [{IJ}, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>], iterator_types = ["reduction", "parallel"]}}
      ins(%A, %x : {A}, {V}) outs(%y : {V}) {{
  ^bb0(%a: f64, %b: f64, %o: f64):
    %t = arith.mulf %a, %b : f64
    %s = arith.addf %o, %t : f64
    linalg.yield %s : f64
  }} -> {V}
  return %r : {V}
}}
"""

ALL = [SPMV, SPMVT, spmm(8), spmm(64), sddmm(8), sddmm(32), sddmm(64), RESIDUAL, CHEBYSHEV, ADD, MULTIPLY, pcg()]

if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(ALL))
