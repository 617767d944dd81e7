"""The networks of the suite `forms`: a name, widths of inputs and results, how a batch looks in ONNX; which are timed in bfloat16, too."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    def __init__(self, name, batch="n"):
        self.name, self.batch, self.nodes, self.weights, self.inputs, self.outputs, self.flops = name, batch, [], [], [], [], 0
        self.random = np.random.default_rng(5)

    def node(self, op, inputs, out, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"/{out}/{op}", **attributes))
        return out

    def constant(self, name, values):
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def linear(self, x, layer, inputs, outputs, out=None):
        self.flops += 2 * inputs * outputs
        weight = self.constant(f"{layer}.weight", (self.random.uniform(-1, 1, (outputs, inputs)) / np.sqrt(inputs)).astype(np.float32))
        bias = self.constant(f"{layer}.bias", self.random.uniform(-.1, .1, outputs).astype(np.float32))
        return self.node("Gemm", [x, weight, bias], out or f"{layer}.out", transB=1)

    def save(self, folder):
        values = lambda tensors: [helper.make_tensor_value_info(name, TensorProto.FLOAT, [self.batch, width]) for name, width in tensors]
        graph = helper.make_graph(self.nodes, self.name, values(self.inputs), values(self.outputs), self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, folder / f"{self.name}.onnx")


def dense(name, widths, batch="n"):
    net = Net(name, batch)
    net.inputs, net.outputs, x = [("x", widths[0])], [("y", widths[-1])], "x"
    for i, (inputs, outputs) in enumerate(zip(widths, widths[1:]), 1):
        isLast = i == len(widths) - 1
        x = net.linear(x, f"fc{i}", inputs, outputs, "y" if isLast else None)
        if not isLast:
            x = net.node("Relu", [x], f"relu{i}")
    return net


def cloud_fraction():
    """Of E3SM's shape: ice = sigmoid(72 -> 64 -> 72) > 0.5, tot = (liq, ice) 144 -> 64 -> 72"""
    net = Net("cloud_fraction")
    net.inputs, net.outputs = [("qi", 72), ("liq", 72)], [("ice", 72), ("tot", 72)]
    hidden = net.node("Relu", [net.linear("qi", "ice1", 72, 64)], "relu1")
    net.node("Sigmoid", [net.linear(hidden, "ice2", 64, 72)], "probability")
    net.node("Greater", ["probability", net.constant("half", np.float32(.5))], "decided")
    net.node("Cast", ["decided"], "ice", to=TensorProto.FLOAT)
    net.node("Concat", ["liq", "ice"], "both", axis=1)
    hidden = net.node("Relu", [net.linear("both", "tot1", 144, 64)], "relu2")
    net.linear(hidden, "tot2", 64, 72, "tot")
    return net


COLUMNS = [cloud_fraction(), dense("narrowed", [144, 64, 72]), dense("per_level", [9, 64, 64, 1]), dense("mala", [91, 100, 100, 11])]
HALVED = [net for net in COLUMNS if net.name in ("narrowed", "mala")]
RUNNERS = [dense("scorer", [100, 1], 1), dense("policy", [100, 64, 64, 4], 1), dense("large", [300, 256, 128, 64], 1)]
