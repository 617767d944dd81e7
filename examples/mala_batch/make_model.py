#!/usr/bin/env python3
"""A network of MALA's shape: 91 descriptors of a grid point to 11 values of its local density of states by two hidden layers of 400.
Weights are seeded, not trained: time and rounding are those of a trained one, the values mean nothing.   make_model.py FILE.onnx"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZES = [91, 400, 400, 11]


def main():
    random = np.random.default_rng(13)
    weights, nodes, x = [], [], "descriptors"
    for layer, (inputs, outputs) in enumerate(zip(SIZES, SIZES[1:])):
        name, isLast = f"fc{layer + 1}", layer + 2 == len(SIZES)
        weights.append(numpy_helper.from_array((random.standard_normal((outputs, inputs)) * np.sqrt(2 / inputs)).astype(np.float32), f"{name}.weight"))
        weights.append(numpy_helper.from_array((random.standard_normal(outputs) * 0.1).astype(np.float32), f"{name}.bias"))
        out = "ldos" if isLast else f"{name}.out"
        nodes.append(helper.make_node("Gemm", [x, f"{name}.weight", f"{name}.bias"], [out], transB=1, name=f"/{name}/Gemm"))
        if not isLast:
            nodes.append(helper.make_node("LeakyRelu", [out], [f"{name}.active"], name=f"/{name}/LeakyRelu"))
        x = f"{name}.active"
    value = lambda name, width: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["points", width])
    graph = helper.make_graph(nodes, "mala", [value("descriptors", SIZES[0])], [value("ldos", SIZES[-1])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, sys.argv[1])


if __name__ == "__main__":
    main()
