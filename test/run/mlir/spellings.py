#!/usr/bin/env python3
"""One network in many spellings prints the same kernels.

  spellings.py TOOL [--show FAMILY SPELLING]

For each family every spelling is translated, and its kernels, but for names and comments, are compared with those of the first. A
spelling in OTHERS prints other kernels; why stands beside it."""

import re
import subprocess
import sys

import numpy

random = numpy.random.default_rng(3)

# Spellings whose kernels differ, and why
OTHERS = {
    ("mlp", "packed"): "the tiles are those that the program asks for, of its input and its result",
    ("mlp", "tosa"): "clamps infinity to the largest number",
    ("cnn", "tosa"): "clamps infinity to the largest number",
    ("attention", "maxnum"): "the largest element of a row with NaN is a number",
    ("attention", "tosa"): "scales before the product, multiplies by the reciprocal of the sum: other roundings",
}


def dense(array):
    return f"dense<{numpy.round(array, 3).tolist()}>"


def kernels(text):
    """The kernels of a printed file and forward(), without comments; values are called by their numbers."""
    layers = text[text.index("// ==== Layers") :]
    layers = layers[: layers.index("\n\n// ==== ")]
    assert "KOKKOS_LAMBDA" in layers
    layers = re.sub(r"^ *//.*\n", "", layers, flags=re.M)
    for member in ("weights", "work"):
        names = [name for name in dict.fromkeys(re.findall(rf"{member}\.(\w+)", layers)) if name != "split"]
        for at, name in enumerate(names):
            layers = re.sub(rf"{member}\.{name}\b", f"{member}.m{at}", layers)
    for at, name in enumerate(dict.fromkeys(re.findall(r"static void (\w+)\(", layers))):
        layers = re.sub(rf"\b{name}\(", f"function{at}(", layers)
    for at, name in enumerate(dict.fromkeys(re.findall(r'"model::([\w.]+)"', layers))):
        layers = layers.replace(f'"model::{name}"', f'"label{at}"')
    for at, name in enumerate(dict.fromkeys(re.findall(r"(?:float|auto) const (\w+)", layers))):
        layers = re.sub(rf"\b{name}\b", f"local{at}", layers)
    return re.sub(r"\s+", " ", layers)


# --- Parts ------------------------------------------------------------------------------------------------------------


def fill(name, kind, value="0.0"):
    return f"""%{name}_value = arith.constant {value} : f32
%{name}_empty = tensor.empty() : {kind}
%{name} = linalg.fill ins(%{name}_value : f32) outs(%{name}_empty : {kind}) -> {kind}
"""


def generic(result, kind, maps, inputs, body, iterators=None):
    """`inputs` are (value, type); `body` yields %y of %a, %b."""
    rank = kind.count("x")
    dims = "ijkl"[:rank] if iterators is None else "ijklmnop"[: len(iterators)]
    names = ", ".join(dims)
    kinds = iterators or "p" * rank
    letters = "abc"[: len(inputs)]
    return f"""%{result}_e = tensor.empty() : {kind}
%{result} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<({names}) -> ({m})>' for m in [*maps, names])}],
    iterator_types = [{', '.join('"parallel"' if k == 'p' else '"reduction"' for k in kinds)}]}}
    ins({', '.join(v for v, _ in inputs)} : {', '.join(t for _, t in inputs)}) outs(%{result}_e : {kind}) {{
^bb0({', '.join(f'%{x}: f32' for x in letters)}, %o: f32):
{body}
  linalg.yield %y : f32
}} -> {kind}
"""


def relu(form, result, value, kind):
    """Four forms of the same function."""
    rank = kind.count("x")
    names = ", ".join("ijkl"[:rank])
    if form == "select":
        return generic(result, kind, [names], [(value, kind)],
                       "  %z = arith.constant 0.0 : f32\n  %c = arith.cmpf ugt, %a, %z : f32\n  %y = arith.select %c, %a, %z : f32")
    if form == "maximum":
        return generic(result, kind, [names], [(value, kind)], "  %z = arith.constant 0.0 : f32\n  %y = arith.maximumf %a, %z : f32")
    if form == "tensor":
        return f"%{result}_z = arith.constant dense<0.0> : {kind}\n%{result} = arith.maximumf {value}, %{result}_z : {kind}\n"
    if form == "clamp":
        return (f"%{result} = tosa.clamp {value} {{min_fp = 0.0 : f32, max_fp = 3.40282347E+38 : f32, min_int = 0 : i64, "
                f"max_int = 2147483647 : i64}} : ({kind}) -> {kind}\n")
    assert form == "named"
    return fill(f"{result}_z", kind) + f"""%{result}_n = tensor.empty() : {kind}
%{result} = linalg.max ins({value}, %{result}_z : {kind}, {kind}) outs(%{result}_n : {kind}) -> {kind}
"""


def add_bias(form, result, value, bias, kind, bias_kind):
    """A bias along the last dimension."""
    rank = kind.count("x")
    names = ", ".join("ijkl"[:rank])
    last = "ijkl"[rank - 1]
    if form == "generic":
        return generic(result, kind, [names, last], [(value, kind), (bias, bias_kind)], "  %y = arith.addf %a, %b : f32")
    assert form == "broadcast"
    return f"""%{result}_w = tensor.empty() : {kind}
%{result}_v = linalg.broadcast ins({bias} : {bias_kind}) outs(%{result}_w : {kind}) dimensions = [{', '.join(map(str, range(rank - 1)))}]
%{result} = arith.addf {value}, %{result}_v : {kind}
"""


# --- An MLP -----------------------------------------------------------------------------------------------------------

X, H, Y = "tensor<5x8xf32>", "tensor<5x16xf32>", "tensor<5x4xf32>"
WEIGHTS = {1: random.standard_normal((8, 16)), 2: random.standard_normal((16, 4))}
BIASES = {1: random.standard_normal(16), 2: random.standard_normal(4)}


def product(form, layer, value):
    """%p1 or %p2"""
    weight = WEIGHTS[layer]
    depth, outputs = weight.shape
    source, kind = (X, H) if layer == 1 else (H, Y)
    plain, turned = f"tensor<{depth}x{outputs}xf32>", f"tensor<{outputs}x{depth}xf32>"
    constant = f"%w{layer} = arith.constant {dense(weight)} : {plain}\n"
    start = fill(f"z{layer}", kind)
    if form == "matmul":
        return constant + start + f"%p{layer} = linalg.matmul ins({value}, %w{layer} : {source}, {plain}) outs(%z{layer} : {kind}) -> {kind}\n"
    if form == "transposed":
        return (f"%w{layer} = arith.constant {dense(weight.T)} : {turned}\n" + start +
                f"%p{layer} = linalg.matmul_transpose_b ins({value}, %w{layer} : {source}, {turned}) outs(%z{layer} : {kind}) -> {kind}\n")
    if form == "turned":
        return f"""%t{layer} = arith.constant {dense(weight.T)} : {turned}
%u{layer} = tensor.empty() : {plain}
%w{layer} = linalg.transpose ins(%t{layer} : {turned}) outs(%u{layer} : {plain}) permutation = [1, 0]
{start}%p{layer} = linalg.matmul ins({value}, %w{layer} : {source}, {plain}) outs(%z{layer} : {kind}) -> {kind}
"""
    if form == "generic":
        return constant + start + f"""%p{layer} = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
    affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
    ins({value}, %w{layer} : {source}, {plain}) outs(%z{layer} : {kind}) {{
^bb0(%a: f32, %b: f32, %o: f32):
  %m = arith.mulf %a, %b : f32
  %s = arith.addf %o, %m : f32
  linalg.yield %s : f32
}} -> {kind}
"""
    if form == "batch":
        one = lambda t: t.replace("tensor<", "tensor<1x")
        return constant + start + f"""%x{layer} = tensor.expand_shape {value} [[0, 1], [2]] output_shape [1, {source[7:-5].replace('x', ', ')}] : {source} into {one(source)}
%v{layer} = tensor.expand_shape %w{layer} [[0, 1], [2]] output_shape [1, {depth}, {outputs}] : {plain} into {one(plain)}
%y{layer} = tensor.expand_shape %z{layer} [[0, 1], [2]] output_shape [1, {kind[7:-5].replace('x', ', ')}] : {kind} into {one(kind)}
%q{layer} = linalg.batch_matmul ins(%x{layer}, %v{layer} : {one(source)}, {one(plain)}) outs(%y{layer} : {one(kind)}) -> {one(kind)}
%p{layer} = tensor.collapse_shape %q{layer} [[0, 1], [2]] : {one(kind)} into {kind}
"""
    assert form == "packed"
    tiles = f"tensor<{outputs // 4}x{depth // 8}x4x8xf32>"
    rows, packed, result = source[7:-5].split("x")[0], f"tensor<1x{depth // 8}x5x8xf32>", f"tensor<1x{outputs // 4}x5x4xf32>"
    assert rows == "5"
    return constant + fill(f"z{layer}", result) + f"""%x{layer}_e = tensor.empty() : {packed}
%x{layer} = tensor.pack {value} inner_dims_pos = [0, 1] inner_tiles = [5, 8] into %x{layer}_e : {source} -> {packed}
%v{layer}_e = tensor.empty() : {tiles}
%v{layer} = tensor.pack %w{layer} outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [4, 8] into %v{layer}_e : {plain} -> {tiles}
%q{layer} = linalg.mmt4d ins(%x{layer}, %v{layer} : {packed}, {tiles}) outs(%z{layer} : {result}) -> {result}
%p{layer}_e = tensor.empty() : {kind}
%p{layer} = tensor.unpack %q{layer} inner_dims_pos = [0, 1] inner_tiles = [5, 4] into %p{layer}_e : {result} -> {kind}
"""


def mlp(products="matmul", bias="generic", activation="maximum"):
    text = f"func.func @mlp(%x: {X}) -> {Y} {{\n"
    for layer, value, kind, name in [(1, "%x", H, "hidden"), (2, "%hidden", Y, "logits")]:
        bias_kind = f"tensor<{len(BIASES[layer])}xf32>"
        text += product(products, layer, value)
        text += f"%b{layer} = arith.constant {dense(BIASES[layer])} : {bias_kind}\n"
        if layer == 1:
            text += add_bias(bias, "s1", "%p1", "%b1", kind, bias_kind) + relu(activation, name, "%s1", kind)
        else:
            text += add_bias(bias, name, "%p2", "%b2", kind, bias_kind)
    return text + f"return %logits : {Y}\n}}\n"


def mlp_tosa():
    def constant(name, array):
        kind = f"tensor<{'x'.join(map(str, array.shape))}xf32>"
        return f'%{name} = "tosa.const"() <{{value = {dense(array)} : {kind}}}> : () -> {kind}\n', kind

    w1, k1 = constant("w1", WEIGHTS[1].T)
    b1, c1 = constant("b1", BIASES[1])
    w2, k2 = constant("w2", WEIGHTS[2].T)
    b2, c2 = constant("b2", BIASES[2])
    return f"""func.func @mlp(%x: {X}) -> {Y} {{
{w1}{b1}%s1 = tosa.fully_connected %x, %w1, %b1 : ({X}, {k1}, {c1}) -> {H}
{relu('clamp', 'hidden', '%s1', H)}{w2}{b2}%logits = tosa.fully_connected %hidden, %w2, %b2 : ({H}, {k2}, {c2}) -> {Y}
return %logits : {Y}
}}
"""


# --- A CNN ------------------------------------------------------------------------------------------------------------

IMAGE, MAPS = "tensor<1x8x8x3xf32>", "tensor<1x8x8x16xf32>"
FILTER = random.standard_normal((3, 3, 3, 16)) # rows, columns, inputs, outputs
CHANNELS = random.standard_normal(16)


def cnn(form="hwcf", bias="generic", activation="maximum"):
    padded, turned = "tensor<1x10x10x3xf32>", "tensor<1x3x10x10xf32>"
    text = f"func.func @cnn(%x: {IMAGE}) -> {MAPS} {{\n%zero = arith.constant 0.0 : f32\n"
    source = ("%x", IMAGE, padded, "0, 1, 1, 0")
    if form == "nchw":
        text += f"""%t_e = tensor.empty() : tensor<1x3x8x8xf32>
%t = linalg.transpose ins(%x : {IMAGE}) outs(%t_e : tensor<1x3x8x8xf32>) permutation = [0, 3, 1, 2]
"""
        source = ("%t", "tensor<1x3x8x8xf32>", turned, "0, 0, 1, 1")
    text += f"""%padded = tensor.pad {source[0]} low[{source[3]}] high[{source[3]}] {{
^bb0(%i: index, %j: index, %k: index, %l: index):
  tensor.yield %zero : f32
}} : {source[1]} to {source[2]}
%bias = arith.constant {dense(CHANNELS)} : tensor<16xf32>
""" + fill("start", MAPS)
    strides = "{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"
    if form == "hwcf":
        text += f"""%w = arith.constant {dense(FILTER)} : tensor<3x3x3x16xf32>
%p = linalg.conv_2d_nhwc_hwcf {strides} ins(%padded, %w : {padded}, tensor<3x3x3x16xf32>) outs(%start : {MAPS}) -> {MAPS}
"""
    elif form == "fhwc":
        text += f"""%w = arith.constant {dense(FILTER.transpose(3, 0, 1, 2))} : tensor<16x3x3x3xf32>
%p = linalg.conv_2d_nhwc_fhwc {strides} ins(%padded, %w : {padded}, tensor<16x3x3x3xf32>) outs(%start : {MAPS}) -> {MAPS}
"""
    elif form == "generic":
        text += f"""%w = arith.constant {dense(FILTER)} : tensor<3x3x3x16xf32>
%p = linalg.generic {{indexing_maps = [affine_map<(n, h, w, o, r, s, c) -> (n, h + r, w + s, c)>, affine_map<(n, h, w, o, r, s, c) -> (r, s, c, o)>,
    affine_map<(n, h, w, o, r, s, c) -> (n, h, w, o)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}}
    ins(%padded, %w : {padded}, tensor<3x3x3x16xf32>) outs(%start : {MAPS}) {{
^bb0(%a: f32, %f: f32, %o: f32):
  %m = arith.mulf %a, %f : f32
  %s = arith.addf %o, %m : f32
  linalg.yield %s : f32
}} -> {MAPS}
"""
    else:
        assert form == "nchw" # as torch-mlir writes it, between two transposes
        out = "tensor<1x16x8x8xf32>"
        text += f"""%w = arith.constant {dense(FILTER.transpose(3, 2, 0, 1))} : tensor<16x3x3x3xf32>
{fill('zt', out)}%q = linalg.conv_2d_nchw_fchw {strides} ins(%padded, %w : {turned}, tensor<16x3x3x3xf32>) outs(%zt : {out}) -> {out}
%p = linalg.transpose ins(%q : {out}) outs(%start : {MAPS}) permutation = [0, 2, 3, 1]
"""
    text += add_bias(bias, "s", "%p", "%bias", MAPS, "tensor<16xf32>") + relu(activation, "maps", "%s", MAPS)
    return text + f"return %maps : {MAPS}\n}}\n"


def cnn_tosa():
    return f"""func.func @cnn(%x: {IMAGE}) -> {MAPS} {{
%w = "tosa.const"() <{{value = {dense(FILTER.transpose(3, 0, 1, 2))} : tensor<16x3x3x3xf32>}}> : () -> tensor<16x3x3x3xf32>
%b = "tosa.const"() <{{value = {dense(CHANNELS)} : tensor<16xf32>}}> : () -> tensor<16xf32>
%s = tosa.conv2d %x, %w, %b {{dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}} : ({IMAGE}, tensor<16x3x3x3xf32>, tensor<16xf32>) -> {MAPS}
{relu('clamp', 'maps', '%s', MAPS)}return %maps : {MAPS}
}}
"""


# --- Attention --------------------------------------------------------------------------------------------------------

HEADS, SCORES, SUMS = "tensor<2x6x8xf32>", "tensor<2x6x6xf32>", "tensor<2x6xf32>"
SCALE = "0.353553385"


def scores(form):
    """%p = q k^T"""
    start = fill("p0", SCORES)
    if form == "named":
        return start + f"%p = linalg.batch_matmul_transpose_b ins(%q, %k : {HEADS}, {HEADS}) outs(%p0 : {SCORES}) -> {SCORES}\n"
    turned = "tensor<2x8x6xf32>"
    if form == "transpose":
        return start + f"""%t_e = tensor.empty() : {turned}
%t = linalg.transpose ins(%k : {HEADS}) outs(%t_e : {turned}) permutation = [0, 2, 1]
%p = linalg.batch_matmul ins(%q, %t : {HEADS}, {turned}) outs(%p0 : {SCORES}) -> {SCORES}
"""
    return start + f"""%p = linalg.generic {{indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%q, %k : {HEADS}, {HEADS}) outs(%p0 : {SCORES}) {{
^bb0(%a: f32, %b: f32, %o: f32):
  %m = arith.mulf %a, %b : f32
  %y = arith.addf %o, %m : f32
  linalg.yield %y : f32
}} -> {SCORES}
"""


def along(result, value, operation, start, form):
    """A reduction along the last dimension."""
    text = fill(f"{result}_s", SUMS, start)
    if form == "reduce":
        return text + f"%{result} = linalg.reduce {{ arith.{operation} }} ins({value} : {SCORES}) outs(%{result}_s : {SUMS}) dimensions = [2]\n"
    return text + f"""%{result} = linalg.generic {{indexing_maps = [affine_map<(b, i, j) -> (b, i, j)>, affine_map<(b, i, j) -> (b, i)>],
    iterator_types = ["parallel", "parallel", "reduction"]}} ins({value} : {SCORES}) outs(%{result}_s : {SUMS}) {{
^bb0(%a: f32, %o: f32):
  %y = arith.{operation} %a, %o : f32
  linalg.yield %y : f32
}} -> {SUMS}
"""


def softmax(form):
    """%w of %s"""
    if form == "named":
        return f"%w_e = tensor.empty() : {SCORES}\n%w = linalg.softmax dimension(2) ins(%s : {SCORES}) outs(%w_e : {SCORES}) -> {SCORES}\n"
    names, row = "i, j, k", "i, j"
    text = along("largest", "%s", "maximumf" if form != "maxnum" else "maxnumf", "0xFF800000", form)
    if form == "reduce": # on whole tensors
        wide = f"""%l_e = tensor.empty() : {SCORES}
%l = linalg.broadcast ins(%largest : {SUMS}) outs(%l_e : {SCORES}) dimensions = [2]
%d = arith.subf %s, %l : {SCORES}
%e = math.exp %d : {SCORES}
"""
        last = f"""%t_w = tensor.empty() : {SCORES}
%tw = linalg.broadcast ins(%total : {SUMS}) outs(%t_w : {SCORES}) dimensions = [2]
%w = arith.divf %e, %tw : {SCORES}
"""
        return text + wide + along("total", "%e", "addf", "0.0", form) + last
    text += generic("e", SCORES, [names, row], [("%s", SCORES), ("%largest", SUMS)], "  %dd = arith.subf %a, %b : f32\n  %y = math.exp %dd : f32")
    text += along("total", "%e", "addf", "0.0", form)
    return text + generic("w", SCORES, [names, row], [("%e", SCORES), ("%total", SUMS)], "  %y = arith.divf %a, %b : f32")


def attention(product="named", scale="generic", normal="named", mix="named"):
    text = f"func.func @attention(%q: {HEADS}, %k: {HEADS}, %v: {HEADS}) -> {HEADS} {{\n" + scores(product)
    if scale == "generic":
        text += generic("s", SCORES, ["i, j, k"], [("%p", SCORES)], f"  %f = arith.constant {SCALE} : f32\n  %y = arith.mulf %a, %f : f32")
    else:
        text += f"%factor = arith.constant dense<{SCALE}> : {SCORES}\n%s = arith.mulf %p, %factor : {SCORES}\n"
    text += softmax(normal) + fill("o0", HEADS)
    if mix == "named":
        text += f"%out = linalg.batch_matmul ins(%w, %v : {SCORES}, {HEADS}) outs(%o0 : {HEADS}) -> {HEADS}\n"
    else:
        text += f"""%out = linalg.generic {{indexing_maps = [affine_map<(b, i, d, j) -> (b, i, j)>, affine_map<(b, i, d, j) -> (b, j, d)>, affine_map<(b, i, d, j) -> (b, i, d)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]}} ins(%w, %v : {SCORES}, {HEADS}) outs(%o0 : {HEADS}) {{
^bb0(%a: f32, %b: f32, %o: f32):
  %m = arith.mulf %a, %b : f32
  %y = arith.addf %o, %m : f32
  linalg.yield %y : f32
}} -> {HEADS}
"""
    return text + f"return %out : {HEADS}\n}}\n"


def attention_scaled_queries():
    text = attention()
    text = text.replace(scores("named"), f"%factor = arith.constant dense<{SCALE}> : {HEADS}\n%r = arith.mulf %q, %factor : {HEADS}\n"
                        + scores("named").replace("ins(%q", "ins(%r"))
    scaled = text[text.index("%s_e = ") : text.index("%w_e = ")]
    return text.replace(scaled, "").replace("ins(%s :", "ins(%p :")


def attention_tosa():
    one, turned = "tensor<2x6x1xf32>", "tensor<2x8x6xf32>"
    return f"""func.func @attention(%q: {HEADS}, %k: {HEADS}, %v: {HEADS}) -> {HEADS} {{
%f = "tosa.const"() <{{value = dense<{SCALE}> : tensor<1x1x1xf32>}}> : () -> tensor<1x1x1xf32>
%r = tosa.mul %q, %f {{shift = 0 : i8}} : ({HEADS}, tensor<1x1x1xf32>) -> {HEADS}
%order = "tosa.const"() <{{value = dense<[0, 2, 1]> : tensor<3xi32>}}> : () -> tensor<3xi32>
%t = tosa.transpose %k, %order : ({HEADS}, tensor<3xi32>) -> {turned}
%s = tosa.matmul %r, %t : ({HEADS}, {turned}) -> {SCORES}
%largest = tosa.reduce_max %s {{axis = 2 : i32}} : ({SCORES}) -> {one}
%d = tosa.sub %s, %largest : ({SCORES}, {one}) -> {SCORES}
%e = tosa.exp %d : ({SCORES}) -> {SCORES}
%total = tosa.reduce_sum %e {{axis = 2 : i32}} : ({SCORES}) -> {one}
%inverse = tosa.reciprocal %total : ({one}) -> {one}
%w = tosa.mul %e, %inverse {{shift = 0 : i8}} : ({SCORES}, {one}) -> {SCORES}
%out = tosa.matmul %w, %v : ({SCORES}, {HEADS}) -> {HEADS}
return %out : {HEADS}
}}
"""


# --- A linear layer over a batch, residual and normalization ----------------------------------------------------------

BATCH, ROWS = "tensor<2x6x16xf32>", "tensor<12x16xf32>"
MEANS, KEPT, SPREAD = "tensor<2x6xf32>", "tensor<2x6x1xf32>", "tensor<2x16x16xf32>"
SQUARE, SHIFT = random.standard_normal((16, 16)), random.standard_normal(16)


def copied(result, kind, where, value, source):
    """A value spread over `kind`."""
    return generic(result, kind, [where], [(value, source)], "").replace("linalg.yield %y", "linalg.yield %a")


def block_product(form):
    """%p = x w"""
    constant = f"%w = arith.constant {dense(SQUARE)} : tensor<16x16xf32>\n"
    if form == "rows":
        return constant + f"%r = tensor.collapse_shape %x [[0, 1], [2]] : {BATCH} into {ROWS}\n" + fill("z", ROWS) + f"""\
%m = linalg.matmul ins(%r, %w : {ROWS}, tensor<16x16xf32>) outs(%z : {ROWS}) -> {ROWS}
%p = tensor.expand_shape %m [[0, 1], [2]] output_shape [2, 6, 16] : {ROWS} into {BATCH}
"""
    if form == "spread":
        wide = copied("v", SPREAD, "j, k", "%w", "tensor<16x16xf32>")
    else:
        wide = f"%v_e = tensor.empty() : {SPREAD}\n%v = linalg.broadcast ins(%w : tensor<16x16xf32>) outs(%v_e : {SPREAD}) dimensions = [0]\n"
    return constant + wide + fill("z", BATCH) + f"%p = linalg.batch_matmul ins(%x, %v : {BATCH}, {SPREAD}) outs(%z : {BATCH}) -> {BATCH}\n"


def mean(result, value, form):
    """%result is the mean of each row, for every element where `form` spreads it."""
    sums = fill(f"{result}_s", MEANS) + f"%{result}_t = linalg.reduce {{ arith.addf }} ins({value} : {BATCH}) outs(%{result}_s : {MEANS}) dimensions = [2]\n"
    share = "  %n = arith.constant 16.0 : f32\n  %y = arith.divf %a, %n : f32"
    if form == "rows":
        return sums + generic(result, MEANS, ["i, j"], [(f"%{result}_t", MEANS)], share)
    kept = f"%{result}_k = tensor.expand_shape %{result}_t [[0], [1, 2]] output_shape [2, 6, 1] : {MEANS} into {KEPT}\n"
    kept += generic(f"{result}_m", KEPT, ["i, j, k"], [(f"%{result}_k", KEPT)], share)
    return sums + kept + copied(result, BATCH, "i, j, 0", f"%{result}_m", KEPT)


def block(product="rows", means="rows", bias="generic"):
    whole = "i, j, k"
    kind, where = (MEANS, "i, j") if means == "rows" else (BATCH, whole)
    text = f"func.func @block(%x: {BATCH}) -> {BATCH} {{\n" + block_product(product)
    text += f"%shift = arith.constant {dense(SHIFT)} : tensor<16xf32>\n" + add_bias(bias, "s", "%p", "%shift", BATCH, "tensor<16xf32>")
    text += generic("h", BATCH, [whole, whole], [("%s", BATCH), ("%x", BATCH)], "  %y = arith.addf %a, %b : f32")
    text += mean("mean", "%h", means) + generic("d", BATCH, [whole, where], [("%h", BATCH), ("%mean", kind)], "  %y = arith.subf %a, %b : f32")
    text += generic("q", BATCH, [whole], [("%d", BATCH)], "  %y = arith.mulf %a, %a : f32") + mean("variance", "%q", means)
    text += generic("out", BATCH, [whole, where], [("%d", BATCH), ("%variance", kind)],
                    "  %least = arith.constant 1.0e-5 : f32\n  %u = arith.addf %b, %least : f32\n  %root = math.rsqrt %u : f32\n  %y = arith.mulf %a, %root : f32")
    return text + f"return %out : {BATCH}\n}}\n"


# --- All --------------------------------------------------------------------------------------------------------------

FAMILIES = {
    "mlp": {
        "matmul": mlp(), "generic": mlp("generic"), "transposed": mlp("transposed"), "turned": mlp("turned"), "batch": mlp("batch"),
        "broadcast": mlp(bias="broadcast"), "select": mlp(activation="select"), "tensor": mlp(activation="tensor"),
        "named": mlp(activation="named"), "tosa": mlp_tosa(), "all": mlp("generic", "broadcast", "select"), "packed": mlp("packed"),
    },
    "cnn": {
        "hwcf": cnn(), "fhwc": cnn("fhwc"), "generic": cnn("generic"), "nchw": cnn("nchw"), "broadcast": cnn(bias="broadcast"),
        "select": cnn(activation="select"), "tensor": cnn(activation="tensor"), "named": cnn(activation="named"), "tosa": cnn_tosa(),
        "all": cnn("nchw", "broadcast", "select"),
    },
    "attention": {
        "named": attention(), "generic": attention("generic", mix="generic"), "transpose": attention("transpose"),
        "tensor": attention(scale="tensor"), "torch": attention("transpose", normal="generic"), "reduce": attention(normal="reduce"),
        "maxnum": attention(normal="maxnum"), "all": attention("generic", "tensor", "reduce", "generic"),
        "scaled_queries": attention_scaled_queries(), "tosa": attention_tosa(),
    },
    "block": {
        "rows": block(), "spread": block("spread"), "broadcast": block("broadcast"), "kept": block(means="kept"),
        "bias": block(bias="broadcast"), "torch": block("spread", "kept", "broadcast"), "all": block("broadcast", "kept"),
    },
}


def printed(tool, text):
    done = subprocess.run([tool, "-", "--style=llvm", "--weights=embed", "-o", "-"], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{text[:2000]}\n{done.stderr}")
    return done.stdout


def main():
    tool = sys.argv[1]
    if "--show" in sys.argv:
        family, spelling = sys.argv[-2:]
        print(FAMILIES[family][spelling], printed(tool, FAMILIES[family][spelling]))
        return
    wrong = 0
    for family, spellings in FAMILIES.items():
        texts = {name: kernels(printed(tool, text)) for name, text in spellings.items()}
        first = next(iter(texts.values()))
        for name, text in texts.items():
            expected = (family, name) not in OTHERS
            if (text == first) != expected:
                wrong += 1
                print(f"{family} {name}: {'other' if expected else 'the same'} kernels")
        print(f"{family}: {sum(text == first for text in texts.values())} of {len(texts)} spellings print the same kernels")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
