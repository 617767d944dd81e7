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
