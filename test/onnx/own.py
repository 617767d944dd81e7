#!/usr/bin/env python3
"""Writes tests that neither libonnx-testdata nor the onnx wheel has, as a tree for run.py --data: own.py DIR"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from ml_dtypes import bfloat16
from onnx import TensorProto, helper

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


if __name__ == "__main__":
    for case in [bfloat16_layers()]:
        write(case, Path(sys.argv[1]) / "node" / case.name)
