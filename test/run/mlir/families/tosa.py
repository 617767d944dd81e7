"""TOSA as importers of networks write it."""

from . import Program, function, tensor

X = tensor(2, 3, 4, "f32")
I = tensor(2, 3, 4, "i32")
B = tensor(2, 3, 4, "i1")
UNARY = ["abs", "ceil", "erf", "exp", "floor", "log", "negate", "reciprocal", "rsqrt", "sigmoid", "tanh"]
BINARY = ["add", "sub", "maximum", "minimum", "pow"]
INTEGER = ["add", "sub", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor", "logical_left_shift", "logical_right_shift", "int_div"]
COMPARE = ["equal", "greater", "greater_equal"]


def one(name, operation, inputs, result, **options):
    """`operation` without its types, of %a0, %a1, ..."""
    arguments = {f"a{i}": kind for i, kind in enumerate(inputs)}
    body = f"%r = tosa.{operation} : ({', '.join(inputs)}) -> {result}\nreturn %r : {result}"
    return Program(f"tosa_{name}", function(f"tosa_{name}", arguments, [result], body), **options)


def elementwise():
    for op in UNARY:
        yield one(op, f"{op} %a0", [X], X, positive=op in ("log", "rsqrt"))
    for op in BINARY:
        yield one(op, f"{op} %a0, %a1", [X, X], X, positive=op == "pow")
        yield one(f"{op}_broadcast", f"{op} %a0, %a1", [X, tensor(1, 3, 1, "f32")], X, positive=op == "pow")
    yield one("mul", "mul %a0, %a1 {shift = 0 : i8}", [X, X], X)
    yield one("mul_i32", "mul %a0, %a1 {shift = 0 : i8}", [I, I], I)
    for op in INTEGER:
        yield one(f"{op}_i32", f"{op} %a0, %a1", [I, I], I, integers=(1, 9))
    yield one("arithmetic_right_shift", "arithmetic_right_shift %a0, %a1 {round = false}", [I, I], I, integers=(1, 9))
    for op in ["bitwise_not", "abs", "negate", "clz"]:
        yield one(f"{op}_i32", f"{op} %a0", [I], I)
    for op in COMPARE:
        yield one(op, f"{op} %a0, %a1", [X, X], B)
        yield one(f"{op}_i32", f"{op} %a0, %a1", [I, I], B)
    for op in ["logical_and", "logical_or", "logical_xor"]:
        yield one(op, f"{op} %a0, %a1", [B, B], B)
    yield one("logical_not", "logical_not %a0", [B], B)
    yield one("select", "select %a0, %a1, %a2", [B, X, X], X)
    yield one("clamp", "clamp %a0 {min_fp = -0.5 : f32, max_fp = 0.75 : f32, min_int = 0 : i64, max_int = 1 : i64}", [X], X)
    yield one("clamp_i8", "clamp %a0 {min_fp = 0.0 : f32, max_fp = 1.0 : f32, min_int = -3 : i64, max_int = 4 : i64}", [tensor(9, "i8")], tensor(9, "i8"))
    for source, target in [("f32", "i32"), ("i32", "f32"), ("i8", "i32"), ("i32", "i8"), ("f32", "f16"), ("i1", "f32")]:
        yield one(f"cast_{source}_{target}", "cast %a0", [tensor(9, source)], tensor(9, target), tolerance=1e-2 if target == "f16" else 1e-5)
    yield one("rescale", "rescale %a0 {double_round = true, input_zp = 2 : i32, multiplier = array<i32: 1073741824>, output_zp = -1 : i32, "
              "per_channel = false, scale32 = true, shift = array<i8: 31>}", [tensor(24, "i32")], tensor(24, "i8"), integers=(-300, 300))


def shapes():
    for axis in (0, 1, 2):
        out = [2, 3, 4]
        out[axis] = 1
        for op in ["reduce_sum", "reduce_max", "reduce_min", "reduce_prod"]:
            yield one(f"{op}_{axis}", f"{op} %a0 {{axis = {axis} : i32}}", [X], tensor(*out, "f32"))
        yield one(f"argmax_{axis}", f"argmax %a0 {{axis = {axis} : i32}}", [X], tensor(*[e for d, e in enumerate((2, 3, 4)) if d != axis], "i32"))
        yield one(f"reverse_{axis}", f"reverse %a0 {{axis = {axis} : i32}}", [X], X)
        out[axis] = 2 * (2, 3, 4)[axis]
        yield one(f"concat_{axis}", f"concat %a0, %a1 {{axis = {axis} : i32}}", [X, X], tensor(*out, "f32"))
    for op in ["reduce_all", "reduce_any"]:
        yield one(op, f"{op} %a0 {{axis = 1 : i32}}", [B], tensor(2, 1, 4, "i1"))
    yield one("reshape", "reshape %a0 {new_shape = array<i64: 6, 4>}", [X], tensor(6, 4, "f32"))
    yield one("slice", "slice %a0 {start = array<i64: 0, 1, 1>, size = array<i64: 2, 2, 3>}", [X], tensor(2, 2, 3, "f32"))
    yield one("tile", "tile %a0 {multiples = array<i64: 2, 1, 3>}", [X], tensor(4, 3, 12, "f32"))
    yield one("gather", "gather %a0, %a1", [X, tensor(2, 5, "i32")], tensor(2, 5, 4, "f32"), integers=(0, 3))
    permuted = tensor(4, 2, 3, "f32")
    text = f"""%p = "tosa.const"() <{{value = dense<[2, 0, 1]> : tensor<3xi32>}}> : () -> tensor<3xi32>
%r = tosa.transpose %a, %p : ({X}, tensor<3xi32>) -> {permuted}
return %r : {permuted}"""
    yield Program("tosa_transpose", function("tosa_transpose", {"a": X}, [permuted], text))
    padded = tensor(3, 6, 4, "f32")
    text = f"""%p = "tosa.const"() <{{value = dense<[[0, 1], [2, 1], [0, 0]]> : tensor<3x2xi32>}}> : () -> tensor<3x2xi32>
%r = tosa.pad %a, %p : ({X}, tensor<3x2xi32>) -> {padded}
return %r : {padded}"""
    yield Program("tosa_pad", function("tosa_pad", {"a": X}, [padded], text))
    text = f"""%c = "tosa.const"() <{{value = dense<0.5> : {tensor(1, 1, 4, 'f32')}}}> : () -> {tensor(1, 1, 4, 'f32')}
%r = tosa.add %a, %c : ({X}, {tensor(1, 1, 4, 'f32')}) -> {X}
return %r : {X}"""
    yield Program("tosa_const", function("tosa_const", {"a": X}, [X], text))
    table = ", ".join(str((i * 7) % 256 - 128) for i in range(256))
    text = f"""%t = "tosa.const"() <{{value = dense<[{table}]> : tensor<256xi8>}}> : () -> tensor<256xi8>
%r = tosa.table %a, %t : (tensor<9xi8>, tensor<256xi8>) -> tensor<9xi8>
return %r : tensor<9xi8>"""
    yield Program("tosa_table", function("tosa_table", {"a": "tensor<9xi8>"}, ["tensor<9xi8>"], text), edges=True)


def products():
    yield one("matmul", "matmul %a0, %a1", [tensor(2, 5, 7, "f32"), tensor(2, 7, 6, "f32")], tensor(2, 5, 6, "f32"))
    yield one("matmul_i8", "matmul %a0, %a1 {quantization_info = #tosa.matmul_quant<a_zp = 1, b_zp = 2>}",
              [tensor(1, 5, 7, "i8"), tensor(1, 7, 6, "i8")], tensor(1, 5, 6, "i32"))
    yield one("fully_connected", "fully_connected %a0, %a1, %a2", [tensor(5, 7, "f32"), tensor(6, 7, "f32"), tensor(6, "f32")], tensor(5, 6, "f32"))
    image, pads = tensor(1, 8, 8, 3, "f32"), "dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>"
    bias = tensor(4, "f32")
    yield one("conv2d", f"conv2d %a0, %a1, %a2 {{{pads}}}", [image, tensor(4, 3, 3, 3, "f32"), bias], tensor(1, 8, 8, 4, "f32"))
    strided = "dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 0, 1>, stride = array<i64: 2, 2>"
    yield one("conv2d_strided", f"conv2d %a0, %a1, %a2 {{{strided}}}", [image, tensor(4, 3, 3, 3, "f32"), bias], tensor(1, 4, 4, 4, "f32"))
    yield one("conv2d_i8", f"conv2d %a0, %a1, %a2 {{{pads}, quantization_info = #tosa.conv_quant<input_zp = 1, weight_zp = 0>}}",
              [tensor(1, 8, 8, 3, "i8"), tensor(4, 3, 3, 3, "i8"), tensor(4, "i32")], tensor(1, 8, 8, 4, "i32"))
    yield one("depthwise_conv2d", f"depthwise_conv2d %a0, %a1, %a2 {{{pads}}}", [image, tensor(3, 3, 3, 2, "f32"), tensor(6, "f32")], tensor(1, 8, 8, 6, "f32"))
    yield one("transpose_conv2d", "transpose_conv2d %a0, %a1, %a2 {out_pad = array<i64: 0, 0, 0, 0>, out_shape = array<i64: 1, 17, 17, 4>, stride = array<i64: 2, 2>}",
              [image, tensor(4, 3, 3, 3, "f32"), bias], tensor(1, 17, 17, 4, "f32"))
    yield one("conv3d", "conv3d %a0, %a1, %a2 {dilation = array<i64: 1, 1, 1>, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>}",
              [tensor(1, 4, 5, 6, 2, "f32"), tensor(3, 2, 2, 2, 2, "f32"), tensor(3, "f32")], tensor(1, 3, 4, 5, 3, "f32"))
    yield one("max_pool2d", "max_pool2d %a0 {kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}", [image], tensor(1, 4, 4, 3, "f32"))
    yield one("avg_pool2d", "avg_pool2d %a0 {acc_type = f32, kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>}", [image], tensor(1, 4, 4, 3, "f32"))


def programs():
    yield from elementwise()
    yield from shapes()
    yield from products()
