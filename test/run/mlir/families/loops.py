"""Loops over memrefs: policies, reducers, strides, atomics, scans."""

import numpy

from . import Program, function, is_float, memref

INDICES = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(9)) + "\n"
F = "memref<?xf64>"
M = "memref<?x?xf64>"

REDUCERS = {
    "addf": ("f64", "0.0"), "mulf": ("f64", "1.0"), "maximumf": ("f64", "0xFFF0000000000000"), "minimumf": ("f64", "0x7FF0000000000000"),
    "maxnumf": ("f32", "0xFF800000"), "minnumf": ("f32", "0x7F800000"), "addi": ("i32", "0"), "muli": ("i32", "1"),
    "maxsi": ("i32", "-2147483648"), "minsi": ("i32", "2147483647"), "maxui": ("i32", "0"), "minui": ("i32", "-1"),
    "andi": ("i32", "-1"), "ori": ("i32", "0"), "xori": ("i64", "0"),
}


def program(name, arguments, body, results=(), **options):
    end = "" if body.startswith("return") or "\nreturn" in body else "\nreturn"
    return Program(name, function(name, arguments, list(results), INDICES + body.strip("\n") + end), **options)


def parallel(bounds, body, indent=""):
    indices = ", ".join(f"%{i}" for i in bounds)
    lower, upper, step = (", ".join(b[at] for b in bounds.values()) for at in range(3))
    return f"scf.parallel ({indices}) = ({lower}) to ({upper}) step ({step}) {{\n{body.strip()}\n  scf.reduce\n}}\n"


def reducing(op, element, bounds, init, term_lines, term="%x"):
    indices = ", ".join(f"%{i}" for i in bounds)
    lower, upper, step = (", ".join(b[at] for b in bounds.values()) for at in range(3))
    return f"""scf.parallel ({indices}) = ({lower}) to ({upper}) step ({step}) init ({init}) -> {element} {{
  {term_lines}
  scf.reduce ({term} : {element}) {{
  ^bb0(%l: {element}, %r: {element}):
    %j = arith.{op} %l, %r : {element}
    scf.reduce.return %j : {element}
  }}
}}
"""


def reducers():
    for op, (element, neutral) in REDUCERS.items():
        for form, init in [("neutral", neutral), ("started", "2.5" if is_float(element) else "5")]:
            kind = memref("?", element)
            body = f"""%n = memref.dim %a, %c0 : {kind}
%init = arith.constant {init} : {element}
%s = {reducing(op, element, {'i': ('%c0', '%n', '%c1')}, '%init', f'%x = memref.load %a[%i] : {kind}')}return %s : {element}"""
            yield program(f"reduce_1d_{op}_{form}", {"a": kind}, body, [element], edges=op.startswith(("max", "min")))
        kind, out = memref(4, 5, element), memref(4, element)
        body = f"""%init = arith.constant {neutral} : {element}
{parallel({'i': ('%c0', '%c4', '%c1')}, f'''  %s = {reducing(op, element, {'k': ('%c0', '%c5', '%c1')}, '%init', f'%x = memref.load %a[%i, %k] : {kind}')}  memref.store %s, %b[%i] : {out}''')}"""
        yield program(f"reduce_rows_{op}", {"a": kind, "b": out}, body)
        body = f"""%init = arith.constant {neutral} : {element}
%s = {reducing(op, element, {'i': ('%c0', '%c4', '%c1'), 'k': ('%c0', '%c5', '%c2')}, '%init', f'%x = memref.load %a[%i, %k] : {kind}')}memref.store %s, %b[] : {memref(element)}"""
        yield program(f"reduce_2d_{op}", {"a": kind, "b": memref(element)}, body)
    yield program("several_reductions", {"a": F, "b": F}, f"""%n = memref.dim %a, %c0 : {F}
%z = arith.constant 0.0 : f64
%k = arith.constant 0 : i32
%s:3 = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z, %z, %k) -> (f64, f64, i32) {{
  %x = memref.load %a[%i] : {F}
  %y = math.absf %x : f64
  %g = arith.cmpf ogt, %x, %z : f64
  %h = arith.extui %g : i1 to i32
  memref.store %y, %b[%i] : {F}
  scf.reduce (%x, %y, %h : f64, f64, i32) {{
  ^bb0(%l: f64, %r: f64):
    %j = arith.addf %l, %r : f64
    scf.reduce.return %j : f64
  }}, {{
  ^bb0(%l: f64, %r: f64):
    %j = arith.maximumf %l, %r : f64
    scf.reduce.return %j : f64
  }}, {{
  ^bb0(%l: i32, %r: i32):
    %j = arith.addi %l, %r : i32
    scf.reduce.return %j : i32
  }}
}}
return %s#0, %s#1, %s#2 : f64, f64, i32""", ["f64", "f64", "i32"])
    yield program("combiner_of_own", {"a": F}, f"""%n = memref.dim %a, %c0 : {F}
%z = arith.constant 0.0 : f64
%s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f64 {{
  %x = memref.load %a[%i] : {F}
  %y = math.absf %x : f64
  scf.reduce (%y : f64) {{
  ^bb0(%l: f64, %r: f64):
    %p = arith.mulf %l, %l : f64
    %q = arith.mulf %r, %r : f64
    %t = arith.addf %p, %q : f64
    %j = math.sqrt %t : f64
    scf.reduce.return %j : f64
  }}
}}
return %s : f64""", ["f64"])
    yield program("sums_into_two", {"a": F, "b": memref("f64"), "c": memref("f64")}, f"""%n = memref.dim %a, %c0 : {F}
scf.for %i = %c0 to %n step %c1 {{
  %x = memref.load %a[%i] : {F}
  %s = memref.load %b[] : memref<f64>
  %t = arith.addf %s, %x : f64
  memref.store %t, %b[] : memref<f64>
  %p = memref.load %c[] : memref<f64>
  %q = arith.maximumf %p, %x : f64
  memref.store %q, %c[] : memref<f64>
}}""")


def policies():
    a3 = memref(3, 4, 5, "f32")
    for rank in (1, 2, 3, 4, 5, 6):
        shape = (3, 4, 5, 2, 3, 2)[:rank]
        kind = memref(*shape, "f32")
        names = "ijklmn"[:rank]
        bounds = {name: ("%c0", f"%c{extent}", "%c1") for name, extent in zip(names, shape)}
        at = ", ".join(f"%{name}" for name in names)
        back = ", ".join(f"%{name}" for name in reversed(names))
        other = memref(*reversed(shape), "f32")
        yield program(f"grid_{rank}", {"a": kind, "b": kind}, parallel(bounds, f"""  %x = memref.load %a[{at}] : {kind}
  %y = arith.addf %x, %x : f32
  memref.store %y, %b[{at}] : {kind}"""))
        if rank > 1:
            yield program(f"grid_{rank}_transposed", {"a": kind, "b": other}, parallel(bounds, f"""  %x = memref.load %a[{at}] : {kind}
  memref.store %x, %b[{back}] : {other}"""))
    nested = parallel({"k": ("%c0", "%c5", "%c1")}, f"""    %x = memref.load %a[%i, %j, %k] : {a3}
    memref.store %x, %b[%i, %j, %k] : {a3}""")
    nested = parallel({"j": ("%c0", "%c4", "%c1")}, nested)
    yield program("nested_parallel", {"a": a3, "b": a3}, parallel({"i": ("%c0", "%c3", "%c1")}, nested))
    z = "%z = arith.constant 0.0 : f64\n"
    m = memref(4, 5, "f64")
    yield program("row_sums_then_scale", {"a": m, "b": m}, z + parallel({"i": ("%c0", "%c4", "%c1")}, f"""  %s = {reducing('addf', 'f64', {'k': ('%c0', '%c5', '%c1')}, '%z', f'%x = memref.load %a[%i, %k] : {m}')}
{parallel({'j': ('%c0', '%c5', '%c1')}, f'''  %x = memref.load %a[%i, %j] : {m}
  %y = arith.divf %x, %s : f64
  memref.store %y, %b[%i, %j] : {m}''')}"""))
    yield program("row_temporary", {"a": m, "b": m}, z + parallel({"i": ("%c0", "%c4", "%c1")}, f"""  %t = memref.alloca() : memref<5xf64>
{parallel({'j': ('%c0', '%c5', '%c1')}, f'''  %x = memref.load %a[%i, %j] : {m}
  %y = math.exp %x : f64
  memref.store %y, %t[%j] : memref<5xf64>''')}
{parallel({'j': ('%c0', '%c5', '%c1')}, f'''  %k = arith.subi %c4, %j : index
  %x = memref.load %t[%k] : memref<5xf64>
  memref.store %x, %b[%i, %j] : {m}''')}"""))
    yield program("steps", {"a": memref(9, "f64")}, parallel({"i": ("%c1", "%c8", "%c3")}, """  %x = memref.load %a[%i] : memref<9xf64>
  %y = arith.mulf %x, %x : f64
  memref.store %y, %a[%i] : memref<9xf64>"""))
    yield program("empty_range", {"a": memref(9, "f64")}, parallel({"i": ("%c5", "%c2", "%c1")}, """  %x = arith.constant 1.0 : f64
  memref.store %x, %a[%i] : memref<9xf64>"""))
    yield program("bounds_as_arguments", {"a": memref(9, "f64"), "lo": "index", "hi": "index"}, parallel({"i": ("%lo", "%hi", "%c2")}, """  %x = arith.constant 1.0 : f64
  memref.store %x, %a[%i] : memref<9xf64>"""), integers=(3, 5))
    yield program("triangle", {"a": memref(8, 8, "f64")}, parallel({"i": ("%c0", "%c8", "%c1")}, f"""  %n = arith.addi %i, %c1 : index
{parallel({'j': ('%c0', '%n', '%c1')}, '''  %x = memref.load %a[%i, %j] : memref<8x8xf64>
  %y = arith.addf %x, %x : f64
  memref.store %y, %a[%i, %j] : memref<8x8xf64>''')}"""))


def memory():
    a = memref(8, 6, "f32")
    yield program("subview", {"a": a}, f"""%v = memref.subview %a[1, 2] [4, 3] [1, 1] : {a} to memref<4x3xf32, strided<[6, 1], offset: 8>>
{parallel({'i': ('%c0', '%c4', '%c1'), 'j': ('%c0', '%c3', '%c1')}, '''  %x = memref.load %v[%i, %j] : memref<4x3xf32, strided<[6, 1], offset: 8>>
  %y = arith.addf %x, %x : f32
  memref.store %y, %v[%i, %j] : memref<4x3xf32, strided<[6, 1], offset: 8>>''')}""")
    yield program("subview_strided", {"a": a, "b": memref(4, 3, "f32")}, f"""%v = memref.subview %a[0, 1] [4, 3] [2, 2] : {a} to memref<4x3xf32, strided<[12, 2], offset: 1>>
memref.copy %b, %v : memref<4x3xf32> to memref<4x3xf32, strided<[12, 2], offset: 1>>""")
    yield program("subview_sized", {"a": "memref<?x?xf32>", "o": "index"}, f"""%v = memref.subview %a[%o, 0] [2, 2] [1, %o] : memref<?x?xf32> to memref<2x2xf32, strided<[?, ?], offset: ?>>
%s = memref.subview %v[1, 0] [1, 2] [1, 1] : memref<2x2xf32, strided<[?, ?], offset: ?>> to memref<2xf32, strided<[?], offset: ?>>
{parallel({'i': ('%c0', '%c2', '%c1')}, '''  %x = memref.load %s[%i] : memref<2xf32, strided<[?], offset: ?>>
  %y = arith.mulf %x, %x : f32
  memref.store %y, %s[%i] : memref<2xf32, strided<[?], offset: ?>>''')}""", integers=(1, 2))
    yield program("subview_of_linalg", {"a": a, "b": memref(4, 3, "f32")}, f"""%v = memref.subview %a[1, 2] [4, 3] [1, 1] : {a} to memref<4x3xf32, strided<[6, 1], offset: 8>>
linalg.exp ins(%b : memref<4x3xf32>) outs(%v : memref<4x3xf32, strided<[6, 1], offset: 8>>)""")
    yield program("reinterpret_cast", {"a": a}, f"""%v = memref.reinterpret_cast %a to offset: [3], sizes: [5, 4], strides: [4, 2] : {a} to memref<5x4xf32, strided<[4, 2], offset: 3>>
scf.for %i = %c0 to %c5 step %c1 {{
  scf.for %j = %c0 to %c4 step %c1 {{
    %x = memref.load %v[%i, %j] : memref<5x4xf32, strided<[4, 2], offset: 3>>
    %y = arith.addf %x, %x : f32
    memref.store %y, %v[%i, %j] : memref<5x4xf32, strided<[4, 2], offset: 3>>
  }}
}}""")
    yield program("transpose_view", {"a": a, "b": memref(6, 8, "f32")}, f"""%t = memref.transpose %a (i, j) -> (j, i) : {a} to memref<6x8xf32, strided<[1, 6]>>
{parallel({'i': ('%c0', '%c6', '%c1'), 'j': ('%c0', '%c8', '%c1')}, '''  %x = memref.load %t[%i, %j] : memref<6x8xf32, strided<[1, 6]>>
  memref.store %x, %b[%i, %j] : memref<6x8xf32>''')}""")
    yield program("collapsed", {"a": a}, f"""%f = memref.collapse_shape %a [[0, 1]] : {a} into memref<48xf32>
%n = arith.constant 48 : index
{parallel({'i': ('%c0', '%n', '%c1')}, '''  %x = memref.load %f[%i] : memref<48xf32>
  %y = arith.negf %x : f32
  memref.store %y, %f[%i] : memref<48xf32>''')}""")
    yield program("expanded", {"a": memref(12, "f32")}, f"""%f = memref.expand_shape %a [[0, 1]] output_shape [3, 4] : memref<12xf32> into memref<3x4xf32>
{parallel({'i': ('%c0', '%c3', '%c1'), 'j': ('%c0', '%c4', '%c1')}, '''  %x = memref.load %f[%i, %j] : memref<3x4xf32>
  %y = arith.negf %x : f32
  memref.store %y, %f[%i, %j] : memref<3x4xf32>''')}""")
    yield program("casts", {"a": "memref<?x?xf32>"}, """%v = memref.cast %a : memref<?x?xf32> to memref<3x3xf32>
%x = memref.load %v[%c2, %c1] : memref<3x3xf32>
memref.store %x, %v[%c0, %c0] : memref<3x3xf32>""")
    yield program("local_alloc", {"a": memref(8, "f64")}, f"""%t = memref.alloc() : memref<8xf64>
{parallel({'i': ('%c0', '%c8', '%c1')}, '''  %x = memref.load %a[%i] : memref<8xf64>
  %j = arith.remui %i, %c3 : index
  memref.store %x, %t[%i] : memref<8xf64>''')}{parallel({'i': ('%c0', '%c8', '%c1')}, '''  %k = arith.addi %i, %c1 : index
  %j = arith.remui %k, %c8 : index
  %x = memref.load %t[%j] : memref<8xf64>
  memref.store %x, %a[%i] : memref<8xf64>''')}memref.dealloc %t : memref<8xf64>""")
    yield program("returned_alloc", {"a": memref(8, "f64")}, f"""%t = memref.alloc() : memref<8xf64>
{parallel({'i': ('%c0', '%c8', '%c1')}, '''  %x = memref.load %a[%i] : memref<8xf64>
  memref.store %x, %t[%i] : memref<8xf64>''')}return %t : memref<8xf64>""", ["memref<8xf64>"])
    yield Program("global_table", "memref.global \"private\" constant @table : memref<4xf32> = dense<[1.0, 2.0, 4.0, 8.0]>\n" + function(
        "global_table", {"a": memref(4, "f32")}, [], INDICES + "%t = memref.get_global @table : memref<4xf32>\n" + parallel({"i": ("%c0", "%c4", "%c1")}, """  %x = memref.load %a[%i] : memref<4xf32>
  %y = memref.load %t[%i] : memref<4xf32>
  %z = arith.mulf %x, %y : f32
  memref.store %z, %a[%i] : memref<4xf32>""") + "return"))
    for name, kind in [("indices", "index"), ("flags", "i1"), ("bytes", "i8")]:
        yield program(f"copies_{name}", {"a": memref(6, kind), "b": memref(6, kind)}, f"memref.copy %a, %b : {memref(6, kind)} to {memref(6, kind)}", integers=(0, 5))


def joined_at(join):
    """What atomic updates give that upstream cannot lower."""
    def reference(a, h, w):
        h = h.copy()
        join.at(h, w, a)
        return [h]
    return reference


OWN_REFERENCES = {"muli": numpy.multiply, "mulf": numpy.multiply, "maximumf": numpy.maximum, "minimumf": numpy.minimum}


def atomics():
    for op, element in [("addf", "f64"), ("maximumf", "f64"), ("minimumf", "f32"), ("addi", "i32"), ("maxs", "i32"), ("mins", "i32"),
                        ("maxu", "i32"), ("minu", "i32"), ("ori", "i32"), ("andi", "i32"), ("muli", "i32"), ("mulf", "f64"), ("assign", "i32")]:
        place = "%k" if op != "assign" else "%i"
        h, a, w = memref(16, element), memref(16, element), memref(16, "index")
        yield program(f"atomic_{op}", {"a": a, "h": h, "w": w}, "%n = arith.constant 16 : index\n" + parallel({"i": ("%c0", "%n", "%c1")}, f"""  %k = memref.load %w[%i] : {w}
  %x = memref.load %a[%i] : {a}
  %o = memref.atomic_rmw {op} %x, %h[{place}] : ({element}, {h}) -> {element}"""), integers=(0, 5),
                      reference=joined_at(OWN_REFERENCES[op]) if op in OWN_REFERENCES else None)
    yield program("generic_atomic", {"a": memref(8, "i32"), "h": memref(3, "i32")}, parallel({"i": ("%c0", "%c8", "%c1")}, """  %k = arith.remui %i, %c3 : index
  %x = memref.load %a[%i] : memref<8xi32>
  %o = memref.generic_atomic_rmw %h[%k] : memref<3xi32> {
  ^bb0(%v: i32):
    %s = arith.addi %v, %x : i32
    memref.atomic_yield %s : i32
  }"""))


def decided():
    """Elements that a condition chooses. gcc 12 makes wrong vectors of table(a == b ? 1 : 0): loops are long enough for them."""
    subscripts = {"chosen": "%k = arith.select %above, %c1, %c0 : index",
                  "counted": "%one = arith.extui %above : i1 to i64\n  %k = arith.index_cast %one : i64 to index",
                  "turned": "%k = arith.select %above, %c0, %c1 : index", "second": "%k = arith.select %above, %c2, %c1 : index",
                  "wrapped": """%k64 = arith.constant 3 : i64
  %z64 = arith.constant 0 : i64
  %one = arith.extui %above : i1 to i64
  %before = arith.cmpi slt, %one, %z64 : i64
  %around = arith.addi %one, %k64 : i64
  %inside = arith.select %before, %around, %one : i64
  %k = arith.index_cast %inside : i64 to index""",
                  "both": """%p5 = arith.constant 0.5 : f32
  %far = arith.cmpf ogt, %v, %p5 : f32
  %one = arith.extui %above : i1 to i32
  %two = arith.extui %far : i1 to i32
  %sum = arith.addi %one, %two : i32
  %k = arith.index_cast %sum : i32 to index"""}
    for name, subscript in subscripts.items():
        for extent in ("?", 3):
            for element in ("f32", "f64", "i32"):
                table, x, b = memref(extent, element), memref("?", "f32"), memref("?", element)
                body = f"""%n = memref.dim %x, %c0 : {x}
%z = arith.constant 0.0 : f32
""" + parallel({"i": ("%c0", "%n", "%c1")}, f"""  %v = memref.load %x[%i] : {x}
  %above = arith.cmpf ogt, %v, %z : f32
  {subscript}
  %e = memref.load %t[%k] : {table}
  memref.store %e, %b[%i] : {b}""")
                shape = "run_time" if extent == "?" else "fixed"
                yield program(f"decided_{name}_{shape}_{element}", {"t": table, "x": x, "b": b}, body,
                              extents={"n": 1003, "b_size": 1003} | ({"t_size": 3} if extent == "?" else {}))
    t, x, b = memref("?", "?", "f32"), memref("?", "f32"), memref("?", "f32")
    yield program("decided_in_a_row", {"t": t, "x": x, "b": b}, f"""%n = memref.dim %x, %c0 : {x}
%z = arith.constant 0.0 : f32
""" + parallel({"i": ("%c0", "%n", "%c1")}, f"""  %v = memref.load %x[%i] : {x}
  %above = arith.cmpf ogt, %v, %z : f32
  %k = arith.select %above, %c1, %c0 : index
  %e = memref.load %t[%c2, %k] : {t}
  memref.store %e, %b[%i] : {b}"""), extents={"n": 1003, "b_size": 1003})
    x, b = memref("?", "?", "f32"), memref("?", "?", "f64")
    for name, table in {"fixed": memref(40, "f64"), "run_time": memref("?", "f64")}.items():
        yield program(f"decided_behind_a_row_{name}", {"t": table, "x": x, "b": b}, f"""%n = memref.dim %x, %c0 : {x}
%m = memref.dim %x, %c1 : {x}
%z = arith.constant 0.0 : f32
""" + parallel({"i": ("%c0", "%n", "%c1")}, f"""  %two = arith.muli %i, %c2 : index
  scf.for %j = %c0 to %m step %c1 {{
    %v = memref.load %x[%i, %j] : {x}
    %above = arith.cmpf ogt, %v, %z : f32
    %one = arith.extui %above : i1 to i64
    %at = arith.index_cast %one : i64 to index
    %k = arith.addi %two, %at : index
    %e = memref.load %t[%k] : {table}
    memref.store %e, %b[%i, %j] : {b}
  }}"""), extents={"n": 20, "m": 203, "b_size_0": 20, "b_size_1": 203} | ({"t_size": 40} if name == "run_time" else {}))


def sequential():
    yield program("scan_inclusive", {"a": F, "b": F}, f"""%n = memref.dim %a, %c0 : {F}
%z = arith.constant 0.0 : f64
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> f64 {{
  %x = memref.load %a[%i] : {F}
  %u = arith.addf %t, %x : f64
  memref.store %u, %b[%i] : {F}
  scf.yield %u : f64
}}""")
    yield program("scan_exclusive", {"a": memref("?", "i32"), "b": memref("?", "i32")}, """%n = memref.dim %a, %c0 : memref<?xi32>
%z = arith.constant 0 : i32
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> i32 {
  %x = memref.load %a[%i] : memref<?xi32>
  memref.store %t, %b[%i] : memref<?xi32>
  %u = arith.addi %t, %x : i32
  scf.yield %u : i32
}""")
    for kind in ["f64", "f32"]: # a parallel_scan each
        yield program(f"scan_{kind}_reassociated", {"a": memref("?", kind), "b": memref("?", kind)}, f"""%n = memref.dim %a, %c0 : memref<?x{kind}>
%z = arith.constant 0.0 : {kind}
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> {kind} {{
  %x = memref.load %a[%i] : memref<?x{kind}>
  %u = arith.addf %t, %x fastmath<reassoc> : {kind}
  memref.store %u, %b[%i] : memref<?x{kind}>
  scf.yield %u : {kind}
}}""")
    yield program("kept_beside_store", {"a": memref(40, "i64"), "b": memref(40, "i64")}, """%n = arith.constant 40 : index
%z = arith.constant 0 : i64
%two = arith.constant 2 : i64
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> i64 {
  %x = memref.load %a[%i] : memref<40xi64>
  %p = arith.cmpi slt, %t, %x : i64
  %u = scf.if %p -> i64 {
    %d = arith.divsi %x, %two : i64
    scf.yield %d : i64
  } else {
    memref.store %x, %b[%i] : memref<40xi64>
    scf.yield %t : i64
  }
  scf.yield %u : i64
}
return %s : i64""", ["i64"])
    yield program("less_wide", {"a": memref(40, "i64")}, """%n = arith.constant 40 : index
%two = arith.constant 2 : i64
%much = arith.constant 40000000000 : i64
scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  %x = memref.load %a[%i] : memref<40xi64>
  %y = arith.muli %x, %much : i64
  %z = arith.subi %two, %y : i64
  memref.store %z, %a[%i] : memref<40xi64>
}""")
    yield program("wide_beside_literals", {"a": memref(40, "i64"), "b": memref(40, "i64"), "d": memref(40, "i8")}, """%n = arith.constant 40 : index
%two = arith.constant 2 : i64
%nine = arith.constant 9 : i64
%much = arith.constant 40000000000 : i64
%low = arith.constant 5 : i8
%high = arith.constant 100 : i8
scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  %x = memref.load %a[%i] : memref<40xi64>
  %w = memref.load %b[%i] : memref<40xi64>
  %y = arith.muli %x, %much : i64
  %p = arith.cmpi slt, %x, %w : i64
  %s = arith.select %p, %nine, %two : i64
  %l = arith.maxsi %s, %y : i64
  %t = arith.subi %s, %y : i64
  %e = arith.extsi %p : i1 to i64
  %u = arith.subi %e, %y : i64
  %z = arith.ori %y, %nine : i64
  %f = arith.floordivsi %nine, %z : i64
  %h = arith.andi %w, %two : i64
  %r = arith.shrsi %nine, %h : i64
  %v = arith.subi %r, %y : i64
  %k = arith.addi %t, %u : i64
  %m = arith.xori %k, %v : i64
  %o = arith.addi %m, %f : i64
  %q = arith.subi %o, %l : i64
  memref.store %q, %a[%i] : memref<40xi64>
  %c = memref.load %d[%i] : memref<40xi8>
  %g = arith.select %p, %low, %high : i8
  %j = arith.minsi %g, %c : i8
  %aa = arith.select %p, %low, %c : i8
  %bb = arith.maxsi %aa, %j : i8
  memref.store %bb, %d[%i] : memref<40xi8>
}""")
    yield program("scan_in_place", {"a": memref(5000, "i64"), "b": memref(5000, "i64")}, """%n = arith.constant 5000 : index
%z = arith.constant 0 : i64
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> i64 {
  %x = memref.load %a[%i] : memref<5000xi64>
  %u = arith.addi %t, %x : i64
  %y = memref.load %b[%i] : memref<5000xi64>
  %p = arith.cmpi slt, %x, %y : i64
  memref.store %u, %a[%i] : memref<5000xi64>
  scf.if %p {
    %v = arith.subi %y, %u : i64
    memref.store %v, %b[%i] : memref<5000xi64>
  }
  scf.yield %u : i64
}""")
    yield program("scan_read_behind", {"a": memref(5000, "i64"), "b": memref(5000, "i64")}, """%n = arith.constant 5000 : index
%z = arith.constant 0 : i64
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> i64 {
  %x = memref.load %a[%i] : memref<5000xi64>
  memref.store %t, %a[%i] : memref<5000xi64>
  %y = memref.load %a[%i] : memref<5000xi64>
  %d = arith.subi %y, %x : i64
  memref.store %d, %b[%i] : memref<5000xi64>
  %u = arith.addi %t, %x : i64
  scf.yield %u : i64
}""")
    yield program("scan_selects", {"a": memref(3000, "i32"), "b": memref(3000, "i32")}, """%n = arith.constant 3000 : index
%z = arith.constant 0 : i64
%limit = arith.constant 0 : i32
%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> i64 {
  %x = memref.load %a[%i] : memref<3000xi32>
  %kept = arith.cmpi sgt, %x, %limit : i32
  scf.if %kept {
    %at = arith.index_cast %t : i64 to index
    memref.store %x, %b[%at] : memref<3000xi32>
  }
  %one = arith.extui %kept : i1 to i64
  %u = arith.addi %t, %one : i64
  scf.yield %u : i64
}""")
    yield program("prefix_in_place", {"a": F}, f"""%n = memref.dim %a, %c0 : {F}
scf.for %i = %c1 to %n step %c1 {{
  %p = arith.subi %i, %c1 : index
  %x = memref.load %a[%p] : {F}
  %y = memref.load %a[%i] : {F}
  %u = arith.addf %x, %y : f64
  memref.store %u, %a[%i] : {F}
}}""")
    yield program("wavefront", {"a": memref(7, 9, "f64")}, """%n = arith.constant 9 : index
scf.for %i = %c1 to %c7 step %c1 {
  scf.for %j = %c1 to %n step %c1 {
    %p = arith.subi %i, %c1 : index
    %q = arith.subi %j, %c1 : index
    %x = memref.load %a[%p, %j] : memref<7x9xf64>
    %y = memref.load %a[%i, %q] : memref<7x9xf64>
    %u = arith.addf %x, %y : f64
    %h = arith.constant 0.5 : f64
    %v = arith.mulf %u, %h : f64
    memref.store %v, %a[%i, %j] : memref<7x9xf64>
  }
}""")
    yield program("histogram", {"a": memref(8, "index"), "h": memref(4, "i32")}, """%one = arith.constant 1 : i32
scf.for %i = %c0 to %c8 step %c1 {
  %k = memref.load %a[%i] : memref<8xindex>
  %x = memref.load %h[%k] : memref<4xi32>
  %y = arith.addi %x, %one : i32
  memref.store %y, %h[%k] : memref<4xi32>
}""", integers=(0, 4))
    yield program("newton", {"a": memref(8, "f64"), "b": memref(8, "i32")}, parallel({"i": ("%c0", "%c8", "%c1")}, """  %x = memref.load %a[%i] : memref<8xf64>
  %p = math.absf %x : f64
  %one = arith.constant 1.0 : f64
  %half = arith.constant 0.5 : f64
  %z = arith.constant 0 : i32
  %u = arith.constant 1 : i32
  %eps = arith.constant 1.0e-10 : f64
  %r:2 = scf.while (%g = %one, %n = %z) : (f64, i32) -> (f64, i32) {
    %s = arith.mulf %g, %g : f64
    %d = arith.subf %s, %p : f64
    %e = math.absf %d : f64
    %c = arith.cmpf ogt, %e, %eps : f64
    scf.condition(%c) %g, %n : f64, i32
  } do {
  ^bb0(%g: f64, %n: i32):
    %q = arith.divf %p, %g : f64
    %s = arith.addf %g, %q : f64
    %h = arith.mulf %s, %half : f64
    %m = arith.addi %n, %u : i32
    scf.yield %h, %m : f64, i32
  }
  memref.store %r#0, %a[%i] : memref<8xf64>
  memref.store %r#1, %b[%i] : memref<8xi32>"""), positive=True)
    yield program("fibonacci", {"n": "index"}, """%a = arith.constant 0 : i64
%b = arith.constant 1 : i64
%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (i64, i64) {
  %s = arith.addi %x, %y : i64
  scf.yield %y, %s : i64, i64
}
return %r#0 : i64""", ["i64"], integers=(7, 8))


def affine():
    m = memref(8, 9, "f64")
    yield program("affine_stencil", {"a": m, "b": m}, f"""affine.for %i = 1 to 7 {{
  affine.for %j = 1 to 8 {{
    %n = affine.load %a[%i - 1, %j] : {m}
    %s = affine.load %a[%i + 1, %j] : {m}
    %w = affine.load %a[%i, %j - 1] : {m}
    %t = arith.addf %n, %s : f64
    %u = arith.addf %t, %w : f64
    affine.store %u, %b[%i, %j] : {m}
  }}
}}""")
    yield program("affine_min_bounds", {"a": memref(10, "f64"), "n": "index"}, """affine.for %i = 0 to min affine_map<()[s0] -> (10, s0)>()[%n] {
  %x = affine.load %a[%i] : memref<10xf64>
  %y = arith.addf %x, %x : f64
  affine.store %y, %a[%i] : memref<10xf64>
}""", integers=(4, 5))
    yield program("affine_triangle", {"a": memref(8, 8, "f64")}, """affine.for %i = 0 to 8 {
  affine.for %j = max affine_map<(d0) -> (0, d0 - 2)>(%i) to affine_map<(d0) -> (d0 + 1)>(%i) {
    %x = affine.load %a[%i, %j] : memref<8x8xf64>
    %y = arith.addf %x, %x : f64
    affine.store %y, %a[%i, %j] : memref<8x8xf64>
  }
}""")
    yield program("affine_if", {"a": memref(8, 8, "f64")}, """affine.for %i = 0 to 8 {
  affine.for %j = 0 to 8 {
    %x = affine.load %a[%i, %j] : memref<8x8xf64>
    affine.if affine_set<(d0, d1) : (d0 - d1 - 1 >= 0, d1 - 1 >= 0)>(%i, %j) {
      %y = arith.addf %x, %x : f64
      affine.store %y, %a[%i, %j] : memref<8x8xf64>
    } else {
      %y = arith.negf %x : f64
      affine.store %y, %a[%i, %j] : memref<8x8xf64>
    }
  }
}""")
    yield program("affine_parallel", {"a": memref(8, 6, "f64")}, """affine.parallel (%i, %j) = (0, 0) to (8, 6) step (2, 3) {
  %x = affine.load %a[%i, %j + 1] : memref<8x6xf64>
  affine.store %x, %a[%i, %j] : memref<8x6xf64>
}""")
    yield program("affine_reduce", {"a": memref(8, 6, "f64"), "b": memref(8, "f64")}, """affine.for %i = 0 to 8 {
  %z = arith.constant 0.0 : f64
  %s = affine.for %k = 0 to 6 iter_args(%t = %z) -> f64 {
    %x = affine.load %a[%i, %k] : memref<8x6xf64>
    %u = arith.addf %t, %x : f64
    affine.yield %u : f64
  }
  affine.store %s, %b[%i] : memref<8xf64>
}""")
    yield program("affine_parallel_reduce", {"a": memref(8, 6, "f64"), "b": memref("f64")}, """%s = affine.parallel (%i, %j) = (0, 0) to (8, 6) reduce ("maximumf") -> f64 {
  %x = affine.load %a[%i, %j] : memref<8x6xf64>
  affine.yield %x : f64
}
affine.store %s, %b[] : memref<f64>""")
    yield program("affine_mod_div", {"a": memref(12, "f64"), "b": memref(3, 4, "f64")}, """affine.for %i = 0 to 12 {
  %x = affine.load %a[%i] : memref<12xf64>
  affine.store %x, %b[%i floordiv 4, %i mod 4] : memref<3x4xf64>
}""")
    yield program("affine_apply_min", {"a": memref(12, "f64")}, """affine.for %i = 0 to 12 step 5 {
  %n = affine.min affine_map<(d0) -> (5, -d0 + 12)>(%i)
  scf.for %k = %c0 to %n step %c1 {
    %j = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %k)
    %x = memref.load %a[%j] : memref<12xf64>
    %y = arith.mulf %x, %x : f64
    memref.store %y, %a[%j] : memref<12xf64>
  }
}""")


def programs():
    yield from reducers()
    yield from policies()
    yield from memory()
    yield from atomics()
    yield from decided()
    yield from sequential()
    yield from affine()
