"""Parallel loops whose bounds kernels compute, in front of them and in loops of the host: forward() reads them back."""

from . import memref
from .loops import program

STARTS, X = memref(5, "i64"), memref(40, "f64")
BOUNDS = """%BEGIN = memref.load %starts[%c] : STARTS
%d = arith.addi %c, %c1 : index
%END = memref.load %starts[%d] : STARTS
%begin = arith.index_cast %BEGIN : i64 to index
%end = arith.index_cast %END : i64 to index
""".replace("STARTS", STARTS)
# Four parts of 0 to 40, one of them empty, whatever the numbers in %starts are
MAKE = f"""%z = arith.constant 0 : i64
%p1 = arith.constant 7 : i64
%p3 = arith.constant 38 : i64
memref.store %z, %starts[%c0] : {STARTS}
memref.store %p1, %starts[%c1] : {STARTS}
memref.store %p1, %starts[%c2] : {STARTS}
memref.store %p3, %starts[%c3] : {STARTS}
memref.store %p3, %starts[%c4] : {STARTS}
"""
ARGUMENTS = {"starts": STARTS, "x": X, "y": X}


def doubled(indent="  "):
    return f"""{indent}%v = memref.load %x[%i] : {X}
{indent}%w = arith.addf %v, %v : f64
{indent}memref.store %w, %x[%i] : {X}
"""


def programs():
    each = "scf.for %c = %c0 to %c4 step %c1 {\n" + BOUNDS
    yield program("counted_once", ARGUMENTS, MAKE + "%c = arith.constant 2 : index\n" + BOUNDS + f"scf.parallel (%i) = (%begin) to (%end) step (%c1) {{\n{doubled()}}}")
    yield program("counted_proved", ARGUMENTS, MAKE + "%c = arith.constant 2 : index\n" + BOUNDS + f"scf.for %i = %begin to %end step %c1 {{\n{doubled()}}}")
    yield program("counted_declared", ARGUMENTS, MAKE + each + f"scf.parallel (%i) = (%begin) to (%end) step (%c1) {{\n{doubled()}}}\n}}")
    yield program("counted_rows", ARGUMENTS, MAKE + each + f"scf.for %i = %begin to %end step %c1 {{\n{doubled()}}}\n}}")
    yield program("counted_nested", ARGUMENTS, MAKE + each + f"""scf.for %i = %begin to %end step %c1 {{
  %first = memref.load %x[%i] : {X}
  %s = scf.for %k = %c0 to %i step %c1 iter_args(%b = %first) -> (f64) {{
    %v = memref.load %y[%k] : {X}
    %n = arith.addf %b, %v : f64
    scf.yield %n : f64
  }}
  memref.store %s, %x[%i] : {X}
}}
}}""")
    yield program("counted_sum", ARGUMENTS, MAKE + "%c = arith.constant 2 : index\n" + BOUNDS + f"""%f0 = arith.constant 0.0 : f64
%s = scf.parallel (%i) = (%begin) to (%end) step (%c1) init (%f0) -> f64 {{
  %v = memref.load %x[%i] : {X}
  scf.reduce(%v : f64) {{
  ^bb0(%l: f64, %r: f64):
    %t = arith.addf %l, %r : f64
    scf.reduce.return %t : f64
  }}
}}
return %s : f64""", ["f64"])
    yield program("counted_sums_of_parts", ARGUMENTS, MAKE + each + f"""%f0 = arith.constant 0.0 : f64
%s = scf.for %i = %begin to %end step %c1 iter_args(%b = %f0) -> (f64) {{
  %v = memref.load %x[%i] : {X}
  %t = arith.addf %b, %v : f64
  scf.yield %t : f64
}}
memref.store %s, %y[%c] : {X}
}}""")
    yield program("counted_until_none", ARGUMENTS, f"""%z = arith.constant 0 : i64
%one = arith.constant 1 : i64
%all = arith.constant 40 : i64
memref.store %all, %starts[%c0] : {STARTS}
scf.while : () -> () {{
  %left = memref.load %starts[%c0] : {STARTS}
  %more = arith.cmpi sgt, %left, %z : i64
  scf.condition(%more)
}} do {{
  %left = memref.load %starts[%c0] : {STARTS}
  %end = arith.index_cast %left : i64 to index
  scf.parallel (%i) = (%c0) to (%end) step (%c1) {{
{doubled("    ")}  }}
  %less = arith.shrsi %left, %one : i64
  memref.store %less, %starts[%c0] : {STARTS}
  scf.yield
}}""")
    # Loops over integers that are no indices, also those that are a while
    for kind in ("i64", "i32", "i16"):
        def counts(lower, upper, step, kind=kind):
            return "".join(f"%{name} = arith.constant {value} : {kind}\n" for name, value in (("first", lower), ("last", upper), ("by", step)))

        for name, bounds in (("all", (0, 40, 1)), ("some", (3, 38, 4)), ("none", (9, 9, 2)), ("below", (-6, 5, 3))):
            yield program(f"counted_in_{kind}_{name}", {"x": X}, counts(*bounds) + f"""%c6 = arith.constant 6 : index
scf.for %n = %first to %last step %by : {kind} {{
  %at = arith.index_cast %n : {kind} to index
  %i = arith.{'addi %at, %c6' if name == 'below' else 'addi %at, %c0'} : index
  %v = memref.load %x[%i] : {X}
  %number = arith.sitofp %n : {kind} to f64
  %w = arith.addf %v, %number : f64
  memref.store %w, %x[%i] : {X}
}}""".replace("%c6 = arith.constant 6 : index\n", ""))
        yield program(f"counted_in_{kind}_sum", {"x": X}, counts(1, 40, 1) + f"""%zero = arith.constant 7 : {kind}
%s = scf.for %n = %first to %last step %by iter_args(%a = %zero) -> ({kind}) : {kind} {{
  %i = arith.index_cast %n : {kind} to index
  %v = memref.load %x[%i] : {X}
  %half = arith.constant 0.5 : f64
  %p = arith.cmpf ogt, %v, %half : f64
  %none = arith.constant 0 : {kind}
  %t = arith.select %p, %n, %none : {kind}
  %b = arith.addi %a, %t : {kind}
  scf.yield %b : {kind}
}}
return %s : {kind}""", [kind])
        yield program(f"counted_in_{kind}_while", {"x": X}, counts(0, 5, 1) + f"""%c40 = arith.constant 40 : index
%t = scf.while (%n = %first) : ({kind}) -> ({kind}) {{
  %more = arith.cmpi slt, %n, %last : {kind}
  scf.condition(%more) %n : {kind}
}} do {{
^bb0(%n: {kind}):
  scf.for %i = %c0 to %c40 step %c1 {{
{doubled('    ')}  }}
  %next = arith.addi %n, %by : {kind}
  scf.yield %next : {kind}
}}""")
