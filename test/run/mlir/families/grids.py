"""Grids of any order of loops, sweeps over elements of one color, and bounds that are computed."""

import itertools

from . import memref
from .loops import F, M, parallel, program, reducing


def orders():
    """Grids whose memory lies along any of their loops: turned round, in tiles, tiles with ends."""
    letters = "ijk"
    for element, other in [("f32", "f32"), ("i8", "i64")]:
        for order in itertools.permutations(range(3)):
            name, shape = "".join(letters[d] for d in order), (9, 20, 35)
            turned, straight = tuple(shape[d] for d in order), ", ".join(f"%{letter}" for letter in letters)
            at = ", ".join(f"%{letters[d]}" for d in order)
            convert = "  %y = math.absf %x : f32" if element == other else f"  %y = arith.extsi %x : {element} to {other}"
            for way, (read, source, write, target) in {"read": (turned, at, shape, straight), "written": (shape, straight, turned, at)}.items():
                kind, out = memref(*read, element), memref(*write, other)
                yield program(f"order_{name}_{element}_{way}", {"a": kind, "b": out}, f"""affine.parallel (%i, %j, %k) = (0, 0, 0) to {shape} {{
  %x = affine.load %a[{source}] : {kind}
{convert}
  affine.store %y, %b[{target}] : {out}
}}""")
    n = "%n = memref.dim %a, %c0 : " + M + "\n%m = memref.dim %a, %c1 : " + M + "\n"
    bounds = {"j": ("%c1", "%m", "%c1"), "i": ("%c0", "%n", "%c1")}
    yield program("order_of_own_extents", {"a": M, "b": memref(50, 41, "f64")}, n + parallel(bounds, f"""  %l = arith.subi %j, %c1 : index
  %x = memref.load %a[%i, %j] : {M}
  %y = memref.load %a[%i, %l] : {M}
  %z = arith.subf %x, %y : f64
  memref.store %z, %b[%i, %j] : {memref(50, 41, 'f64')}"""), extents={"n": 50, "m": 41})
    yield program("order_of_sum", {"a": M}, n + f"""%z = arith.constant 0.0 : f64
%s = {reducing('addf', 'f64', {'k': ('%c0', '%m', '%c1'), 'i': ('%c0', '%n', '%c1')}, '%z', f'%x = memref.load %a[%i, %k] : {M}')}return %s : f64""", ["f64"])
    kind = memref(45, 45, "f64")
    yield program("order_both_ways", {"a": kind, "b": kind}, f"""affine.parallel (%i, %j) = (0, 0) to (45, 45) {{
  %x = affine.load %a[%i, %j] : {kind}
  %y = affine.load %a[%j, %i] : {kind}
  %z = arith.addf %x, %y : f64
  affine.store %z, %b[%i, %j] : {kind}
}}""")


def colors():
    """Sweeps over red elements that read black ones: loops that are parallel for their parities."""
    kind = memref(12, 15, "f64")
    update = """    %w = arith.subi %i, %c1 : index
    %e = arith.addi %i, %c1 : index
    %s = arith.subi %j, %c1 : index
    %t = arith.addi %j, %c1 : index
    %p = memref.load %a[%w, %j] : KIND
    %q = memref.load %a[%e, %j] : KIND
    %r = memref.load %a[%i, %s] : KIND
    %u = memref.load %a[%i, %t] : KIND
    %x = arith.addf %p, %q : f64
    %y = arith.subf %r, %u : f64
    %z = arith.mulf %x, %y : f64
    memref.store %z, %a[%i, %j] : KIND""".replace("KIND", kind)
    ends = "%c11 = arith.constant 11 : index\n%c14 = arith.constant 14 : index\n"
    for color in (0, 1):
        yield program(f"color_guarded_{color}", {"a": kind}, ends + f"""scf.for %i = %c1 to %c11 step %c1 {{
  scf.for %j = %c1 to %c14 step %c1 {{
    %sum = arith.addi %i, %j : index
    %rest = arith.remsi %sum, %c2 : index
    %mine = arith.cmpi eq, %rest, %c{color} : index
    scf.if %mine {{
{update}
    }}
  }}
}}""")
        yield program(f"color_steps_{color}", {"a": kind}, ends + f"""scf.for %i = %c1 to %c11 step %c1 {{
  %sum = arith.addi %i, %c{color} : index
  %rest = arith.remui %sum, %c2 : index
  %first = arith.addi %rest, %c1 : index
  scf.for %j = %first to %c14 step %c2 {{
{update}
  }}
}}""")
        yield program(f"color_computed_{color}", {"a": kind}, ends + f"""scf.for %i = %c1 to %c11 step %c1 {{
  %sum = arith.addi %i, %c{color} : index
  %rest = arith.remui %sum, %c2 : index
  scf.for %k = %c0 to %c6 step %c1 {{
    %twice = arith.muli %k, %c2 : index
    %first = arith.addi %twice, %rest : index
    %j = arith.addi %first, %c1 : index
{update}
  }}
}}""")
    yield program("color_both", {"a": kind}, ends + f"""scf.for %color = %c0 to %c2 step %c1 {{
  scf.for %i = %c1 to %c11 step %c1 {{
    scf.for %j = %c1 to %c14 step %c1 {{
      %sum = arith.addi %i, %j : index
      %rest = arith.andi %sum, %c1 : index
      %mine = arith.cmpi ne, %rest, %color : index
      scf.if %mine {{
      }} else {{
{update}
      }}
    }}
  }}
}}""")


def bounds():
    """Bounds that are computed in i64, by quotients, remainders and choices; some of the loops have no iteration."""
    def bounded(name, lines, integers=(0, 9), size="n"):
        arguments = {"a": F, "b": memref(64, "f64"), "k": "i64"}
        return program(f"bound_{name}", arguments, f"""%n = memref.dim %a, %c0 : {F}
%l = arith.index_cast %n : index to i64
%one = arith.constant 1 : i64
%two = arith.constant 2 : i64
%all = arith.constant 63 : i64
{lines}
%end = arith.index_cast %e : i64 to index
scf.for %i = %c0 to %end step %c1 {{
  %x = memref.load %a[%i] : {F}
  %y = arith.addf %x, %x : f64
  memref.store %y, %b[%i] : memref<64xf64>
}}""", integers=integers, extents={size: 21})
    yield bounded("half", "%m = arith.subi %l, %one : i64\n%e = arith.floordivsi %m, %two : i64")
    yield bounded("of_argument", "%m = arith.subi %k, %one : i64\n%e = arith.floordivsi %m, %two : i64", size="a_size")
    yield bounded("ceil", "%m = arith.addi %l, %k : i64\n%e = arith.ceildivsi %m, %two : i64")
    yield bounded("smaller", "%m = arith.addi %k, %k : i64\n%q = arith.cmpi slt, %m, %l : i64\n%e = arith.select %q, %m, %l : i64")
    yield bounded("larger", "%m = arith.subi %k, %two : i64\n%q = arith.cmpi sle, %m, %one : i64\n%e = arith.select %q, %one, %m : i64", size="a_size")
    yield bounded("rest", """%r = arith.remsi %k, %two : i64
%s = arith.shrsi %r, %all : i64
%t = arith.andi %s, %two : i64
%u = arith.addi %r, %t : i64
%v = arith.subi %l, %u : i64
%e = arith.divsi %v, %two : i64""", integers=(-9, 9))
    yield bounded("empty", "%m = arith.subi %two, %l : i64\n%e = arith.floordivsi %m, %two : i64")


def programs():
    yield from orders()
    yield from colors()
    yield from bounds()
