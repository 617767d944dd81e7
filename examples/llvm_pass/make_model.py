#!/usr/bin/env python3
"""Trains the policy of this example and writes unroll.onnx beside this file; the result is in the repository.

By which factor is a loop unrolled? The truth is a cost formula (`cost`), as measurements would give it; the network learns the
factor of the lowest cost from what the pass counts in a loop."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FEATURES = ["depth", "blocks", "instructions", "loads", "stores", "calls", "branches", "trips"]
FACTORS, NEURONS, STEPS = np.array([1, 2, 4, 8]), 32, 4000
random = np.random.default_rng(3)


def cost(loops):
    """[loops, factors]: time of an iteration, with the loop's own overhead shared by `factor` bodies. Calls hide the overhead; long
    bodies fall out of the cache of decoded instructions; what does not divide a short trip count runs in a remainder."""
    _, blocks, instructions, _, _, calls, branches, trips = loops.T.astype(np.float64)[..., None]
    overhead = 3 / FACTORS * (calls == 0)
    size = np.maximum(instructions * FACTORS - 128, 0) / 24
    remainder = np.where(trips > 0, (trips % FACTORS) / np.maximum(trips, 1), 0.05) * 8
    branching = 0.4 * (branches - 1) * FACTORS * (blocks > 1)
    return overhead + size + remainder + branching + 0.1 * np.log2(FACTORS)


def loops(count):
    blocks = 1 + random.poisson(0.6, count)
    instructions = 4 + blocks + np.exp(random.uniform(0, 5, count)).astype(np.int64)
    loads, stores = random.binomial(instructions // 2, 0.3), random.binomial(instructions // 2, 0.15)
    calls = random.binomial(2, 0.15, count)
    trips = random.integers(1, 65, count) * random.integers(0, 2, count)  # 0: not known
    return np.stack([1 + random.integers(0, 3, count), blocks, instructions, loads, stores, calls, blocks, trips], axis=1)


def inputs_of(loops):
    """Logarithms, and whether factors divide the trip count: what the network computes of its features first."""
    return np.log(loops + 1.0), (loops[:, 7:8] % FACTORS[None, 1:] == 0).astype(np.float64)


class Adam:
    def __init__(self, parameters):
        self.parameters, self.step = parameters, 0
        self.moments = [(np.zeros_like(p), np.zeros_like(p)) for p in parameters]

    def update(self, gradients):
        self.step += 1
        rate = 5e-3 * (1 - self.step / (STEPS + 1))
        for p, g, (m, v) in zip(self.parameters, gradients, self.moments):
            m += 0.1 * (g - m)
            v += 0.01 * (g * g - v)
            p -= rate * (m / (1 - 0.9**self.step)) / (np.sqrt(v / (1 - 0.99**self.step)) + 1e-8)


def forward(parameters, x):
    w1, b1, w2, b2, w3, b3 = parameters
    first = np.maximum(x @ w1 + b1, 0)
    second = np.maximum(first @ w2 + b2, 0)
    return first, second, second @ w3 + b3


def train():
    sizes = [(len(FEATURES) + 3, NEURONS), (NEURONS, NEURONS), (NEURONS, len(FACTORS))]
    parameters = [p for i, o in sizes for p in (random.standard_normal((i, o)) / np.sqrt(i), np.zeros(o))]
    adam = Adam(parameters)
    for _ in range(STEPS):
        batch = loops(256)
        x, best = np.concatenate(inputs_of(batch), axis=1), cost(batch).argmin(1)
        first, second, logits = forward(parameters, x)
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        g3 = (p - np.eye(len(FACTORS))[best]) / len(batch)
        g2 = (g3 @ parameters[4].T) * (second > 0)
        g1 = (g2 @ parameters[2].T) * (first > 0)
        adam.update([x.T @ g1, g1.sum(0), first.T @ g2, g2.sum(0), second.T @ g3, g3.sum(0)])
    test = loops(4096)
    found = forward(parameters, np.concatenate(inputs_of(test), axis=1))[2].argmax(1)
    print(f"the best factor in {np.mean(found == cost(test).argmin(1)):.1%} of 4096 loops")
    return parameters


def save(path, parameters):
    weights, nodes = [], []

    def constant(name, value):
        weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(op, inputs, out, **attributes):
        nodes.append(helper.make_node(op, inputs, [out], name=f"/{out}/{op}", **attributes))
        return out

    def linear(x, layer, weight, bias):
        return node("Gemm", [x, constant(f"{layer}.weight", weight.astype(np.float32)), constant(f"{layer}.bias", bias.astype(np.float32))], layer)

    counts = node("Cast", ["loop"], "counts", to=TensorProto.FLOAT)
    logarithms = node("Log", [node("Add", [counts, constant("one", np.float32(1))], "above")], "logarithms")
    trips = node("Slice", ["counts", constant("from", [7]), constant("to", [8]), constant("axis", [1])], "trips")
    ratio = node("Div", [trips, constant("factors", FACTORS[None, 1:].astype(np.float32))], "ratio")
    whole = node("Equal", [node("Floor", [ratio], "rounded"), ratio], "divides")
    divides = node("Cast", [whole], "is_divided", to=TensorProto.FLOAT)
    x = node("Concat", [logarithms, divides], "features", axis=1)
    x = node("Relu", [linear(x, "fc1", *parameters[:2])], "active1")
    x = node("Relu", [linear(x, "fc2", *parameters[2:4])], "active2")
    node("ArgMax", [linear(x, "fc3", *parameters[4:])], "factor", axis=1, keepdims=0)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "unroll", [value("loop", TensorProto.INT64, ["n", len(FEATURES)])], [value("factor", TensorProto.INT64, ["n"])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


if __name__ == "__main__":
    save(Path(__file__).resolve().parent / "unroll.onnx", train())
