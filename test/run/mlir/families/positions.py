"""Where a loop found its largest or smallest term: first and last places, what is remembered of them, guards, no term that is better."""

from . import memref
from .extremes import NAN, X, term
from .loops import program as with_indices


def program(name, arguments, body, results, **options):
    return with_indices(name, arguments, "%c40 = arith.constant 40 : index\n" + body, results, **options)


def starts():
    number, nothing = "arith.constant 0.25 : f64", "arith.constant 0x7FF8000000000000 : f64"
    return (("number", number, "arith.constant 7 : i64"), ("loaded", f"memref.load %x[%c1] : {X}", "arith.constant -1 : i64"),
            ("nan", nothing, "arith.constant 3 : i64"), ("best", "arith.constant -1.0e9 : f64", "arith.constant 5 : i64"))


def loop(start, first, predicate, lines, bounds="%c0 to %c40 step %c1", order="%v, %a"):
    return f"""{NAN}%start = {start}
%first = {first}
%s:2 = scf.for %i = {bounds} iter_args(%a = %start, %p = %first) -> (f64, i64) {{
{lines}%better = arith.cmpf {predicate}, {order} : f64
%b, %q = scf.if %better -> (f64, i64) {{
  %here = arith.index_cast %i : index to i64
  scf.yield %v, %here : f64, i64
}} else {{
  scf.yield %a, %p : f64, i64
}}
scf.yield %b, %q : f64, i64
}}
return %s#0, %s#1 : f64, i64"""


def programs():
    rounded = term(3).replace("%v =", "%v0 =") + "%v = math.roundeven %v0 : f64\n" # equal terms
    for predicate in ("olt", "ole", "ogt", "oge"):
        for name, start, first in starts():
            yield program(f"position_{predicate}_{name}", {"x": X}, loop(start, first, predicate, rounded), ["f64", "i64"], edges=name == "loaded")
        start, first = starts()[1][1:]
        yield program(f"position_swapped_{predicate}", {"x": X}, loop(start, first, predicate, rounded, order="%a, %v"), ["f64", "i64"])
        yield program(f"position_none_{predicate}", {"x": X}, loop(start, first, predicate, rounded, "%c4 to %c4 step %c1"), ["f64", "i64"])
        yield program(f"position_strided_{predicate}", {"x": X}, loop(start, first, predicate, rounded, "%c1 to %c40 step %c2"), ["f64", "i64"])
    for predicate in ("ult", "une"): # a NaN takes the place
        yield program(f"position_{predicate}", {"x": X}, loop(*starts()[0][1:], predicate, rounded), ["f64", "i64"])
    for predicate, kind, label in (("sgt", "i32", "i64"), ("ule", "i64", "i64"), ("slt", "i8", "i8"), ("uge", "i16", "i32")):
        whole = memref(40, kind)
        yield program(f"position_{predicate}_{kind}", {"x": whole, "labels": memref(40, label)}, f"""%start = arith.constant 5 : {kind}
%label = arith.constant -9 : {label}
%s:3 = scf.for %i = %c0 to %c40 step %c1 iter_args(%p = %c5, %l = %label, %a = %start) -> (index, {label}, {kind}) {{
  %v = memref.load %x[%i] : {whole}
  %q = arith.cmpi {predicate}, %v, %a : {kind}
  %b = arith.select %q, %v, %a : {kind}
  %mine = memref.load %labels[%i] : memref<40x{label}>
  %r = arith.select %q, %i, %p : index
  %m = arith.select %q, %mine, %l : {label}
  scf.yield %r, %m, %b : index, {label}, {kind}
}}
%at = arith.index_cast %s#0 : index to i64
return %at, %s#1, %s#2 : i64, {label}, {kind}""", ["i64", label, kind])
    many = memref(400, "f64") # a place that its type does not hold
    yield program("position_narrow", {"x": many}, f"""%start = arith.constant 0.0 : f64
%first = arith.constant 3 : i8
%c400 = arith.constant 400 : index
%s:2 = scf.for %i = %c0 to %c400 step %c1 iter_args(%a = %start, %p = %first) -> (f64, i8) {{
  %v = memref.load %x[%i] : {many}
  %q = arith.cmpf ogt, %v, %a : f64
  %b = arith.select %q, %v, %a : f64
  %here = arith.index_cast %i : index to i8
  %r = arith.select %q, %here, %p : i8
  scf.yield %b, %r : f64, i8
}}
return %s#0, %s#1 : f64, i8""", ["f64", "i8"])
    # Under guards, two at once, beside a count, the place twice as far
    yield program("position_guarded", {"x": X}, loop(*starts()[1][1:], "olt", f"""%v1 = memref.load %x[%i] : {X}
%half = arith.constant 0.5 : f64
%isn = arith.cmpf ogt, %v1, %half : f64
%big = arith.constant 1.0e9 : f64
%v = arith.select %isn, %v1, %big : f64
"""), ["f64", "i64"])
    guarded = f"""%v = memref.load %x[%i] : {X}
    %half = arith.constant 0.25 : f64
    %above = arith.cmpf ogt, %v, %half : f64
    %less = arith.cmpf olt, %v, %a : f64
    %both = arith.andi %above, %less : i1
    %b, %q = scf.if %both -> (f64, index) {{
      %w = memref.load %x[%i] : {X}
      %twice = arith.muli %i, %c2 : index
      scf.yield %w, %twice : f64, index
    }} else {{
      scf.yield %a, %p : f64, index
    }}
"""
    for name, extra in (("both", ""), ("count", "")):
        body = guarded + (f"""    %more = arith.cmpf ogt, %v, %h : f64
    %g = arith.select %more, %v, %h : f64
    %k = arith.select %more, %i, %n : index
    scf.yield %b, %q, %g, %k : f64, index, f64, index
""" if name == "both" else """    %one = arith.select %above, %c1, %c0 : index
    %k = arith.addi %n, %one : index
    scf.yield %b, %q, %h, %k : f64, index, f64, index
""")
        yield program(f"position_{name}", {"x": X}, f"""%high = arith.constant 9.0 : f64
%low = arith.constant -9.0 : f64
%s:4 = scf.for %i = %c0 to %c40 step %c1 iter_args(%a = %high, %p = %c3, %h = %low, %n = %c0) -> (f64, index, f64, index) {{
{body}}}
%at = arith.index_cast %s#1 : index to i64
%other = arith.index_cast %s#3 : index to i64
return %s#0, %at, %s#2, %other : f64, i64, f64, i64""", ["f64", "i64", "f64", "i64"])
    # What looks like a place and is none: remembered under another condition
    yield program("position_of_some", {"x": X}, f"""%high = arith.constant 9.0 : f64
%half = arith.constant 0.0 : f64
%s:2 = scf.for %i = %c0 to %c40 step %c1 iter_args(%a = %high, %p = %c3) -> (f64, index) {{
  %v = memref.load %x[%i] : {X}
  %less = arith.cmpf olt, %v, %a : f64
  %b = arith.select %less, %v, %a : f64
  %above = arith.cmpf ogt, %v, %half : f64
  %both = arith.andi %above, %less : i1
  %q = arith.select %both, %i, %p : index
  scf.yield %b, %q : f64, index
}}
%at = arith.index_cast %s#1 : index to i64
return %s#0, %at : f64, i64""", ["f64", "i64"])
    yield program("position_looked_at", {"x": X}, f"""%high = arith.constant 9.0 : f64
%s:3 = scf.for %i = %c0 to %c40 step %c1 iter_args(%a = %high, %p = %c3, %n = %c0) -> (f64, index, index) {{
  %v = memref.load %x[%i] : {X}
  %less = arith.cmpf olt, %v, %a : f64
  %b = arith.select %less, %v, %a : f64
  %q = arith.select %less, %i, %p : index
  %m = arith.addi %n, %q : index
  scf.yield %b, %q, %m : f64, index, index
}}
%at = arith.index_cast %s#1 : index to i64
%sum = arith.index_cast %s#2 : index to i64
return %s#0, %at, %sum : f64, i64, i64""", ["f64", "i64", "i64"])
    square = f"""  %v = memref.load %x[%i] : {X}
  %y = memref.load %x[%c7] : {X}
  %v2 = arith.mulf %v, %v : f64
  %y2 = arith.mulf %y, %v : f64
  %t = arith.addf %v2, %y2 : f64
"""
    for name, bounds in (("all", "%c0 to %c40 step %c1"), ("some", "%c5 to %c40 step %c2")): # terms that are stored
        yield program(f"position_of_sums_{name}", {"x": X}, f"""%low = arith.constant -9.0 : f64
%s:2 = scf.for %i = {bounds} iter_args(%a = %low, %p = %c3) -> (f64, index) {{
{square}  %more = arith.cmpf ogt, %t, %a : f64
  %b = arith.select %more, %t, %a : f64
  %q = arith.select %more, %i, %p : index
  scf.yield %b, %q : f64, index
}}
%at = arith.index_cast %s#1 : index to i64
return %s#0, %at : f64, i64""", ["f64", "i64"])
    yield program("position_in_rounds", {"x": X}, f"""scf.for %k = %c0 to %c8 step %c1 {{
%low = arith.constant -9.0 : f64
%s:2 = scf.for %i = %k to %c40 step %c1 iter_args(%a = %low, %p = %k) -> (f64, index) {{
{square}  %more = arith.cmpf oge, %t, %a : f64
  %b = arith.select %more, %t, %a : f64
  %q = arith.select %more, %i, %p : index
  scf.yield %b, %q : f64, index
}}
%one = memref.load %x[%k] : {X}
%other = memref.load %x[%s#1] : {X}
memref.store %one, %x[%s#1] : {X}
memref.store %other, %x[%k] : {X}
}}
""", [])
    grid = memref(20, 12, "f64")
    for name, predicate, kind, inner in (("first", "ogt", "i64", "%c0"), ("last", "oge", "i64", "%c3"), ("narrow", "ogt", "i32", "%c0"), ("rows", "olt", "i64", "%i")):
        yield program(f"position_in_grid_{name}", {"g": grid}, f"""%c12 = arith.constant 12 : index
%c20 = arith.constant 20 : index
%low = arith.constant 0.125 : f64
%none = arith.constant -1 : {kind}
%s:3 = scf.for %i = %c1 to %c20 step %c1 iter_args(%a = %low, %p = %none, %q = %none) -> (f64, {kind}, {kind}) {{
  %t:3 = scf.for %j = {inner} to %c12 step %c1 iter_args(%b = %a, %r = %p, %u = %q) -> (f64, {kind}, {kind}) {{
    %v0 = memref.load %g[%i, %j] : {grid}
    %v1 = math.absf %v0 : f64
    %v = math.roundeven %v1 : f64
    %more = arith.cmpf {predicate}, %v, %b : f64
    %x:3 = scf.if %more -> (f64, {kind}, {kind}) {{
      %row = arith.index_cast %i : index to {kind}
      %column = arith.index_cast %j : index to {kind}
      scf.yield %v, %row, %column : f64, {kind}, {kind}
    }} else {{
      scf.yield %b, %r, %u : f64, {kind}, {kind}
    }}
    scf.yield %x#0, %x#1, %x#2 : f64, {kind}, {kind}
  }}
  scf.yield %t#0, %t#1, %t#2 : f64, {kind}, {kind}
}}
return %s#0, %s#1, %s#2 : f64, {kind}, {kind}""", ["f64", kind, kind])
