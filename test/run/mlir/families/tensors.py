"""linalg.generic with unusual maps, and the operations of tensor."""

from . import Program, function, tensor


def generic(maps, iterators, ins, outs, block, results=None):
    """The text of one linalg.generic; `ins` and `outs` are (value, type), `block` its body with the block's arguments."""
    maps = ", ".join(f"affine_map<{m}>" for m in maps)
    kinds = ", ".join('"parallel"' if i == "p" else '"reduction"' for i in iterators)
    given = f"ins({', '.join(v for v, _ in ins)} : {', '.join(t for _, t in ins)}) " if ins else ""
    types = ", ".join(t for _, t in outs)
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
    {given}outs({', '.join(v for v, _ in outs)} : {types}) {{
{block}
}} -> {types if len(outs) == 1 else f'({types})'}"""


MULTIPLY_ADD = "^bb0(%x: f32, %y: f32, %o: f32):\n  %m = arith.mulf %x, %y : f32\n  %s = arith.addf %o, %m : f32\n  linalg.yield %s : f32"
COPY = "^bb0(%x: f32, %o: f32):\n  linalg.yield %x : f32"


def contraction(name, domain, maps, iterators, shapes):
    """A product with sums of any subscripts, onto an argument."""
    a, b, c = (tensor(*shape, "f32") for shape in shapes)
    maps = [f"{domain} -> {m}" for m in maps]
    body = f"%r = {generic(maps, iterators, [('%a', a), ('%b', b)], [('%c', c)], MULTIPLY_ADD)}\nreturn %r : {c}"
    return Program(name, function(name, {"a": a, "b": b, "c": c}, [c], body))


def generics():
    yield contraction("contract_5d", "(b, c, i, j, k)", ["(b, i, c, k)", "(c, k, j, b)", "(b, c, i, j)"], "ppppr",
                      [(2, 4, 3, 5), (3, 5, 6, 2), (2, 3, 4, 6)])
    yield contraction("contract_two_sums", "(i, j, k, l)", ["(i, k, l)", "(l, j, k)", "(j, i)"], "pprr", [(4, 3, 5), (5, 6, 3), (6, 4)])
    yield contraction("contract_outer", "(i, j)", ["(i)", "(j)", "(i, j)"], "pp", [(4,), (5,), (4, 5)])
    yield contraction("contract_inner", "(i, j)", ["(i, j)", "(j, i)", "()"], "rr", [(4, 5), (5, 4), ()])
    yield contraction("contract_trace", "(i, j)", ["(i, i)", "(i, j)", "(j)"], "rp", [(4, 4), (4, 5), (5,)])
    yield contraction("contract_hadamard", "(i, j)", ["(i, j)", "(j)", "(i)"], "pr", [(4, 5), (5,), (4,)])
    yield contraction("contract_window", "(i, k)", ["(i + k)", "(k)", "(i)"], "pr", [(9,), (4,), (6,)])
    yield contraction("contract_strided", "(i, j, k)", ["(i * 2 + k, j)", "(k, j)", "(i, j)"], "ppr", [(10, 3), (4, 3), (4, 3)])
    a = tensor(4, 5, "f32")
    for name, target, shape in [("map_transposed", "(i, j) -> (j, i)", (5, 4)), ("map_identity", "(i, j) -> (i, j)", (4, 5))]:
        b = tensor(*shape, "f32")
        text = generic(["(i, j) -> (i, j)", target], "pp", [("%a", a)], [("%e", b)], COPY)
        yield Program(name, function(name, {"a": a}, [b], f"%e = tensor.empty() : {b}\n%r = {text}\nreturn %r : {b}"))
    b = tensor(4, 3, 5, 2, "f32")
    text = generic(["(i, j, k, l) -> (k, i)", "(i, j, k, l) -> (i, j, k, l)"], "pppp", [("%a", tensor(5, 4, "f32"))], [("%e", b)], COPY)
    yield Program("map_broadcast", function("map_broadcast", {"a": tensor(5, 4, "f32")}, [b], f"%e = tensor.empty() : {b}\n%r = {text}\nreturn %r : {b}"))
    text = generic(["(i, j) -> (i, 0)", "(i, j) -> (0, j)", "(i, j) -> (i, j)"], "pp",
                   [("%a", tensor(4, 1, "f32")), ("%b", tensor(1, 5, "f32"))], [("%e", a)],
                   "^bb0(%x: f32, %y: f32, %o: f32):\n  %s = arith.subf %x, %y : f32\n  linalg.yield %s : f32")
    yield Program("map_ones", function("map_ones", {"a": tensor(4, 1, "f32"), "b": tensor(1, 5, "f32")}, [a], f"%e = tensor.empty() : {a}\n%r = {text}\nreturn %r : {a}"))
    text = generic(["(i, j) -> (i, j)", "(i, j) -> (i, j)", "(i, j) -> (j, i)"], "pp", [("%a", a)], [("%e", a), ("%f", tensor(5, 4, "f32"))],
                   "^bb0(%x: f32, %o: f32, %p: f32):\n  %n = arith.negf %x : f32\n  linalg.yield %x, %n : f32, f32")
    yield Program("two_results", function("two_results", {"a": a}, [a, tensor(5, 4, "f32")], f"""%e = tensor.empty() : {a}
%f = tensor.empty() : {tensor(5, 4, 'f32')}
%r:2 = {text}
return %r#0, %r#1 : {a}, {tensor(5, 4, 'f32')}"""))
    yield from reductions_of_two()
    yield from indexed()


def reductions_of_two():
    a, b, c = tensor(4, 5, "f32"), tensor(4, "f32"), tensor(4, "i32")
    text = generic(["(i, j) -> (i, j)", "(i, j) -> (i)", "(i, j) -> (i)"], "pr", [("%a", a)], [("%m", b), ("%s", b)], """^bb0(%x: f32, %o: f32, %p: f32):
  %n = arith.maximumf %x, %o : f32
  %t = arith.addf %x, %p : f32
  linalg.yield %n, %t : f32, f32""")
    yield Program("max_and_sum", function("max_and_sum", {"a": a, "m": b, "s": b}, [b, b], f"%r:2 = {text}\nreturn %r#0, %r#1 : {b}, {b}"))
    text = generic(["(i, j) -> (i, j)", "(i, j) -> (i)", "(i, j) -> (i)"], "pr", [("%a", a)], [("%m", b), ("%w", c)], """^bb0(%x: f32, %o: f32, %p: i32):
  %j = linalg.index 1 : index
  %k = arith.index_cast %j : index to i32
  %g = arith.cmpf ogt, %x, %o : f32
  %n = arith.select %g, %x, %o : f32
  %q = arith.select %g, %k, %p : i32
  linalg.yield %n, %q : f32, i32""")
    yield Program("argmax", function("argmax", {"a": a}, [b, c], f"""%low = arith.constant 0xFF800000 : f32
%z = arith.constant 0 : i32
%e = tensor.empty() : {b}
%f = tensor.empty() : {c}
%m = linalg.fill ins(%low : f32) outs(%e : {b}) -> {b}
%w = linalg.fill ins(%z : i32) outs(%f : {c}) -> {c}
%r:2 = {text}
return %r#0, %r#1 : {b}, {c}"""))


def indexed():
    a = tensor(4, 5, "f32")
    text = generic(["(i, j) -> (i, j)", "(i, j) -> (i, j)"], "pp", [("%a", a)], [("%e", a)], """^bb0(%x: f32, %o: f32):
  %i = linalg.index 0 : index
  %j = linalg.index 1 : index
  %d = arith.cmpi ule, %j, %i : index
  %z = arith.constant 0.0 : f32
  %v = arith.select %d, %x, %z : f32
  linalg.yield %v : f32""")
    yield Program("lower_triangle", function("lower_triangle", {"a": a}, [a], f"%e = tensor.empty() : {a}\n%r = {text}\nreturn %r : {a}"))
    text = generic(["(i, j) -> (i, j)"], "pp", [], [("%e", a)], """^bb0(%o: f32):
  %i = linalg.index 0 : index
  %j = linalg.index 1 : index
  %c5 = arith.constant 5 : index
  %m = arith.muli %i, %c5 : index
  %s = arith.addi %m, %j : index
  %w = arith.index_cast %s : index to i32
  %v = arith.sitofp %w : i32 to f32
  linalg.yield %v : f32""")
    yield Program("iota", function("iota", {}, [a], f"%e = tensor.empty() : {a}\n%r = {text}\nreturn %r : {a}"))
    i = tensor(6, "index")
    b = tensor(6, 5, "f32")
    text = generic(["(i, j) -> (i)", "(i, j) -> (i, j)"], "pp", [("%k", i)], [("%e", b)], """^bb0(%x: index, %o: f32):
  %j = linalg.index 1 : index
  %v = tensor.extract %a[%x, %j] : tensor<4x5xf32>
  linalg.yield %v : f32""")
    yield Program("gather_rows", function("gather_rows", {"a": a, "k": i}, [b], f"%e = tensor.empty() : {b}\n%r = {text}\nreturn %r : {b}"), integers=(0, 4))


def simple(name, arguments, results, lines, value="%r", **options):
    listed = ", ".join(results)
    return Program(name, function(name, arguments, results, f"{lines}\nreturn {value} : {listed}"), **options)


def moves():
    a = tensor(4, 6, "f32")
    yield simple("slice", {"a": a}, [tensor(2, 3, "f32")], f"%r = tensor.extract_slice %a[1, 2] [2, 3] [1, 1] : {a} to {tensor(2, 3, 'f32')}")
    yield simple("slice_strided", {"a": a}, [tensor(2, 3, "f32")], f"%r = tensor.extract_slice %a[1, 0] [2, 3] [2, 2] : {a} to {tensor(2, 3, 'f32')}")
    yield simple("slice_reduced", {"a": a}, [tensor(3, "f32")], f"%r = tensor.extract_slice %a[2, 1] [1, 3] [1, 1] : {a} to {tensor(3, 'f32')}")
    d = tensor("?", "?", "f32")
    yield simple("slice_sized", {"a": a, "i": "index", "n": "index"}, [tensor(1, 2, "f32")], f"""%s = tensor.extract_slice %a[%i, 1] [1, 2] [1, %n] : {a} to {tensor(1, 2, 'f32')}
%e = tensor.empty() : {tensor(1, 2, 'f32')}
%r = linalg.negf ins(%s : {tensor(1, 2, 'f32')}) outs(%e : {tensor(1, 2, 'f32')}) -> {tensor(1, 2, 'f32')}""", integers=(1, 2))
    b = tensor(2, 3, "f32")
    yield simple("insert_slice", {"a": a, "b": b}, [a], f"%r = tensor.insert_slice %b into %a[1, 2] [2, 3] [1, 1] : {b} into {a}")
    yield simple("insert_strided", {"a": a, "b": b}, [a], f"%r = tensor.insert_slice %b into %a[0, 1] [2, 3] [2, 2] : {b} into {a}")
    yield simple("insert_at", {"a": a, "b": b, "i": "index"}, [a], f"%r = tensor.insert_slice %b into %a[%i, %i] [2, 3] [1, 1] : {b} into {a}", integers=(1, 3))
    v = tensor(3, "f32")
    yield simple("insert_reduced", {"a": a, "b": v}, [a], f"%r = tensor.insert_slice %b into %a[1, 2] [1, 3] [1, 1] : {v} into {a}")
    for dim, shape in [(0, (7, 6)), (1, (4, 9))]:
        other = tensor(*(3, 6) if dim == 0 else (4, 3), "f32")
        out = tensor(*shape, "f32")
        yield simple(f"concat_{dim}", {"a": a, "b": other}, [out], f"%r = tensor.concat dim({dim}) %a, %b : ({a}, {other}) -> {out}")
    yield simple("concat_three", {"a": a, "b": a}, [tensor(12, 6, "f32")], f"%r = tensor.concat dim(0) %a, %b, %a : ({a}, {a}, {a}) -> {tensor(12, 6, 'f32')}")
    yield simple("collapse", {"a": tensor(2, 3, 4, "f32")}, [tensor(6, 4, "f32")], f"%r = tensor.collapse_shape %a [[0, 1], [2]] : {tensor(2, 3, 4, 'f32')} into {tensor(6, 4, 'f32')}")
    yield simple("expand", {"a": a}, [tensor(2, 2, 6, "f32")], f"%r = tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 2, 6] : {a} into {tensor(2, 2, 6, 'f32')}")
    yield simple("collapse_all", {"a": tensor(1, 1, "f32")}, [tensor("f32")], f"%r = tensor.collapse_shape %a [] : {tensor(1, 1, 'f32')} into {tensor('f32')}")
    yield simple("expand_sized", {"a": tensor("?", 6, "f32"), "n": "index"}, [tensor("?", 2, 3, "f32")],
                 f"""%c0 = arith.constant 0 : index
%d = tensor.dim %a, %c0 : {tensor('?', 6, 'f32')}
%r = tensor.expand_shape %a [[0], [1, 2]] output_shape [%d, 2, 3] : {tensor('?', 6, 'f32')} into {tensor('?', 2, 3, 'f32')}""")
    yield simple("reshape", {"a": a}, [tensor(3, 8, "f32")], f"""%s = arith.constant dense<[3, 8]> : tensor<2xi64>
%r = tensor.reshape %a(%s) : ({a}, tensor<2xi64>) -> {tensor(3, 8, 'f32')}""")
    yield simple("pad_value", {"a": a, "x": "f32"}, [tensor(7, 9, "f32")], f"""%r = tensor.pad %a low[1, 2] high[2, 1] {{
^bb0(%i: index, %j: index):
  tensor.yield %x : f32
}} : {a} to {tensor(7, 9, 'f32')}""")
    yield simple("pad_index", {"a": a}, [tensor(6, 6, "f32")], f"""%r = tensor.pad %a low[1, 0] high[1, 0] {{
^bb0(%i: index, %j: index):
  %k = arith.index_cast %j : index to i32
  %v = arith.sitofp %k : i32 to f32
  tensor.yield %v : f32
}} : {a} to {tensor(6, 6, 'f32')}""")
    yield simple("pad_sized", {"a": d, "n": "index"}, [d], f"""%z = arith.constant 0.0 : f32
%r = tensor.pad %a low[%n, 0] high[1, %n] {{
^bb0(%i: index, %j: index):
  tensor.yield %z : f32
}} : {d} to {d}""", integers=(2, 3))
    yield simple("cast", {"a": a}, [a], f"""%c = tensor.cast %a : {a} to {d}
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%m = tensor.dim %c, %c0 : {d}
%n = tensor.dim %c, %c1 : {d}
%e = tensor.empty(%m, %n) : {d}
%s = linalg.exp ins(%c : {d}) outs(%e : {d}) -> {d}
%r = tensor.cast %s : {d} to {a}""")


def scattered(a, s, k):
    a = a.copy()
    a[k[:, 0]] = s[:, 0]
    return [a]


def elements():
    a = tensor(4, 6, "f32")
    yield simple("generate", {"a": tensor(4, "f32")}, [a], f"""%r = tensor.generate {{
^bb0(%i: index, %j: index):
  %x = tensor.extract %a[%i] : {tensor(4, 'f32')}
  %k = arith.index_cast %j : index to i64
  %f = arith.sitofp %k : i64 to f32
  %v = arith.mulf %x, %f : f32
  tensor.yield %v : f32
}} : {a}""")
    d = tensor("?", "f32")
    yield simple("generate_sized", {"a": d}, [d], f"""%c0 = arith.constant 0 : index
%n = tensor.dim %a, %c0 : {d}
%c1 = arith.constant 1 : index
%r = tensor.generate %n {{
^bb0(%i: index):
  %t = arith.subi %n, %c1 : index
  %m = arith.subi %t, %i : index
  %x = tensor.extract %a[%m] : {d}
  tensor.yield %x : f32
}} : {d}""")
    yield simple("splat", {"x": "f32"}, [a], f"%r = tensor.splat %x : {a}")
    yield simple("from_elements", {"x": "f32", "y": "f32"}, [tensor(2, 2, "f32")], f"%r = tensor.from_elements %x, %y, %y, %x : {tensor(2, 2, 'f32')}")
    yield simple("extract_insert", {"a": a, "i": "index"}, [a], f"""%x = tensor.extract %a[%i, %i] : {a}
%y = arith.addf %x, %x : f32
%c0 = arith.constant 0 : index
%r = tensor.insert %y into %a[%c0, %i] : {a}""", integers=(1, 4))
    yield simple("extract_result", {"a": a, "i": "index"}, ["f32"], f"%r = tensor.extract %a[%i, %i] : {a}", integers=(1, 4))
    yield simple("scalar_tensor", {"a": tensor("f32"), "b": tensor("f32")}, [tensor("f32")], f"%r = arith.mulf %a, %b : {tensor('f32')}")
    k = tensor(3, 1, "index")
    yield simple("gather", {"a": a, "k": k}, [tensor(3, 1, 6, "f32")], f"%r = tensor.gather %a[%k] gather_dims([0]) : ({a}, {k}) -> {tensor(3, 1, 6, 'f32')}", integers=(0, 4),
                 reference=lambda a, k: [a[k]])
    yield simple("scatter", {"a": a, "s": tensor(1, 1, 6, "f32"), "k": tensor(1, 1, "index")}, [a],
                 f"%r = tensor.scatter %s into %a[%k] scatter_dims([0]) unique : ({tensor(1, 1, 6, 'f32')}, {a}, {tensor(1, 1, 'index')}) -> {a}", integers=(0, 4), reference=scattered)
    yield simple("constant_tensor", {"a": tensor(2, 3, "f32")}, [tensor(2, 3, "f32")], f"""%c = arith.constant dense<[[1.0, 2.5, -3.0], [0.5, 0.0, 8.0]]> : {tensor(2, 3, 'f32')}
%r = arith.mulf %a, %c : {tensor(2, 3, 'f32')}""")
    yield simple("only_constant", {}, [tensor(2, 2, "f32")], f"%r = arith.constant dense<[[1.0, 2.5], [0.5, 0.0]]> : {tensor(2, 2, 'f32')}")
    yield simple("argument_back", {"a": a, "b": a}, [a], f"%s = arith.addf %a, %b : {a}", value="%a")
    yield simple("result_twice", {"a": a}, [a, a], f"%r = math.exp %a : {a}", value="%r, %r")
    yield simple("sized_results", {"a": d}, ["index", d], f"""%c0 = arith.constant 0 : index
%n = tensor.dim %a, %c0 : {d}
%r = arith.negf %a : {d}""", value="%n, %r")


def packs():
    a, p = tensor(8, 12, "f32"), tensor(2, 4, 4, 3, "f32")
    yield simple("pack", {"a": a}, [p], f"""%e = tensor.empty() : {p}
%r = tensor.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %e : {a} -> {p}""")
    o = tensor(4, 2, 4, 3, "f32")
    yield simple("pack_outer", {"a": a}, [o], f"""%e = tensor.empty() : {o}
%r = tensor.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %e : {a} -> {o}""")
    q = tensor(3, 3, 4, 5, "f32")
    yield simple("pack_padded", {"a": tensor(9, 13, "f32")}, [q], f"""%e = tensor.empty() : {q}
%z = arith.constant 0.5 : f32
%r = tensor.pack %a padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 5] into %e : {tensor(9, 13, 'f32')} -> {q}""")
    yield simple("unpack", {"a": p}, [a], f"""%e = tensor.empty() : {a}
%r = tensor.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %e : {p} -> {a}""")
    yield simple("unpack_cut", {"a": q}, [tensor(9, 13, "f32")], f"""%e = tensor.empty() : {tensor(9, 13, 'f32')}
%r = tensor.unpack %a inner_dims_pos = [0, 1] inner_tiles = [4, 5] into %e : {q} -> {tensor(9, 13, 'f32')}""")
    b, pb, pc, c = tensor(12, 10, "f32"), tensor(2, 4, 5, 3, "f32"), tensor(2, 2, 4, 5, "f32"), tensor(8, 10, "f32")
    yield simple("packed_matmul", {"a": a, "b": b}, [c], f"""%ea = tensor.empty() : {p}
%pa = tensor.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 3] into %ea : {a} -> {p}
%eb = tensor.empty() : {pb}
%qb = tensor.pack %b outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [5, 3] into %eb : {b} -> {pb}
%z = arith.constant 0.0 : f32
%ec = tensor.empty() : {pc}
%fc = linalg.fill ins(%z : f32) outs(%ec : {pc}) -> {pc}
%m = linalg.mmt4d ins(%pa, %qb : {p}, {pb}) outs(%fc : {pc}) -> {pc}
%e = tensor.empty() : {c}
%r = tensor.unpack %m inner_dims_pos = [0, 1] inner_tiles = [4, 5] into %e : {pc} -> {c}""")


def programs():
    yield from generics()
    yield from moves()
    yield from elements()
    yield from packs()
