"""Products whose results meet rows that indices name: edges of a graph that read its nodes."""

from types import SimpleNamespace

import numpy as np
from onnx import helper, numpy_helper

RANDOM = np.random.default_rng(21)
NODES = 9


def gathered(name, rows, depth, columns, ends, joined, kind=np.int64):
    """relu(x @ weights + bias) joined with the rows of `nodes` at each of `ends` indices."""
    numbers = lambda *shape: RANDOM.standard_normal(shape).astype(np.float32)
    x, nodes, weights, bias = numbers(rows, depth), numbers(NODES, columns), numbers(depth, columns), numbers(columns)
    indices = [RANDOM.integers(-NODES, NODES, rows).astype(kind) for _ in range(ends)]
    steps = [helper.make_node("Gemm", ["x", "weights", "bias"], ["sums"], name="edges"), helper.make_node("Relu", ["sums"], ["y0"])]
    expected = np.maximum(x @ weights + bias, 0)
    for end, index in enumerate(indices):
        steps += [helper.make_node("Gather", ["nodes", f"index{end}"], [f"part{end}"], axis=0),
                  helper.make_node(joined, [f"y{end}", f"part{end}"], [f"y{end + 1}"])]
        expected = expected + nodes[index] if joined == "Add" else expected * nodes[index]
    feeds = {"x": x, "nodes": nodes} | {f"index{end}": index for end, index in enumerate(indices)}
    info = lambda label, array: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    graph = helper.make_graph(steps, name, [info(*feed) for feed in feeds.items()], [info(f"y{ends}", expected)],
                              [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18)])
    data = [numpy_helper.from_array(array, label) for label, array in feeds.items()], [numpy_helper.from_array(expected, f"y{ends}")]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def cases():
    return [gathered("edges_one_end", 50, 24, 64, 1, "Add"), gathered("edges_two_ends", 130, 64, 70, 2, "Mul"),
            gathered("edges_three_ends", 33, 5, 7, 3, "Add", np.int32), gathered("edges_few", 3, 40, 96, 2, "Add"),
            gathered("edges_single", 1, 40, 33, 1, "Mul", np.int32)]
