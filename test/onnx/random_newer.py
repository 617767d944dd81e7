"""Operators and forms of opsets 18 and later, for random graphs: attention, rotary positions, caches, norms, inputs that were attributes.
A maker that needs a later opset than the graph's makes nothing."""

import math

import numpy as np
from onnx import TensorProto

from graph_builder import fixed, joined
from random_layers import image, window

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64


def since(opset):
    """A maker of graphs of that opset and later ones."""
    return lambda maker: lambda g: maker(g) if g.opset >= opset else None


#===--- Attention ---===#

def heads_of(g):
    """Queries, keys and values as [batch, heads, position, width]; heads of queries and of keys, positions of each, widths."""
    q, (batch, heads, rows, width) = g.pick(lambda s: len(s) == 4 and fixed(s[1]) and fixed(s[3]) and s[1] < 17)
    k, (_, shared, keys, _) = g.pick(lambda s: len(s) == 4 and s[0] == batch and fixed(s[1]) and heads % s[1] == 0 and s[3] == width)
    v, (*_, last) = g.pick(lambda s: len(s) == 4 and s[:3] == (batch, shared, keys) and fixed(s[3]))
    return (q, k, v), (batch, heads, shared, rows, keys, width, last), {}


def rows_of(g):
    """The same as [batch, position, heads * width], products of one value or of two."""
    x, (batch, rows, depth) = g.pick(lambda s: len(s) == 3 and fixed(s[2]))
    y, (_, keys, other) = g.pick(lambda s: len(s) == 3 and s[0] == batch and fixed(s[2]))
    shared, width = g.some(1, 2), g.some(3, 4, 8)
    heads, last = shared * g.some(1, 1, 2), g.some(width, width, 5)
    product = lambda a, extents, deep, wide: g.add("MatMul", [a, g.weight(deep, wide, depth=deep)], (*extents, wide))
    operands = (product(x, (batch, rows), depth, heads * width), product(y, (batch, keys), other, shared * width),
                product(y, (batch, keys), other, shared * last))
    return operands, (batch, heads, shared, rows, keys, width, last), {"q_num_heads": heads, "kv_num_heads": shared}


def mask_of(g, batch, heads, rows, keys, is_causal):
    """A constant that broadcasts to the scores, or no mask; each query sees the first key."""
    if not fixed(keys) or g.some(0, 1):
        return ""
    extents = [e if fixed(e) and g.some(0, 1, 1) else 1 for e in (batch, heads, rows)][g.random.randrange(3):] + [keys]
    if is_causal: # onnx's evaluator takes the extents of the mask for those of the scores
        extents[-2] = rows
    if not fixed(extents[-2]):
        return ""
    seen = g.numbers.random(extents) < .7
    seen[..., 0] = True
    return g.constant(seen if g.some(0, 1) else np.where(seen, g.numbers.standard_normal(extents), -1e9).astype(np.float32))


@since(23)
def attention(g):
    form = g.some(heads_of, rows_of)
    if g.pick(lambda s: len(s) == (4 if form is heads_of else 3) and fixed(s[-1]) and (len(s) == 3 or fixed(s[1]) and s[1] < 17))[0] is None:
        return None
    operands, (batch, heads, shared, rows, keys, width, last), more = form(g)
    more["is_causal"] = g.some(0, 0, 1)
    if g.some(0, 1):
        more["scale"] = g.some(.25, .5)
    if g.some(0, 0, 1):
        more["softcap"] = g.some(1., 3.)
    past, results = fixed(batch) and g.some(0, 0, 1), []
    if past:
        keys = (keys + 4) if fixed(keys) else None
    mask = "" if keys is None else mask_of(g, batch, heads, rows, keys, more["is_causal"])
    operands = [*operands, mask] + [""] * 3
    if past:
        operands[4:6] = g.weight(batch, shared, 4, width), g.weight(batch, shared, 4, last)
    elif g.opset > 23 and fixed(batch) and fixed(keys) and not more["is_causal"] and g.some(0, 0, 1):
        operands[6] = g.constant(g.numbers.integers(1, keys + 1, batch))
    while not operands[-1]:
        operands.pop()
    if g.opset > 24 and g.some(0, 0, 1):
        more["left_window_size"] = g.some(1, 2, 100)
    results = [(batch, heads, rows, last) if form is heads_of else (batch, rows, heads * last)]
    if past and keys is not None:
        results += [(batch, shared, keys, width), (batch, shared, keys, last)]
    return g.add("Attention", operands, *results, **more)


@since(23)
def rotary(g):
    joint = g.some(0, 1)
    x, shape = g.pick(lambda s: len(s) == (3 if joint else 4) and fixed(s[-1]) and s[-1] % 2 == 0 and fixed(s[-2 if not joint else 1]) and
                      s[-2 if not joint else 1] < 40)
    if x is None:
        return None
    batch, positions, last = shape[0], shape[1 if joint else 2], shape[-1]
    heads = g.some(*[h for h in (1, 2, 3) if last % (2 * h) == 0]) if joint else 1
    width = last // heads
    turned = g.some(width, width, *range(2, width, 2))
    more = {"interleaved": g.some(0, 1)} | ({"num_heads": heads} if joint else {})
    if turned < width or g.some(0, 1):
        more["rotary_embedding_dim"] = turned
    if fixed(batch) and g.some(0, 1):
        angles = g.numbers.standard_normal((batch, positions, turned // 2))
        places = []
    else:
        angles = g.numbers.standard_normal((positions + 3, turned // 2))
        places = [g.integers(0)] # the positions of each row of the batch, as they are computed
        with g.of(INT64):
            line = g.constant((np.arange(positions) + g.some(0, 3))[None])
            if fixed(batch):
                places = [g.constant(np.repeat((np.arange(positions) + g.some(0, 3))[None], batch, 0))]
            else:
                extents = g.add("Shape", [x], (1,), start=0, end=1)
                wanted = g.add("Concat", [extents, g.integers(positions)], (2,), axis=0)
                places = [g.add("Expand", [line, wanted], (batch, positions))]
                for name in (extents, wanted, places[0]):
                    g.shapes.pop(name)
    tables = [g.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]
    return g.add("RotaryEmbedding", [x, *tables, *places], shape, **more)


@since(24)
def cache(g):
    x, shape = g.pick(lambda s: len(s) > 1 and any(fixed(e) and e > 1 for e in s[1:]))
    if x is None:
        return None
    axis = g.some(*[i for i, e in enumerate(shape) if i and fixed(e) and e > 1])
    count = g.random.randint(1, shape[axis])
    mode = g.some("linear", "circular")
    part = (*shape[:axis], count, *shape[axis + 1:])
    update = g.pick(lambda s: s == part)[0] or g.add("Slice", [x, g.integers(0), g.integers(count), g.integers(axis)], part)
    operands = [x, update]
    if fixed(shape[0]) and g.some(0, 1, 1):
        operands.append(g.constant(g.numbers.integers(0, shape[axis] - (count - 1) * (mode == "linear"), shape[0])))
    return g.add("TensorScatter", operands, shape, axis=g.negative(axis, len(shape)), mode=mode)


#===--- Norms and activations ---===#

@since(23)
def root_mean_square(g):
    x, shape = g.pick(lambda s: s and fixed(s[-1]) and s[-1] > 1)
    if x is None:
        return None
    axis = len(shape) - (2 if len(shape) > 1 and fixed(shape[-2]) and g.some(0, 0, 1) else 1)
    extents = shape[axis:] if g.some(0, 1, 1) else shape[-1:]
    return g.add("RMSNormalization", [x, g.weight(*extents)], shape, axis=g.negative(axis, len(shape)), epsilon=g.some(1e-5, 1e-3))


@since(21)
def groups(g):
    x, shape = image(g)
    if x is None:
        return None
    count = g.some(*[d for d in range(1, shape[1] + 1) if shape[1] % d == 0 and shape[1] // d * math.prod(shape[2:]) > 3] or [0])
    return count and g.add("GroupNormalization", [x, g.weight(shape[1]), g.weight(shape[1])], shape, num_groups=count, epsilon=g.some(1e-5, 1e-2))


def standardized(g):
    """With its means and deviations, which others may read."""
    x, shape = g.pick(lambda s: s and fixed(s[-1]) and s[-1] > 3)
    if x is None:
        return None
    means = (*shape[:-1], 1)
    y, mean, factor = g.add("LayerNormalization", [x, g.weight(shape[-1]), g.weight(shape[-1])], shape, means, means, axis=-1, epsilon=.1)
    return y, mean, g.add("Tanh", [factor], means)


def activation(g):
    x, shape = g.pick()
    kind = g.some("Gelu", "Mish", "Swish", "SwiGLU", "BiasGelu")
    if g.opset < {"Mish": 18, "Swish": 24, "SwiGLU": 28}.get(kind, 20):
        return None
    if kind == "SwiGLU":
        y, _ = g.pick(lambda s: s == shape)
        return g.add(kind, [x, y], shape, alpha=g.some(1., .5))
    if kind == "BiasGelu":
        return g.add("Gelu", [g.add("Add", [x, g.weight(*shape[-1:] if shape and fixed(shape[-1]) else ())], shape)], shape, approximate="tanh")
    more = {"Gelu": {"approximate": g.some("none", "tanh")}, "Swish": {"alpha": g.some(1., 1.702)}}
    return g.add(kind, [x], shape, **more.get(kind, {}))


#===--- Attributes that became inputs, and new ones ---===#

def equal_parts(g):
    x, shape = g.pick(lambda s: any(fixed(e) and e > 1 for e in s))
    if x is None:
        return None
    axis = g.axis(shape, lambda e: fixed(e) and e > 1)
    extent = shape[axis]
    count = g.some(*[c for c in range(2, min(extent, 5) + 1) if -(-extent // c) * (c - 1) < extent])
    each = -(-extent // count)
    sizes = [each] * (count - 1) + [extent - each * (count - 1)]
    return g.add("Split", [x], *[(*shape[:axis], e, *shape[axis + 1:]) for e in sizes], axis=g.negative(axis, len(shape)), num_outputs=count)


def padding(g):
    x, shape = g.pick(lambda s: any(fixed(e) for e in s))
    if x is None:
        return None
    axes = [i for i, e in enumerate(shape) if fixed(e) and g.some(0, 1)] or [g.axis(shape, fixed)]
    mode = g.some("constant", "edge", "reflect", *["wrap"] * (g.opset > 18))
    most = lambda e: 3 if mode in ("constant", "edge") else e - (mode == "reflect")
    pads = [[g.random.randint(0, min(3, most(shape[axis]))) for axis in axes] for _ in range(2)]
    result = list(shape)
    for axis, before, after in zip(axes, *pads):
        result[axis] += before + after
    operands = [x, g.integers(*pads[0], *pads[1]), g.constant(np.float32(.25)) if mode == "constant" and g.some(0, 1) else "",
                g.integers(*[g.negative(axis, len(shape)) for axis in axes])]
    return g.add("Pad", operands, result, mode=mode)


def resized(g):
    x, shape = g.pick(lambda s: len(s) == 4 and all(map(fixed, s[1:])) and min(s[2:]) > 1)
    if x is None:
        return None
    sizes = [g.random.randint(max(e // 3, 1), 2 * e) for e in shape[2:]]
    mode = g.some("linear", "cubic", "nearest")
    more = dict(mode=mode, axes=[2, 3], coordinate_transformation_mode=g.some("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"))
    if mode == "nearest":
        more.update(nearest_mode=g.some("floor", "ceil"), coordinate_transformation_mode="asymmetric")
        sizes = [e * g.some(1, 2, 3) for e in shape[2:]] # of others a position may lie on a step
    elif all(e <= s for e, s in zip(sizes, shape[2:])) and g.some(0, 1):
        more.update(antialias=1, coordinate_transformation_mode="half_pixel")
    if mode == "cubic":
        more["cubic_coeff_a"] = g.some(-.75, -.5)
    return g.add("Resize", [x, "", "", g.integers(*sizes)], (*shape[:2], *sizes), **more)


def folded(g):
    """A reduction over axes that are an input, or over none, or over all."""
    x, shape = g.pick(lambda s: s)
    kind = g.some("ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp", "ReduceMin")
    form = g.some("axes", "none", "all")
    if form == "none":
        return g.add(kind, [x] + [g.integers()] * g.some(0, 1), shape, noop_with_empty_axes=1) if kind in ("ReduceMean", "ReduceMax", "ReduceMin") else None
    axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, len(shape)))) if form == "axes" else range(len(shape))
    keep = g.some(0, 1)
    result = [1 if i in axes else e for i, e in enumerate(shape) if keep or i not in axes]
    return g.add(kind, [x] + [g.integers(*axes)] * (form == "axes"), result, keepdims=keep)


def wide_pool(g):
    """With dilations, or a last window that reaches beyond the image."""
    x, shape = image(g, (3, 4))
    if x is None:
        return None
    kind = g.some("AveragePool", "MaxPool", "LpPool")
    if kind == "AveragePool" and g.opset < 19:
        return None
    kernel, strides, dilations, pads, _ = window(g, shape[2:])
    half, ceil = len(kernel), g.some(0, 1)
    result = []
    for e, k, s, d, a, b in zip(shape[2:], kernel, strides, dilations, pads[:half], pads[half:]):
        room = e + a + b - d * (k - 1) - 1
        count = (-(-room // s) if ceil else room // s) + 1
        result.append(count - (ceil and (count - 1) * s >= e + a))
    if min(result) < 1:
        return None
    more = dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, ceil_mode=ceil)
    if kind == "AveragePool":
        more["count_include_pad"] = g.some(0, 1)
    if kind == "LpPool":
        more["p"] = g.some(1, 2)
    return g.add(kind, [x], (*shape[:2], *result), **more)


def cropped(g):
    x, shape = g.pick(lambda s: any(fixed(e) for e in s))
    if x is None:
        return None
    axes = [i for i, e in enumerate(shape) if fixed(e) and g.some(0, 1)] or [g.axis(shape, fixed)]
    extents = [g.random.randint(1, shape[axis] + 2) for axis in axes]
    result = list(shape)
    for axis, extent in zip(axes, extents):
        result[axis] = extent
    return g.add("CenterCropPad", [x, g.integers(*extents)], result, axes=axes)


@since(20)
def spectrum(g):
    x, shape = g.pick(lambda s: len(s) > 1 and fixed(s[-1]) and 1 < s[-1] < 40)
    if x is None:
        return None
    one_sided = g.some(0, 1)
    count = shape[-1] // 2 + 1 if one_sided else shape[-1]
    real = g.add("Unsqueeze", [x, g.integers(-1)], (*shape, 1))
    made = g.add("DFT", [real, "", g.constant(np.int64(-2))], (*shape[:-1], count, 2), onesided=one_sided)
    return g.add("Mul", [made, g.constant(np.float32(shape[-1] ** -.5))], (*shape[:-1], count, 2))


@since(20)
def sampled(g):
    x, shape = image(g, (4, 5))
    if x is None or not fixed(shape[0]):
        return None
    rank = len(shape) - 2
    extents = tuple(g.some(2, 3, 5) for _ in range(rank))
    grid = g.constant((g.numbers.random((shape[0], *extents, rank)) * 2.4 - 1.2).astype(np.float32))
    mode = g.some("linear", *["cubic"] * (rank == 2))
    return g.add("GridSample", [x, grid], (*shape[:2], *extents), mode=mode, align_corners=g.some(0, 1), padding_mode=g.some("zeros", "border", "reflection"))


@since(19)
def deformed(g):
    x, shape = image(g, (4,))
    if x is None or not fixed(shape[0]) or min(shape[2:]) < 2:
        return None
    kernel, strides, dilations, pads, result = window(g, shape[2:])
    if min(result) < 1:
        return None
    taps, outputs = math.prod(kernel), g.some(1, 4, 9)
    offsets = g.weight(shape[0], 2 * taps, *result)
    operands = [x, g.weight(outputs, shape[1], *kernel, depth=shape[1] * taps), offsets]
    if g.some(0, 1):
        operands += [g.weight(outputs), g.constant(g.numbers.random((shape[0], taps, *result)).astype(np.float32))]
    return g.add("DeformConv", operands, (shape[0], outputs, *result), kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)


@since(26)
def products(g):
    x, shape = g.pick(lambda s: s)
    near = g.add("Add", [g.add("Tanh", [x], shape), g.constant(np.float32(.5))], shape)
    made = g.add("CumProd", [near, g.constant(np.int64(g.negative(g.axis(shape), len(shape))))], shape, exclusive=g.some(0, 1), reverse=g.some(0, 1))
    return g.add("Tanh", [made], shape)


def chosen(g):
    """Elements where a condition over all of an axis holds: folds of conditions, comparisons of them."""
    x, shape = g.pick(lambda s: s)
    with g.of(BOOL):
        found = g.add("Greater", [x, g.constant(np.float32(.41))], shape)
        if g.opset >= 20:
            axis = g.axis(shape)
            kept = tuple(1 if i == axis else e for i, e in enumerate(shape))
            found, shape = g.add(g.some("ReduceMax", "ReduceMin"), [found, g.integers(axis)], kept, keepdims=1), kept
    y, other = g.pick(lambda s: joined(s, shape) is not None)
    return g.add("Where", [found, y, g.constant(np.float32(-.5))], joined(shape, other))


MAKERS = [attention] * 5 + [rotary] * 3 + [cache] * 2 + [root_mean_square] * 3 + [groups] * 2 + [standardized] + [activation] * 3 + [
    equal_parts] * 2 + [padding] * 2 + [resized] * 2 + [folded, wide_pool, wide_pool, cropped, spectrum, sampled, deformed, products, chosen]
OPSETS = (18, 20, 21, 23, 23, 24, 25, 26, 28)
