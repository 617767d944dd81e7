"""Quantized networks for random graphs: bytes between QuantizeLinear and DequantizeLinear, products of those in all forms. Scales are powers of
two, so that sums of floats are exact: no value falls on the other side of a step because terms are added in another order."""

import numpy as np
from onnx import TensorProto

from graph_builder import fixed, joined
from random_layers import concatenation, image, parts, reshape, transposition, window

FLOAT, UINT8, INT8, INT32 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT32
STEP = 2.**-5 # of what is quantized: bytes reach from -4 to 4


def zero_point(g, kind):
    low, high = (0, 256) if kind == UINT8 else (-128, 128)
    value = g.some(0, 0, 128 + low, int(g.numbers.integers(low, high)))
    return g.constant(np.array(value, np.uint8 if kind == UINT8 else np.int8))


def quantized(g, x, shape, *kinds):
    """Its bytes with their step and zero point."""
    kind = g.some(*kinds or (UINT8, INT8))
    step, zero = g.constant(np.float32(STEP * g.some(.5, 1, 1))), zero_point(g, kind)
    with g.of(kind):
        return g.add("QuantizeLinear", [x, step, zero], shape), step, zero


def weight_of(g, shape, outputs, depth):
    """Bytes, scales and zero points of a constant, of the tensor or along `outputs`."""
    kind, count = g.some(INT8, INT8, UINT8), shape[outputs]
    dtype, low = (np.int8, -128) if kind == INT8 else (np.uint8, 0)
    values = g.numbers.integers(low, low + 256, shape).astype(dtype)
    each = g.some(True, False)
    exponent = -7 - int(np.log2(depth) / 2)
    scale = np.exp2(exponent - g.numbers.integers(0, 2, count if each else ())).astype(np.float32)
    middle = g.numbers.integers(low, low + 256, count if each else ()) if g.some(0, 1) and kind == UINT8 else np.full(count if each else (), 128 + low)
    return g.constant(values), g.constant(scale), g.constant(np.asarray(middle).astype(dtype))


def dequantized(g, *operands, shape, **attributes):
    return g.add("DequantizeLinear", list(operands), shape, **attributes)


def requantization(g):
    """What stands between two layers."""
    x, shape = g.pick()
    return dequantized(g, *quantized(g, x, shape), shape=shape)


def bias(g, count):
    return g.constant((g.numbers.integers(-64, 64, count) / 64).astype(np.float32))


def scaled(g, sums, shape):
    """Sums of integers as numbers near one."""
    return g.add("Mul", [g.add("Cast", [sums], shape, to=FLOAT), g.constant(np.float32(2.**-15))], shape)


def convolution(g):
    x, shape = image(g)
    if x is None:
        return None
    channels = shape[1]
    groups = g.some(*[n for n in (1, 1, 2, 3, channels) if channels % n == 0])
    outputs = groups * g.some(1, 2, 5, 16) if groups > 1 else g.some(1, 6, 16, 33)
    kernel, strides, dilations, pads, result = window(g, shape[2:])
    if min(result) < 1:
        return None
    attributes = dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, group=groups)
    out, weight = (shape[0], outputs, *result), (outputs, channels // groups, *kernel)
    w, scale, middle = weight_of(g, weight, 0, int(np.prod(weight[1:])))
    form = g.some("Conv", "Conv", "ConvInteger", "QLinearConv")
    if form == "Conv":
        operands = [dequantized(g, *quantized(g, x, shape), shape=shape), dequantized(g, w, scale, middle, shape=weight, axis=0)]
        return g.add(form, operands + [bias(g, outputs)] * g.some(0, 1), out, **attributes)
    data, step, zero = quantized(g, x, shape, UINT8)
    if form == "ConvInteger":
        with g.of(INT32):
            sums = g.add(form, [data, w, zero], out, **attributes)
        return scaled(g, sums, out)
    own, after = g.constant(np.float32(STEP)), zero_point(g, UINT8)
    with g.of(UINT8):
        y = g.add(form, [data, step, zero, w, scale, middle, own, after], out, **attributes)
    return dequantized(g, y, own, after, shape=out)


def product(g):
    x, shape = g.pick(lambda s: len(s) >= 2 and fixed(s[-1]))
    if x is None:
        return None
    depth, outputs = shape[-1], g.some(1, 5, 24, 40)
    out = (*shape[:-1], outputs)
    form = g.some("MatMul", "MatMul", "MatMulInteger", *["Gemm"] * (len(shape) == 2))
    turned = form == "Gemm" and g.some(0, 1)
    weight = (outputs, depth) if turned else (depth, outputs)
    w = weight_of(g, weight, 1 - turned, depth)
    if form == "MatMulInteger":
        data, _, zero = quantized(g, x, shape, UINT8)
        with g.of(INT32):
            sums = g.add(form, [data, w[0], zero], out)
        return scaled(g, sums, out)
    operands = [dequantized(g, *quantized(g, x, shape), shape=shape), dequantized(g, *w, shape=weight, axis=1 - turned)]
    if form == "MatMul":
        return g.add(form, operands, out)
    return g.add(form, operands + [bias(g, outputs)] * g.some(0, 1), out, transB=turned, alpha=g.some(1., .5), beta=g.some(1., 2.))


def simple(g):
    x, shape = g.pick()
    kind = g.some("Relu", "Relu", "Add", "Sub", "Max", "MaxPool")
    if kind == "Relu":
        return g.add(kind, [x], shape)
    if kind == "MaxPool":
        x, shape = image(g)
        if x is None:
            return None
        kernel, strides, dilations, pads, result = window(g, shape[2:])
        return min(result) > 0 and g.add(kind, [x], (*shape[:2], *result), kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads)
    y, other = g.pick(lambda s: joined(s, shape) is not None)
    return g.add(kind, [x, y], joined(shape, other))


MAKERS = [convolution] * 4 + [product] * 4 + [requantization] * 2 + [simple] * 3 + [transposition, reshape, concatenation, parts]
