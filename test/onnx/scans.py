"""Scan whose steps do not need each other, with onnxruntime's values: distances of all rows to all others, other
axes, operands of other ranks than a step has, and outputs that are the same in all steps."""

from types import SimpleNamespace

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

numbers = lambda seed, *shape: np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def scan(name, states, sequences, body, results, opset=13, around=None, constants=None, **attributes):
    """`states`, `sequences`, `around`: arrays by name; `body`: nodes on s_NAME for states and a step of the others; `results`: what it gives."""
    around, open_value = around or {}, lambda label: helper.make_tensor_value_info(label, TensorProto.FLOAT, None)
    inputs = [*(f"s_{label}" for label in states), *(f"s_{label}" for label in sequences)]
    inner = helper.make_graph(body, "body", [open_value(label) for label in inputs], [open_value(label) for label in results])
    scans = results[len(states):]
    node = helper.make_node("Scan", [*states, *sequences], [*(f"{label}_last" for label in states), *(f"y_{label}" for label in scans)],
                            body=inner, num_scan_inputs=len(sequences), **attributes)
    arrays = {**states, **sequences, **around}
    info = lambda label, array: helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
    model = lambda outputs: helper.make_model(
        helper.make_graph([node], name, [info(*pair) for pair in arrays.items()], outputs,
                          [numpy_helper.from_array(array, label) for label, array in (constants or {}).items()]),
        ir_version=9, opset_imports=[helper.make_opsetid("", opset)])
    session = onnxruntime.InferenceSession(model([open_value(label) for label in node.output]).SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    expected = dict(zip(node.output, session.run(None, arrays)))
    data = [numpy_helper.from_array(array, label) for label, array in arrays.items()], [
        numpy_helper.from_array(array, label) for label, array in expected.items()]
    return SimpleNamespace(name=f"test_{name}", model=model([info(*pair) for pair in expected.items()]), data_sets=[data])


def cases():
    node = helper.make_node
    kept = node("Identity", ["s_all"], ["all_next"])
    distances = [kept, node("Sub", ["s_all", "s_row"], ["d"]), node("ReduceSumSquare", ["d"], ["sum"], axes=[1], keepdims=0)]
    return [
        scan("scan_distances", {"all": numbers(1, 7, 5)}, {"row": numbers(2, 9, 5)}, distances, ["all_next", "sum"]),
        scan("scan_of_columns", {}, {"row": numbers(3, 4, 6), "other": numbers(4, 6, 4)},
             [node("Mul", ["s_row", "s_other"], ["p"]), node("Add", ["p", "matrix"], ["sum"]), node("ReduceMax", ["sum"], ["most"], keepdims=0)],
             ["sum", "most"], around={"matrix": numbers(5, 3, 4)}, scan_input_axes=[1, 0], scan_output_axes=[2, 0]),
        scan("scan_of_numbers", {"all": numbers(6, 3, 4)}, {"row": numbers(7, 5)},
             [kept, node("Mul", ["s_all", "s_row"], ["p"]), node("Exp", ["s_all"], ["same"]), node("ReduceMean", ["p"], ["mean"], axes=[-2])],
             ["all_next", "mean", "same"]),
        scan("scan_axes_as_input", {}, {"row": numbers(8, 5, 3, 4)},
             [node("ReduceSum", ["s_row", "axes"], ["sum"]), node("ReduceSum", ["s_row"], ["total"], keepdims=0)],
             ["sum", "total"], constants={"axes": np.array([1])}),
        # Columns that do not meet, in all steps by themselves
        scan("scan_selective", {"h": numbers(9, 6, 4)}, {"a": -abs(numbers(10, 12, 6, 4)), "b": numbers(11, 12, 6, 4), "c": numbers(12, 12, 4)},
             [node("Exp", ["s_a"], ["decay"]), node("Mul", ["s_h", "decay"], ["kept_h"]), node("Add", ["kept_h", "s_b"], ["h_next"]),
              node("Mul", ["h_next", "s_c"], ["terms"]), node("ReduceSum", ["terms", "last"], ["out"], keepdims=0)],
             ["h_next", "out"], constants={"last": np.array([-1])}),
        scan("scan_of_averages", {"slow": numbers(13, 5), "fast": numbers(14, 5)}, {"row": numbers(15, 20, 5)},
             [node("Add", ["s_fast", "s_row"], ["more"]), node("Mul", ["more", "half"], ["fast_next"]), node("Sub", ["s_fast", "s_slow"], ["apart"]),
              node("Mul", ["apart", "tenth"], ["moved"]), node("Add", ["s_slow", "moved"], ["slow_next"]), node("Tanh", ["apart"], ["out"])],
             ["slow_next", "fast_next", "out"], constants={"half": np.float32(.5), "tenth": np.float32(.1)}, scan_input_directions=[1]),
        scan("scan_shift_register", {"first": numbers(16, 3, 2), "second": numbers(17, 3, 2)}, {"row": numbers(18, 10, 3, 2)},
             [node("MatMul", ["s_second", "w"], ["turned"]), node("Sub", ["s_row", "turned"], ["first_next"]),
              node("Identity", ["s_first"], ["second_next"]), node("Transpose", ["turned"], ["out"], perm=[1, 0])],
             ["first_next", "second_next", "out"], constants={"w": numbers(19, 2, 2) / 2}, scan_output_axes=[1]),
    ]
