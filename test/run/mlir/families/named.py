"""linalg's named operations, on tensors and on memrefs."""

from . import Program, function, is_float, memref, tensor, zero

# name: shapes of the inputs, shape of the output, attributes
CONTRACTIONS = {
    "matmul": ([(5, 7), (7, 6)], (5, 6), ""),
    "matmul_transpose_a": ([(7, 5), (7, 6)], (5, 6), ""),
    "matmul_transpose_b": ([(5, 7), (6, 7)], (5, 6), ""),
    "batch_matmul": ([(3, 5, 7), (3, 7, 6)], (3, 5, 6), ""),
    "batch_matmul_transpose_a": ([(3, 7, 5), (3, 7, 6)], (3, 5, 6), ""),
    "batch_matmul_transpose_b": ([(3, 5, 7), (3, 6, 7)], (3, 5, 6), ""),
    "batch_reduce_matmul": ([(3, 5, 7), (3, 7, 6)], (5, 6), ""),
    "batch_matvec": ([(3, 5, 7), (3, 7)], (3, 5), ""),
    "batch_vecmat": ([(3, 7), (3, 7, 5)], (3, 5), ""),
    "matvec": ([(5, 7), (7,)], (5,), ""),
    "vecmat": ([(7,), (7, 5)], (5,), ""),
    "dot": ([(9,), (9,)], (), ""),
    "mmt4d": ([(2, 3, 4, 5), (3, 3, 6, 5)], (2, 3, 4, 6), ""),
    "batch_mmt4d": ([(2, 2, 3, 4, 5), (2, 3, 3, 6, 5)], (2, 2, 3, 4, 6), ""),
}
STRIDES1, STRIDES2, STRIDES3 = (
    f"{{dilations = dense<{d}> : tensor<{n}xi64>, strides = dense<{s}> : tensor<{n}xi64>}}" for n, s, d in [(1, 2, 1), (2, 2, 1), (3, 1, 1)]
)
DILATED2 = "{dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"
CONVOLUTIONS = {
    "conv_1d": ([(9,), (3,)], (7,), ""),
    "conv_2d": ([(9, 8), (3, 2)], (7, 7), ""),
    "conv_3d": ([(5, 6, 7), (3, 2, 2)], (3, 5, 6), ""),
    "conv_1d_nwc_wcf": ([(2, 9, 3), (3, 3, 4)], (2, 4, 4), STRIDES1),
    "conv_1d_ncw_fcw": ([(2, 3, 9), (4, 3, 3)], (2, 4, 4), STRIDES1),
    "conv_2d_nhwc_hwcf": ([(2, 9, 9, 3), (3, 3, 3, 4)], (2, 4, 4, 4), STRIDES2),
    "conv_2d_nhwc_fhwc": ([(2, 9, 9, 3), (4, 3, 3, 3)], (2, 5, 5, 4), DILATED2),
    "conv_2d_nchw_fchw": ([(2, 3, 9, 9), (4, 3, 3, 3)], (2, 4, 4, 4), STRIDES2),
    "conv_2d_ngchw_fgchw": ([(2, 2, 3, 9, 9), (4, 2, 3, 3, 3)], (2, 2, 4, 4, 4), STRIDES2),
    "conv_2d_ngchw_gfchw": ([(2, 2, 3, 9, 9), (2, 4, 3, 3, 3)], (2, 2, 4, 4, 4), STRIDES2),
    "conv_3d_ndhwc_dhwcf": ([(1, 5, 5, 6, 2), (3, 3, 3, 2, 3)], (1, 3, 3, 4, 3), STRIDES3),
    "conv_3d_ncdhw_fcdhw": ([(1, 2, 5, 5, 6), (3, 2, 3, 3, 3)], (1, 3, 3, 3, 4), STRIDES3),
    "depthwise_conv_1d_nwc_wc": ([(2, 9, 3), (3, 3)], (2, 4, 3), STRIDES1),
    "depthwise_conv_1d_ncw_cw": ([(2, 3, 9), (3, 3)], (2, 3, 4), STRIDES1),
    "depthwise_conv_1d_nwc_wcm": ([(2, 9, 3), (3, 3, 2)], (2, 4, 3, 2), STRIDES1),
    "depthwise_conv_2d_nhwc_hwc": ([(2, 9, 9, 3), (3, 3, 3)], (2, 4, 4, 3), STRIDES2),
    "depthwise_conv_2d_nchw_chw": ([(2, 3, 9, 9), (3, 3, 3)], (2, 3, 4, 4), STRIDES2),
    "depthwise_conv_2d_nhwc_hwcm": ([(2, 9, 9, 3), (3, 3, 3, 2)], (2, 4, 4, 3, 2), STRIDES2),
    "depthwise_conv_3d_ndhwc_dhwc": ([(1, 5, 5, 6, 2), (3, 3, 3, 2)], (1, 3, 3, 4, 2), STRIDES3),
    "depthwise_conv_3d_ncdhw_cdhw": ([(1, 2, 5, 5, 6), (2, 3, 3, 3)], (1, 2, 3, 3, 4), STRIDES3),
    "depthwise_conv_3d_ndhwc_dhwcm": ([(1, 5, 5, 6, 2), (3, 3, 3, 2, 2)], (1, 3, 3, 4, 2, 2), STRIDES3),
}
POOLS = {
    "pooling_nhwc_sum": ([(2, 9, 9, 3), (3, 3)], (2, 4, 4, 3), STRIDES2),
    "pooling_nhwc_max": ([(2, 9, 9, 3), (3, 3)], (2, 4, 4, 3), STRIDES2),
    "pooling_nhwc_min": ([(2, 9, 9, 3), (3, 3)], (2, 4, 4, 3), STRIDES2),
    "pooling_nchw_sum": ([(2, 3, 9, 9), (3, 3)], (2, 3, 4, 4), STRIDES2),
    "pooling_nchw_max": ([(2, 3, 9, 9), (3, 3)], (2, 3, 4, 4), STRIDES2),
    "pooling_nwc_sum": ([(2, 9, 3), (3,)], (2, 4, 3), STRIDES1),
    "pooling_ncw_sum": ([(2, 3, 9), (3,)], (2, 3, 4), STRIDES1),
    "pooling_nwc_max": ([(2, 9, 3), (3,)], (2, 4, 3), STRIDES1),
    "pooling_ncw_max": ([(2, 3, 9), (3,)], (2, 3, 4), STRIDES1),
    "pooling_nwc_min": ([(2, 9, 3), (3,)], (2, 4, 3), STRIDES1),
    "pooling_ndhwc_sum": ([(1, 5, 5, 6, 2), (3, 3, 3)], (1, 3, 3, 4, 2), STRIDES3),
    "pooling_ndhwc_max": ([(1, 5, 5, 6, 2), (3, 3, 3)], (1, 3, 3, 4, 2), STRIDES3),
    "pooling_ndhwc_min": ([(1, 5, 5, 6, 2), (3, 3, 3)], (1, 3, 3, 4, 2), STRIDES3),
}
UNSIGNED_POOLS = ["pooling_nhwc_max_unsigned", "pooling_nhwc_min_unsigned", "pooling_nwc_max_unsigned", "pooling_nwc_min_unsigned"]
UNARY = ["abs", "ceil", "erf", "exp", "floor", "log", "negf", "reciprocal", "round", "rsqrt", "sqrt", "square", "tanh"]
BINARY = ["add", "sub", "mul", "div", "max", "min", "powf"]
INTEGER_BINARY = ["add", "sub", "mul", "div", "div_unsigned", "max", "min"]


def named(name, op, inputs, output, attributes="", start=None):
    """`inputs` and `output` are types; tensors start from `start` where that is given, memrefs as they are."""
    arguments = {f"in{i}": kind for i, kind in enumerate(inputs)}
    ins = f"ins({', '.join('%' + a for a in arguments)} : {', '.join(inputs)})"
    if output.startswith("memref"):
        body = f"linalg.{op} {attributes} {ins} outs(%out : {output})\nreturn"
        return function(name, {**arguments, "out": output}, [], body)
    element = output[7:-1].split("x")[-1]
    if start is None:
        body = f"%r = linalg.{op} {attributes} {ins} outs(%out : {output}) -> {output}\nreturn %r : {output}"
        return function(name, {**arguments, "out": output}, [output], body)
    body = f"""%c = arith.constant {start} : {element}
%e = tensor.empty() : {output}
%f = linalg.fill ins(%c : {element}) outs(%e : {output}) -> {output}
%r = linalg.{op} {attributes} {ins} outs(%f : {output}) -> {output}
return %r : {output}"""
    return function(name, arguments, [output], body)


def both(op, shapes, out, attributes, elements, start, prefix="", out_element=None):
    """On tensors with a start value, and on memrefs that hold values before."""
    for element in elements:
        last = out_element or element
        for kind, make in [("tensor", tensor), ("memref", memref)]:
            name = f"{prefix}{op}_{element}_{kind}"
            text = named(name, op, [make(*s, element) for s in shapes], make(*out, last), attributes,
                         None if kind == "memref" else (zero(last) if start is None else start))
            yield Program(name, text, edges=False)


def contractions():
    for op, (shapes, out, attributes) in CONTRACTIONS.items():
        yield from both(op, shapes, out, attributes, ["f32"], None)
    for element, result in [("f64", None), ("i32", None), ("i8", "i32"), ("f16", "f32"), ("bf16", "f32")]:
        yield from both("matmul", *CONTRACTIONS["matmul"], [element], None, out_element=result)
    for op in ["matmul", "matvec", "dot", "batch_matmul"]: # on top of an argument
        shapes, out, attributes = CONTRACTIONS[op]
        yield Program(f"{op}_onto", named(f"{op}_onto", op, [tensor(*s, "f64") for s in shapes], tensor(*out, "f64"), attributes))
    for op in ["matmul", "matvec", "vecmat", "matmul_transpose_b"]: # run-time sizes
        shapes, out, attributes = CONTRACTIONS[op]
        types = [tensor(*["?"] * len(s), "f32") for s in shapes]
        yield Program(f"{op}_sized", named(f"{op}_sized", op, types, tensor(*["?"] * len(out), "f32"), attributes))
        types = [memref(*["?"] * len(s), "f64") for s in shapes]
        yield Program(f"{op}_sized_memref", named(f"{op}_sized_memref", op, types, memref(*["?"] * len(out), "f64"), attributes))
    yield from products_of_bytes()
    zeros = ", %a, %b"
    for name, shapes, out in [("quantized_matmul", [(5, 7), (7, 6)], (5, 6)), ("quantized_batch_matmul", [(3, 5, 7), (3, 7, 6)], (3, 5, 6))]:
        types = [tensor(*s, "i8") for s in shapes]
        result = tensor(*out, "i32")
        body = f"""%r = linalg.{name} ins(%x, %y{zeros} : {types[0]}, {types[1]}, i32, i32) outs(%out : {result}) -> {result}
return %r : {result}"""
        yield Program(name, function(name, {"x": types[0], "y": types[1], "a": "i32", "b": "i32", "out": result}, [result], body))


def products_of_bytes():
    """Sums in 32 bits of bytes with and without a sign, of arguments and of constants."""
    listed = ", ".join("[" + ", ".join(str((k * 37 + o * 61) % 255 - 127) for o in range(40)) + "]" for k in range(70))
    for name, op in [("signed", "matmul"), ("unsigned", "matmul {cast = #linalg.type_fn<cast_unsigned>}")]:
        x, w, result = tensor(9, 70, "i8"), tensor(70, 40, "i8"), tensor(9, 40, "i32")
        for kind in ["constant", "argument"]:
            constant = f"%w = arith.constant dense<[{listed}]> : {w}\n" if kind == "constant" else ""
            body = f"""{constant}%r = linalg.{op} ins(%x, %w : {x}, {w}) outs(%out : {result}) -> {result}
return %r : {result}"""
            name_all = f"bytes_{name}_{kind}"
            arguments = {"x": x} | ({} if constant else {"w": w}) | {"out": result}
            yield Program(name_all, function(name_all, arguments, [result], body), integers=(-128, 128))
    taps = ", ".join("[" + ", ".join("[" + ", ".join("[" + ", ".join(str((r * 7 + s * 37 + c * 61 + o * 83) % 255 - 127) for o in range(20)) + "]"
                                                     for c in range(6)) + "]" for s in range(3)) + "]" for r in range(3))
    x, w, result = tensor(2, 9, 9, 6, "i8"), tensor(3, 3, 6, 20, "i8"), tensor(2, 4, 4, 20, "i32")
    body = f"""%w = arith.constant dense<[{taps}]> : {w}
%r = linalg.conv_2d_nhwc_hwcf {STRIDES2} ins(%x, %w : {x}, {w}) outs(%out : {result}) -> {result}
return %r : {result}"""
    yield Program("bytes_conv", function("bytes_conv", {"x": x, "out": result}, [result], body), integers=(-128, 128))


def windows():
    for op, (shapes, out, attributes) in CONVOLUTIONS.items():
        yield from both(op, shapes, out, attributes, ["f32"], None)
    for op in ["conv_2d_nhwc_hwcf", "depthwise_conv_2d_nhwc_hwc"]:
        yield from both(op, *CONVOLUTIONS[op], ["i32"], None)
    for op, (shapes, out, attributes) in POOLS.items():
        start = "0.0" if op.endswith("sum") else "-1.0e30" if op.endswith("max") else "1.0e30"
        yield from both(op, shapes, out, attributes, ["f32"], start)
        if "nhwc" in op:
            yield from both(op, shapes, out, attributes, ["i32"], "0")
    for op in UNSIGNED_POOLS:
        shapes, out, attributes = POOLS[op.removesuffix("_unsigned")]
        yield from both(op, shapes, out, attributes, ["i8"], "100")
    for op, (shapes, out, strides) in {"conv_2d_nhwc_hwcf_q": CONVOLUTIONS["conv_2d_nhwc_hwcf"],
                                       "depthwise_conv_2d_nhwc_hwc_q": CONVOLUTIONS["depthwise_conv_2d_nhwc_hwc"]}.items():
        a, b, result = tensor(*shapes[0], "i8"), tensor(*shapes[1], "i8"), tensor(*out, "i32")
        body = f"""%r = linalg.{op} {strides} ins(%x, %w, %xz, %wz : {a}, {b}, i32, i32) outs(%out : {result}) -> {result}
return %r : {result}"""
        yield Program(op, function(op, {"x": a, "w": b, "xz": "i32", "wz": "i32", "out": result}, [result], body))


def elementwise():
    for op in UNARY:
        for kind, make in [("tensor", tensor), ("memref", memref)]:
            name = f"unary_{op}_{kind}"
            element = "f32" if kind == "tensor" else "f64"
            yield Program(name, named(name, op, [make(4, 6, element)], make(4, 6, element), start=zero(element)),
                          positive=op in ("log", "sqrt", "rsqrt"))
    for op in BINARY:
        for kind, make in [("tensor", tensor), ("memref", memref)]:
            name = f"binary_{op}_{kind}"
            element = "f64" if kind == "tensor" else "f32"
            yield Program(name, named(name, op, [make(4, 6, element)] * 2, make(4, 6, element), start="0.0"), positive=op == "powf")
    for op in INTEGER_BINARY:
        name = f"binary_{op}_i32"
        yield Program(name, named(name, op, [tensor(4, 6, "i32")] * 2, tensor(4, 6, "i32"), start="0"), integers=(1, 9))
    kind = tensor(4, 6, "f32")
    for name, text in {
        "select_named": named("select_named", "select", [tensor(4, 6, "i1"), kind, kind], kind, start="0.0"),
        "unary_cast": named("unary_cast", "elemwise_unary {fun = #linalg.unary_fn<exp>, cast = #linalg.type_fn<cast_signed>}", [kind],
                            tensor(4, 6, "f64"), start="0.0"),
        "binary_fun": named("binary_fun", "elemwise_binary {fun = #linalg.binary_fn<mul>}", [kind, kind], kind, start="0.0"),
        "copy_cast": named("copy_cast", "copy", [kind], tensor(4, 6, "f64"), start="0.0"),
        "fill_memref": function("fill_memref", {"x": "f32", "a": memref(4, 6, "f32")}, [],
                                f"linalg.fill ins(%x : f32) outs(%a : {memref(4, 6, 'f32')})\nreturn"),
        "fill_rng": function("fill_rng", {"lo": "f64", "hi": "f64", "seed": "i32"}, [kind], f"""%e = tensor.empty() : {kind}
%r = linalg.fill_rng_2d ins(%lo, %hi, %seed : f64, f64, i32) outs(%e : {kind}) -> {kind}
return %r : {kind}"""),
    }.items():
        yield Program(name, text)


def shaped():
    """transpose, broadcast, reduce, map, softmax"""
    for permutation in [(1, 0), (0, 2, 1), (2, 0, 1), (3, 1, 0, 2)]:
        shape = (5, 4, 3, 2)[: len(permutation)]
        out = [shape[p] for p in permutation]
        name = "transpose_" + "".join(map(str, permutation))
        for kind, make in [("tensor", tensor), ("memref", memref)]:
            a, b = make(*shape, "f32"), make(*out, "f32")
            listed = ", ".join(map(str, permutation))
            if kind == "memref":
                body = f"linalg.transpose ins(%a : {a}) outs(%b : {b}) permutation = [{listed}]\nreturn"
                yield Program(f"{name}_memref", function(f"{name}_memref", {"a": a, "b": b}, [], body))
                continue
            body = f"""%e = tensor.empty() : {b}
%r = linalg.transpose ins(%a : {a}) outs(%e : {b}) permutation = [{listed}]
return %r : {b}"""
            yield Program(name, function(name, {"a": a}, [b], body))
    for dims in [(0,), (1,), (0, 2)]:
        out, name = (3, 4, 5), "broadcast_" + "".join(map(str, dims))
        shape = [e for d, e in enumerate(out) if d not in dims]
        a, b = tensor(*shape, "f32"), tensor(*out, "f32")
        body = f"""%e = tensor.empty() : {b}
%r = linalg.broadcast ins(%a : {a}) outs(%e : {b}) dimensions = [{', '.join(map(str, dims))}]
return %r : {b}"""
        yield Program(name, function(name, {"a": a}, [b], body))
    for op in ["add", "mul", "maximum", "minimum", "maxnum", "minnum"]:
        yield from reduction(f"arith.{op}{'' if op.endswith('num') else ''}f", "f32", [1])
    for op in ["addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori"]:
        yield from reduction(f"arith.{op}", "i32", [0, 2])
    kind = tensor(3, 4, "f32")
    body = f"""%e = tensor.empty() : {kind}
%r = linalg.map {{ arith.maximumf }} ins(%a, %b : {kind}, {kind}) outs(%e : {kind})
return %r : {kind}"""
    yield Program("map_named", function("map_named", {"a": kind, "b": kind}, [kind], body), edges=True)
    a = memref(3, 4, "f32")
    body = f"""linalg.map {{ arith.mulf }} ins(%a, %b : {a}, {a}) outs(%c : {a})
return"""
    yield Program("map_memref", function("map_memref", {"a": a, "b": a, "c": a}, [], body))
    for dim in (0, 1, 2):
        kind = tensor(3, 4, 5, "f32")
        body = f"""%e = tensor.empty() : {kind}
%r = linalg.softmax dimension({dim}) ins(%a : {kind}) outs(%e : {kind}) -> {kind}
return %r : {kind}"""
        yield Program(f"softmax_{dim}", function(f"softmax_{dim}", {"a": kind}, [kind], body))


def reduction(op, element, dims):
    shape = (3, 4, 5)
    out = [e for d, e in enumerate(shape) if d not in dims]
    for kind, make in [("tensor", tensor), ("memref", memref)]:
        name = f"reduce_{op.split('.')[1]}_{kind}"
        a, b = make(*shape, element), make(*out, element)
        result = "%r = " if kind == "tensor" else ""
        body = f"""{result}linalg.reduce {{ {op} }} ins(%a : {a}) outs(%b : {b}) dimensions = [{', '.join(map(str, dims))}]
return {f'%r : {b}' if result else ''}"""
        yield Program(name, function(name, {"a": a, "b": b}, [b] if result else [], body), edges=is_float(element))


def programs():
    yield from contractions()
    yield from windows()
    yield from elementwise()
    yield from shaped()
