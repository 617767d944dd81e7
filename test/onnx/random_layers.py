"""Single operators for random graphs. Each maker adds some to what the graph has, or nothing where nothing fits."""

import math

import numpy as np
from onnx import TensorProto, numpy_helper

from graph_builder import elements, fixed, joined


def unary(g):
    x, shape = g.pick()
    kind = g.some("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "Softplus", "LeakyRelu", "Elu", "HardSigmoid", "HardSwish", "Sin",
                  "Clip", "Sqrt", "Exp", "Gelu", "Identity", "Reciprocal", "Ceil")
    if kind == "Clip":
        return g.add("Clip", [x, g.constant(np.float32(-.7)), g.constant(np.float32(.9))], shape)
    if kind in ("Sqrt", "Reciprocal"):
        return g.add(kind, [g.add("Add", [g.add("Abs", [x], shape), g.constant(np.float32(.3))], shape)], shape)
    if kind == "Exp":
        return g.add("Exp", [g.add("Tanh", [x], shape)], shape)
    if kind == "Gelu":
        scaled = g.add("Erf", [g.add("Div", [x, g.constant(np.float32(2 ** .5))], shape)], shape)
        gate = g.add("Add", [scaled, g.constant(np.float32(1))], shape)
        return g.add("Mul", [g.add("Mul", [x, gate], shape), g.constant(np.float32(.5))], shape)
    if kind == "Ceil": # of constants only: a sum may fall on either side of a step
        return g.add("Add", [x, g.add("Ceil", [g.weight(*[e if fixed(e) else 1 for e in shape])], [e if fixed(e) else 1 for e in shape])], shape)
    return g.add(kind, [x], shape)


def with_constant(g):
    x, shape = g.pick()
    other = [e if fixed(e) and g.random.random() < .5 else 1 for e in shape][g.random.randrange(len(shape) + 1):]
    if g.random.random() < .15:
        other = [g.some(1, 2)] * (len(shape) - len(other) + g.some(0, 1)) + other
    result = joined(shape, other)
    if result is None:
        return None
    kind = g.some("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Mul", "Add")
    values = g.numbers.standard_normal(other)
    if kind == "PRelu":
        if len(other) > len(shape) or result != shape:
            return None
        return g.add("PRelu", [x, g.constant(values.astype(np.float32))], shape)
    if kind in ("Div", "Pow"):
        values = np.abs(values) + .5
    constant = g.constant(values.astype(np.float32))
    if kind == "Pow":
        x = g.add("Sigmoid", [x], shape)
    operands = [x, constant] if kind in ("Div", "Pow") or g.random.random() < .7 else [constant, x]
    return g.add(kind, operands, result)


def of_two(g):
    x, shape = g.pick()
    y, other = g.pick(lambda s: joined(s, shape) is not None)
    result = joined(shape, other)
    kind = g.some("Add", "Sub", "Mul", "Max", "Min", "Where", "Mean")
    if kind == "Where":
        condition = g.add("Greater", [x, g.constant(np.float32(.37))], shape)
        g.shapes.pop(condition)
        return g.add("Where", [condition, y, x], result)
    return g.add(kind, [x, y], result)


def product(g):
    kind = g.some("right", "right", "left", "vector", "vector_left", "self", "batched", "gemm", "gemm", "values")
    if kind == "values":
        x, a = g.pick(lambda s: len(s) >= 2 and fixed(s[-1]))
        y, b = g.pick(lambda s: a and len(s) >= 2 and s[-2] == a[-1] and joined(s[:-2], a[:-2]) is not None)
        if y is None:
            return None
        made = g.add("MatMul", [x, y], joined(a[:-2], b[:-2]) + (a[-2], b[-1]))
        return g.add("Mul", [made, g.constant(np.float32(a[-1] ** -.5))], g.shapes[made])
    x, shape = g.pick(lambda s: len(s) >= (2 if kind in ("left", "self", "vector_left") else 1) and fixed(s[-1]) and fixed(s[-2] if len(s) > 1 else 1))
    if kind == "gemm":
        x, shape = g.pick(lambda s: len(s) == 2 and fixed(s[-1]))
    if x is None:
        return None
    k, n = shape[-1], g.some(1, 3, 8, 20)
    if kind == "right":
        return g.add("MatMul", [x, g.weight(k, n, depth=k)], (*shape[:-1], n) if len(shape) > 1 else (n,))
    if kind == "left":
        return g.add("MatMul", [g.weight(n, shape[-2], depth=shape[-2]), x], (*shape[:-2], n, k))
    if kind == "vector":
        return g.add("MatMul", [x, g.weight(k, depth=k)], shape[:-1])
    if kind == "vector_left":
        return g.add("MatMul", [g.weight(shape[-2], depth=shape[-2]), x], (*shape[:-2], k))
    if kind == "self":
        turned = g.add("Transpose", [x], (*shape[:-2], k, shape[-2]), perm=[*range(len(shape) - 2), len(shape) - 1, len(shape) - 2])
        made = g.add("MatMul", [x, turned], (*shape[:-1], shape[-2]))
        return g.add("Mul", [made, g.constant(np.float32(1 / k))], g.shapes[made])
    if kind == "batched":
        batch = shape[-3] if len(shape) > 2 and fixed(shape[-3]) else g.some(1, 2)
        outer = joined(shape[:-2], (batch,))
        if outer is None:
            return None
        result = outer + ((shape[-2],) if len(shape) > 1 else ()) + (n,)
        return g.add("MatMul", [x, g.weight(batch, k, n, depth=k)], result)
    turned, other = g.some(0, 0, 1), g.some(0, 1)
    if turned and not fixed(shape[0]):
        turned = 0
    m, k = shape if not turned else shape[::-1]
    operands = [x, g.weight(*((n, k) if other else (k, n)), depth=k)]
    bias = g.some(None, (n,), (1, n), (m, 1), (m, n), (1,), ())
    if bias is not None and all(map(fixed, bias)):
        operands.append(g.weight(*bias))
    return g.add("Gemm", operands, (m, n), transA=turned, transB=other, alpha=g.some(1., .5), beta=g.some(1., 2.))


def image(g, ranks=(3, 4, 5)):
    """A value that may be an image [n, channels, ...]."""
    return g.pick(lambda s: len(s) in ranks and all(map(fixed, s[1:])) and min(s[1:]) > 0)


def window(g, extents):
    """Kernel, strides, dilations, pads and result of a window over each of the extents."""
    kernel = [g.some(*[k for k in (1, 2, 3, 4) if k <= max(e, 1)]) for e in extents]
    strides = [g.some(1, 1, 2, 3) for _ in extents]
    dilations = [g.some(1, 1, 2) if (k - 1) * 2 < e else 1 for k, e in zip(kernel, extents)]
    before, after = ([g.random.randrange((k + 1) // 2) if k > 1 else 0 for k in kernel] for _ in range(2))
    result = [(e + a + b - d * (k - 1) - 1) // s + 1
              for e, k, s, d, a, b in zip(extents, kernel, strides, dilations, before, after)]
    return kernel, strides, dilations, before + after, result


def convolution(g):
    x, shape = image(g)
    if x is None:
        return None
    channels = shape[1]
    kernel, strides, dilations, pads, result = window(g, shape[2:])
    if min(result) < 1:
        return None
    group = g.some(1, 1, channels, *[d for d in (2, 3, 4) if channels % d == 0])
    each = g.some(1, 1, 2, 3) if group > 1 else g.some(1, 3, 8, 17)
    depth = channels // group * math.prod(kernel)
    operands = [x, g.weight(group * each, channels // group, *kernel, depth=depth)]
    if g.some(0, 1):
        operands.append(g.weight(group * each))
    return g.add("Conv", operands, (shape[0], group * each, *result), kernel_shape=kernel, strides=strides, dilations=dilations,
                 pads=pads, group=group)


def transposed_convolution(g):
    x, shape = image(g, (3, 4))
    if x is None or max(shape[2:]) > 20:
        return None
    kernel, strides = [g.some(1, 2, 3, 4) for _ in shape[2:]], [g.some(1, 2, 2, 3) for _ in shape[2:]]
    before, after = ([g.random.randrange((k + 1) // 2) for k in kernel] for _ in range(2))
    more = [g.random.randrange(s) for s in strides]
    result = [s * (e - 1) + o + k - a - b for s, e, o, k, a, b in zip(strides, shape[2:], more, kernel, before, after)]
    group = g.some(1, 1, *[d for d in (2, 3) if shape[1] % d == 0])
    each = g.some(1, 2, 8)
    operands = [x, g.weight(shape[1], each, *kernel, depth=shape[1] // group * math.prod(kernel))]
    if g.some(0, 1):
        operands.append(g.weight(group * each))
    if min(result) < 1:
        return None
    return g.add("ConvTranspose", operands, (shape[0], group * each, *result), kernel_shape=kernel, strides=strides,
                 pads=before + after, output_padding=more, group=group)


def pool(g):
    x, shape = image(g)
    if x is None:
        return None
    kind = g.some("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
    if kind.startswith("Global"):
        return g.add(kind, [x], (*shape[:2], *[1] * (len(shape) - 2)))
    kernel, strides, dilations, pads, result = window(g, shape[2:])
    attributes = dict(kernel_shape=kernel, strides=strides, pads=pads)
    if kind == "MaxPool":
        attributes["dilations"] = dilations
    else:
        attributes["count_include_pad"] = g.some(0, 1)
        half = len(pads) // 2
        result = [(e + a + b - k) // s + 1 for e, k, s, a, b in zip(shape[2:], kernel, strides, pads[:half], pads[half:])]
    if min(result) < 1:
        return None
    return g.add(kind, [x], (*shape[:2], *result), **attributes)


def normalization(g):
    kind = g.some("BatchNormalization", "InstanceNormalization", "LayerNormalization")
    if kind == "LayerNormalization":
        x, shape = g.pick(lambda s: s and fixed(s[-1]) and s[-1] > 2)
        if x is None:
            return None
        axis = len(shape) - (2 if len(shape) > 1 and fixed(shape[-2]) and g.some(0, 0, 1) else 1)
        operands = [x, g.weight(*shape[axis:])] + [g.weight(*shape[axis:])] * g.some(0, 1)
        return g.add(kind, operands, shape, axis=g.negative(axis, len(shape)))
    x, shape = g.pick(lambda s: len(s) >= (3 if kind[0] == "I" else 2) and fixed(s[1]) and s[1] > 0 and
                      (kind[0] == "B" or all(map(fixed, s)) and elements(s[2:]) > 4))
    if x is None:
        return None
    operands = [x, g.weight(shape[1]), g.weight(shape[1])]
    if kind[0] == "B":
        operands += [g.weight(shape[1]), g.constant((np.abs(g.numbers.standard_normal(shape[1])) + .5).astype(np.float32))]
    return g.add(kind, operands, shape)


def reduction(g):
    x, shape = g.pick(lambda s: s)
    kind = g.some("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp", "ReduceL1")
    axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, len(shape))))
    keep = g.some(0, 1)
    result = [1 if i in axes else e for i, e in enumerate(shape) if keep or i not in axes]
    axes = [g.negative(axis, len(shape)) for axis in axes]
    if kind == "ReduceSum":
        made = g.add(kind, [x, g.integers(*axes)], result, keepdims=keep)
        return g.add("Tanh", [made], result)
    return g.add(kind, [x], result, axes=axes, keepdims=keep)


def along(g):
    x, shape = g.pick(lambda s: s)
    axis = g.negative(g.axis(shape), len(shape))
    kind = g.some("Softmax", "LogSoftmax", "CumSum", "Softmax")
    if kind == "CumSum":
        made = g.add(kind, [x, g.constant(np.int64(axis))], shape, exclusive=g.some(0, 1), reverse=g.some(0, 1))
        return g.add("Tanh", [made], shape)
    return g.add(kind, [x], shape, axis=axis)


def transposition(g):
    x, shape = g.pick(lambda s: len(s) > 1)
    if x is None:
        return None
    order = g.random.sample(range(len(shape)), len(shape))
    return g.add("Transpose", [x], [shape[i] for i in order], perm=order)


def reshape(g):
    x, shape = g.pick(lambda s: s)
    kind = g.some("merge", "split", "Flatten", "Unsqueeze", "Squeeze", "all")
    if kind == "merge" and len(shape) > 1:
        at = g.random.randrange(len(shape) - 1)
        first, second = shape[at:at + 2]
        if not (fixed(first) and fixed(second)):
            return None
        result = (*shape[:at], first * second, *shape[at + 2:])
        wanted = [0 if not fixed(e) else e for e in result]
        if any(e == 0 and i != 0 for i, e in enumerate(wanted)):
            return None
        return g.add("Reshape", [x, g.integers(*wanted)], result)
    if kind == "split" and len(shape) < 6:
        at = g.axis(shape, lambda e: fixed(e) and e > 1)
        if at is None:
            return None
        by = g.some(*[d for d in range(1, shape[at] + 1) if shape[at] % d == 0])
        result = (*shape[:at], by, shape[at] // by, *shape[at + 1:])
        wanted = [0 if not fixed(e) else e for e in result]
        if any(e == 0 and i != 0 for i, e in enumerate(wanted)):
            return None
        return g.add("Reshape", [x, g.integers(*wanted)], result)
    if kind == "Flatten":
        axis = g.random.randint(0, len(shape)) if all(map(fixed, shape)) else 1
        if any(not fixed(e) for e in shape[1:]):
            return None
        return g.add(kind, [x], (elements(shape[:axis]) if axis != 1 else shape[0], elements(shape[axis:])), axis=axis)
    if kind == "Unsqueeze" and len(shape) < 6:
        axis = g.random.randint(0, len(shape))
        return g.add(kind, [x, g.integers(axis)], (*shape[:axis], 1, *shape[axis:]))
    if kind == "Squeeze":
        axis = g.axis(shape, lambda e: e == 1)
        return None if axis is None else g.add(kind, [x, g.integers(axis)], (*shape[:axis], *shape[axis + 1:]))
    if kind == "all" and all(map(fixed, shape)):
        total = elements(shape)
        by = g.some(*[d for d in range(1, total + 1) if total % d == 0])
        return g.add("Reshape", [x, g.integers(by, -1)], (by, total // by))
    return None


def concatenation(g):
    x, shape = g.pick(lambda s: s)
    axis = g.axis(shape, fixed)
    if axis is None:
        return None
    fits = lambda s: len(s) == len(shape) and fixed(s[axis]) and s[:axis] == shape[:axis] and s[axis + 1:] == shape[axis + 1:]
    operands = [x] + [g.pick(fits)[0] for _ in range(g.some(1, 2))]
    extents = [g.shapes[o][axis] for o in operands]
    if all(map(fixed, shape)) and g.some(0, 0, 1):
        operands.append(g.weight(*shape))
        extents.append(shape[axis])
    if sum(extents) > 64:
        return None
    return g.add("Concat", operands, (*shape[:axis], sum(extents), *shape[axis + 1:]), axis=g.negative(axis, len(shape)))


def parts(g):
    x, shape = g.pick(lambda s: s)
    axis = g.axis(shape, lambda e: fixed(e) and e > 1)
    if axis is None:
        return None
    extent = shape[axis]
    with_extent = lambda e: (*shape[:axis], e, *shape[axis + 1:])
    kind = g.some("Split", "Slice", "Slice", "Gather", "one", "GatherElements", "TopK")
    if kind == "Split":
        first = g.random.randint(1, extent - 1)
        return g.add(kind, [x, g.integers(first, extent - first)], with_extent(first), with_extent(extent - first), axis=axis)
    if kind == "Slice":
        step = g.some(1, 1, 2, -1, -2)
        start, end = sorted([g.random.randint(0, extent), g.random.randint(0, extent)])
        picked = range(extent)[start:end:step] if step > 0 else range(extent)[end - 1:start - extent - 1:step]
        if not len(picked):
            return None
        bounds = (start, end) if step > 0 else (end - 1, start - extent - 1)
        if step < 0:
            picked = np.arange(extent)[slice(bounds[0], bounds[1] if bounds[1] >= -extent else None, step)]
            if not len(picked):
                return None
        return g.add(kind, [x, g.integers(bounds[0]), g.integers(bounds[1]), g.integers(axis), g.integers(step)],
                     with_extent(len(picked)))
    if kind == "Gather":
        indices = [g.random.randrange(-extent, extent) for _ in range(g.random.randint(1, 4))]
        return g.add(kind, [x, g.integers(*indices)], with_extent(len(indices)), axis=g.negative(axis, len(shape)))
    if kind == "one":
        return g.add("Gather", [x, g.constant(np.int64(g.random.randrange(-extent, extent)))], shape[:axis] + shape[axis + 1:], axis=axis)
    if kind == "GatherElements":
        if not all(map(fixed, shape)):
            return None
        indices = g.numbers.integers(0, extent, with_extent(g.some(1, 3)))
        return g.add(kind, [x, g.constant(indices.astype(np.int64))], indices.shape, axis=axis)
    if g.type == TensorProto.BOOL:
        return None
    values, places = g.add("TopK", [x, g.integers(g.random.randint(1, extent))], shape, shape, axis=axis)
    count = int(numpy_helper.to_array(g.constants[-1])[0])
    g.shapes.pop(places)
    g.shapes[values] = with_extent(count)
    return values


def larger(g):
    x, shape = g.pick(lambda s: s and (not all(map(fixed, s)) or elements(s) < 1500))
    if x is None:
        return None
    kind = g.some("Pad", "Pad", "Tile", "Expand", "Resize")
    rank = len(shape)
    if kind == "Pad":
        mode = g.some("constant", "edge", "reflect", "constant")
        pads = [[g.some(0, 0, 1, 2) if fixed(e) and (mode != "reflect" or e > 2) else 0 for e in shape] for _ in range(2)]
        operands = [x, g.integers(*pads[0], *pads[1])] + [g.number(.5)] * (mode == "constant" and g.some(0, 1))
        return g.add(kind, operands, [e + a + b if fixed(e) else e for e, a, b in zip(shape, *pads)], mode=mode)
    if kind == "Tile":
        times = [g.some(1, 1, 2) if fixed(e) else 1 for e in shape]
        return g.add(kind, [x, g.integers(*times)], [e * t if fixed(e) else e for e, t in zip(shape, times)])
    if kind == "Expand":
        to = [g.some(1, 3) if e == 1 else e if fixed(e) else 1 for e in shape]
        return g.add(kind, [x, g.integers(*to)], joined(shape, to))
    if rank not in (3, 4) or not all(map(fixed, shape[1:])):
        return None
    mode = g.some("nearest", "linear")
    scales = [g.some(1., 2., 1.5) for _ in shape[2:]]
    scales = [s if (e * s) == int(e * s) else 2. for s, e in zip(scales, shape[2:])]
    return g.add(kind, [x, "", g.constant(np.array([1, 1, *scales], np.float32))],
                 (*shape[:2], *[int(e * s) for e, s in zip(shape[2:], scales)]), mode=mode,
                 coordinate_transformation_mode=g.some("asymmetric", "half_pixel", "align_corners") if mode == "linear" else "asymmetric",
                 nearest_mode="floor")


def other(g):
    kind = g.some("DepthToSpace", "SpaceToDepth", "Trilu", "Einsum", "ArgMax", "LRN", "Shape")
    if kind in ("DepthToSpace", "SpaceToDepth", "LRN"):
        x, shape = image(g, (4,))
        if x is None:
            return None
        n, c, h, w = shape
        if kind == "LRN":
            return g.add(kind, [x], shape, size=3)
        if kind == "DepthToSpace":
            return None if c % 4 else g.add(kind, [x], (n, c // 4, h * 2, w * 2), blocksize=2, mode=g.some("DCR", "CRD"))
        return None if h % 2 or w % 2 else g.add(kind, [x], (n, c * 4, h // 2, w // 2), blocksize=2)
    if kind == "Trilu":
        x, shape = g.pick(lambda s: len(s) >= 2 and all(map(fixed, s)))
        return None if x is None else g.add(kind, [x, g.constant(np.int64(g.some(-1, 0, 1)))], shape, upper=g.some(0, 1))
    if kind == "Einsum":
        x, shape = g.pick(lambda s: len(s) == 3 and all(map(fixed, s)))
        if x is None:
            return None
        b, i, j = shape
        text, other, result = g.some(("bij,bjk->bik", (b, j, 4), (b, i, 4)), ("bij,jk->kbi", (j, 4), (4, b, i)),
                                     ("bij,bik->bjk", (b, i, 3), (b, j, 3)), ("bij,bi->bj", (b, i), (b, j)), ("bij,ij->b", (i, j), (b,)))
        made = g.add(kind, [x, g.weight(*other, depth=max(i, j))], result, equation=text)
        return made
    if kind == "ArgMax":
        x, shape = g.pick(lambda s: s)
        axis = g.axis(shape, lambda e: fixed(e) and e > 1)
        if axis is None:
            return None
        # far enough from each other: a large constant chooses
        large = (g.numbers.permutation(shape[axis]) * 9).astype(np.float32).reshape([-1] + [1] * (len(shape) - axis - 1))
        result = [1 if i == axis else e for i, e in enumerate(shape)]
        far = g.add("Add", [g.add("Tanh", [x], shape), g.constant(large)], shape)
        found = g.add(kind, [far], result, axis=axis, keepdims=1)
        g.shapes.pop(found), g.shapes.pop(far)
        return g.add("Mul", [g.add("Cast", [found], result, to=TensorProto.FLOAT), g.constant(np.float32(.1))], result)
    x, shape = g.pick(lambda s: len(s) > 1 and not all(map(fixed, s)))
    if x is None or fixed(shape[0]) or not all(map(fixed, shape[1:])):
        return None
    # what exporters write for view(batch, -1)
    extents = g.add("Shape", [x], (len(shape),))
    first = g.add("Gather", [extents, g.constant(np.int64(0))], ())
    wanted = g.add("Concat", [g.add("Unsqueeze", [first, g.integers(0)], (1,)), g.integers(-1)], (2,), axis=0)
    for name in (extents, first, g.nodes[-2].output[0], wanted):
        g.shapes.pop(name)
    return g.add("Reshape", [x, wanted], (shape[0], elements(shape[1:])))


MAKERS = [unary] * 3 + [with_constant] * 5 + [of_two] * 3 + [product] * 4 + [convolution] * 4 + [
    transposed_convolution, pool, pool, normalization, normalization, reduction, reduction, along, transposition, transposition,
    reshape, reshape, concatenation, concatenation, parts, parts, larger, larger, other]
