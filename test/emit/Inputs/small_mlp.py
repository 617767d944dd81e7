#!/usr/bin/env python3
"""Three layers of 100 units for a number of rows known at run time only: small_mlp.py FILE.onnx"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

widths = {"u": (91, 100), "v": (100, 100), "w": (100, 11)}
weights = [numpy_helper.from_array(np.linspace(-1, 1, rows * columns, dtype=np.float32).reshape(rows, columns), name)
           for name, (rows, columns) in widths.items()]
nodes = [helper.make_node("MatMul", ["x", "u"], ["a0"], "a"), helper.make_node("Relu", ["a0"], ["a1"], "relu"),
         helper.make_node("MatMul", ["a1", "v"], ["b0"], "b"), helper.make_node("Tanh", ["b0"], ["b1"], "tanh"),
         helper.make_node("MatMul", ["b1", "w"], ["y"], "last")]
graph = helper.make_graph(nodes, "mlp", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["points", 91])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["points", 11])], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), sys.argv[1])
