"""Schedules in the transform dialect: whatever they do to a program, it computes what it computed before."""

from . import Program, function, tensor

ANY = "!transform.any_op"


def match(op, name="op"):
    return f'%{name} = transform.structured.match ops{{["{op}"]}} in %program : ({ANY}) -> {ANY}\n'


def apply(step, results, operand="%op"):
    """One step on one handle; `results` handles come of it."""
    kinds = ", ".join([ANY] * results)
    return f"transform.{step.replace('%op', operand)} : ({ANY}) -> {'(' + kinds + ')' if results > 1 else kinds}\n"


GEMM = """%zero = arith.constant 0.0 : f32
%empty = tensor.empty() : tensor<24x20xf32>
%init = linalg.fill ins(%zero : f32) outs(%empty : tensor<24x20xf32>) -> tensor<24x20xf32>
%c = linalg.matmul ins(%a, %b : tensor<24x16xf32>, tensor<16x20xf32>) outs(%init : tensor<24x20xf32>) -> tensor<24x20xf32>
%e = linalg.abs ins(%c : tensor<24x20xf32>) outs(%empty : tensor<24x20xf32>) -> tensor<24x20xf32>
return %e : tensor<24x20xf32>"""

STENCIL = """%c1 = arith.constant 1 : index
%c15 = arith.constant 15 : index
%half = arith.constant 0.5 : f32
scf.for %i = %c1 to %c15 step %c1 {
  %before = arith.subi %i, %c1 : index
  %after = arith.addi %i, %c1 : index
  %l = memref.load %a[%before] : memref<16xf32>
  %r = memref.load %a[%after] : memref<16xf32>
  %s = arith.addf %l, %r : f32
  %h = arith.mulf %s, %half : f32
  memref.store %h, %b[%i] : memref<16xf32>
}
return"""


def gemms():
    matmul = match("linalg.matmul")
    yield "tile_forall", matmul + "%t, %l = " + apply("structured.tile_using_forall %op tile_sizes [8, 5]", 2)
    yield "tile_for", matmul + "%t, %l:2 = " + apply("structured.tile_using_for %op tile_sizes [8, 7]", 3)
    yield "tile_depth", matmul + "%t, %l:3 = " + apply("structured.tile_using_for %op tile_sizes [12, 10, 4]", 4)
    typed = '!transform.op<"scf.for">'
    yield "tile_peel", (matmul + f"%t, %l = transform.structured.tile_using_for %op tile_sizes [0, 7] : ({ANY}) -> ({ANY}, {typed})\n"
                        f"%m, %r = transform.loop.peel %l : ({typed}) -> ({typed}, {typed})\n")
    yield "interchange", (matmul + "%g = " + apply("structured.generalize %op", 1) +
                          "%i = " + apply("structured.interchange %op iterator_interchange = [1, 0, 2]", 1, "%g"))
    yield "split", matmul + "%x, %y = " + f"transform.structured.split %op after 9 {{dimension = 0}} : {ANY}\n"
    yield "pack", matmul + "%p = " + apply("structured.pack %op packed_sizes = [4, 4, 8]", 1).replace(f"-> {ANY}", '-> (!transform.op<"linalg.generic">)')
    yield "decomposed", match("func.func") + f"transform.apply_patterns to %op {{ transform.apply_patterns.canonicalization }} : {ANY}\n"
    yield "parallel", (matmul + "%t, %l = " + apply("structured.tile_using_forall %op tile_sizes [8, 5]", 2) +
                       "%b = transform.bufferization.one_shot_bufferize %program {bufferize_function_boundaries = true, "
                       f"function_boundary_type_conversion = 1 : i32}} : ({ANY}) -> {ANY}\n")


def loops():
    loop = match("scf.for")
    yield "unroll", loop + f"transform.loop.unroll %op {{ factor = 2 }} : {ANY}\n"
    yield "outline", loop + '%f, %c = ' + apply('loop.outline %op {func_name = "inner"}', 2)


def programs():
    a, b = tensor(24, 16, "f32"), tensor(16, 20, "f32")
    for name, steps in gemms():
        name = "schedule_" + name
        yield Program(name, function(name, {"a": a, "b": b}, ["tensor<24x20xf32>"], GEMM), schedule=steps)
    for name, steps in loops():
        name = "schedule_" + name
        yield Program(name, function(name, {"a": "memref<16xf32>", "b": "memref<16xf32>"}, [], STENCIL), schedule=steps)
