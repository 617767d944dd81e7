"""Networks of images: convolutions, norms over images and groups of channels, resizing, skip connections, attention of pixels."""

import math

import numpy as np

from random_layers import image as any_image


def image(g, accept=lambda shape: True):
    return g.pick(lambda s: len(s) == 4 and all(map(lambda e: isinstance(e, int), s[1:])) and min(s[1:]) > 1 and accept(s))


def convolution(g):
    """That keeps the size, or halves it; perhaps of each channel by itself, perhaps with an activation behind."""
    x, shape = image(g)
    if x is None:
        return None
    kernel, stride = g.some(1, 3, 3, 5), g.some(1, 1, 1, 2)
    by_channel = g.random.random() < .15
    channels = shape[1] if by_channel else g.some(4, 8, 16, 16, 24)
    depth = (1 if by_channel else shape[1])
    operands = [x, g.weight(channels, depth, kernel, kernel, depth=depth * kernel * kernel)]
    if g.some(0, 1):
        operands.append(g.weight(channels))
    size = [(e + 2 * (kernel // 2) - kernel) // stride + 1 for e in shape[2:]]
    y = g.add("Conv", operands, (shape[0], channels, *size), kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4,
              group=channels if by_channel else 1)
    return activation(g, y) if g.some(0, 1) else y


def activation(g, x=None):
    x, shape = (x, g.shapes[x]) if x else image(g)
    if x is None:
        return None
    kind = g.some("Relu", "Sigmoid", "Tanh", "silu")
    if kind != "silu":
        return g.add(kind, [x], shape)
    return g.add("Mul", [x, g.add("Sigmoid", [x], shape)], shape)


def group_norm(g):
    """As one operator, or as exporters write it: the norm of [n, groups, rest]."""
    x, shape = image(g, lambda s: s[1] % 2 == 0)
    if x is None:
        return None
    groups = g.some(*[d for d in (1, 2, 4, shape[1]) if shape[1] % d == 0])
    if g.opset >= 21 and g.some(0, 1):
        return g.add("GroupNormalization", [x, g.weight(shape[1]), g.weight(shape[1])], shape, num_groups=groups)
    rows = (shape[0], groups, math.prod(shape[1:]) // groups)
    scale, bias = (g.constant(np.ones(groups, np.float32)), g.constant(np.zeros(groups, np.float32))) if g.some(0, 1) else (
        g.weight(groups), g.weight(groups))
    y = g.add("Reshape", [x, g.integers(0, groups, -1)], rows)
    y = g.add("InstanceNormalization", [y, scale, bias], rows)
    y = g.add("Reshape", [y, g.integers(0, *shape[1:])], shape)
    y = g.add("Mul", [y, g.weight(shape[1], 1, 1)], shape)
    return g.add("Add", [y, g.weight(shape[1], 1, 1)], shape)


def image_norm(g):
    x, shape = image(g)
    if x is None:
        return None
    if g.some(0, 1):
        return g.add("InstanceNormalization", [x, g.weight(shape[1]), g.weight(shape[1])], shape)
    single = (*shape[:2], 1, 1)
    far = g.add("Sub", [x, g.add("ReduceMean", [x], single, axes=[2, 3], keepdims=1)], shape)
    spread = g.add("ReduceMean", [g.add("Mul", [far, far], shape)], single, axes=[2, 3], keepdims=1)
    return g.add("Div", [far, g.add("Sqrt", [g.add("Add", [spread, g.number(1e-3)], single)], single)], shape)


def channel_norm(g):
    """A norm over the channels of each pixel, turned there and back."""
    x, shape = image(g)
    if x is None:
        return None
    last = (shape[0], *shape[2:], shape[1])
    y = g.add("Transpose", [x], last, perm=[0, 2, 3, 1])
    y = g.add("LayerNormalization", [y, g.weight(shape[1]), g.weight(shape[1])], last, axis=-1)
    return g.add("Transpose", [y], shape, perm=[0, 3, 1, 2])


def largest(g):
    """The largest of each group of channels, or of each row of the image."""
    x, shape = image(g, lambda s: s[1] % 2 == 0)
    if x is None:
        return None
    rows = (shape[0], 2, math.prod(shape[1:]) // 2)
    y = g.add("Reshape", [x, g.integers(0, 2, -1)], rows)
    if g.some(0, 1):
        y = g.add("Sub", [y, g.add("ReduceMax", [y], (*rows[:2], 1), axes=[2], keepdims=1)], rows)
    else:
        y = g.add("Softmax", [y], rows, axis=-1)
    return g.add("Reshape", [y, g.integers(0, *shape[1:])], shape)


def larger(g):
    """Every pixel several times, or between its neighbours."""
    x, shape = image(g, lambda s: max(s[2:]) <= 8)
    if x is None:
        return None
    rows, columns = g.some((2, 2), (2, 2), (1, 2), (3, 2))
    result = (*shape[:2], shape[2] * rows, shape[3] * columns)
    mode = g.some(dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"), dict(mode="linear"),
                  dict(mode="linear", coordinate_transformation_mode="align_corners"))
    return g.add("Resize", [x, "", g.constant(np.array([1, 1, rows, columns], np.float32))], result, **mode)


def smaller(g):
    x, shape = image(g, lambda s: min(s[2:]) >= 4)
    if x is None:
        return None
    result = (*shape[:2], shape[2] // 2, shape[3] // 2)
    return g.add(g.some("MaxPool", "AveragePool"), [x], result, kernel_shape=[2, 2], strides=[2, 2])


def skip(g):
    """A sum or a concatenation of images of one size."""
    x, shape = image(g)
    if x is None:
        return None
    others = [name for name, s in g.shapes.items() if len(s) == 4 and s[0] == shape[0] and s[2:] == shape[2:]]
    equal = [name for name in others if g.shapes[name] == shape and name != x]
    if equal and g.some(0, 1):
        return g.add("Add", [x, g.some(*equal)], shape)
    names = [x, g.some(*others), *([g.some(*others)] if g.some(0, 1) else [])]
    g.random.shuffle(names)
    return g.add("Concat", names, (shape[0], sum(g.shapes[name][1] for name in names), *shape[2:]), axis=1)


def gate(g):
    """Channels scaled by what their means say."""
    x, shape = image(g)
    if x is None:
        return None
    y = g.add("GlobalAveragePool", [x], (*shape[:2], 1, 1))
    y = g.add("Conv", [y, g.weight(shape[1], shape[1], 1, 1, depth=shape[1])], (*shape[:2], 1, 1))
    return g.add("Mul", [x, g.add("Sigmoid", [y], (*shape[:2], 1, 1))], shape)


def attention(g):
    """Of the pixels among each other; queries, keys and values are a third of the channels each, or the image itself."""
    x, shape = image(g, lambda s: s[2] * s[3] <= 64)
    if x is None:
        return None
    n, channels, pixels = shape[0], shape[1], shape[2] * shape[3]
    if g.some(0, 1):
        all_three = g.add("Conv", [x, g.weight(3 * channels, channels, 1, 1, depth=channels)], (n, 3 * channels, *shape[2:]))
        flat = g.add("Reshape", [all_three, g.integers(0, 3, channels, pixels)], (n, 3, channels, pixels))
        parts = [g.add("Gather", [flat, g.constant(np.int64(i))], (n, channels, pixels), axis=1) for i in range(3)]
    else:
        parts = [g.add("Reshape", [x, g.integers(0, channels, pixels)], (n, channels, pixels))] * 3
    q, k, v = parts
    scores = g.add("MatMul", [g.add("Transpose", [q], (n, pixels, channels), perm=[0, 2, 1]), k], (n, pixels, pixels))
    scores = g.add("Softmax", [g.add("Mul", [scores, g.number(channels ** -.5)], (n, pixels, pixels))], (n, pixels, pixels), axis=-1)
    mixed = g.add("MatMul", [v, g.add("Transpose", [scores], (n, pixels, pixels), perm=[0, 2, 1])], (n, channels, pixels))
    return g.add("Reshape", [mixed, g.integers(0, channels, *shape[2:])], shape)


def tokens(g):
    """Pixels as rows of a product, and back."""
    x, shape = image(g)
    if x is None:
        return None
    n, channels, pixels = shape[0], shape[1], shape[2] * shape[3]
    y = g.add("Reshape", [x, g.integers(0, channels, pixels)], (n, channels, pixels))
    y = g.add("Transpose", [y], (n, pixels, channels), perm=[0, 2, 1])
    y = g.add("MatMul", [y, g.weight(channels, channels, depth=channels)], (n, pixels, channels))
    y = g.add("Transpose", [y], (n, channels, pixels), perm=[0, 2, 1])
    return g.add("Reshape", [y, g.integers(0, channels, *shape[2:])], shape)


def flat(g):
    """All of an image as one row of numbers, or its rows joined."""
    x, shape = any_image(g, (4,))
    if x is None:
        return None
    result = g.some((shape[0], math.prod(shape[1:])), (*shape[:2], shape[2] * shape[3]))
    return g.add("Reshape", [x, g.integers(0, *result[1:])], result)


MAKERS = [convolution] * 8 + [skip] * 4 + [larger] * 3 + [group_norm] * 3 + [image_norm, image_norm, channel_norm, largest, smaller, gate,
                                                                             attention, tokens, activation, flat]
