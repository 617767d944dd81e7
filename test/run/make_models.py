#!/usr/bin/env python3
"""Writes small ONNX models, each after a trait of real networks, for value tests: make_models.py FOLDER"""

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MODELS = {}


def model(function):
    MODELS[function.__name__] = function
    return function


class Net:
    """Collects nodes; every call returns the name of its output."""

    def __init__(self):
        self.random = np.random.default_rng(5)
        self.nodes, self.initializers, self.inputs = [], [], []
        self.count = 0

    def input(self, name, *shape, kind=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def weight(self, name, *shape, scale=None):
        scale = scale or 1 / np.sqrt(max(1, np.prod(shape[1:])))
        values = (self.random.standard_normal(shape) * scale).astype(np.float32)
        return self.constant(name, values)

    def constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind, *inputs, name=None, **attributes):
        self.count += 1
        name = name or f"{kind.lower()}{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], f"/{name}/{kind}", **attributes))
        return name

    def conv(self, name, x, inputs, outputs, kernel=3, stride=1, pads=None, group=1, dilation=1, bias=True):
        weight = self.weight(f"{name}.weight", outputs, inputs // group, kernel, kernel)
        more = [self.weight(f"{name}.bias", outputs, scale=0.1)] if bias else []
        pads = pads if pads is not None else [kernel // 2 * dilation] * 4
        return self.op("Conv", x, weight, *more, name=name, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=pads,
                       group=group, dilations=[dilation] * 2)

    def linear(self, name, x, inputs, outputs):
        return self.op("Gemm", x, self.weight(f"{name}.weight", outputs, inputs), self.weight(f"{name}.bias", outputs, scale=0.1),
                       name=name, transB=1)

    def norm(self, name, x, channels):
        def positive(key):
            return self.constant(f"{name}.{key}", self.random.uniform(0.5, 1.5, channels).astype(np.float32))
        return self.op("BatchNormalization", x, positive("weight"), self.weight(f"{name}.bias", channels, scale=0.3),
                       self.weight(f"{name}.mean", channels, scale=0.3), positive("var"), name=name)

    def finish(self, name, outputs):
        """`outputs`: name -> shape, or (type, shape)."""
        values = []
        for output, shape in outputs.items():
            kind, shape = shape if isinstance(shape, tuple) else (TensorProto.FLOAT, shape)
            values.append(helper.make_tensor_value_info(output, kind, shape))
        graph = helper.make_graph(self.nodes, name, self.inputs, values, self.initializers)
        result = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
        onnx.checker.check_model(result, full_check=True)
        return result


@model
def mlp_tanh(net):
    x = net.op("Tanh", net.linear("fc1", net.input("x", 4, 20), 20, 33))
    net.linear("y", x, 33, 7)
    return {"y": [4, 7]}


@model
def mlp_batch(net):
    x = net.op("Relu", net.linear("fc1", net.input("x", "batch", 24), 24, 64))
    net.linear("y", x, 64, 5)
    return {"y": ["batch", 5]}


@model
def one_relu(net):
    net.op("Relu", net.input("x", 3, 5), name="y")
    return {"y": [3, 5]}


@model
def residual(net):
    x = net.op("Relu", net.norm("bn1", net.conv("conv1", net.input("x", 1, 3, 17, 13), 3, 16, stride=2, bias=False), 16))
    y = net.op("Relu", net.conv("conv2", x, 16, 16))
    y = net.conv("conv3", y, 16, 16)
    net.op("Relu", net.op("Add", y, x), name="y")
    return {"y": [1, 16, 9, 7]}


@model
def odd_windows(net):
    x = net.conv("conv1", net.input("x", 2, 5, 11, 14), 5, 9, pads=[0, 1, 2, 0])
    x = net.conv("conv2", x, 9, 20, dilation=2)
    x = net.op("MaxPool", x, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    net.op("AveragePool", x, name="y", kernel_shape=[2, 2], strides=[1, 2], pads=[1, 1, 0, 0])
    return {"y": [2, 20, 6, 7]}


@model
def depthwise(net):
    x = net.op("Clip", net.conv("dw", net.input("x", 1, 12, 10, 10), 12, 12, group=12, stride=2),
               net.constant("low", np.float32(0)), net.constant("high", np.float32(6)))
    x = net.conv("grouped", x, 12, 24, group=3)
    net.conv("y", x, 24, 8, kernel=1)
    return {"y": [1, 8, 5, 5]}


@model
def inception(net):
    x = net.op("Relu", net.conv("stem", net.input("x", 1, 4, 12, 12), 4, 16))
    a = net.op("Relu", net.conv("a", x, 16, 16, kernel=1))
    b = net.op("Relu", net.conv("b", x, 16, 32))
    c = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    joined = net.op("Concat", a, b, c, axis=1)
    y = net.op("GlobalAveragePool", net.op("Relu", net.conv("last", joined, 64, 10)))
    net.op("Softmax", net.op("Flatten", y), name="y", axis=1)
    return {"y": [1, 10]}


@model
def two_outputs(net):
    x = net.op("Relu", net.linear("shared", net.input("x", 2, 16), 16, 32), name="features")
    net.linear("energy", x, 32, 1)
    net.op("Sigmoid", net.linear("gate", x, 32, 4), name="probability")
    return {"energy": [2, 1], "features": [2, 32], "probability": [2, 4]}


@model
def layer_norm_row(net):
    x = net.input("x", 6, 40)
    mean = net.op("ReduceMean", x, axes=[-1], keepdims=1)
    centred = net.op("Sub", x, mean)
    variance = net.op("ReduceMean", net.op("Mul", centred, centred), axes=[-1], keepdims=1)
    scaled = net.op("Div", centred, net.op("Sqrt", net.op("Add", variance, net.constant("epsilon", np.float32(1e-5)))))
    net.op("Add", net.op("Mul", scaled, net.weight("gamma", 40, scale=1)), net.weight("beta", 40, scale=1), name="y")
    return {"y": [6, 40]}


@model
def attention(net):
    x = net.input("x", 1, 10, 32)
    heads = net.constant("heads", np.array([1, 10, 4, 8], np.int64))

    def project(name, order):
        y = net.op("MatMul", x, net.weight(f"{name}.weight", 32, 32, scale=0.2), name=name)
        return net.op("Transpose", net.op("Reshape", y, heads), perm=order)

    query, key, value = project("query", [0, 2, 1, 3]), project("key", [0, 2, 3, 1]), project("value", [0, 2, 1, 3])
    scores = net.op("Mul", net.op("MatMul", query, key), net.constant("scale", np.float32(8**-0.5)))
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), value), perm=[0, 2, 1, 3])
    y = net.op("Reshape", y, net.constant("flat", np.array([1, 10, 32], np.int64)))
    net.op("Add", x, net.op("MatMul", y, net.weight("out.weight", 32, 32, scale=0.2)), name="y")
    return {"y": [1, 10, 32]}


@model
def gather_embedding(net):
    ids = net.input("ids", 1, 7, kind=TensorProto.INT64)
    x = net.op("Gather", net.weight("table", 11, 16, scale=1), ids, axis=0)
    net.op("MatMul", x, net.weight("out.weight", 16, 3), name="y")
    return {"y": [1, 7, 3]}


@model
def upsample(net):
    x = net.conv("conv", net.input("x", 1, 3, 6, 5), 3, 16)
    y = net.op("Resize", x, "", net.constant("scales", np.array([1, 1, 2, 2], np.float32)), name="y", mode="nearest",
               coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return {y: [1, 16, 12, 10]}


@model
def arithmetic(net):
    x, y = net.input("a", 2, 1, 5), net.input("b", 3, 1)
    s = net.op("Add", x, y)
    t = net.op("Mul", net.op("Exp", net.op("Neg", net.op("Abs", s))), net.op("Erf", y))
    net.op("Where", net.op("Greater", s, t), s, net.op("Pow", t, net.constant("two", np.float32(2))), name="y")
    return {"y": [2, 3, 5]}


def recurrent(net, kind, name, x, inputs, hidden, *more, directions=1, **attributes):
    """The output of LSTM, GRU or RNN as [steps, batch, directions * hidden] of x [steps, batch, inputs]."""
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
    weights = [net.weight(f"{name}.{key}", directions, *shape, scale=0.3)
               for key, shape in [("W", [gates * hidden, inputs]), ("R", [gates * hidden, hidden]), ("B", [2 * gates * hidden])]]
    y = net.op(kind, x, *weights, "", *more, name=name, hidden_size=hidden, **attributes)
    rows = net.op("Transpose", y, perm=[0, 2, 1, 3])
    return net.op("Reshape", rows, net.constant(f"{name}.shape", np.array([0, 0, directions * hidden], np.int64)))


def recurrent_stack(net, batch):
    """Every recurrent layer, forwards and backwards, with and without first states."""
    x = net.input("x", 6, batch, 10)
    first, cell = net.input("first", 1, batch, 20), net.input("cell", 1, batch, 20)
    x = recurrent(net, "LSTM", "peeping", x, 10, 20, first, cell, net.weight("peeping.P", 1, 60, scale=0.3))
    x = recurrent(net, "LSTM", "both", x, 20, 17, directions=2, direction="bidirectional")
    x = recurrent(net, "GRU", "linear", x, 34, 16, linear_before_reset=1, direction="reverse")
    x = recurrent(net, "GRU", "reset", x, 16, 9)
    x = recurrent(net, "RNN", "relu", x, 9, 24, activations=["Relu"], clip=3.0)
    net.op("Identity", recurrent(net, "RNN", "plain", x, 24, 8), name="y")
    return {"y": [6, batch, 8]}


@model
def recurrent_batch(net):
    return recurrent_stack(net, 5)


@model
def recurrent_row(net):
    return recurrent_stack(net, 1)


@model
def recurrent_last(net):
    x = net.input("x", 7, 2, 12)
    weights = [net.weight(f"lstm.{key}", 1, *shape, scale=0.3) for key, shape in [("W", [64, 12]), ("R", [64, 16])]]
    net.nodes.append(helper.make_node("LSTM", [x, *weights], ["", "last", "cell"], "/lstm/LSTM", hidden_size=16))
    net.op("Add", "last", "cell", name="y")
    return {"y": [1, 2, 16]}


@model
def halves(net):
    """Weights of 16 bits; all numbers are multiples of 1/8 that need no rounding."""
    def eighths(name, *shape):
        return net.constant(name, (net.random.integers(-8, 9, shape) / 8).astype(np.float16))
    x = net.op("Cast", net.op("Floor", net.input("x", 2, 3, 6, 6)), to=TensorProto.FLOAT16)
    x = net.op("Relu", net.op("Conv", x, eighths("conv.weight", 5, 3, 3, 3), eighths("conv.bias", 5), kernel_shape=[3, 3]))
    x = net.op("ReduceMax", net.op("Floor", x), axes=[2, 3], keepdims=0)
    x = net.op("Gemm", net.op("Clip", x, net.constant("low", np.float16(0)), net.constant("high", np.float16(3))),
               eighths("fc.weight", 5, 7), eighths("fc.bias", 7))
    x = net.op("Clip", net.op("Floor", x), net.constant("least", np.float16(-3)), net.constant("most", np.float16(3)))
    net.op("Cast", net.op("MatMul", x, eighths("head.weight", 7, 4)), name="y", to=TensorProto.FLOAT)
    return {"y": [2, 4]}


@model
def quantized(net):
    """Integer products with constant weights, zero points of tensors, channels and columns."""
    def bytes_of(name, kind, *shape):
        limits = np.iinfo(kind)
        return net.constant(name, net.random.integers(limits.min // 4, limits.max // 4 + 1, shape).astype(kind))
    def scale(name, value):
        return net.constant(name, np.float32(value))
    x = net.op("QuantizeLinear", net.input("x", 2, 4, 6, 6), scale("xs", .03), net.constant("xz", np.uint8(100)))
    x = net.op("QLinearConv", x, "xs", "xz", bytes_of("conv.weight", np.int8, 8, 4, 3, 3), scale("ws", .02),
               net.constant("wz", np.int8(3)), scale("ys", .1), net.constant("yz", np.uint8(120)), kernel_shape=[3, 3],
               pads=[1, 1, 1, 1])
    rows = net.op("Reshape", x, net.constant("shape", np.array([16, 36])))
    product = net.op("QLinearMatMul", rows, "ys", "yz", bytes_of("fc.weight", np.int8, 36, 20), scale("fs", .01),
                     net.constant("fz", np.int8(-2)), scale("zs", .2), net.constant("zz", np.uint8(110)))
    net.op("MatMulInteger", product, bytes_of("head.weight", np.uint8, 20, 5), "zz",
           net.constant("hz", np.array([1, 2, 3, 40, 50], np.uint8)), name="y")
    return {"y": (TensorProto.INT32, [16, 5])}


@model
def transposes(net):
    """Copies and more between tensors that lie along different dimensions; of numbers with and without a sign."""
    x = net.input("x", 2, 37, 70)
    net.op("Transpose", x, name="y", perm=[0, 2, 1])
    net.op("Neg", net.op("Transpose", x, perm=[2, 1, 0]), name="z")
    net.op("Transpose", net.input("counts", 33, 65, kind=TensorProto.UINT32), name="turned", perm=[1, 0])
    net.op("Transpose", net.input("ids", 12, 3, 40, kind=TensorProto.INT64), name="moved", perm=[1, 2, 0])
    return {"y": [2, 70, 37], "z": [70, 37, 2], "turned": (TensorProto.UINT32, [65, 33]), "moved": (TensorProto.INT64, [3, 40, 12])}


@model
def from_exporters(net):
    """Habits of exporters: sizes that only the data have, ends beyond every end, parts of a weight of different sizes."""
    def ints(name, *values):
        return net.constant(name, np.array(values, np.int64))
    x = net.input("x", "?", 4, "?", "?") # all of them are 3
    window = net.conv("window", x, 4, 6, pads=[0] * 4)
    rows = net.op("Transpose", net.op("Squeeze", window, ints("last", 3)), perm=[0, 2, 1])
    weights = [net.weight(f"gru.{key}", 1, *shape, scale=0.3) for key, shape in [("W", [15, 6]), ("R", [15, 5])]]
    net.op("GRU", rows, *weights, "", "", net.input("state", 1, 1, 5), name="steps", hidden_size=5)
    net.conv("across", net.op("Transpose", x, perm=[0, 2, 1, 3]), 3, 2, kernel=1)
    net.op("Slice", x, ints("starts", 0, -1, 0, 1), ints("ends", 2**31 - 1, 10**9, 10**9, 2**31 - 1), name="part")
    size = net.op("Gather", net.op("Shape", x), ints("second", 2), axis=0)
    limit = net.op("Cast", net.op("Squeeze", size), to=TensorProto.FLOAT)
    net.op("Range", net.constant("zero", np.float32(0)), limit, net.constant("one", np.float32(1)), name="places")
    whole = net.weight("gates", 240, 5)
    ends = [(0, 48), (48, 144), (144, 240)]
    parts = [net.op("Slice", whole, ints(f"from{i}", low), ints(f"to{i}", high)) for i, (low, high) in enumerate(ends)]
    state = net.op("Squeeze", net.op("Identity", "state"), ints("first", 0))
    products = [net.op("MatMul", state, net.op("Transpose", part, perm=[1, 0])) for part in parts]
    net.op("Concat", *products, name="gated", axis=1)
    return {"steps": ["n", 1, 1, 5], "across": ["n", 2, 4, "w"], "part": ["n", 1, "h", "v"], "places": ["h"], "gated": [1, 240]}


@model
def named_like_blocks(net):
    """Tensors and nodes whose names the printed code may have uses for."""
    x = net.op("Relu", net.conv("store", net.input("pixel", 1, 8, 6, 6), 8, 16), name="space")
    net.op("MaxPool", x, name="steps", kernel_shape=[2, 2])
    net.op("Softmax", net.linear("contract", net.input("along", 4, 16), 16, 8), name="unchanged", axis=-1)
    net.op("Transpose", net.input("span", 33, 20), name="square", perm=[1, 0])
    net.op("Exp", net.input("fast_exp", 5, 3), name="for_each")
    return {"steps": [1, 16, 5, 5], "unchanged": [4, 8], "square": [20, 33], "for_each": [5, 3]}


@model
def top_k(net):
    """The first elements of rows along several axes, with many that are equal: few and more than a thread keeps, largest and
    smallest, as many as there are."""
    def k(count):
        return net.constant(f"k{len(net.initializers)}", np.array([count], np.int64))
    x = net.op("Floor", net.op("Mul", net.input("x", 3, 90, 7), net.constant("scale", np.float32(9))), name="whole")
    results = {}
    for name, count, attributes in [("one", 1, {}), ("ten", 10, {"axis": 1}), ("least", 10, {"axis": -2, "largest": 0}),
                                    ("most", 64, {"axis": 1}), ("beyond", 65, {"axis": 1}), ("first", 3, {"axis": 0}), ("two", 2, {})]:
        axis = attributes.setdefault("axis", -1)
        net.nodes.append(helper.make_node("TopK", [x, k(count)], [name, name + "_at"], f"/{name}/TopK", **attributes))
        shape = [count if d == axis % 3 else extent for d, extent in enumerate([3, 90, 7])]
        results |= {name: shape, name + "_at": (TensorProto.INT64, shape)}
    net.nodes.append(helper.make_node("TopK", [net.input("ids", 5, 20, kind=TensorProto.INT64), k(4)], ["id", "id_at"], "/id/TopK"))
    net.nodes.append(helper.make_node("TopK", [net.input("row", "n", 300), k(5)], ["row_top", "row_at"], "/row/TopK"))
    longer = net.op("Concat", net.input("line", 2, "n"), net.weight("tail", 2, 97), name="longer", axis=1)
    for name, line, count in [("short", "line", 2), ("few", longer, 5), ("many", longer, 70)]: # rows of run-time length
        net.nodes.append(helper.make_node("TopK", [line, k(count)], [name, name + "_at"], f"/{name}/TopK"))
        results |= {name: [2, count], name + "_at": (TensorProto.INT64, [2, count])}
    integers = {name: (TensorProto.INT64, shape) for name, shape in {"id": [5, 4], "id_at": [5, 4], "row_at": ["n", 5]}.items()}
    return results | integers | {"row_top": ["n", 5]}


@model
def sums_and_products(net):
    """Reductions of dimensions in front of the contiguous one and around it; matrices that meet several others."""
    x, y = net.input("x", 12, 20, 33), net.input("y", 1, 7, 33, 3)
    net.op("ReduceSum", x, net.constant("first", np.array([0])), keepdims=0, name="total")
    net.op("ReduceMean", x, axes=[1], keepdims=0, name="mean")
    net.op("ReduceMax", x, axes=[0, 2], keepdims=0, name="around")
    net.op("Elu", net.op("MatMul", net.op("Unsqueeze", x, net.constant("second", np.array([1]))), y), name="grown")
    return {"total": [20, 33], "mean": [12, 33], "around": [20], "grown": [12, 7, 20, 3]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, build in MODELS.items():
        net = Net()
        onnx.save(net.finish(name, build(net)), str(folder / f"{name}.onnx"))


if __name__ == "__main__":
    main()
