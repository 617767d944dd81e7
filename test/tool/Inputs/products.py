"""products.py FILE.onnx: matrix products and a convolution with weights that no rule makes code."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def weight(name, *shape):
    return numpy_helper.from_array(np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32), name)


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


nodes = [helper.make_node("MatMul", ["x", "w"], ["large"], name="large"), helper.make_node("MatMul", ["r", "w"], ["row"], name="row"),
         helper.make_node("MatMul", ["s", "v"], ["small"], name="small"),
         helper.make_node("Conv", ["i", "k"], ["images"], name="images", pads=[1] * 4)]
graph = helper.make_graph(nodes, "products", [value("x", 1024, 1024), value("r", 1, 1024), value("s", 16, 128), value("i", 32, 64, 56, 56)],
                          [value("large", 1024, 1024), value("row", 1, 1024), value("small", 16, 32), value("images", 32, 64, 56, 56)],
                          [weight("w", 1024, 1024), weight("v", 128, 32), weight("k", 64, 64, 3, 3)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), sys.argv[1])
