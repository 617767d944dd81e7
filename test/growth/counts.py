"""Operators that have a number of elements or rows, as models of n of them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
COLUMNS = 8 # of what has n rows


def model(kind, inputs, outputs, constants=None, **attributes):
    """One node. `inputs`, `outputs`: name -> (type, shape); `constants`: name -> array."""
    constants = constants or {}
    info = lambda values: [helper.make_tensor_value_info(name, *value) for name, value in values.items()]
    node = helper.make_node(kind, [*inputs, *constants], list(outputs), name=kind.lower(), **attributes)
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph([node], "counts", info(inputs), info(outputs), tensors)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def top_k(k):
    def make(n):
        kept = k(n)
        return model("TopK", {"x": (FLOAT, [1, n])}, {"y": (FLOAT, [1, kept]), "at": (INT64, [1, kept])}, {"k": [kept]}, axis=1)
    return make


def unique(n, rows=False, **attributes):
    tail, axis = ([COLUMNS], {"axis": 0}) if rows else ([], {})
    return model("Unique", {"x": (FLOAT, [n, *tail])},
                 {"y": (FLOAT, ["kinds", *tail]), "first": (INT64, ["kinds"]), "kind": (INT64, [n]), "sizes": (INT64, ["kinds"])},
                 **axis, **attributes)


def same(kind, shape, constants=None, **attributes):
    """A result of the input's shape."""
    return lambda n: model(kind, {"x": (FLOAT, shape(n))}, {"y": (FLOAT, shape(n))}, constants, **attributes)


def gather(n):
    return model("Gather", {"x": (FLOAT, [n, COLUMNS]), "at": (INT64, [n])}, {"y": (FLOAT, [n, COLUMNS])})


def scatter(n):
    shape = [n, COLUMNS]
    return model("ScatterElements", {"x": (FLOAT, shape), "at": (INT64, shape), "by": (FLOAT, shape)}, {"y": (FLOAT, shape)},
                 reduction="add")


def reduced(kind, rows):
    """Along n rows of columns, or over n columns."""
    shape = [COLUMNS, 1] if rows else [1, COLUMNS]
    return lambda n: model(kind, {"x": (FLOAT, [COLUMNS, n] if rows else [n, COLUMNS])}, {"y": (FLOAT, shape)},
                           {"axes": [1 if rows else 0]} if kind == "ReduceSum" else None,
                           **({} if kind == "ReduceSum" else {"axes": [1 if rows else 0]}))


FAMILIES = {
    "top_1": top_k(lambda n: 1),
    "top_10": top_k(lambda n: 10),
    "top_half": top_k(lambda n: n // 2),
    "sort": top_k(lambda n: n),
    "unique": unique,
    "unique_unsorted": lambda n: unique(n, sorted=0),
    "unique_rows": lambda n: unique(n, rows=True),
    "nonzero": lambda n: model("NonZero", {"x": (FLOAT, [n // 10, 10])}, {"y": (INT64, [2, "count"])}),
    "compress": lambda n: model("Compress", {"x": (FLOAT, [n]), "chosen": (BOOL, [n])}, {"y": (FLOAT, ["count"])}),
    "cumsum": same("CumSum", lambda n: [n], {"axis": 0}),
    "cumsum_rows": same("CumSum", lambda n: [COLUMNS, n], {"axis": 1}),
    "cumsum_columns": same("CumSum", lambda n: [n, COLUMNS], {"axis": 0}),
    "gather": gather,
    "scatter_add": scatter,
    "sum_of_rows": reduced("ReduceSum", True),
    "sum_of_columns": reduced("ReduceSum", False),
    "max_of_rows": reduced("ReduceMax", True),
    "argmax": lambda n: model("ArgMax", {"x": (FLOAT, [COLUMNS, n])}, {"y": (INT64, [COLUMNS, 1])}, axis=1),
    "softmax": same("Softmax", lambda n: [COLUMNS, n], axis=1),
    "hardmax": same("Hardmax", lambda n: [COLUMNS, n], axis=1),
    "lp_norm": same("LpNormalization", lambda n: [COLUMNS, n], axis=1),
    "transpose": lambda n: model("Transpose", {"x": (FLOAT, [n, COLUMNS])}, {"y": (FLOAT, [COLUMNS, n])}, perm=[1, 0]),
    "one_hot": lambda n: model("OneHot", {"x": (INT64, [n])}, {"y": (FLOAT, [n, COLUMNS])},
                               {"depth": COLUMNS, "values": np.array([0, 1], np.float32)}),
}
