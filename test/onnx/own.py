#!/usr/bin/env python3
"""Writes tests that neither libonnx-testdata nor the onnx wheel has, as a tree for run.py --data: own.py DIR"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from ml_dtypes import bfloat16
from onnx import TensorProto, helper, numpy_helper

import around
import classical
import edges
import exported
import features
import first_layers
import quantized
import scans
import spectral
import stencils
import steps
import volumes
from newer import write


def tensor(name, array):
    return helper.make_tensor(name, TensorProto.BFLOAT16, array.shape, array.astype(bfloat16).tobytes(), raw=True)


def bfloat16_layers():
    """Products of bfloat16 with constant weights: an odd depth, columns that fill no panel. Multiples of 1/4 whose sums are exact."""
    random = np.random.default_rng(3)
    quarters = lambda *shape: (random.integers(-4, 5, shape) / 4).astype(np.float32)
    x, weights, bias, head = quarters(21, 37), quarters(37, 75), quarters(75), quarters(75, 3)
    hidden = np.clip(np.floor(np.maximum(x @ weights + bias, 0)), 0, 4)
    nodes = [helper.make_node("Gemm", ["x", "weights", "bias"], ["sums"]), helper.make_node("Relu", ["sums"], ["positive"]),
             helper.make_node("Floor", ["positive"], ["whole"]), helper.make_node("Clip", ["whole", "low", "high"], ["hidden"]),
             helper.make_node("MatMul", ["hidden", "head"], ["y"])]
    value = lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.BFLOAT16, shape)
    constants = {"weights": weights, "bias": bias, "head": head, "low": np.array(0), "high": np.array(4)}
    graph = helper.make_graph(nodes, "bfloat16_layers", [value("x", 21, 37)], [value("y", 21, 3)],
                              [tensor(name, array) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
    data = [tensor("x", x)], [tensor("y", hidden @ head)]
    return SimpleNamespace(name="test_bfloat16_layers", model=model, data_sets=[data])


def scattered(x, weight, strides, pads, extra, group):
    """ONNX's ConvTranspose, from its definition: every pixel is added to the window of results that it meets."""
    inputs, outputs = x.shape[1] // group, weight.shape[1]
    whole = [(size - 1) * stride + kernel + more
             for size, stride, kernel, more in zip(x.shape[2:], strides, weight.shape[2:], extra)]
    y = np.zeros((x.shape[0], outputs * group, *whole))
    for part in range(group):
        products = np.einsum("nchw,cors->norshw", x[:, part * inputs:][:, :inputs], weight[part * inputs:][:inputs])
        for r, s in np.ndindex(*weight.shape[2:]):
            y[:, part * outputs:][:, :outputs, r::strides[0], s::strides[1]][:, :, :x.shape[2], :x.shape[3]] += products[:, :, r, s]
    return y[:, :, pads[0]:whole[0] - pads[2], pads[1]:whole[1] - pads[3]].astype(np.float32)


def transposed(name, channels, image, kernel, strides, pads=(0, 0, 0, 0), extra=(0, 0), group=1):
    """A transposed convolution with constant weights, between layers that fold into it or read it behind padding."""
    random = np.random.default_rng(5)
    numbers = lambda *shape: random.standard_normal(shape).astype(np.float32)
    inputs, outputs = channels
    x, weight, bias = numbers(2, inputs, *image), numbers(inputs, outputs // group, *kernel), numbers(outputs)
    scale, shift, mean, variance = numbers(outputs), numbers(outputs), numbers(outputs), random.random(outputs).astype(np.float32) + .5
    filters = numbers(3, outputs, 3, 3)
    column = lambda values: values[:, None, None]
    up = scattered(x, weight, strides, pads, extra, group) + column(bias)
    normal = (up - column(mean)) / np.sqrt(column(variance) + np.float32(1e-5)) * column(scale) + column(shift)
    positive = np.pad(np.maximum(normal, 0), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(positive, (3, 3), axis=(2, 3))
    nodes = [helper.make_node("ConvTranspose", ["x", "weight", "bias"], ["up"], strides=strides, pads=pads, output_padding=extra, group=group),
             helper.make_node("BatchNormalization", ["up", "scale", "shift", "mean", "variance"], ["normal"]),
             helper.make_node("Relu", ["normal"], ["positive"]),
             helper.make_node("Conv", ["positive", "filters"], ["y"], pads=[1, 1, 1, 1])]
    constants = dict(weight=weight, bias=bias, scale=scale, shift=shift, mean=mean, variance=variance, filters=filters)
    data = {"x": x, "positive": np.maximum(normal, 0), "y": np.einsum("nchwrs,ocrs->nohw", windows, filters)}
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, data[name].shape)
    graph = helper.make_graph(nodes, name, [value("x")], [value("positive"), value("y")],
                              [numpy_helper.from_array(array, key) for key, array in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    saved = lambda key: numpy_helper.from_array(np.ascontiguousarray(data[key], np.float32), key)
    return SimpleNamespace(name="test_" + name, model=model, data_sets=[([saved("x")], [saved("positive"), saved("y")])])


def single(name, kind, arrays, expected, opset=20, **attributes):
    """One node on inputs x0, x1, ..., the first of them at run time."""
    names = [f"x{i}" for i in range(len(arrays))]
    info = lambda label, array: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    graph = helper.make_graph([helper.make_node(kind, names, ["y"], **attributes)], name, [info("x0", arrays[0])],
                              [info("y", expected)],
                              [numpy_helper.from_array(array, label) for label, array in list(zip(names, arrays))[1:]])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", opset)])
    data = [numpy_helper.from_array(arrays[0], "x0")], [numpy_helper.from_array(expected, "y")]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def extremes():
    """NaN and numbers far out; reductions of booleans."""
    far = np.array([-1e10, -1e4, -50, -7, 7, 50, 1e10, 1e38, np.nan] * 2, np.float32)
    odd = np.array([np.nan, -np.inf, np.inf, -2, 0, 3, np.nan], np.float32)
    bits = np.array([[True, False, True], [False, False, False], [True, True, True]])
    last = np.array([1], np.int64)
    gelu = np.where(far < 0, 0, far).astype(np.float32) # 1 + erf(-7 / sqrt 2) is 2.6e-12
    ends = np.array([-np.inf, np.inf, np.nan, -3.4e38, 3.4e38] * 4, np.float32)
    at_ends = np.where(np.isneginf(ends), np.nan, np.where(ends < 0, 0, ends)).astype(np.float32) # -inf * 0 as in onnxruntime
    return [
        single("gelu_infinite", "Gelu", [ends], at_ends),
        single("gelu_infinite_tanh", "Gelu", [ends], at_ends, approximate="tanh"),
        single("sign_of_nan", "Sign", [odd], np.sign(odd)),
        single("gelu_far_out", "Gelu", [far], gelu),
        single("gelu_far_out_tanh", "Gelu", [far], gelu, approximate="tanh"),
        single("reduce_max_bool", "ReduceMax", [bits, last], bits.max(1), keepdims=0),
        single("reduce_min_bool", "ReduceMin", [bits, last], bits.min(1), keepdims=0),
        single("reduce_max_all_bool", "ReduceMax", [bits], np.asarray(bits.max()), keepdims=0),
    ]


def top_k(name, x, k, largest=1):
    """Equal elements by their positions, a NaN behind all numbers, wherever it stands."""
    number = np.where(np.isnan(x), np.inf, -x if largest else x)
    at = np.argsort(number, axis=-1, kind="stable")[..., :k] # no infinity is among them
    value = lambda label, kind, shape: helper.make_tensor_value_info(label, kind, shape)
    node = helper.make_node("TopK", ["x", "k"], ["y", "at"], axis=-1, largest=largest)
    graph = helper.make_graph([node], name, [value("x", TensorProto.FLOAT, x.shape)],
                              [value("y", TensorProto.FLOAT, at.shape), value("at", TensorProto.INT64, at.shape)],
                              [numpy_helper.from_array(np.array([k]), "k")])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 20)])
    y = np.take_along_axis(x, at, -1)
    data = [numpy_helper.from_array(x, "x")], [numpy_helper.from_array(y, "y"), numpy_helper.from_array(at, "at")]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def first_elements():
    random = np.random.default_rng(8)
    x = random.integers(-9, 9, (4, 130)).astype(np.float32)
    x[random.random(x.shape) < .1] = np.nan
    x[2, 3:] = np.nan # more than there are numbers
    rising = np.arange(500, dtype=np.float32)[None]
    long = random.integers(-999, 999, (2, 9000)).astype(np.float32)
    long[:, ::50] = np.nan
    return [top_k(f"top_{k}_of_9000", long, k) for k in [1, 10, 70, 4500, 9000]] + [
        top_k(f"top_{k}_{'largest' if largest else 'smallest'}", x, k, largest) for k in [1, 10, 64, 70] for largest in [1, 0]] + [
        top_k("top_64_rising", rising, 64), top_k("top_64_falling", rising, 64, 0)]


def unique(name, x, **attributes):
    """All four results; numpy sorts a NaN last, too, and takes all for one."""
    axis = attributes.get("axis")
    if axis is None:
        y, first, kind, sizes = np.unique(x, True, True, True)
    else: # numpy compares slices as bytes of one element, in which a NaN differs from others
        y, first, kind, sizes = np.unique(x, True, True, True, axis=axis)
    if not attributes.get("sorted", 1):
        order = np.argsort(first)
        place = np.argsort(order)
        y, first, kind, sizes = np.take(y, order, axis or 0), first[order], place[kind], sizes[order]
    outputs = {"y": y, "first": first, "kind": kind.reshape(-1), "sizes": sizes}
    info = lambda label, array: helper.make_tensor_value_info(
        label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape if label in ("x", "kind") else
        [*array.shape[:axis or 0], "kinds", *array.shape[(axis or 0) + 1:]] if label == "y" else ["kinds"])
    node = helper.make_node("Unique", ["x"], list(outputs), **attributes)
    graph = helper.make_graph([node], name, [info("x", x)], [info(label, array) for label, array in outputs.items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)])
    data = [numpy_helper.from_array(x, "x")], [numpy_helper.from_array(array, label) for label, array in outputs.items()]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def kinds():
    random = np.random.default_rng(10)
    few, many = random.integers(-90, 90, 5000), random.integers(-1 << 40, 1 << 40, 5000)
    floats = few.astype(np.float32) / 4
    floats[::7] = np.nan
    floats[1::9] = -0.
    rows, bits = random.integers(0, 3, (3000, 4)).astype(np.int32), random.random((40, 2, 3)) < .5
    return [unique(f"unique_{name}_{'sorted' if order else 'unsorted'}", x, sorted=order, **axis) for order in [1, 0] for name, x, axis in [
        ("few", few, {}), ("many", many, {}), ("floats", floats, {}), ("bytes", (few % 200).astype(np.uint8), {}),
        ("rows", rows, {"axis": 0}), ("columns", np.ascontiguousarray(rows[:200].T), {"axis": 1}), ("bits", bits, {}),
        ("one", few[:1], {}), ("alike", np.zeros(2000, np.float64), {})]]


def running_sums():
    """Vectors long enough for a scan over all threads, and what a scan places: NonZero, Compress."""
    random = np.random.default_rng(9)
    x = random.integers(-3, 4, 5000).astype(np.float32) # sums are exact in any order
    sums = lambda a: np.cumsum(a, dtype=a.dtype)
    axis = np.array([0], np.int64)[0]
    box = (random.random((7, 31, 19)) < .3).astype(np.float32)
    return [
        single("cumsum_long", "CumSum", [x, axis], sums(x), opset=14),
        single("cumsum_long_reverse", "CumSum", [x, axis], sums(x[::-1])[::-1].copy(), opset=14, reverse=1),
        single("cumsum_long_exclusive", "CumSum", [x.astype(np.int64), axis], (sums(x) - x).astype(np.int64), opset=14, exclusive=1),
        single("cumsum_rows", "CumSum", [x.reshape(5, 1000), axis + 1], np.cumsum(x.reshape(5, 1000), 1, np.float32), opset=14),
        single("cumsum_rows_reverse", "CumSum", [x.reshape(2, 5, 500), axis + 2],
               np.cumsum(x.reshape(2, 5, 500)[..., ::-1], 2, np.float32)[..., ::-1].copy(), opset=14, reverse=1),
        single("cumsum_few_columns", "CumSum", [x.reshape(625, 8), axis], np.cumsum(x.reshape(625, 8), 0, np.float32), opset=14),
        single("cumsum_planes", "CumSum", [x.reshape(4, 250, 5), axis + 1],
               np.cumsum(x.reshape(4, 250, 5)[:, ::-1], 1, np.float32)[:, ::-1].copy(), opset=14, reverse=1),
        counted("nonzero_long", "NonZero", {"x": box}, np.array(np.nonzero(box))),
        counted("nonzero_nothing", "NonZero", {"x": np.zeros((3, 0, 4), np.float32)}, np.zeros((3, 0), np.int64)),
        counted("compress_long", "Compress", {"x": x, "chosen": x > 0}, x[x > 0]),
    ]


def decided():
    """Elements that a condition chooses, in loops long enough for vectors of any machine."""
    random = np.random.default_rng(15)
    x, kinds = random.standard_normal(1000).astype(np.float32), random.integers(-8, 8, 1000)
    cases = [single("onehot_long", "OneHot", [kinds, np.array(8), np.array([-2, 3], np.float32)],
                    np.where(kinds[:, None] % 8 == np.arange(8), 3, -2).astype(np.float32))]
    for table in (np.array([4, -5], np.float32), np.arange(12, dtype=np.float32).reshape(2, 6)):
        nodes = [helper.make_node("Greater", ["x", "zero"], ["above"]), helper.make_node("Cast", ["above"], ["kind"], to=TensorProto.INT64),
                 helper.make_node("Gather", ["table", "kind"], ["y"])]
        expected = table[(x > 0).astype(np.int64)]
        value = lambda name, array: helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
        graph = helper.make_graph(nodes, "decided", [value("x", x), value("table", table)], [value("y", expected)],
                                  [numpy_helper.from_array(np.zeros((), np.float32), "zero")])
        model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
        data = [numpy_helper.from_array(x, "x"), numpy_helper.from_array(table, "table")], [numpy_helper.from_array(expected, "y")]
        cases.append(SimpleNamespace(name=f"test_gather_decided_{table.ndim}", model=model, data_sets=[data]))
    return cases


def determinants():
    """Small matrices are formulas, larger ones eliminated: a zero pivot, no inverse, few and many in a row."""
    random = np.random.default_rng(13)
    cases = []
    for shape in [(6, 1, 1), (2, 2), (3, 3), (4, 50, 3, 3), (7, 4, 4), (5, 5), (3, 6, 6), (40, 40)]:
        x = (random.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)
        x[..., 0, 0] = 0
        if len(shape) > 2:
            x[0, ..., -1, :] = x[0, ..., 0, :]
        expected = np.asarray(np.linalg.det(x.astype(np.float64)), np.float32)
        cases.append(single("det_" + "x".join(map(str, shape)), "Det", [x], expected))
    return cases


def padded():
    """Rows that are long enough for kernels of their own for both ends and the inside."""
    x = np.random.default_rng(12).standard_normal((3, 5, 40, 56)).astype(np.float32)
    pads = {"both": ((0, 0), (0, 0), (2, 3), (4, 5)), "front": ((1, 0), (0, 0), (0, 0), (20, 0)), "back": ((0, 0), (1, 2), (0, 0), (0, 55))}
    pads["long"] = ((0, 0), (0, 0), (0, 0), (55, 55))
    return [single(f"pad_rows_{mode}_{ends}", "Pad", [x, np.array(widths).T.reshape(-1)], np.pad(x, widths, mode), mode=mode)
            for mode in ["reflect", "edge", "wrap"] for ends, widths in pads.items()]


def standardized():
    """A convolution whose weight BatchNormalization normalizes by its own statistics, which it also adds to running ones."""
    random = np.random.default_rng(14)
    draw = lambda *shape: random.standard_normal(shape).astype(np.float32)
    x, weight, gain, old = draw(1, 3, 6, 7), draw(5, 3, 3, 3), draw(5), draw(5)
    rows = weight.reshape(1, 5, 27)
    mean, variance = rows.mean((0, 2)), rows.var((0, 2))
    standard = ((rows - mean[:, None]) / np.sqrt(variance[:, None] + 1e-6) * gain[:, None]).reshape(weight.shape)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    results = [np.einsum("nchwrs,kcrs->nkhw", windows, standard), .75 * old + .25 * mean, .75 * old + .25 * variance]
    nodes = [helper.make_node("Reshape", ["weight", "rows"], ["flat"]),
             helper.make_node("BatchNormalization", ["flat", "gain", "zero", "old", "old"], ["normal", "mean", "variance"],
                              training_mode=1, epsilon=1e-6, momentum=.75),
             helper.make_node("Reshape", ["normal", "kernel"], ["standard"]), helper.make_node("Conv", ["x", "standard"], ["y"])]
    constants = {"weight": weight, "gain": gain, "zero": np.zeros(5, np.float32), "rows": np.array([1, 5, 27]), "kernel": np.array(weight.shape)}
    value = lambda name, array: helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
    names = ["y", "mean", "variance"]
    graph = helper.make_graph(nodes, "standardized", [value("x", x), value("old", old)], [value(n, a) for n, a in zip(names, results)],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 15)])
    data = [numpy_helper.from_array(x, "x"), numpy_helper.from_array(old, "old")], [
        numpy_helper.from_array(array.astype(np.float32), name) for name, array in zip(names, results)]
    return SimpleNamespace(name="test_standardized_weights", model=model, data_sets=[data])


def rolled():
    """An image that is rolled along its rows, its columns and its channels: the ends of a Slice change places in a Concat."""
    x, steps, before = np.arange(7 * 6 * 5, dtype=np.float32).reshape(1, 7, 6, 5), {1: 3, 2: 2, 3: 2}, "x"
    nodes, constants = [], {"zero": [0], "end": [99]}
    for axis, step in steps.items():
        after = "y" if axis == 3 else f"rolled{axis}"
        constants |= {f"axis{axis}": [axis], f"step{axis}": [step]}
        nodes += [helper.make_node("Slice", [before, f"step{axis}", "end", f"axis{axis}"], [f"back{axis}"]),
                  helper.make_node("Slice", [before, "zero", f"step{axis}", f"axis{axis}"], [f"front{axis}"]),
                  helper.make_node("Concat", [f"back{axis}", f"front{axis}"], [after], axis=axis)]
        before = after
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
    graph = helper.make_graph(nodes, "rolled", [value("x")], [value("y")],
                              [numpy_helper.from_array(np.array(array), name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    expected = np.roll(x, [-step for step in steps.values()], list(steps))
    return SimpleNamespace(name="test_rolled_image", model=model, data_sets=[
        ([numpy_helper.from_array(x, "x")], [numpy_helper.from_array(expected, "y")])])


def replaced():
    """Scatters of scatters, one of whose results is read again later: as updates of the last, and by the caller."""
    x, rows, y = np.arange(20, dtype=np.float32).reshape(4, 5), np.array([[2], [0]]), -np.ones((2, 5), np.float32)
    places = np.array([[3, 1, 0, 2, 3]])
    first = x.copy()
    first[rows[:, 0]] = y
    second = first.copy()
    second[places[0], np.arange(5)] += x[0]
    last = second.copy()
    last[[1, 3]] = second[:2]
    nodes = [helper.make_node("ScatterND", ["x", "rows", "y"], ["first"]),
             helper.make_node("Slice", ["x", "zero", "one", "zero"], ["update"]),
             helper.make_node("ScatterElements", ["first", "places", "update"], ["second"], axis=0, reduction="add"),
             helper.make_node("Slice", ["second", "zero", "two", "zero"], ["front"]),
             helper.make_node("ScatterND", ["second", "odd", "front"], ["last"])]
    constants = {"zero": [0], "one": [1], "two": [2], "odd": [[1], [3]]}
    inputs, results = {"x": x, "rows": rows, "places": places, "y": y}, {"first": first, "last": last}
    value = lambda name, a: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
    graph = helper.make_graph(nodes, "replaced", [value(*item) for item in inputs.items()], [value(*item) for item in results.items()],
                              [numpy_helper.from_array(np.array(array), name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 16)])
    saved = lambda arrays: [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    return SimpleNamespace(name="test_replaced_elements", model=model, data_sets=[(saved(inputs), saved(results))])


def closure():
    """A A - tr(A A) / 3 I, sums over its elements and a turned vector for each of some gradients; in double precision."""
    random = np.random.default_rng(17)
    a, x = random.standard_normal((40, 3, 3)), random.standard_normal((40, 3))
    square = a @ a
    deviator = square - np.trace(square, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
    results = {"deviator": deviator, "cubic": np.einsum("nij,njk,nki->n", a, a, a), "turned": np.einsum("nij,nj->ni", deviator, x)}
    nodes = [helper.make_node("MatMul", ["a", "a"], ["square"]), helper.make_node("Einsum", ["square"], ["trace"], equation="nii->n"),
             helper.make_node("Reshape", ["trace", "shape"], ["traces"]), helper.make_node("Mul", ["traces", "third"], ["part"]),
             helper.make_node("Sub", ["square", "part"], ["deviator"]),
             helper.make_node("Einsum", ["a", "a", "a"], ["cubic"], equation="nij,njk,nki->n"),
             helper.make_node("Einsum", ["deviator", "x"], ["turned"], equation="nij,nj->ni")]
    value = lambda name, array: helper.make_tensor_value_info(name, TensorProto.DOUBLE, array.shape)
    constants = {"shape": np.array([-1, 1, 1]), "third": np.eye(3) / 3}
    graph = helper.make_graph(nodes, "closure", [value("a", a), value("x", x)], [value(*item) for item in results.items()],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    saved = lambda arrays: [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in arrays.items()]
    return SimpleNamespace(name="test_tiny_matrices", model=model, data_sets=[(saved({"a": a, "x": x}), saved(results))])


def partly_turned():
    """A rotary embedding of the first 8 of 24 elements of each head, as GPT-NeoX and Phi have it; a NaN among the others stays there."""
    random = np.random.default_rng(21)
    x, angle = random.standard_normal((2, 3, 5, 24)).astype(np.float32), random.random((5, 4)).astype(np.float32)
    x[0, 0, 0, 9] = np.nan
    cosine, sine = (np.tile(f(angle), (1, 2)) for f in (np.cos, np.sin))
    front, rest = x[..., :8], x[..., 8:]
    turned = front * cosine + np.concatenate([-front[..., 4:], front[..., :4]], -1) * sine
    cut = lambda source, begin, end, name: helper.make_node("Slice", [source, begin, end, "axis"], [name])
    nodes = [cut("x", "0", "8", "front"), cut("x", "8", "24", "rest"), cut("front", "0", "4", "low"), cut("front", "4", "8", "high"),
             helper.make_node("Neg", ["high"], ["negative"]), helper.make_node("Concat", ["negative", "low"], ["across"], axis=-1),
             helper.make_node("Mul", ["front", "cosine"], ["along"]), helper.make_node("Mul", ["across", "sine"], ["other"]),
             helper.make_node("Add", ["along", "other"], ["turned"]), helper.make_node("Concat", ["turned", "rest"], ["y"], axis=-1)]
    constants = {"cosine": cosine, "sine": sine, "axis": np.array([3])} | {str(i): np.array([i]) for i in (0, 4, 8, 24)}
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, x.shape)
    graph = helper.make_graph(nodes, "partly_turned", [value("x")], [value("y")],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    expected = np.concatenate([turned, rest], -1).astype(np.float32)
    return SimpleNamespace(name="test_partly_turned", model=model, data_sets=[
        ([numpy_helper.from_array(x, "x")], [numpy_helper.from_array(expected, "y")])])


def side_by_side():
    """Attention whose queries, keys and values are products of one input; a second pair, of other columns, is multiplied elementwise."""
    random = np.random.default_rng(22)
    number = lambda *shape: random.standard_normal(shape).astype(np.float32) / 4
    x = number(2, 5, 12)
    constants = {f"{part}.{kind}": number(*shape) for part, columns in zip("qkvab", (16, 16, 16, 7, 7))
                 for kind, shape in (("weight", (12, columns)), ("bias", (columns,)))}
    linear = lambda part: x @ constants[f"{part}.weight"] + constants[f"{part}.bias"]
    q, k, v = (linear(part).reshape(2, 5, 4, 4).transpose(0, 2, 1, 3) for part in "qkv")
    scores = np.exp(q @ k.transpose(0, 1, 3, 2))
    mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3)
    nodes = []
    for part, order in zip("qkvab", ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3], None, None)):
        nodes += [helper.make_node("MatMul", ["x", f"{part}.weight"], [f"{part}.sum"], name=part),
                  helper.make_node("Add", [f"{part}.sum", f"{part}.bias"], [part])]
        if order:
            nodes += [helper.make_node("Reshape", [part, "heads"], [f"{part}.heads"]),
                      helper.make_node("Transpose", [f"{part}.heads"], [f"{part}.turned"], perm=order)]
    nodes += [helper.make_node("MatMul", ["q.turned", "k.turned"], ["scores"]), helper.make_node("Softmax", ["scores"], ["shares"]),
              helper.make_node("MatMul", ["shares", "v.turned"], ["mixed"]), helper.make_node("Transpose", ["mixed"], ["y"], perm=[0, 2, 1, 3]),
              helper.make_node("Tanh", ["a"], ["gate"]), helper.make_node("Cos", ["b"], ["wave"]),
              helper.make_node("CumSum", ["gate", "axis"], ["sums"]), helper.make_node("Mul", ["sums", "wave"], ["z"])]
    results = {"y": mixed, "z": np.cumsum(np.tanh(linear("a")), 1) * np.cos(linear("b"))}
    constants |= {"heads": np.array([2, 5, 4, 4]), "axis": np.array(1)}
    value = lambda name, array: helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
    graph = helper.make_graph(nodes, "side_by_side", [value("x", x)], [value(*item) for item in results.items()],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    return SimpleNamespace(name="test_side_by_side", model=model, data_sets=[
        ([numpy_helper.from_array(x, "x")], [numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name) for name, array in results.items()])])


def counted(name, kind, arrays, expected):
    """One node whose result has as many elements as the data decide."""
    info = lambda label, array, shape: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), shape)
    graph = helper.make_graph([helper.make_node(kind, list(arrays), ["y"])], name,
                              [info(label, array, array.shape) for label, array in arrays.items()],
                              [info("y", expected, [*expected.shape[:-1], "count"])])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 13)])
    data = [numpy_helper.from_array(array, label) for label, array in arrays.items()], [numpy_helper.from_array(expected, "y")]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


TRANSPOSED = [
    transposed("transposed_blocks", (24, 20), (5, 4), (2, 2), (2, 2)),
    transposed("transposed_overlapping", (16, 33), (5, 6), (4, 4), (2, 2), (1, 1, 1, 1)),
    transposed("transposed_completed", (8, 5), (4, 7), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    transposed("transposed_unequal", (3, 16), (6, 5), (3, 5), (1, 3), (1, 2, 1, 1), (0, 1)),
    transposed("transposed_gaps", (8, 8), (4, 5), (2, 1), (3, 2), extra=(1, 1)),
    transposed("transposed_odd_size", (8, 6), (5, 4), (3, 3), (2, 2), (1, 1, 1, 1)),
    transposed("transposed_pixel", (24, 20), (1, 1), (4, 3), (2, 1)),
    transposed("transposed_groups", (12, 8), (5, 4), (4, 4), (2, 2), (1, 1, 1, 1), group=4),
]

if __name__ == "__main__":
    for case in [bfloat16_layers(), *extremes(), *first_elements(), *kinds(), *running_sums(), *decided(), *determinants(), *padded(), standardized(), rolled(), replaced(),
                 closure(), partly_turned(), side_by_side(), *TRANSPOSED, *around.cases(), *classical.cases(), *edges.cases(), *exported.cases(), *features.cases(), *first_layers.cases(), *quantized.cases(), *scans.cases(), *spectral.cases(),
                 *stencils.cases(), *steps.cases(), *volumes.cases()]:
        write(case, Path(sys.argv[1]) / "node" / case.name)
