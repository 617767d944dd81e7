"""Features as converters of scikit-learn's PolynomialFeatures write them: a selection and a product for each term, and a concatenation of all."""

from itertools import combinations_with_replacement
from types import SimpleNamespace

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def polynomial(name, columns, degree, reduction="ReduceProd", rows=9):
    """The terms of all degrees up to `degree`; rows are known at run time only."""
    x = np.random.default_rng(81).standard_normal((rows, columns)).astype(np.float32)
    join = {"ReduceProd": np.prod, "ReduceSum": np.sum, "ReduceMax": np.max}[reduction]
    nodes, constants, terms, expected = [], {"axes": np.array([1])}, [], []
    for length in range(1, degree + 1):
        for term in combinations_with_replacement(range(columns), length):
            at = len(terms)
            constants[f"columns{at}"] = np.array(term)
            nodes.append(helper.make_node("ArrayFeatureExtractor", ["x", f"columns{at}"], [f"picked{at}"], domain="ai.onnx.ml"))
            nodes.append(helper.make_node(reduction, [f"picked{at}", "axes"], [f"term{at}"], keepdims=1))
            terms.append(f"term{at}")
            expected.append(join(x[:, list(term)], axis=1))
    nodes.append(helper.make_node("Concat", terms, ["y"], axis=1))
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", columns])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", len(terms)])],
                              [numpy_helper.from_array(value, key) for key, value in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)])
    saved = lambda key, array: numpy_helper.from_array(np.ascontiguousarray(array, np.float32), key)
    return SimpleNamespace(name="test_" + name, model=model, data_sets=[([saved("x", x)], [saved("y", np.stack(expected, 1))])])


def cases():
    return [polynomial("polynomial_cubic", 4, 3), polynomial("polynomial_of_two", 2, 2), polynomial("polynomial_sums", 5, 2, "ReduceSum"),
            polynomial("polynomial_largest", 5, 2, "ReduceMax")]
