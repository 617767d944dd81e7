"""What networks hold as a whole, for larger random graphs: attention, inverted residuals, recurrent layers, quantization."""

import math

import numpy as np
from onnx import TensorProto

from graph_builder import elements, fixed, joined
from random_layers import MAKERS, image


def attention(g):
    """Self-attention of [batch, sequence, width], as exporters write it."""
    x, shape = g.pick(lambda s: len(s) == 3 and fixed(s[2]) and s[2] % 4 == 0 and sum(not fixed(e) for e in s[:2]) < 2)
    if x is None:
        return None
    batch, sequence, width = shape
    heads = g.some(1, 2, 4)
    inner = width // heads
    extent = lambda e: 0 if not fixed(e) else e # a copy of the same dimension

    def part(order):
        sums = g.add("MatMul", [x, g.weight(width, width, depth=width)], shape)
        if g.some(0, 1):
            sums = g.add("Add", [sums, g.weight(width)], shape)
        split = g.add("Reshape", [sums, g.integers(extent(batch), extent(sequence), heads, inner)], (batch, sequence, heads, inner))
        return g.add("Transpose", [split], [(batch, sequence, heads, inner)[i] for i in order], perm=order)

    queries, keys, values = part([0, 2, 1, 3]), part([0, 2, 3, 1]), part([0, 2, 1, 3])
    scores = g.add("MatMul", [queries, keys], (batch, heads, sequence, sequence))
    scores = g.add("Mul", [scores, g.constant(np.float32(inner ** -.5))], (batch, heads, sequence, sequence))
    if fixed(sequence) and g.some(0, 1):
        mask = np.triu(np.full((sequence, sequence), -1e9, np.float32), 1)
        scores = g.add("Add", [scores, g.constant(mask)], (batch, heads, sequence, sequence))
        g.shapes.pop(scores) # nobody else may read what is masked
    weights = g.add("Softmax", [scores], (batch, heads, sequence, sequence), axis=-1)
    mixed = g.add("MatMul", [weights, values], (batch, heads, sequence, inner))
    back = g.add("Transpose", [mixed], (batch, sequence, heads, inner), perm=[0, 2, 1, 3])
    whole = g.add("Reshape", [back, g.integers(extent(batch), extent(sequence), width)], shape)
    return g.add("Add", [whole, x], shape) if g.some(0, 1) else whole


def inverted_residual(g):
    x, shape = image(g, (4,))
    if x is None or shape[1] > 40 or min(shape[2:]) < 3:
        return None
    n, c, h, w = shape
    wide, stride = c * g.some(2, 3), g.some(1, 1, 2)
    active = lambda value, s: g.add("Clip", [value, g.constant(np.float32(0)), g.constant(np.float32(6))], s) if g.some(0, 1) else \
        g.add("HardSwish", [value], s)
    normal = lambda value, s: g.add("BatchNormalization", [
        value, g.weight(s[1]), g.weight(s[1]), g.weight(s[1]),
        g.constant((np.abs(g.numbers.standard_normal(s[1])) + .5).astype(np.float32))], s)
    inside, outside = (n, wide, h, w), (n, wide, (h - 1) // stride + 1, (w - 1) // stride + 1)
    y = active(normal(g.add("Conv", [x, g.weight(wide, c, 1, 1, depth=c)], inside), inside), inside)
    y = g.add("Conv", [y, g.weight(wide, 1, 3, 3, depth=9)], outside, pads=[1] * 4, strides=[stride] * 2, group=wide)
    y = active(normal(y, outside), outside)
    if g.some(0, 1): # a gate per channel
        gate = g.add("GlobalAveragePool", [y], (n, wide, 1, 1))
        gate = g.add("Conv", [gate, g.weight(4, wide, 1, 1, depth=wide), g.weight(4)], (n, 4, 1, 1))
        gate = g.add("Conv", [g.add("Relu", [gate], (n, 4, 1, 1)), g.weight(wide, 4, 1, 1, depth=4)], (n, wide, 1, 1))
        y = g.add("Mul", [y, g.add("HardSigmoid", [gate], (n, wide, 1, 1))], outside)
    last = (n, c, *outside[2:])
    y = normal(g.add("Conv", [y, g.weight(c, wide, 1, 1, depth=wide)], last), last)
    return g.add("Add", [x, y], last) if stride == 1 else y


def recurrent(g):
    x, shape = g.pick(lambda s: len(s) == 3 and fixed(s[0]) and fixed(s[2]) and s[0] <= 12)
    if x is None:
        return None
    steps, batch, width = shape
    kind, hidden = g.some("LSTM", "GRU", "RNN"), g.some(3, 8)
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind] * hidden
    direction, ways = g.some(("forward", 1), ("reverse", 1), ("bidirectional", 2))
    operands = [x, g.weight(ways, gates, width, depth=width), g.weight(ways, gates, hidden, depth=hidden)]
    if g.some(0, 1):
        operands.append(g.weight(ways, 2 * gates))
    more = {"linear_before_reset": g.some(0, 1)} if kind == "GRU" else {}
    all_states, last = g.add(kind, operands, (steps, ways, batch, hidden), (ways, batch, hidden), hidden_size=hidden,
                             direction=direction, **more)
    return all_states, last


def quantization(g):
    x, shape = g.inputs[0] # computed values may lie on either side of a step
    scale, zero = g.constant(np.float32(.04)), g.constant(np.uint8(128))
    made = g.add("QuantizeLinear", [x, scale, zero], shape)
    g.shapes.pop(made)
    return g.add("DequantizeLinear", [made, scale, zero], shape)


def half(g):
    x, shape = g.pick()
    made = g.add("Cast", [x], shape, to=TensorProto.FLOAT16)
    g.shapes.pop(made)
    if g.some(0, 1):
        made = g.add("Mul", [made, g.constant(np.float16(.5))], shape)
        g.shapes.pop(made)
    return g.add("Cast", [made], shape, to=TensorProto.FLOAT)


def group_normalization(g):
    x, shape = image(g, (3, 4))
    if x is None or shape[1] % 2 or not all(map(fixed, shape)):
        return None
    groups = (shape[0], 2, elements(shape[1:]) // 2)
    split = g.add("Reshape", [x, g.integers(*groups)], groups)
    normal = g.add("InstanceNormalization", [split, g.constant(np.ones(2, np.float32)), g.constant(np.zeros(2, np.float32))], groups)
    whole = g.add("Reshape", [normal, g.integers(*shape)], shape)
    return g.add("Mul", [whole, g.weight(shape[1], *[1] * (len(shape) - 2))], shape)


def embedding(g):
    """Rows of a table by the places of largest elements."""
    x, shape = g.pick(lambda s: len(s) in (2, 3) and fixed(s[-1]) and 1 < s[-1] < 40)
    if x is None:
        return None
    far = g.constant((g.numbers.permutation(shape[-1]) * 9).astype(np.float32))
    spread = g.add("Add", [g.add("Tanh", [x], shape), far], shape)
    places = g.add("ArgMax", [spread], shape[:-1], axis=-1, keepdims=0)
    g.shapes.pop(places), g.shapes.pop(spread)
    return g.add("Gather", [g.weight(shape[-1], 6), places], (*shape[:-1], 6))


def same_convolution(g):
    x, shape = image(g, (3, 4))
    if x is None or min(shape[2:]) < 3:
        return None
    stride = g.some(1, 2)
    result = [(e + stride - 1) // stride for e in shape[2:]]
    kernel = [g.some(2, 3, 5) for _ in shape[2:]]
    return g.add("Conv", [x, g.weight(8, shape[1], *kernel, depth=shape[1] * math.prod(kernel))], (shape[0], 8, *result),
                 auto_pad=g.some("SAME_UPPER", "SAME_LOWER"), strides=[stride] * len(kernel), kernel_shape=kernel)


def difference_of_parts(g):
    """Two slices of one value: neighbours along an axis."""
    x, shape = g.pick(lambda s: any(fixed(e) and e > 1 for e in s))
    if x is None:
        return None
    axis = g.axis(shape, lambda e: fixed(e) and e > 1)
    result = (*shape[:axis], shape[axis] - 1, *shape[axis + 1:])
    part = lambda first, end: g.add("Slice", [x, g.integers(first), g.integers(end), g.integers(axis)], result)
    return g.add("Sub", [part(1, 2 ** 62), part(0, -1)], joined(result, result))


BLOCKS = MAKERS + [attention, attention, inverted_residual, inverted_residual, recurrent, quantization, half, group_normalization,
                   embedding, same_convolution, difference_of_parts]
STARTS = [("n", 16, 14, 14), (1, 32, 7, 7), (2, 64), ("n", "m", 16), (3, "n", 12), (1, "m", 8), ("n", 24, 10), (7, "n", 20),
          ("n", 3, 20, 24), (1, 8, 5, 6, 4)]
