#!/usr/bin/env python3
"""Trains the closure of this example and writes mixing.onnx beside this file; the result is in the repository.

How strongly does turbulence mix momentum and heat at a level of the boundary layer? The truth is a formula of shear, stratification
and height (`truth`; main.f90 has it, too), as a finer model would give it; a small network learns its logarithm."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NEURONS, STEPS = 24, 6000
LEAST_SHEAR, MOST_RICHARDSON = 1e-5, 2.0
random = np.random.default_rng(7)


def truth(state):
    """[n, 3] of shear (1/s), squared buoyancy frequency (1/s^2), height (m) to [n, 2] diffusivities (m^2/s)."""
    shear, stability, height = state.T
    length = 0.4 * height / (1 + 0.4 * height / 150)
    square = shear**2 + LEAST_SHEAR
    richardson = np.clip(stability / square, -MOST_RICHARDSON, MOST_RICHARDSON)
    unstable = np.sqrt(1 - 18 * np.minimum(richardson, 0))
    stable = 1 / (1 + 10 * np.maximum(richardson, 0) * (1 + 8 * np.maximum(richardson, 0)))
    momentum = length**2 * np.sqrt(square) * unstable * stable + 0.1
    return np.stack([momentum, momentum * (1 - 0.35 * (1 - stable) + 0.35 * (1 - 1 / unstable))], axis=1)


def features(state):
    """What the model computes of its input first."""
    square = state[:, :1] ** 2 + LEAST_SHEAR
    richardson = np.clip(state[:, 1:2] / square, -MOST_RICHARDSON, MOST_RICHARDSON)
    return np.concatenate([np.log(square), richardson, np.log(state[:, 2:])], axis=1)


def states(count):
    shear = 10 ** random.uniform(-4, -0.7, count)
    richardson = np.where(random.uniform(size=count) < 0.3, random.uniform(-2.2, 2.2, count), random.normal(0, 0.3, count))
    return np.stack([shear, richardson * (shear**2 + LEAST_SHEAR), 10 ** random.uniform(1, 3.4, count)], axis=1)


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


def forward(parameters, x):
    w1, b1, w2, b2, w3, b3 = parameters
    first = np.tanh(x @ w1 + b1)
    second = np.tanh(first @ w2 + b2)
    return first, second, second @ w3 + b3


def train():
    sample = features(states(20000))
    mean, deviation = sample.mean(0), sample.std(0)
    sizes = [(3, NEURONS), (NEURONS, NEURONS), (NEURONS, 2)]
    parameters = [p for i, o in sizes for p in (random.standard_normal((i, o)) / np.sqrt(i), np.zeros(o))]
    adam = Adam(parameters)
    for _ in range(STEPS):
        batch = states(512)
        x = (features(batch) - mean) / deviation
        first, second, result = forward(parameters, x)
        g3 = (result - np.log(truth(batch))) / len(batch)
        g2 = (g3 @ parameters[4].T) * (1 - second**2)
        g1 = (g2 @ parameters[2].T) * (1 - first**2)
        adam.update([x.T @ g1, g1.sum(0), first.T @ g2, g2.sum(0), second.T @ g3, g3.sum(0)])
    test = states(8192)
    found = forward(parameters, (features(test) - mean) / deviation)[2]
    print(f"mean error of a diffusivity: {np.mean(np.abs(np.exp(found - np.log(truth(test))) - 1)):.1%}")
    w1, b1 = parameters[0] / deviation[:, None], parameters[1] - (mean / deviation) @ parameters[0]
    return [w1, b1, *parameters[2:]]


def save(path, parameters):
    weights, nodes = [], []

    def constant(name, value, kind=np.float32):
        weights.append(numpy_helper.from_array(np.asarray(value, kind), name))
        return name

    def node(op, inputs, out, **attributes):
        nodes.append(helper.make_node(op, inputs, [out], name=f"/{out}/{op}", **attributes))
        return out

    def part(first, out):
        ends = [constant(f"{out}.from", [first], np.int64), constant(f"{out}.to", [first + 1], np.int64)]
        return node("Slice", ["state", *ends, "axis"], out)

    def linear(x, layer, weight, bias):
        return node("Gemm", [x, constant(f"{layer}.weight", weight), constant(f"{layer}.bias", bias)], layer)

    constant("axis", [1], np.int64)
    shear, stability, height = part(0, "shear"), part(1, "stability"), part(2, "height")
    square = node("Add", [node("Mul", [shear, shear], "shear2"), constant("least", LEAST_SHEAR)], "square")
    richardson = node("Clip", [node("Div", [stability, square], "ratio"), constant("lowest", -MOST_RICHARDSON), constant("highest", MOST_RICHARDSON)], "richardson")
    x = node("Concat", [node("Log", [square], "log_square"), richardson, node("Log", [height], "log_height")], "features", axis=1)
    x = node("Tanh", [linear(x, "fc1", *parameters[:2])], "active1")
    x = node("Tanh", [linear(x, "fc2", *parameters[2:4])], "active2")
    node("Exp", [linear(x, "fc3", *parameters[4:])], "diffusivity")
    value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width])
    graph = helper.make_graph(nodes, "mixing", [value("state", 3)], [value("diffusivity", 2)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


if __name__ == "__main__":
    save(Path(__file__).resolve().parent / "mixing.onnx", train())
