#!/usr/bin/env python3
"""Trains the closure of this example and writes closure.onnx beside this file; the result is in the repository.

The diffusivity of a cell from its value and the differences to its neighbours along both axes. The truth is a formula
(`truth`), as a finer model would give it: flat regions mix, steep fronts do not."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NEURONS, STEPS, BATCH = 16, 4000, 256
random = np.random.default_rng(11)


def truth(value, along_x, along_y):
    return 0.1 + 0.6 / (1 + 40 * (along_x**2 + along_y**2)) + 0.25 * value**2


def sample():
    x = np.stack([random.uniform(0, 1, BATCH), random.normal(0, 0.15, BATCH), random.normal(0, 0.15, BATCH)], axis=1)
    return x, truth(*x.T)[:, None]


class Adam:
    def __init__(self, parameters):
        self.parameters, self.step = parameters, 0
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]

    def update(self, gradients):
        self.step += 1
        rate = 1e-2 * (1 - self.step / (STEPS + 1))
        for p, g, (m, v) in zip(self.parameters, gradients, self.moments):
            m += 0.1 * (g - m)
            v += 0.01 * (g * g - v)
            p -= rate * (m / (1 - 0.9**self.step)) / (np.sqrt(v / (1 - 0.99**self.step)) + 1e-8)


def train():
    """Two hidden layers with tanh; a sigmoid keeps the diffusivity between 0 and 1."""
    widths = [3, NEURONS, NEURONS, 1]
    parameters = []
    for inputs, outputs in zip(widths, widths[1:]):
        parameters += [random.standard_normal((inputs, outputs)) / np.sqrt(inputs), np.zeros(outputs)]
    adam = Adam(parameters)
    for _ in range(STEPS):
        x, target = sample()
        w1, b1, w2, b2, w3, b3 = parameters
        first = np.tanh(x @ w1 + b1)
        second = np.tanh(first @ w2 + b2)
        result = 1 / (1 + np.exp(-(second @ w3 + b3)))
        g = (result - target) * result * (1 - result) / len(x)
        back2 = (g @ w3.T) * (1 - second**2)
        back1 = (back2 @ w2.T) * (1 - first**2)
        adam.update([x.T @ back1, back1.sum(0), first.T @ back2, back2.sum(0), second.T @ g, g.sum(0)])
    print(f"mean distance from the formula: {np.abs(result - target).mean():.4f}")
    return parameters


def save(path, parameters):
    weights, nodes, x = [], [], "cell"
    for layer, active, out in ((1, "Tanh", "hidden1"), (2, "Tanh", "hidden2"), (3, "Sigmoid", "diffusivity")):
        weight, bias = parameters[2 * layer - 2:2 * layer]
        weights += [numpy_helper.from_array(weight.T.astype(np.float32), f"layer{layer}.weight"),
                    numpy_helper.from_array(bias.astype(np.float32), f"layer{layer}.bias")]
        nodes += [helper.make_node("Gemm", [x, f"layer{layer}.weight", f"layer{layer}.bias"], [f"layer{layer}.out"], transB=1,
                                   name=f"/layer{layer}/Gemm"),
                  helper.make_node(active, [f"layer{layer}.out"], [out], name=f"/layer{layer}/{active}")]
        x = out
    value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["cells", width])
    graph = helper.make_graph(nodes, "closure", [value("cell", 3)], [value("diffusivity", 1)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


if __name__ == "__main__":
    save(Path(__file__).resolve().parent / "closure.onnx", train())
