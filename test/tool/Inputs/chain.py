"""Writes a chain of convolutions of these names as an ONNX model: chain.py FILE NAME..."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

file, names = sys.argv[1], sys.argv[2:]
shape = [1, 8, 64, 64]
nodes, weights, value = [], [], "image"
for name in names:
    weight = np.linspace(-0.1, 0.1, 8 * 8 * 9, dtype=np.float32).reshape(8, 8, 3, 3)
    weights.append(numpy_helper.from_array(weight, name + ".weight"))
    nodes.append(helper.make_node("Conv", [value, name + ".weight"], [name + "_out"], name=f"/{name}/Conv", pads=[1] * 4))
    value = name + "_out"
nodes[-1].output[0] = "result"
image = helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)
result = helper.make_tensor_value_info("result", TensorProto.FLOAT, shape)
graph = helper.make_graph(nodes, "chain", [image], [result], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), file)
