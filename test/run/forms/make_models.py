#!/usr/bin/env python3
"""Dense networks for the forms that are called inside kernels, each with values of onnxruntime.

  make_models.py FOLDER

NAME.onnx, and NAME.values: all inputs, then all results, of `columns` entries of the batch as float64."""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

COLUMNS = 37  # two packs and a rest with AVX-512, which is done in another way
FLOAT, DOUBLE, INT64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
random = np.random.default_rng(11)


class Network:
    def __init__(self, name, kind=np.float32):
        self.name, self.kind, self.nodes, self.weights, self.inputs, self.outputs = name, kind, [], [], [], []

    def weight(self, name, *shape):
        values = random.uniform(-1, 1, shape) / np.sqrt(shape[0])
        self.weights.append(numpy_helper.from_array(values.astype(self.kind), name))
        return name

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(np.array(values), name))
        return name

    def node(self, op, inputs, out, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [out] if isinstance(out, str) else out, name=f"/{out}/{op}", **attributes))
        return out

    def gemm(self, x, layer, inputs, outputs, transposed=True):
        shape = (outputs, inputs) if transposed else (inputs, outputs)
        weights = [self.weight(f"{layer}.weight", *shape), self.weight(f"{layer}.bias", outputs)]
        return self.node("Gemm", [x, *weights], f"{layer}.out", transB=int(transposed))

    def argument(self, name, width, kind=None):
        kind = kind or (FLOAT if self.kind == np.float32 else DOUBLE)
        return helper.make_tensor_value_info(name, kind, ["n", width] if width else ["n"])

    def save(self, folder):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        path = folder / f"{self.name}.onnx"
        onnx.save(model, path)
        feeds = {}
        for argument in self.inputs:
            shape = (COLUMNS, argument.type.tensor_type.shape.dim[1].dim_value)
            isInteger = argument.type.tensor_type.elem_type == INT64
            feeds[argument.name] = random.integers(-9, 9, shape) if isInteger else random.standard_normal(shape).astype(self.kind)
        results = onnxruntime.InferenceSession(path).run(None, feeds)
        everything = [*feeds.values(), *results]
        np.concatenate([values.astype(np.float64).ravel() for values in everything]).tofile(folder / f"{self.name}.values")


def many(folder, name, result):
    """NAME.many: inputs and one result of 10,000 entries of the batch."""
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx")
    feeds = {i.name: random.standard_normal((10000, i.shape[1])).astype(np.float32) for i in session.get_inputs()}
    everything = [*feeds.values(), *session.run([result], feeds)]
    np.concatenate([values.astype(np.float64).ravel() for values in everything]).tofile(folder / f"{name}.many")


def rounded(folder, name, weights, out):
    """OUT.onnx: NAME with these weights in the values that bfloat16 has. OUT.values: its results for the inputs of NAME.values."""
    model = onnx.load(folder / f"{name}.onnx")
    for tensor in model.graph.initializer:
        if tensor.name in weights:
            bits = numpy_helper.to_array(tensor).view(np.uint32)
            nearest = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
            tensor.CopyFrom(numpy_helper.from_array(nearest.astype(np.uint32).view(np.float32), tensor.name))
    onnx.save(model, folder / f"{out}.onnx")
    values, at, feeds = np.fromfile(folder / f"{name}.values"), 0, {}
    for argument in model.graph.input:
        width = argument.type.tensor_type.shape.dim[1].dim_value
        feeds[argument.name] = values[at:at + COLUMNS * width].reshape(COLUMNS, width).astype(np.float32)
        at += COLUMNS * width
    results = onnxruntime.InferenceSession(folder / f"{out}.onnx").run(None, feeds)
    np.concatenate([values.astype(np.float64).ravel() for values in [*feeds.values(), *results]]).tofile(folder / f"{out}.values")


def cloud_fraction():
    """Two networks, the second on an input and the decision of the first."""
    net = Network("cloud_fraction")
    net.inputs = [net.argument("qi", 72), net.argument("liq", 72)]
    net.outputs = [net.argument("ice", 72), net.argument("tot", 72)]
    hidden = net.node("Relu", [net.gemm("qi", "ice1", 72, 64)], "ice1.relu")
    net.node("Sigmoid", [net.gemm(hidden, "ice2", 64, 72)], "probability")
    net.node("Greater", ["probability", net.constant("half", np.float32(0.5))], "decided")
    net.node("Cast", ["decided"], "ice", to=FLOAT)
    net.node("Concat", ["liq", "ice"], "both", axis=1)
    hidden = net.node("Relu", [net.gemm("both", "tot1", 144, 64)], "tot1.relu")
    net.gemm(hidden, "tot2", 64, 72)
    net.nodes[-1].output[0] = "tot"
    return net


def gated():
    """A norm, a gate of two halves, a residual, softmax and its largest place."""
    net = Network("gated")
    net.inputs = [net.argument("a", 16), net.argument("b", 8)]
    net.outputs = [net.argument("p", 5), net.argument("place", None, INT64), net.argument("sum", 16)]
    net.node("Concat", ["a", "b"], "joined", axis=1)
    net.node("Mul", ["joined", net.weight("scale", 1, 24)], "scaled")
    hidden = net.gemm("scaled", "fc1", 24, 32, transposed=False)
    net.node("LayerNormalization", [hidden, net.weight("norm.scale", 32), net.weight("norm.shift", 32)], "normed", axis=-1)
    net.node("Tanh", ["normed"], "active")
    net.node("Split", ["active", net.constant("halves", np.array([16, 16]))], ["left", "right"], axis=1)
    net.node("Mul", ["left", "right"], "gate")
    net.node("MatMul", ["gate", net.weight("fc2.weight", 16, 5)], "logits")
    net.node("Softmax", ["logits"], "p", axis=-1)
    net.node("ArgMax", ["p"], "place", axis=1, keepdims=0)
    net.node("Add", ["gate", "a"], "sum")
    return net


def counts():
    """Integers beside floats; a slice of an input; an odd number of outputs."""
    net = Network("counts")
    net.inputs = [net.argument("x", 20), net.argument("count", 4, INT64)]
    net.outputs = [net.argument("y", 11)]
    net.node("Cast", ["count"], "cast", to=FLOAT)
    net.node("Slice", ["x", net.constant("from", np.array([3])), net.constant("to", np.array([15])), net.constant("axis", np.array([1]))], "part")
    net.node("Concat", ["cast", "part"], "joined", axis=1)
    hidden = net.node("LeakyRelu", [net.gemm("joined", "fc1", 16, 33)], "leaky", alpha=0.1)
    net.gemm(hidden, "fc2", 33, 11)
    net.nodes[-1].output[0] = "y"
    return net


def wide():
    """In double; rows longer than the registers hold."""
    net = Network("wide", np.float64)
    net.inputs, net.outputs = [net.argument("x", 9)], [net.argument("y", 1)]
    hidden = net.node("Relu", [net.gemm("x", "fc1", 9, 100)], "relu")
    net.gemm(hidden, "fc2", 100, 1)
    net.nodes[-1].output[0] = "y"
    return net


def per_level():
    """For each level of a column; the rows of a view fill the lanes."""
    net = Network("per_level")
    net.inputs, net.outputs = [net.argument("level", 9)], [net.argument("rate", 1)]
    hidden = net.node("Relu", [net.gemm("level", "fc1", 9, 64)], "relu1")
    hidden = net.node("Relu", [net.gemm(hidden, "fc2", 64, 64)], "relu2")
    net.gemm(hidden, "fc3", 64, 1)
    net.nodes[-1].output[0] = "rate"
    return net


def odd():
    """Concatenations that cut pairs of inputs: the weights of two inputs in bfloat16 share a word."""
    net = Network("odd")
    net.inputs, net.outputs = [net.argument("a", 3), net.argument("b", 5), net.argument("c", 1)], [net.argument("y", 7)]
    net.node("Concat", ["a", "c", "b"], "joined", axis=1)
    hidden = net.node("Relu", [net.gemm("joined", "fc1", 9, 20)], "relu")
    net.node("Concat", ["c", hidden, "b", "a"], "again", axis=1)
    net.gemm("again", "fc2", 29, 7)
    net.nodes[-1].output[0] = "y"
    return net


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (cloud_fraction, gated, counts, wide, per_level, odd):
        make().save(folder)
    many(folder, "gated", "place")
    rounded(folder, "gated", ["fc1.weight"], "rounded")
    for name in ("gated", "odd"):
        rounded(folder, name, ["fc1.weight", "fc2.weight"], f"{name}_halved")


if __name__ == "__main__":
    main()
