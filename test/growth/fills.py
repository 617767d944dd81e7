#!/usr/bin/env python3
"""Constants that are one number 2^30 times: `fills.py TOOL`. They are code, in no memory and in no file."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from measure import translate

COUNT = 1 << 30
MEGABYTES = 300


def model(nodes, shape, numbers, x=(1,)):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)]
    constants = [numpy_helper.from_array(np.array(value), name) for name, value in numbers.items()]
    graph = helper.make_graph([helper.make_node(op, read, [made], name=made, **attributes)
                               for op, read, made, attributes in nodes], "fills", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()


def fill(value=np.zeros(1, np.float32)):
    return "ConstantOfShape", ["shape"], "c", {"value": numpy_helper.from_array(value)}


ADD = ("Add", ["x", "d"], "y", {})
ALL = {"shape": [COUNT]}
SQUARE = {"shape": [1 << 15, 1 << 15]}
NUMBER = {"shape": [COUNT], "k": np.array([2.5], np.float32)}

MODELS = {
    "add.onnx": model([fill(), ("Identity", ["c"], "d", {}), ADD], [COUNT], ALL),
    "output.onnx": model([("ConstantOfShape", ["shape"], "y", {})], [COUNT], ALL),
    "neg.onnx": model([fill(), ("Neg", ["c"], "d", {}), ADD], [COUNT], ALL),
    "concat.onnx": model([fill(), ("Concat", ["c", "c"], "d", {"axis": 0}), ADD], [2 * COUNT - 2], {"shape": [COUNT - 1]}),
    "slice.onnx": model([fill(), ("Slice", ["c", "a", "b"], "d", {}), ADD], [2], ALL | {"a": [5], "b": [7]}),
    "gather.onnx": model([fill(), ("Gather", ["c", "a"], "d", {}), ADD], [1], ALL | {"a": [5]}),
    "cast.onnx": model([fill(np.array([3])), ("Add", ["c", "c"], "e", {}), ("Cast", ["e"], "d", {"to": 1}), ADD], [COUNT], ALL),
    "where.onnx": model([fill(np.array([True])), ("Where", ["c", "x", "k"], "y", {})], [COUNT], NUMBER),
    "transpose.onnx": model([fill(), ("Transpose", ["c"], "d", {"perm": [1, 0]}), ADD], [1 << 15, 1 << 15], SQUARE),
    "matmul.onnx": model([fill(), ("MatMul", ["x", "c"], "y", {})], [4, 1 << 15], SQUARE, [4, 1 << 15]),
    "conv.onnx": model([fill(), ("Conv", ["x", "c"], "y", {})], [1, 1 << 15, 4, 4], {"shape": [1 << 15, 1 << 15, 1, 1]},
                       [1, 1 << 15, 4, 4]),
    "expand.onnx": model([("Expand", ["k", "shape"], "d", {}), ADD], [COUNT], NUMBER),
    "tile.onnx": model([("Tile", ["k", "shape"], "d", {}), ADD], [COUNT], NUMBER),
    "splat.mlir": b"""func.func @splat(%x: tensor<1073741824xf32>) -> tensor<1073741824xf32> {
  %c = arith.constant dense<2.5> : tensor<1073741824xf32>
  %e = tensor.empty() : tensor<1073741824xf32>
  %y = linalg.add ins(%x, %c : tensor<1073741824xf32>, tensor<1073741824xf32>)
                  outs(%e : tensor<1073741824xf32>) -> tensor<1073741824xf32>
  return %y : tensor<1073741824xf32>
}
""",
    "matmul.mlir": b"""func.func @splat(%x: tensor<4x32768xf32>, %o: tensor<4x32768xf32>) -> tensor<4x32768xf32> {
  %c = arith.constant dense<2.5> : tensor<32768x32768xf32>
  %y = linalg.matmul ins(%x, %c : tensor<4x32768xf32>, tensor<32768x32768xf32>)
                     outs(%o : tensor<4x32768xf32>) -> tensor<4x32768xf32>
  return %y : tensor<4x32768xf32>
}
""",
    "global.mlir": b"""memref.global "private" constant @g : memref<1073741824xf32> = dense<2.5>
func.func @splat(%x: memref<1073741824xf32>) {
  %g = memref.get_global @g : memref<1073741824xf32>
  affine.for %i = 0 to 1073741824 {
    %v = affine.load %g[%i] : memref<1073741824xf32>
    affine.store %v, %x[%i] : memref<1073741824xf32>
  }
  return
}
""",
}
# Refused, with the node that cannot be held
REFUSED = {
    "indices.onnx": (model([fill(np.array([0])), ("Gather", ["x", "c"], "y", {})], [COUNT], ALL), '"y" (Gather'),
}


def main():
    tool, problems = sys.argv[1], []
    with tempfile.TemporaryDirectory() as folder:
        for name, data in MODELS.items() | {name: entry[0] for name, entry in REFUSED.items()}.items():
            path = Path(folder) / name
            path.write_bytes(data)
            output = path.with_suffix(".cpp")
            cost = translate(tool, str(path), str(output), 10, 4 * MEGABYTES)
            print(f"{name:16} exit code {cost.code}, {cost.seconds:.2f} s, {cost.megabytes} MB")
            refusal = REFUSED[name][1] if name in REFUSED else None
            if refusal and (cost.code == 0 or refusal not in cost.message):
                problems.append(f"{name}: exit code {cost.code}, not refused: {cost.message}")
            elif not refusal and (cost.code != 0 or output.with_suffix(".safetensors").exists()):
                problems.append(f"{name}: exit code {cost.code}: {cost.message or 'has a sidecar'}")
            elif cost.megabytes > MEGABYTES:
                problems.append(f"{name}: {cost.megabytes} MB")
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
