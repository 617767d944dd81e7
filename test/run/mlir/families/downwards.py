"""Loops that use `first - index`, in order and in any; remainders with the sign of the divisor."""

from . import memref
from .loops import program

GRID, LINE = memref(6, 9, "f64"), memref(9, "f64")


def column(name, first, steps, body, begin="%c0", arguments=None, setup=""):
    """Columns that go down by themselves; %k is the row."""
    lines = "\n".join("    " + line for line in body.splitlines())
    return program("down_" + name, arguments or {"x": memref(9, 6, "f64"), "y": memref(9, 6, "f64")}, f"""{setup}
scf.for %j = %c0 to %c6 step %c1 {{
  %end = scf.for %t = {begin} to {steps} step %c1 iter_args(%a = %half) -> (f64) {{
    %k = arith.subi {first}, %t : index
{lines}
  }}
}}""")


STEP = """%next = arith.addi %k, %c1 : index
%u = memref.load %x[%k, %j] : memref<9x6xf64>
%v = memref.load %x[%next, %j] : memref<9x6xf64>
%h = arith.mulf %a, %half : f64
%s = arith.addf %h, %u : f64
%d = arith.subf %s, %v : f64
memref.store %d, %y[%k, %j] : memref<9x6xf64>
scf.yield %d : f64"""


def programs():
    setup = "%half = arith.constant 0.5 : f64"
    for name, first, steps, begin in (("all", "%c7", "%c8", "%c0"), ("part", "%c7", "%c4", "%c0"), ("late", "%c8", "%c8", "%c1"),
                                      ("to_outer", "%c7", "%left", "%c0"), ("from_outer", "%c7", "%c8", "%j"), ("none", "%c7", "%c0", "%c0")):
        inside = "" if name != "to_outer" else "%left = arith.subi %c7, %j : index"
        made = column(name, first, steps, STEP, begin, setup=setup)
        made.text = made.text.replace("%end = scf.for", f"{inside}\n    %end = scf.for")
        yield made
    yield column("mixed", "%c7", "%c8", STEP.replace("%u = memref.load %x[%k, %j]", "%u = memref.load %x[%t, %j]"), setup=setup)
    yield column("offsets", "%c7", "%c4", STEP.replace("%next = arith.addi %k, %c1", "%next = arith.subi %k, %c2"), setup=setup)
    yield column("scaled", "%c4", "%c5", STEP.replace("%next = arith.addi %k, %c1", "%next = arith.muli %k, %c2"), setup=setup)
    yield program("down_host", {"x": GRID}, """%c9 = arith.constant 9 : index
scf.for %t = %c0 to %c5 step %c1 {
  %k = arith.subi %c4, %t : index
  %below = arith.addi %k, %c1 : index
  scf.for %j = %c0 to %c9 step %c1 {
    %u = memref.load %x[%k, %j] : memref<6x9xf64>
    %v = memref.load %x[%below, %c0] : memref<6x9xf64>
    %s = arith.addf %u, %v : f64
    memref.store %s, %x[%k, %j] : memref<6x9xf64>
  }
}""")
    yield program("down_host_sum", {"x": GRID, "y": LINE}, """%c9 = arith.constant 9 : index
%zero = arith.constant 0.0 : f64
%sum = scf.for %t = %c0 to %c5 step %c1 iter_args(%a = %zero) -> (f64) {
  %k = arith.subi %c4, %t : index
  scf.for %j = %c0 to %c9 step %c1 {
    %u = memref.load %x[%k, %j] : memref<6x9xf64>
    %s = arith.mulf %u, %a : f64
    memref.store %s, %y[%j] : memref<9xf64>
  }
  %v = memref.load %y[%k] : memref<9xf64>
  %w = memref.load %x[%k, %k] : memref<6x9xf64>
  %b = arith.addf %v, %w : f64
  scf.yield %b : f64
}
memref.store %sum, %y[%c0] : memref<9xf64>""")
    yield program("up_instead", {"x": LINE, "y": LINE}, """scf.for %i = %c0 to %c8 step %c1 {
  %k = arith.subi %c8, %i : index
  %l = arith.subi %k, %c1 : index
  %v = memref.load %x[%k] : memref<9xf64>
  memref.store %v, %y[%l] : memref<9xf64>
}""")
    yield program("up_instead_grid", {"x": GRID, "y": GRID}, """%c9 = arith.constant 9 : index
scf.parallel (%i, %j) = (%c0, %c0) to (%c6, %c9) step (%c1, %c1) {
  %k = arith.subi %c5, %i : index
  %l = arith.subi %c8, %j : index
  %v = memref.load %x[%k, %l] : memref<6x9xf64>
  memref.store %v, %y[%k, %l] : memref<6x9xf64>
}""")
    yield program("up_instead_triangle", {"x": GRID, "y": GRID}, """scf.for %i = %c0 to %c5 step %c1 {
  %c9 = arith.constant 9 : index
  scf.for %j = %i to %c9 step %c1 {
    %l = arith.subi %c8, %j : index
    %v = memref.load %x[%i, %l] : memref<6x9xf64>
    memref.store %v, %y[%i, %l] : memref<6x9xf64>
  }
}""")
    yield program("up_instead_sum", {"x": memref(9, "i64"), "y": memref(9, "i64")}, """%c9 = arith.constant 9 : index
%zero = arith.constant 0 : i64
scf.for %i = %c0 to %c9 step %c1 {
  %s = scf.for %j = %c0 to %c9 step %c1 iter_args(%a = %zero) -> (i64) {
    %l = arith.subi %c8, %j : index
    %u = memref.load %x[%l] : memref<9xi64>
    %b = arith.addi %a, %u : i64
    scf.yield %b : i64
  }
  memref.store %s, %y[%i] : memref<9xi64>
}""")
    for kind, bits in (("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)):
        whole, table = memref(16, kind), memref(16, 4, kind)
        yield program(f"remainders_{kind}", {"x": whole, "m": whole, "y": table}, f"""%zero = arith.constant 0 : {kind}
%one = arith.constant 1 : {kind}
%two = arith.constant 2 : {kind}
%seven = arith.constant 7 : {kind}
%bits = arith.constant {bits - 1} : {kind}
%c16 = arith.constant 16 : index
scf.for %i = %c0 to %c16 step %c1 {{
  %a = memref.load %x[%i] : {whole}
  %m0 = memref.load %m[%i] : {whole}
  %none = arith.cmpi eq, %m0, %zero : {kind}
  %m1 = arith.select %none, %two, %m0 : {kind}
  %r = arith.remsi %a, %seven : {kind}
  %sign = arith.shrsi %r, %bits : {kind}
  %more = arith.andi %seven, %sign : {kind}
  %s = arith.addi %more, %r : {kind}
  memref.store %s, %y[%i, %c0] : {table}
  %q = arith.remsi %a, %m1 : {kind}
  %less = arith.cmpi slt, %q, %zero : {kind}
  %below = arith.cmpi slt, %m1, %zero : {kind}
  %differ = arith.xori %below, %less : i1
  %some = arith.cmpi ne, %q, %zero : {kind}
  %wrong = arith.andi %differ, %some : i1
  %moved = arith.addi %m1, %q : {kind}
  %t = arith.select %wrong, %moved, %q : {kind}
  memref.store %t, %y[%i, %c1] : {table}
  %e = arith.cmpi ne, %t, %zero : {kind}
  %f = arith.select %e, %one, %two : {kind}
  memref.store %f, %y[%i, %c2] : {table}
  %down = arith.cmpi slt, %r, %zero : {kind}
  %up = arith.addi %r, %seven : {kind}
  %g = arith.select %down, %up, %r : {kind}
  %z = arith.cmpi eq, %g, %zero : {kind}
  %w = arith.select %z, %m1, %g : {kind}
  memref.store %w, %y[%i, %c3] : {table}
}}""", integers=(-100, 101))
