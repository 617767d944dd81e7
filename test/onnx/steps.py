"""Recurrent layers that converters wrote as Loop or Scan, and layers on slice after slice of a tensor, with onnxruntime's values."""

from types import SimpleNamespace

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from scans import numbers, scan

node = helper.make_node


def checked(name, nodes, inputs, constants, outputs, opset=15):
    """A graph with the values that onnxruntime computes. `outputs`: names, or pairs of a name and a type."""
    typed = [pair if isinstance(pair, tuple) else (pair, TensorProto.FLOAT) for pair in outputs]
    value = lambda label, array: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    make = lambda results: helper.make_model(
        helper.make_graph(nodes, name, [value(*pair) for pair in inputs.items()], results,
                          [numpy_helper.from_array(array, label) for label, array in constants.items()]),
        ir_version=9, opset_imports=[helper.make_opsetid("", opset)])
    session = onnxruntime.InferenceSession(make([helper.make_tensor_value_info(*pair, None) for pair in typed]).SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    expected = dict(zip([label for label, _ in typed], session.run(None, inputs)))
    tensors = lambda arrays: [numpy_helper.from_array(array, label) for label, array in arrays.items()]
    return SimpleNamespace(name=f"test_{name}", model=make([value(*pair) for pair in expected.items()]),
                           data_sets=[(tensors(inputs), tensors(expected))])


def loop(name, steps, body, states, results, inputs, constants, opset=15, condition="going"):
    """Of `states`, pairs of a name and a type, the body makes NAME_next; `results` are its other outputs."""
    open_value = lambda label, kind=TensorProto.FLOAT: helper.make_tensor_value_info(label, kind, None)
    inner = helper.make_graph(
        body, "body", [helper.make_tensor_value_info("step", TensorProto.INT64, []), helper.make_tensor_value_info("on", TensorProto.BOOL, []),
                       *(open_value(f"s_{label}", kind) for label, kind in states)],
        [helper.make_tensor_value_info(condition, TensorProto.BOOL, []), *(open_value(f"{label}_next", kind) for label, kind in states),
         *(open_value(label) for label in results)])
    constants = {"steps": np.array(steps), "yes": np.array(True), **constants}
    outputs = [*((f"{label}_last", kind) for label, kind in states), *((f"y_{label}", TensorProto.FLOAT) for label in results)]
    whole = node("Loop", ["steps", "yes", *(label for label, _ in states)], [label for label, _ in outputs], body=inner)
    return checked(name, [whole], inputs, constants, outputs, opset)


def recurrent_loop(name, rows):
    """An LSTM as tf2onnx leaves it: a counter is the index and the condition, weights are states, Gemm adds the product of the state."""
    hidden, width, steps = 4, 3, 6
    weights = {"w": numbers(1, width, 4 * hidden), "r": numbers(2, hidden, 4 * hidden), "b": numbers(3, 4 * hidden)}
    squeeze = [node("Squeeze", ["hr"], ["addend"])] if rows == 1 else [node("Identity", ["hr"], ["addend"])]
    body = [node("MatMul", ["s_h", "s_r"], ["hr"]), *squeeze, node("Add", ["s_count", "one"], ["count_next"]),
            node("Gather", ["x", "s_count"], ["row"]), node("Gemm", ["row", "s_w", "addend"], ["z0"]), node("Add", ["z0", "s_b"], ["z"]),
            node("Split", ["z"], ["i", "f", "c", "o"], axis=1), node("Sigmoid", ["i"], ["is"]), node("Sigmoid", ["f"], ["fs"]),
            node("Sigmoid", ["o"], ["os"]), node("Tanh", ["c"], ["ct"]), node("Mul", ["fs", "s_cell"], ["kept"]),
            node("Mul", ["is", "ct"], ["fresh"]), node("Add", ["kept", "fresh"], ["cell_next"]), node("Tanh", ["cell_next"], ["cell_t"]),
            node("Mul", ["os", "cell_t"], ["out"]), node("Identity", ["out"], ["h_next"]), node("Identity", ["out"], ["sequence"]),
            node("Cast", ["count_next"], ["reached"], to=TensorProto.FLOAT), node("Less", ["reached", "limit"], ["going"]),
            *(node("Identity", [f"s_{label}"], [f"{label}_next"]) for label in weights)]
    constants = {"one": np.array(1, np.int32), "limit": np.array(steps, np.float32), "count": np.array(0, np.int32),
                 "h": np.zeros((rows, hidden), np.float32), "cell": np.zeros((rows, hidden), np.float32), **weights}
    states = [("count", TensorProto.INT32), *((label, TensorProto.FLOAT) for label in ("h", "cell", *weights))]
    return loop(name, 9, body, states, ["sequence"], {"x": numbers(4, steps, rows, width)}, constants)


def backwards_loop():
    """The row of a step is counted from the end, and offset."""
    body = [node("Sub", ["four", "step"], ["at"]), node("Gather", ["x", "at"], ["row"]), node("MatMul", ["s_h", "r"], ["hr"]),
            node("Add", ["row", "hr"], ["sum"]), node("Relu", ["sum"], ["h_next"]), node("Mul", ["h_next", "h_next"], ["square"]),
            node("Identity", ["on"], ["going"])]
    return loop("loop_backwards", 4, body, [("h", TensorProto.FLOAT)], ["square"], {"x": numbers(5, 6, 2, 3), "h": numbers(6, 2, 3)},
                {"r": numbers(7, 3, 3), "four": np.array(4)})


def convolving_loop():
    """No recurrent kernel: the loop stays one, around a convolution."""
    body = [node("Conv", ["s_h", "w"], ["c"], pads=[1, 1, 1, 1]), node("Gather", ["x", "step"], ["image"]), node("Add", ["c", "image"], ["sum"]),
            node("Tanh", ["sum"], ["h_next"]), node("Identity", ["on"], ["going"]), node("Identity", ["h_next"], ["all"])]
    return loop("loop_convolving", 5, body, [("h", TensorProto.FLOAT)], ["all"], {"x": numbers(8, 5, 1, 3, 4, 6), "h": numbers(9, 1, 3, 4, 6)},
                {"w": numbers(10, 3, 3, 3, 3)})


def lanes(name, layer, x, constants, axis=0, results=0, order=1, shared=False):
    """`layer`: nodes from IN to OUT for a slice; `order`: -1 for the last slice first."""
    nodes, parts, count = [], [], x.shape[axis] - 1
    for lane, place in enumerate(range(count)[::order]):
        tag = lambda label: f"{label}_{lane}"
        constants |= {tag("from"): np.array([place]), tag("to"): np.array([place + 1])}
        nodes += [node("Slice", ["x", tag("from"), tag("to"), "axis"], [tag("slice")]), node("Squeeze", [tag("slice"), "axis"], [tag("IN")])]
        for kind, inputs, outputs, attributes in layer:
            local = {"IN", *(label for _, _, made, _ in layer for label in made)}
            nodes.append(node(kind, [tag(label) if label in local else label for label in inputs], [tag(label) for label in outputs], **attributes))
        nodes.append(node("Unsqueeze", [tag("OUT"), "results"], [tag("part")]))
        parts.append(tag("part"))
    nodes.append(node("Concat", parts, ["y"], axis=results))
    if shared:
        nodes.append(node("Neg", ["OUT_2"], ["other"]))
    return checked(name, nodes, {"x": x}, {**constants, "axis": np.array([axis]), "results": np.array([results])}, ["y", *(["other"] if shared else [])])


def cases():
    dense = [("MatMul", ["IN", "w"], ["p"], {}), ("Add", ["p", "b"], ["s"], {}), ("Sigmoid", ["s"], ["OUT"], {})]
    weights = lambda: {"w": numbers(20, 3, 4), "b": numbers(21, 4)}
    image = [("Transpose", ["IN"], ["t"], {"perm": [0, 3, 1, 2]}), ("Conv", ["t", "k"], ["c"], {"pads": [1, 1, 1, 1]}),
             ("GlobalAveragePool", ["c"], ["OUT"], {})]
    shared_state = [node("Gemm", ["s_row", "w"], ["xw"], transB=1), node("MatMul", ["s_h", "r"], ["hr"]), node("Add", ["xw", "hr"], ["sum"]),
                    node("Tanh", ["sum"], ["h_next"]), node("Identity", ["h_next"], ["y"])]
    return [
        recurrent_loop("loop_lstm", 2), recurrent_loop("loop_lstm_one_row", 1), backwards_loop(), convolving_loop(),
        scan("scan_recurrent", {"h": numbers(11, 2, 4)}, {"row": numbers(12, 5, 2, 3)}, shared_state, ["h_next", "y"],
             constants={"w": numbers(13, 4, 3), "r": numbers(14, 4, 4)}),
        scan("scan_recurrent_backwards", {"h": numbers(11, 2, 4)}, {"row": numbers(12, 2, 5, 3)}, shared_state, ["h_next", "y"],
             constants={"w": numbers(13, 4, 3), "r": numbers(14, 4, 4)}, scan_input_axes=[1], scan_input_directions=[1],
             scan_output_directions=[1], scan_output_axes=[1]),
        lanes("lanes_dense", dense, numbers(15, 6, 2, 3), weights()),
        lanes("lanes_other_axes", dense, numbers(16, 2, 7, 3), weights(), axis=1, results=1, order=-1),
        lanes("lanes_read_elsewhere", dense, numbers(17, 6, 2, 3), weights(), shared=True),
        lanes("lanes_convolution", image, numbers(18, 5, 2, 6, 5, 3), {"k": numbers(19, 4, 3, 3, 3)}),
    ]
