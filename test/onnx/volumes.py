"""Layers of volumes between convolutions, so that their images have halos; values from the definitions of the operators."""

from types import SimpleNamespace

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def convolved(x, weight, strides=(1, 1, 1), pads=(0,) * 6, dilations=(1, 1, 1), group=1):
    x = np.pad(x, ((0, 0), (0, 0), *zip(pads[:3], pads[3:])))
    inputs, outputs = x.shape[1] // group, weight.shape[0] // group
    extents = [(size - (taps - 1) * dilation - 1) // stride + 1
               for size, taps, stride, dilation in zip(x.shape[2:], weight.shape[2:], strides, dilations)]
    y = np.zeros((x.shape[0], weight.shape[0], *extents))
    for taps in np.ndindex(*weight.shape[2:]):
        part = x[(..., *(slice(t * d, t * d + s * (n - 1) + 1, s) for t, d, s, n in zip(taps, dilations, strides, extents)))]
        for g in range(group):
            y[:, g * outputs:][:, :outputs] += np.einsum("ncdhw,oc->nodhw", part[:, g * inputs:][:, :inputs],
                                                         weight[(slice(g * outputs, (g + 1) * outputs), slice(None), *taps)])
    return y.astype(np.float32)


def scattered(x, weight, strides=(1, 1, 1), pads=(0,) * 6, output_padding=(0, 0, 0)):
    whole = [(size - 1) * stride + taps + more
             for size, stride, taps, more in zip(x.shape[2:], strides, weight.shape[2:], output_padding)]
    y = np.zeros((x.shape[0], weight.shape[1], *whole))
    for taps in np.ndindex(*weight.shape[2:]):
        at = tuple(slice(t, t + s * (n - 1) + 1, s) for t, s, n in zip(taps, strides, x.shape[2:]))
        y[(slice(None), slice(None), *at)] += np.einsum("ncdhw,co->nodhw", x, weight[(slice(None), slice(None), *taps)])
    return y[(..., *(slice(low, size - high) for low, high, size in zip(pads[:3], pads[3:], whole)))].astype(np.float32)


def pooled(x, kernel, strides, pads=(0,) * 6, join=np.maximum, start=-np.inf):
    x = np.pad(x, ((0, 0), (0, 0), *zip(pads[:3], pads[3:])), constant_values=start)
    extents = [(size - taps) // stride + 1 for size, taps, stride in zip(x.shape[2:], kernel, strides)]
    y = np.full((*x.shape[:2], *extents), start, np.float32)
    for taps in np.ndindex(*kernel):
        y = join(y, x[(..., *(slice(t, t + s * (n - 1) + 1, s) for t, s, n in zip(taps, strides, extents)))])
    return y


def volumes(name, kind, shape=None, channels=8, last=3, skip=False, volume=(5, 6, 7), batch=2, **attributes):
    """A layer of `channels` channels behind a convolution and in front of another one, beside which it is concatenated. All
    numbers are positive, so that no sum loses digits."""
    random = np.random.default_rng(9)
    numbers = lambda *extents: random.uniform(.5, 1.5, extents).astype(np.float32)
    x, first, bias = numbers(batch, 3, *volume), numbers(channels, 3, 3, 3, 3), numbers(channels)
    hidden = np.maximum(convolved(x, first, pads=(1,) * 6) + bias[:, None, None, None], 0)
    constants, inputs = {"first": first, "bias": bias}, ["hidden"]
    if shape:
        constants["weight"] = numbers(*shape)
        inputs.append("weight")
    if kind == "InstanceNormalization":
        constants |= {"scale": numbers(channels), "shift": numbers(channels) + 6}
        inputs += ["scale", "shift"]
        centred = hidden - hidden.mean((2, 3, 4), keepdims=True)
        made = centred / np.sqrt((centred ** 2).mean((2, 3, 4), keepdims=True) + np.float32(1e-5))
        made = made * constants["scale"][:, None, None, None] + constants["shift"][:, None, None, None]
    elif kind == "Conv":
        made = convolved(hidden, constants["weight"], **attributes)
    elif kind == "ConvTranspose":
        made = scattered(hidden, constants["weight"], **attributes)
    elif kind == "MaxPool":
        made = pooled(hidden, attributes["kernel_shape"], attributes["strides"], attributes.get("pads", (0,) * 6))
    else:
        count = np.float32(np.prod(attributes["kernel_shape"]))
        made = pooled(hidden, attributes["kernel_shape"], attributes["strides"], join=np.add, start=0) / count
    positive = np.maximum(made, 0)
    nodes = [helper.make_node("Conv", ["x", "first", "bias"], ["sums"], pads=[1] * 6), helper.make_node("Relu", ["sums"], ["hidden"]),
             helper.make_node(kind, inputs, ["made"], **attributes), helper.make_node("Relu", ["made"], ["positive"])]
    joined, before = positive, "positive"
    if skip:
        joined, before = np.concatenate([positive, hidden], 1), "joined"
        nodes.append(helper.make_node("Concat", ["positive", "hidden"], ["joined"], axis=1))
    constants["filters"] = numbers(last, joined.shape[1], 3, 3, 3)
    nodes.append(helper.make_node("Conv", [before, "filters"], ["y"], pads=[1] * 6))
    y = convolved(joined, constants["filters"], pads=(1,) * 6)
    value = lambda label, array: helper.make_tensor_value_info(label, TensorProto.FLOAT, array.shape)
    graph = helper.make_graph(nodes, name, [value("x", x)], [value("y", y)],
                              [numpy_helper.from_array(array, key) for key, array in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    return SimpleNamespace(name=f"test_{name}", model=model,
                           data_sets=[([numpy_helper.from_array(x, "x")], [numpy_helper.from_array(y, "y")])])


def cases():
    return [
        volumes("volume_same", "Conv", (16, 16, 3, 3, 3), 16, 16, skip=True, volume=(6, 9, 10), pads=(1,) * 6),
        volumes("volume_strided", "Conv", (5, 8, 3, 3, 3), strides=(2, 2, 2), pads=(1,) * 6),
        volumes("volume_unequal", "Conv", (7, 8, 3, 1, 2), strides=(2, 1, 1), dilations=(2, 1, 2), pads=(2, 0, 1, 1, 0, 2)),
        volumes("volume_of_planes", "Conv", (6, 8, 1, 3, 3), pads=(0, 1, 1, 0, 1, 1)),
        volumes("volume_along_depth", "Conv", (6, 8, 3, 1, 1), strides=(2, 1, 1), pads=(1, 0, 0, 1, 0, 0)),
        volumes("volume_groups", "Conv", (8, 4, 3, 3, 3), group=2, pads=(1,) * 6, skip=True),
        volumes("volume_depthwise", "Conv", (8, 1, 3, 3, 3), group=8, pads=(1,) * 6),
        volumes("volume_depthwise_strided", "Conv", (8, 1, 2, 3, 1), group=8, strides=(1, 2, 1), dilations=(2, 1, 1), pads=(1, 1, 0, 1, 1, 0)),
        volumes("volume_transposed_blocks", "ConvTranspose", (8, 6, 2, 2, 2), strides=(2, 2, 2)),
        volumes("volume_transposed", "ConvTranspose", (8, 5, 4, 4, 4), strides=(2, 2, 2), pads=(1,) * 6),
        volumes("volume_transposed_unequal", "ConvTranspose", (8, 5, 3, 2, 4), strides=(1, 2, 3), pads=(1, 0, 1, 1, 0, 0)),
        volumes("volume_transposed_completed", "ConvTranspose", (8, 5, 3, 3, 3), strides=(2, 2, 2), pads=(1,) * 6, output_padding=(1, 1, 1)),
        volumes("volume_pool", "MaxPool", kernel_shape=(2, 2, 2), strides=(2, 2, 2)),
        volumes("volume_pool_padded", "MaxPool", kernel_shape=(3, 2, 3), strides=(1, 1, 2), pads=(1, 0, 1, 1, 1, 1), batch=1),
        volumes("volume_pool_same", "MaxPool", kernel_shape=(3, 3, 3), strides=(1, 1, 1), pads=(1,) * 6, skip=True),
        volumes("volume_norm", "InstanceNormalization", skip=True),
        volumes("volume_mean", "AveragePool", kernel_shape=(2, 3, 2), strides=(2, 1, 2)),
    ]
