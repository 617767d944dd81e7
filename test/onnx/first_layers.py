"""Convolutions of the caller's images, which lie channels first; values from the definition of the operator."""

from types import SimpleNamespace

import numpy as np
from onnx import helper, numpy_helper


def convolved(x, weight, strides, pads):
    x = np.pad(x.astype(float), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    height, width = ((size - taps) // stride + 1 for size, taps, stride in zip(x.shape[2:], weight.shape[2:], strides))
    y = np.zeros((x.shape[0], weight.shape[0], height, width))
    for r, s in np.ndindex(*weight.shape[2:]):
        part = x[:, :, r:r + strides[0] * (height - 1) + 1:strides[0], s:s + strides[1] * (width - 1) + 1:strides[1]]
        y += np.einsum("nchw,oc->nohw", part, weight[:, :, r, s])
    return y


def first_layer(name, image, weight, strides=(1, 1), pads=(0, 0, 0, 0), kind=np.float32, behind=False, readers=1):
    """One convolution, or several of the same image; with a bias and an activation, or as it is; perhaps another one behind it."""
    random = np.random.default_rng(17)
    numbers = lambda *extents: random.uniform(-1, 1, extents).astype(kind)
    x, constants, nodes, outputs = numbers(*image), {}, [], {}
    for i in range(readers):
        constants |= {f"weight{i}": numbers(*weight), f"bias{i}": numbers(weight[0])}
        y = convolved(x, constants[f"weight{i}"], strides, pads)
        operands = ["x", f"weight{i}"]
        if behind or i:
            operands.append(f"bias{i}")
            y += constants[f"bias{i}"][:, None, None]
        nodes.append(helper.make_node("Conv", operands, [f"sums{i}"], strides=strides, pads=pads))
        nodes.append(helper.make_node("Relu", [f"sums{i}"], [f"y{i}"]))
        outputs[f"y{i}"] = np.maximum(y, 0).astype(kind)
    if behind:
        constants["filters"] = numbers(5, weight[0], 3, 3)
        nodes.append(helper.make_node("Conv", ["y0", "filters"], ["z"], pads=[1] * 4))
        outputs = {"z": convolved(outputs["y0"], constants["filters"], (1, 1), (1,) * 4).astype(kind)}
    info = lambda label, array: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    graph = helper.make_graph(nodes, name, [info("x", x)], [info(*output) for output in outputs.items()],
                              [numpy_helper.from_array(array, key) for key, array in constants.items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])
    data = [numpy_helper.from_array(x, "x")], [numpy_helper.from_array(array, key) for key, array in outputs.items()]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def cases():
    return [
        first_layer("first_layer_stem", (1, 3, 30, 33), (24, 3, 7, 7), (2, 2), (3, 3, 3, 3), behind=True),
        first_layer("first_layer_batch", (3, 4, 9, 21), (33, 4, 3, 3), pads=(1, 1, 1, 1), behind=True),
        first_layer("first_layer_unequal", (2, 2, 12, 17), (7, 2, 3, 4), (3, 2), (0, 2, 1, 1)),
        first_layer("first_layer_patches", (1, 3, 16, 24), (20, 3, 4, 4), (4, 4)),
        first_layer("first_layer_rest", (1, 3, 11, 14), (8, 3, 2, 2), (3, 3)),
        first_layer("first_layer_halo", (1, 3, 3, 5), (16, 3, 3, 3), pads=(4, 3, 4, 5)),
        first_layer("first_layer_lines", (2, 5, 1, 40), (40, 5, 1, 5), pads=(0, 2, 0, 2)),
        first_layer("first_layer_double", (1, 3, 20, 20), (18, 3, 3, 3), (2, 2), (1, 1, 1, 1), np.float64, behind=True),
        first_layer("first_layers_beside", (1, 3, 10, 12), (12, 3, 3, 3), pads=(1, 1, 1, 1), readers=2),
        first_layer("first_layer_wide", (1, 3, 5, 2000), (6, 3, 5, 5), pads=(2, 2, 2, 2)),
    ]
