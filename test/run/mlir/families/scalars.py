"""Every operation of arith and math: elementwise in linalg.generic, and on scalars in a loop over memrefs."""

from . import Program, function, is_float, memref, tensor

SIZE = 24

UNARY_MATH = ["absf", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor",
              "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"]
BINARY_MATH = ["atan2", "copysign", "powf"]
FLOAT_BINARY = ["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"]
INTEGER_BINARY = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"]
DIVISIONS = ["divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"]
SHIFTS = ["shli", "shrsi", "shrui"]
INTEGER_MATH = ["absi", "ctlz", "cttz", "ctpop"]
COMPARE_FLOAT = ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"]
COMPARE_INTEGER = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


def elementwise(name, inputs, outputs, body, **options):
    """`body` computes %r0, %r1, ... of the elements %x0, %x1, ..."""
    arguments = {f"a{i}": tensor(SIZE, kind) for i, kind in enumerate(inputs)}
    results = [tensor(SIZE, kind) for kind in outputs]
    empties = "\n".join(f"%e{i} = tensor.empty() : {kind}" for i, kind in enumerate(results))
    maps = ", ".join(["affine_map<(i) -> (i)>"] * (len(inputs) + len(outputs)))
    elements = ", ".join([f"%x{i}: {kind}" for i, kind in enumerate(inputs)] + [f"%o{i}: {kind}" for i, kind in enumerate(outputs)])
    many = len(outputs) > 1
    values = [f"%r#{i}" if many else "%r" for i in range(len(outputs))]
    text = f"""{empties}
%r{f':{len(outputs)}' if many else ''} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
    ins({', '.join('%' + a for a in arguments)} : {', '.join(arguments.values())})
    outs({', '.join(f'%e{i}' for i in range(len(outputs)))} : {', '.join(results)}) {{
^bb0({elements}):
  {body}
  linalg.yield {', '.join(f'%r{i}' for i in range(len(outputs)))} : {', '.join(outputs)}
}} -> ({', '.join(results)})
return {', '.join(values)} : {', '.join(results)}"""
    return Program(name, function(name, arguments, results, text), **options)


def in_loop(name, inputs, outputs, body, **options):
    """The same on memrefs, in scf.parallel."""
    arguments = {f"a{i}": memref(SIZE, kind) for i, kind in enumerate(inputs)}
    arguments |= {f"b{i}": memref(SIZE, kind) for i, kind in enumerate(outputs)}
    loads = "\n".join(f"  %x{i} = memref.load %a{i}[%i] : {memref(SIZE, kind)}" for i, kind in enumerate(inputs))
    stores = "\n".join(f"  memref.store %r{i}, %b{i}[%i] : {memref(SIZE, kind)}" for i, kind in enumerate(outputs))
    text = f"""%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%n = arith.constant {SIZE} : index
scf.parallel (%i) = (%c0) to (%n) step (%c1) {{
{loads}
  {body}
{stores}
  scf.reduce
}}
return"""
    return Program(name, function(name, arguments, [], text), **options)


def floats():
    for op in UNARY_MATH:
        domain = {"acosh": "%o = arith.constant 1.0 : T\n  %p = math.absf %x0 : T\n  %v = arith.addf %p, %o : T",
                  "atanh": "%v = math.tanh %x0 : T", "acos": "%v = math.sin %x0 : T", "asin": "%v = math.sin %x0 : T"}
        for element in ["f32", "f64"]:
            if op in domain:
                body = f"{domain[op].replace('T', element)}\n  %r0 = math.{op} %v : {element}"
            else:
                body = f"%r0 = math.{op} %x0 : {element}"
            positive = op in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
            make = elementwise if element == "f32" else in_loop
            yield make(f"math_{op}_{element}", [element], [element], body, positive=positive,
                       edges=op in ("absf", "ceil", "floor", "round", "roundeven", "trunc"))
    for op in BINARY_MATH:
        yield elementwise(f"math_{op}", ["f64", "f64"], ["f64"], f"%r0 = math.{op} %x0, %x1 : f64", positive=op == "powf")
    yield in_loop("math_fma", ["f32"] * 3, ["f32"], "%r0 = math.fma %x0, %x1, %x2 : f32")
    yield elementwise("math_fpowi", ["f64", "i32"], ["f64"], "%r0 = math.fpowi %x0, %x1 : f64, i32", integers=(-3, 4))
    yield elementwise("math_ipowi", ["i32", "i32"], ["i32"], "%r0 = math.ipowi %x0, %x1 : i32", integers=(1, 5))
    for op in FLOAT_BINARY:
        yield elementwise(f"arith_{op}", ["f32", "f32"], ["f32"], f"%r0 = arith.{op} %x0, %x1 : f32", edges=True)
        yield in_loop(f"loop_{op}", ["f64", "f64"], ["f64"], f"%r0 = arith.{op} %x0, %x1 : f64", edges=True)
    yield elementwise("arith_negf", ["f32"], ["f32"], "%r0 = arith.negf %x0 : f32", edges=True)
    for at in range(0, 16, 4):
        predicates = COMPARE_FLOAT[at : at + 4]
        body = "\n  ".join(f"%r{i} = arith.cmpf {p}, %x0, %x1 : f32" for i, p in enumerate(predicates))
        yield elementwise(f"cmpf_{at}", ["f32", "f32"], ["i1"] * 4, body, edges=True)


def integers():
    for element in ["i8", "i32", "i64"]:
        for op in INTEGER_BINARY:
            if element == "i8" or op in ("addi", "muli", "maxui"):
                yield elementwise(f"arith_{op}_{element}", [element] * 2, [element], f"%r0 = arith.{op} %x0, %x1 : {element}", edges=True)
        for op in DIVISIONS:
            body = f"%one = arith.constant 1 : {element}\n  %d = arith.ori %x1, %one : {element}\n  %r0 = arith.{op} %x0, %d : {element}"
            make = in_loop if element == "i64" else elementwise
            yield make(f"arith_{op}_{element}", [element] * 2, [element], body, integers=(-50, 50))
    for op in SHIFTS:
        for element in ["i8", "i32", "i64"]:
            body = f"%m = arith.constant 7 : {element}\n  %s = arith.andi %x1, %m : {element}\n  %r0 = arith.{op} %x0, %s : {element}"
            yield elementwise(f"arith_{op}_{element}", [element] * 2, [element], body, edges=True)
    for op in INTEGER_MATH:
        for element in ["i8", "i32", "i64"]:
            yield elementwise(f"math_{op}_{element}", [element], [element], f"%r0 = math.{op} %x0 : {element}", edges=True)
    for at, part in enumerate([COMPARE_INTEGER[:6], COMPARE_INTEGER[6:]]):
        for element in ["i8", "i32"]:
            body = "\n  ".join(f"%r{i} = arith.cmpi {p}, %x0, %x1 : {element}" for i, p in enumerate(part))
            yield elementwise(f"cmpi_{at}_{element}", [element] * 2, ["i1"] * len(part), body, edges=True)
    for op in ["mulsi_extended", "mului_extended", "addui_extended"]:
        last = "i1" if op.startswith("add") else "i32"
        kinds = "i32, i1" if op.startswith("add") else "i32"
        yield elementwise(f"arith_{op}", ["i32"] * 2, ["i32", last], f"%r0, %r1 = arith.{op} %x0, %x1 : {kinds}", edges=True)
    yield elementwise("overflow_flags", ["i32"] * 2, ["i32"], "%r0 = arith.addi %x0, %x1 overflow<nsw> : i32")
    for op in ["addi", "subi", "muli", "divsi", "divui", "remui", "maxsi", "minui", "ceildivsi", "floordivsi"]:
        body = f"""%u = arith.index_cast %x0 : i64 to index
  %w = arith.index_cast %x1 : i64 to index
  %t = arith.{op} %u, %w : index
  %r0 = arith.index_cast %t : index to i64"""
        yield in_loop(f"index_{op}", ["i64"] * 2, ["i64"], body, integers=(1, 60))


def conversions():
    pairs = {
        "extf": [("f32", "f64")], "truncf": [("f64", "f32")],
        "extsi": [("i8", "i32"), ("i32", "i64"), ("i1", "i32")], "extui": [("i8", "i32"), ("i32", "i64"), ("i1", "i32")],
        "trunci": [("i32", "i8"), ("i64", "i32"), ("i32", "i1")],
        "sitofp": [("i32", "f32"), ("i8", "f64"), ("i1", "f32")], "uitofp": [("i32", "f32"), ("i8", "f64"), ("i1", "f32")],
        "fptosi": [("f32", "i32"), ("f64", "i64"), ("f32", "i8")], "fptoui": [("f32", "i32"), ("f64", "i8")],
        "bitcast": [("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64")],
    }
    for op, cases in pairs.items():
        for source, target in cases:
            if op == "fptoui":
                body = f"%p = math.absf %x0 : {source}\n  %r0 = arith.{op} %p : {source} to {target}"
            else:
                body = f"%r0 = arith.{op} %x0 : {source} to {target}"
            edges = source.startswith("i") and source != "i1" and target != "f32"
            yield elementwise(f"{op}_{source}_{target}", [source], [target], body, edges=edges)
    yield elementwise("select_values", ["i1", "f32", "f32"], ["f32"], "%r0 = arith.select %x0, %x1, %x2 : f32")
    yield elementwise("index_casts", ["i32"], ["i64", "i32"], """%u = arith.index_cast %x0 : i32 to index
  %w = arith.index_castui %x0 : i32 to index
  %r0 = arith.index_cast %u : index to i64
  %r1 = arith.index_castui %w : index to i32""", edges=True)
    for element in ["f16", "bf16"]:
        yield elementwise(f"half_{element}", [element] * 2, [element, "f32"], f"""%s = arith.mulf %x0, %x1 : {element}
  %r0 = arith.addf %s, %x0 : {element}
  %r1 = arith.extf %r0 : {element} to f32""", tolerance=1e-2)
        yield in_loop(f"half_loop_{element}", [element, "f32"], [element], f"""%w = arith.extf %x0 : {element} to f32
  %s = arith.mulf %w, %x1 : f32
  %r0 = arith.truncf %s : f32 to {element}""", tolerance=1e-2)


def programs():
    yield from floats()
    yield from integers()
    yield from conversions()
