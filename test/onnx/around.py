"""Periodic dimensions as Slice and Concat write them: both ends, one end, and slices that are no ends."""

from types import SimpleNamespace

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from volumes import convolved

LAST = (1 << 31) - 1 # of a slice to the end
X = np.random.default_rng(14).standard_normal((2, 3, 6, 8)).astype(np.float32)
WEIGHTS = np.random.default_rng(15).standard_normal((4, 3, 3, 3)).astype(np.float32)


def joined(name, steps, expected, weights=None):
    """Each step is an axis and what is joined along it: None for what there is, or the bounds of a slice of it."""
    nodes, constants, at = [], {}, "x"
    for step, (axis, parts) in enumerate(steps):
        names = []
        for place, bounds in enumerate(parts):
            if bounds is None:
                names.append(at)
                continue
            start, end, along, part = (f"{kind}{step}_{place}" for kind in ("start", "end", "axis", "part"))
            constants |= {start: np.array(bounds[:1]), end: np.array(bounds[1:]), along: np.array([axis])}
            nodes.append(helper.make_node("Slice", [at, start, end, along], [part]))
            names.append(part)
        at = f"joined{step}"
        nodes.append(helper.make_node("Concat", names, [at], axis=axis))
    if weights is not None:
        constants["weights"] = weights
        nodes.append(helper.make_node("Conv", [at, "weights"], [at := "conv"]))
    info = lambda label, array: helper.make_tensor_value_info(label, TensorProto.FLOAT, array.shape)
    graph = helper.make_graph(nodes, name, [info("x", X)], [info(at, expected)],
                              [numpy_helper.from_array(array, label) for label, array in constants.items()])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)])
    data = [numpy_helper.from_array(X, "x")], [numpy_helper.from_array(expected, at)]
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[data])


def ends(before, after):
    return [(-before, LAST), None, (0, after)]


def cases():
    padded = lambda x, *widths: np.pad(x, ((0, 0), (0, 0), *widths), "wrap")
    return [
        joined("around_both", [(2, ends(2, 1)), (3, ends(1, 3))], padded(X, (2, 1), (1, 3))),
        joined("around_twice", [(3, ends(1, 1)), (3, ends(2, 2))], padded(padded(X, (0, 0), (1, 1)), (0, 0), (2, 2))),
        joined("around_front", [(2, [(-2, LAST), None])], padded(X, (2, 0), (0, 0))),
        joined("around_back", [(3, [None, (0, 5)])], padded(X, (0, 0), (0, 5))),
        joined("around_inner", [(3, [(-3, -1), None, (0, 2)])], np.concatenate([X[..., -3:-1], X, X[..., :2]], 3)),
        joined("around_second", [(3, [(-2, LAST), None, (1, 2)])], np.concatenate([X[..., -2:], X, X[..., 1:2]], 3)),
        joined("around_conv", [(2, ends(1, 1)), (3, ends(1, 1))],
               convolved(padded(X, (1, 1), (1, 1))[:, :, None], WEIGHTS[:, :, None])[:, :, 0], WEIGHTS),
    ]
