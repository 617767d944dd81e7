#!/usr/bin/env python3
"""Trains the closure of this example and writes closure.onnx beside this file; the result is in the repository.

Per column of 72 levels: where is there ice cloud (a decision per level), and which part of a level is covered by any cloud? The
truth is a formula (`truth`), as a finer model would give it; two small networks learn it."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LEVELS, NEURONS, STEPS = 72, 64, 3000
random = np.random.default_rng(5)


def smooth(profiles):
    """Mean of a level and its neighbours above and below."""
    padded = np.pad(profiles, ((0, 0), (1, 1)), mode="edge")
    return (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3


def truth(ice_water, liquid_water):
    ice = (smooth(ice_water) > 0.35).astype(np.float64)
    return ice, np.clip(0.7 * smooth(liquid_water) + 0.25 * smooth(ice), 0, 1)


def profiles(count):
    """Clouds: a few layers of random height, depth and water."""
    level = np.arange(LEVELS)
    water = np.zeros((count, LEVELS))
    for _ in range(3):
        center, depth, amount = random.uniform(0, LEVELS, (count, 1)), random.uniform(2, 9, (count, 1)), random.uniform(0, 1, (count, 1))
        water += amount * np.exp(-(((level - center) / depth) ** 2))
    return water


class Adam:
    def __init__(self, parameters):
        self.parameters, self.step = parameters, 0
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]

    def update(self, gradients):
        self.step += 1
        rate = 3e-3 * (1 - self.step / (STEPS + 1))
        for p, g, (m, v) in zip(self.parameters, gradients, self.moments):
            m += 0.1 * (g - m)
            v += 0.01 * (g * g - v)
            p -= rate * (m / (1 - 0.9**self.step)) / (np.sqrt(v / (1 - 0.99**self.step)) + 1e-8)


def train(inputs, sample, gradient):
    """Two layers with ReLU between them; `gradient(result, target)` is that of the loss."""
    parameters = [random.standard_normal((inputs, NEURONS)) / np.sqrt(inputs), np.zeros(NEURONS),
                  random.standard_normal((NEURONS, LEVELS)) / np.sqrt(NEURONS), np.zeros(LEVELS)]
    adam = Adam(parameters)
    for _ in range(STEPS):
        x, target = sample()
        w1, b1, w2, b2 = parameters
        hidden = np.maximum(x @ w1 + b1, 0)
        g = gradient(hidden @ w2 + b2, target) / len(x)
        back = (g @ w2.T) * (hidden > 0)
        adam.update([x.T @ back, back.sum(0), hidden.T @ g, g.sum(0)])
    return parameters


def sample_ice():
    water = profiles(128)
    return water, truth(water, water)[0]


def sample_cover():
    ice_water, liquid = profiles(128), profiles(128)
    ice, cover = truth(ice_water, liquid)
    return np.concatenate([liquid, ice], axis=1), cover


def save(folder, ice, cover):
    weights, nodes = [], []

    def linear(x, layer, weight, bias, out):
        weights.extend([numpy_helper.from_array(weight.T.astype(np.float32), f"{layer}.weight"),
                        numpy_helper.from_array(bias.astype(np.float32), f"{layer}.bias")])
        nodes.append(helper.make_node("Gemm", [x, f"{layer}.weight", f"{layer}.bias"], [out], transB=1, name=f"/{layer}/Gemm"))

    def node(op, inputs, out, name, **attributes):
        nodes.append(helper.make_node(op, inputs, [out], name=f"/{name}/{op}", **attributes))

    linear("ice_water", "ice1", *ice[:2], "ice1.out")
    node("Relu", ["ice1.out"], "ice1.active", "ice1")
    linear("ice1.active", "ice2", *ice[2:], "ice2.out")
    node("Sigmoid", ["ice2.out"], "probability", "ice2")
    weights.append(numpy_helper.from_array(np.float32(0.5), "half"))
    node("Greater", ["probability", "half"], "is_ice", "ice2")
    node("Cast", ["is_ice"], "ice", "ice2", to=TensorProto.FLOAT)
    node("Concat", ["liquid_water", "ice"], "both", "cover1", axis=1)
    linear("both", "cover1", *cover[:2], "cover1.out")
    node("Relu", ["cover1.out"], "cover1.active", "cover1")
    linear("cover1.active", "cover2", *cover[2:], "cover")
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["columns", LEVELS])
    graph = helper.make_graph(nodes, "closure", [value("ice_water"), value("liquid_water")], [value("ice"), value("cover")], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, folder / "closure.onnx")


def main():
    ice = train(LEVELS, sample_ice, lambda result, target: 1 / (1 + np.exp(-result)) - target)
    cover = train(2 * LEVELS, sample_cover, lambda result, target: result - target)
    save(Path(__file__).resolve().parent, ice, cover)


if __name__ == "__main__":
    main()
