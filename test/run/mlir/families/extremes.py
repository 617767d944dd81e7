"""Maxima and minima by comparisons, in loops that carry them: NaN among the terms, as start, in branches, under guards."""

from . import memref
from .loops import program as with_indices

X, GRID = memref(40, "f64"), memref(12, 20, "f64")
NAN = "%nan = arith.constant 0x7FF8000000000000 : f64\n"


def program(name, arguments, body, results, **options):
    return with_indices(name, arguments, "%c40 = arith.constant 40 : index\n" + body, results, **options)


def term(hole, at="%i"):
    """x[i], or NaN at one place."""
    return f"""%at = arith.constant {hole} : index
%is = arith.cmpi eq, {at}, %at : index
%x0 = memref.load %x[{at}] : {X}
%v = arith.select %is, %nan, %x0 : f64
"""


def chosen(predicate, takes="%v, %a"):
    first, second = takes.split(", ")
    return f"""%p = arith.cmpf {predicate}, %v, %a : f64
%b = arith.select %p, {first}, {second} : f64
scf.yield %b : f64
"""


def loop(start, body):
    return f"""{NAN}{start}%s = scf.for %i = %c0 to %c40 step %c1 iter_args(%a = %start) -> (f64) {{
{body}}}
return %s : f64"""


def programs():
    number, loaded, nothing = ("%start = arith.constant 0.25 : f64\n", f"%start = memref.load %x[%c1] : {X}\n",
                               "%start = arith.constant 0x7FF8000000000000 : f64\n")
    for predicate in ("olt", "ole", "ogt", "oge"):
        for name, start in (("number", number), ("loaded", loaded), ("nan", nothing)):
            yield program(f"extreme_{predicate}_{name}", {"x": X}, loop(start, term(3) + chosen(predicate)), ["f64"], edges=name == "loaded")
    for predicate in ("ult", "ugt", "une"): # a NaN takes the place of what was found
        yield program(f"extreme_{predicate}", {"x": X}, loop(number, term(3) + chosen(predicate)), ["f64"])
    for predicate in ("ult", "uge", "ogt"):
        yield program(f"extreme_kept_{predicate}", {"x": X}, loop(loaded, term(39) + chosen(predicate, "%a, %v")), ["f64"])
    for predicate in ("olt", "ogt"):
        yield program(f"extreme_branch_{predicate}", {"x": X}, loop(loaded, f"""%v = memref.load %x[%i] : {X}
%p = arith.cmpf {predicate}, %v, %a : f64
%b = scf.if %p -> (f64) {{
  %again = memref.load %x[%i] : {X}
  scf.yield %again : f64
}} else {{
  scf.yield %a : f64
}}
scf.yield %b : f64
"""), ["f64"])
        yield program(f"extreme_guarded_{predicate}", {"x": X}, loop(number, term(0) + f"""%half = arith.constant 0.5 : f64
%p = arith.cmpf {predicate}, %v, %a : f64
%q = arith.cmpf olt, %v, %half : f64
%both = arith.andi %q, %p : i1
%b = arith.select %both, %v, %a : f64
scf.yield %b : f64
"""), ["f64"])
        yield program(f"extreme_in_while_{predicate}", {"x": X}, loop(number, f"""%b, %k = scf.while (%c = %a, %j = %i) : (f64, index) -> (f64, index) {{
  %go = arith.cmpi slt, %j, %c40 : index
  scf.condition(%go) %c, %j : f64, index
}} do {{
^bb0(%c: f64, %j: index):
  %v = memref.load %x[%j] : {X}
  %p = arith.cmpf {predicate}, %v, %c : f64
  %d = arith.select %p, %v, %c : f64
  %next = arith.addi %j, %c4 : index
  scf.yield %d, %next : f64, index
}}
scf.yield %b : f64
"""), ["f64"])
        yield program(f"extreme_grid_{predicate}", {"g": GRID}, f"""%c12 = arith.constant 12 : index
%c20 = arith.constant 20 : index
%start = arith.constant 0.0 : f64
%s = scf.for %i = %c0 to %c12 step %c1 iter_args(%a = %start) -> (f64) {{
  %r = scf.for %j = %c0 to %c20 step %c1 iter_args(%b = %a) -> (f64) {{
    %v = memref.load %g[%i, %j] : {GRID}
    %p = arith.cmpf {predicate}, %v, %b : f64
    %d = arith.select %p, %v, %b : f64
    scf.yield %d : f64
  }}
  scf.yield %r : f64
}}
return %s : f64""", ["f64"])
    yield program("extreme_both", {"x": X}, loop(number, term(3) + """%p = arith.cmpf olt, %v, %a : f64
%q = arith.cmpf ogt, %a, %x0 : f64
%both = arith.andi %q, %p : i1
%b = arith.select %both, %v, %a : f64
scf.yield %b : f64
"""), ["f64"])
    yield program("extreme_box", {"x": X}, f"""%low = memref.load %x[%c0] : {X}
%s:2 = scf.for %i = %c1 to %c40 step %c1 iter_args(%a = %low, %b = %low) -> (f64, f64) {{
  %v = memref.load %x[%i] : {X}
  %p = arith.cmpf olt, %v, %a : f64
  %c = arith.select %p, %v, %a : f64
  %q = arith.cmpf olt, %b, %v : f64
  %d = arith.select %q, %v, %b : f64
  scf.yield %c, %d : f64, f64
}}
return %s#0, %s#1 : f64, f64""", ["f64", "f64"])
    for predicate, kind in (("sgt", "i32"), ("ule", "i64"), ("slt", "i8"), ("uge", "i16")):
        whole = memref(40, kind)
        yield program(f"extreme_{predicate}_{kind}", {"x": whole}, f"""%start = arith.constant 5 : {kind}
%s = scf.for %i = %c0 to %c40 step %c1 iter_args(%a = %start) -> ({kind}) {{
  %v = memref.load %x[%i] : {whole}
  %p = arith.cmpi {predicate}, %a, %v : {kind}
  %b = arith.select %p, %v, %a : {kind}
  scf.yield %b : {kind}
}}
return %s : {kind}""", [kind])
    # Reductions of two types, of what an iteration has stored: terms of one of them are stored, too
    body = f"""  %v = memref.load %g[%i, %c0] : {GRID}
  scf.for %j = %c0 to %c20 step %c1 {{
    %w = memref.load %g[%i, %j] : {GRID}
    %d = arith.addf %w, %v : f64
    memref.store %d, %g[%i, %j] : {GRID}
  }}
  %u = memref.load %g[%i, %c5] : {GRID}
  %p = arith.cmpf ogt, %u, %half : f64
  %q = arith.extui %p : i1 to i32
  %n = arith.addi %a, %q : i32
  %x = arith.maximumf %b, %u : f64
  scf.yield %n, %x : i32, f64
"""
    numbers = """%c12 = arith.constant 12 : index
%c20 = arith.constant 20 : index
%none = arith.constant 3 : i32
%half = arith.constant 0.5 : f64
"""
    for name, bounds in (("rows", "%c0 to %c12 step %c1"), ("steps", "%c1 to %c12 step %c3")):
        yield program(f"extreme_of_types_{name}", {"g": GRID}, numbers + f"""%s:2 = scf.for %i = {bounds} iter_args(%a = %none, %b = %half) -> (i32, f64) {{
{body}}}
return %s#0, %s#1 : i32, f64""", ["i32", "f64"])
    yield program("extreme_of_types_later", {"g": GRID}, numbers + f"""%t:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%m = %none, %y = %half) -> (i32, f64) {{
  %s:2 = scf.for %i = %k to %c12 step %c1 iter_args(%a = %m, %b = %half) -> (i32, f64) {{
{body}  }}
  memref.store %s#1, %g[%k, %c1] : {GRID}
  scf.yield %s#0, %s#1 : i32, f64
}}
return %t#0, %t#1 : i32, f64""", ["i32", "f64"])
    yield program("extreme_of_types_grid", {"g": GRID}, numbers + f"""%s:2 = scf.parallel (%i, %j) = (%c1, %c0) to (%c12, %c20) step (%c2, %c1) init (%none, %half) -> (i32, f64) {{
  %v = memref.load %g[%i, %j] : {GRID}
  %d = arith.mulf %v, %v : f64
  memref.store %d, %g[%i, %j] : {GRID}
  %w = memref.load %g[%i, %j] : {GRID}
  %p = arith.cmpf ogt, %w, %half : f64
  %q = arith.extui %p : i1 to i32
  scf.reduce(%q, %w : i32, f64) {{
  ^bb0(%l: i32, %r: i32):
    %n = arith.addi %l, %r : i32
    scf.reduce.return %n : i32
  }}, {{
  ^bb0(%l: f64, %r: f64):
    %n = arith.maximumf %l, %r : f64
    scf.reduce.return %n : f64
  }}
}}
return %s#0, %s#1 : i32, f64""", ["i32", "f64"])
