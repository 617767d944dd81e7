"""Integers and conditions for random graphs: arithmetic of int32 and int64, comparisons, indices that are computed, scatters."""

import numpy as np
from onnx import TensorProto

from graph_builder import DTYPES, elements, fixed, joined
from random_layers import concatenation, larger, parts, reshape, transposition

FLOAT, INT64, INT32, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL
UINT8, INT8 = TensorProto.UINT8, TensorProto.INT8


def small(g, x, shape):
    """Between -6 and 6: so that products of many stay far from the largest integer."""
    return g.add("Mod", [x, g.number(g.some(7, -7))], shape, fmod=0) if g.some(0, 1, 1) else \
        g.add("Clip", [x, g.number(-6), g.number(6)], shape)


def arithmetic(g):
    with g.of(g.some(INT64, INT32)):
        x, shape = g.pick()
        if x is None:
            return None
        kind = g.some("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "Pow", "Neg", "Abs", "Sign", "Where")
        if kind in ("Neg", "Abs", "Sign"):
            return g.add(kind, [x], shape)
        y, other = g.pick(lambda s: joined(s, shape) is not None)
        if kind in ("Div", "Mod", "Pow") or g.some(0, 1):
            other = [e if fixed(e) and g.some(0, 1) else 1 for e in shape][g.random.randrange(len(shape) + 1):]
            values = g.numbers.integers(0, 3, other) if kind == "Pow" else g.numbers.integers(1, 6, other) * g.numbers.choice([1, -1], other)
            y = g.constant(np.asarray(values).astype(DTYPES[g.type]))
        result = joined(shape, other)
        if kind == "Where":
            condition = comparison(g, x, shape)
            return g.add(kind, [condition, y, x], result)
        return small(g, g.add(kind, [x, y], result), result)


def comparison(g, x, shape):
    """Of integers or numbers with a constant between their values."""
    limit = g.constant(np.float32(.3137)) if g.type == FLOAT else g.number(g.some(0, 1, 2))
    kind = g.some("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal") if g.type != FLOAT else g.some("Greater", "Less")
    with g.of(BOOL):
        return g.add(kind, [x, limit], shape)


def condition(g):
    kind = g.some("compare", "compare", "not", "two", "where", "isnan")
    if kind == "compare":
        with g.of(g.some(FLOAT, INT64, INT32)):
            x, shape = g.pick()
            return x and comparison(g, x, shape)
    if kind == "isnan":
        x, shape = g.pick()
        with g.of(BOOL):
            return g.add("IsNaN", [x], shape)
    with g.of(BOOL):
        x, shape = g.pick()
        if x is None:
            return None
        if kind == "not":
            return g.add("Not", [x], shape)
        if kind == "two":
            y, other = g.pick(lambda s: joined(s, shape) is not None)
            return g.add(g.some("And", "Or", "Xor"), [x, y], joined(shape, other))
    with g.of(g.some(FLOAT, INT64, INT32, BOOL)):
        y, other = g.pick(lambda s: joined(s, shape) is not None)
        if y is None:
            return None
        otherwise = g.number(1) if g.some(0, 1) else y
        return g.add("Where", [x, y, otherwise] if g.some(0, 1) else [x, otherwise, y], joined(shape, other))


def cast(g):
    """Integers and conditions to another type. Never computed numbers to integers: those may fall on either side of a step."""
    source = g.some(INT64, INT32, BOOL)
    with g.of(source):
        x, shape = g.pick()
    if x is None:
        return None
    target = g.some(FLOAT, FLOAT, INT64, INT32, BOOL)
    with g.of(target):
        made = g.add("Cast", [x], shape, to=target)
        if target == FLOAT:
            return g.add("Mul", [made, g.constant(np.float32(.2))], shape)
        return made


def moved(g):
    """The layout of integers and conditions."""
    with g.of(g.some(INT64, INT32, BOOL)):
        if not g.pick()[0]:
            return None
        return g.some(transposition, reshape, concatenation, parts, larger)(g)


def places(g, extent):
    """Indices below an extent and perhaps negative ones, computed from integers; their shape."""
    with g.of(g.some(INT64, INT32)):
        x, shape = g.pick(lambda s: len(s) < 3 and (not all(map(fixed, s)) or elements(s) < 60))
        if x is None:
            return None, None
        # of what is at most 0: from -extent to 0
        return g.add("Mod", [x, g.number(g.some(extent, -extent))], shape, fmod=0), shape


def gather(g):
    with g.of(g.some(FLOAT, FLOAT, INT64)):
        x, shape = g.pick(lambda s: s)
        axis = x and g.axis(shape, fixed)
        if axis is None:
            return None
        indices, extents = places(g, shape[axis])
        if indices is None:
            return None
        if shape[axis] == 1 or len(shape) + len(extents) > 6:
            return None
        kind = g.some("Gather", "Gather", "GatherND")
        if kind == "GatherND" and axis == 0:
            with g.of(INT64):
                wide = g.add("Cast", [indices], extents, to=INT64)
                wide = g.add("Unsqueeze", [wide, g.integers(-1)], (*extents, 1))
            return g.add(kind, [x, wide], (*extents, *shape[1:]))
        return g.add("Gather", [x, indices], (*shape[:axis], *extents, *shape[axis + 1:]), axis=axis)


def counts(g):
    """Sums, extrema and their places, of integers."""
    with g.of(g.some(INT64, INT32)):
        x, shape = g.pick(lambda s: s)
        if x is None:
            return None
        kind = g.some("ReduceSum", "ReduceMax", "ReduceMin", "CumSum", "ArgMax", "ArgMin", "TopK", "OneHot")
        axis = g.axis(shape)
        if kind == "CumSum":
            made = g.add(kind, [x, g.constant(np.int64(axis))], shape, reverse=g.some(0, 1), exclusive=g.some(0, 1))
            return small(g, made, shape)
        if kind in ("ArgMax", "ArgMin"):
            with g.of(INT64):
                keep = g.some(0, 1)
                return g.add(kind, [x], [1 if i == axis else e for i, e in enumerate(shape) if keep or i != axis], axis=axis, keepdims=keep,
                             select_last_index=g.some(0, 1))
        if kind == "TopK":
            axis = g.axis(shape, fixed)
            if axis is None:
                return None
            count = g.random.randint(1, shape[axis])
            result = (*shape[:axis], count, *shape[axis + 1:])
            values, where = g.add(kind, [x, g.integers(count)], result, result, axis=axis, largest=g.some(0, 1))
            g.types[where] = INT64
            return values
        if kind == "OneHot":
            if len(shape) > 3:
                return None
            with g.of(FLOAT):
                at = g.some(-1, 0)
                result = (*shape, 7) if at else (7, *shape)
                return g.add(kind, [x, g.constant(np.int64(7)), g.constant(np.array([.1, .9], np.float32))], result, axis=at)
        axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, len(shape))))
        keep = g.some(0, 1)
        result = [1 if i in axes else e for i, e in enumerate(shape) if keep or i not in axes]
        if kind == "ReduceSum":
            return small(g, g.add(kind, [x, g.integers(*axes)], result, keepdims=keep), result)
        return g.add(kind, [x], result, axes=axes, keepdims=keep)


def scatter(g):
    """Elements or slices of a value replaced, each at most once, or added to."""
    x, shape = g.pick(lambda s: s and all(map(fixed, s)))
    if x is None:
        return None
    if g.some(0, 1):
        return added_up(g, x, shape)
    if g.some(0, 1):
        axis = g.axis(shape)
        count = g.random.randint(1, shape[axis])
        extents = (*shape[:axis], count, *shape[axis + 1:])
        order = g.numbers.permuted(np.broadcast_to(np.arange(shape[axis]).reshape([-1] + [1] * (len(shape) - axis - 1)), shape).copy(), axis=axis)
        indices = np.take(order, range(count), axis=axis)
        return g.add("ScatterElements", [x, g.constant(indices.astype(np.int64)), g.weight(*extents)], shape, axis=axis,
                     **({"reduction": "add"} if g.some(0, 1) else {}))
    rows = g.numbers.permutation(shape[0])[:g.random.randint(1, shape[0])].reshape(-1, 1).astype(np.int64)
    updates, other = g.pick(lambda s: s == (len(rows), *shape[1:]))
    if g.some(0, 1):
        rows = np.where(g.numbers.random(rows.shape) < .3, rows - shape[0], rows)
    return g.add("ScatterND", [x, g.constant(rows), updates or g.weight(len(rows), *shape[1:])], shape,
                 **({"reduction": "add"} if g.some(0, 1) else {}))


def added_up(g, x, shape):
    """Rows added to, or multiplied with, what stands at places that are computed and may meet."""
    indices, extents = places(g, shape[0])
    if indices is None:
        return None
    with g.of(INT64):
        wide = g.add("Unsqueeze", [g.add("Cast", [indices], extents, to=INT64), g.integers(-1)], (*extents, 1))
    result = (*extents, *shape[1:])
    updates, _ = g.pick(lambda s: s == result)
    updates = updates or g.weight(*result) if all(map(fixed, result)) else updates
    if updates is None or len(result) > 6:
        return None
    return g.add("Tanh", [g.add("ScatterND", [x, wide, updates], shape, reduction=g.some("add", "add", "mul"))], shape)


def quantized(g):
    """Products, pools and extrema of bytes, which the input is quantized to."""
    x, shape = g.inputs[0]
    if g.types[x] != FLOAT or not fixed(shape[-1]) or len(shape) < 2:
        return None
    kind = g.some("integer", "dynamic", "linear", "pool", "extremum")
    byte = g.some(UINT8, INT8)
    scale, zero = g.constant(np.float32(.04)), g.constant(np.uint8(g.some(128, 120)) if byte == UINT8 else np.int8(g.some(0, -7)))
    with g.of(byte):
        made = g.add("QuantizeLinear", [x, scale, zero], shape)
        g.shapes.pop(made)
        if kind == "pool":
            if len(shape) != 4 or not all(map(fixed, shape[1:])):
                return None
            result = (*shape[:2], shape[2] - 1, shape[3] - 1)
            made = g.add("MaxPool", [made], result, kernel_shape=[2, 2])
        if kind == "extremum":
            axes = sorted(g.random.sample(range(len(shape)), g.random.randint(1, len(shape))))
            result = [1 if i in axes else e for i, e in enumerate(shape)]
            made = g.add(g.some("ReduceMax", "ReduceMin"), [made], result, axes=axes)
        g.shapes.pop(made, None)
    if kind in ("pool", "extremum"):
        return g.add("DequantizeLinear", [made, scale, zero], result)
    columns = g.some(3, 8, 17)
    right = g.constant(g.numbers.integers(-60, 60, (shape[-1], columns)).astype(np.int8))
    result = (*shape[:-1], columns)
    if kind == "linear":
        of_result = g.constant(np.float32(.06)), g.constant(DTYPES[byte](100 if byte == UINT8 else 3))
        with g.of(byte):
            made = g.add("QLinearMatMul", [made, scale, zero, right, g.constant(np.float32(.013)), g.constant(np.int8(0)), *of_result], result)
            g.shapes.pop(made)
        return g.add("DequantizeLinear", [made, *of_result], result)
    if kind == "dynamic":
        with g.of(UINT8):
            made, scale, zero = g.add("DynamicQuantizeLinear", [x], shape, (), ())
            for name in (made, scale, zero):
                g.shapes.pop(name)
    with g.of(INT32):
        sums = g.add("MatMulInteger", [made, right, zero], result)
        g.shapes.pop(sums)
    numbers = g.add("Cast", [sums], result, to=FLOAT)
    return g.add("Mul", [numbers, scale if kind == "dynamic" else g.constant(np.float32(.0005))], result)


MAKERS = [arithmetic] * 4 + [condition] * 3 + [cast, cast, moved, moved, moved, gather, gather, counts, counts, scatter, quantized]
