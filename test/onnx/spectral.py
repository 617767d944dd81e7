"""A layer of a neural operator: the lowest frequencies of a field, in both directions of its rows, by weights of their own."""

from types import SimpleNamespace

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def complex_product(name, x, w, nodes, constants):
    """[b, i, h, w, 2] by weights [i, o, h, w], in real parts."""
    def add(operation, inputs, **attributes):
        nodes.append(helper.make_node(operation, inputs, [f"{name}{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    real, imaginary = (add("Gather", [x, index], axis=4) for index in ("zero", "one"))
    constants.update({f"{name}r": w.real.astype(np.float32), f"{name}i": w.imag.astype(np.float32)})
    times = lambda a, b: add("Einsum", [a, name + b], equation="bihw,iohw->bohw")
    parts = add("Sub", [times(real, "r"), times(imaginary, "i")]), add("Add", [times(real, "i"), times(imaginary, "r")])
    return add("Concat", [add("Unsqueeze", [part, "last"]) for part in parts], axis=4)


def layer(height=16, width=12, channels=3, rows=4, columns=3):
    random = np.random.default_rng(17)
    x = random.standard_normal((2, channels, height, width)).astype(np.float32)
    low, high = (random.standard_normal((channels, channels, rows, columns, 2)) @ [1, 1j] for _ in range(2))
    integers = {"zero": np.array(0), "one": np.array(1), "last": np.array([4]), "three": np.array(3), "two": np.array(2), "corner": np.array([0, 0]),
                "below": np.array([height - rows, 0]), "low_end": np.array([rows, columns]), "high_end": np.array([height, columns]), "axes": np.array([2, 3]),
                "amounts": np.array([0] * 8 + [width - columns, 0])}
    constants = {name: value.astype(np.int64) for name, value in integers.items()}
    constants["between"] = np.zeros((2, channels, height - 2 * rows, columns, 2), np.float32)
    nodes = []

    def add(operation, inputs, **attributes):
        nodes.append(helper.make_node(operation, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    spectrum = add("DFT", [add("DFT", [add("Unsqueeze", ["x", "last"]), "", "three"]), "", "two"])
    parts = [complex_product(name, add("Slice", [spectrum, first, end, "axes"]), weight, nodes, constants)
             for name, first, end, weight in (("low", "corner", "low_end", low), ("high", "below", "high_end", high))]
    padded = add("Pad", [add("Concat", [parts[0], "between", parts[1]], axis=2), "amounts"])
    field = add("DFT", [add("DFT", [padded, "", "two"], inverse=1), "", "three"], inverse=1)
    nodes.append(helper.make_node("Gather", [field, "zero"], ["y"], axis=4))

    transformed, kept = np.fft.fft2(x.astype(np.float64)), np.zeros((2, channels, height, width), complex)
    kept[:, :, :rows, :columns] = np.einsum("bihw,iohw->bohw", transformed[:, :, :rows, :columns], low)
    kept[:, :, -rows:, :columns] = np.einsum("bihw,iohw->bohw", transformed[:, :, -rows:, :columns], high)
    expected = np.fft.ifft2(kept).real.astype(np.float32)
    value = lambda name, array: helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
    graph = helper.make_graph(nodes, "spectral", [value("x", x)], [value("y", expected)],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
    return SimpleNamespace(name="test_spectral_layer", model=model, data_sets=[([numpy_helper.from_array(x, "x")], [numpy_helper.from_array(expected, "y")])])


def cases():
    return [layer()]
