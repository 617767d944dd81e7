"""Quantized networks: constants that DequantizeLinear makes weights of, and integer convolutions of single channels."""

from types import SimpleNamespace

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def case(name, nodes, x, constants, results, opset=21):
    """Its results are those of ONNX's own evaluator; their names with their types."""
    value = lambda name, type, shape: helper.make_tensor_value_info(name, type, shape)
    graph = helper.make_graph(nodes, name, [value("x", TensorProto.FLOAT, x.shape)],
                              [value(name, type, None) for name, type in results.items()],
                              [numpy_helper.from_array(array, name) for name, array in constants.items()])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", opset)])
    expected = ReferenceEvaluator(model).run(None, {"x": x})
    for info, array in zip(model.graph.output, expected):
        info.CopyFrom(value(info.name, info.type.tensor_type.elem_type, array.shape))
    return SimpleNamespace(name=f"test_{name}", model=model, data_sets=[
        ([numpy_helper.from_array(x, "x")], [numpy_helper.from_array(array, name) for name, array in zip(results, expected)])])


def dequantized_weights():
    """Per tensor, per channel along either axis, and in blocks; an image that is normalised and quantized first."""
    random = np.random.default_rng(41)
    bytes_of = lambda *shape: random.integers(-127, 128, shape, dtype=np.int8)
    scales = lambda *shape: (random.random(shape) / 400 + .001).astype(np.float32)
    constants = {"mean": random.random((1, 3, 1, 1)).astype(np.float32), "deviation": 1 + random.random((1, 3, 1, 1)).astype(np.float32),
                 "step": np.float32(.03), "middle": np.uint8(120), "first_quantized": bytes_of(40, 3, 3, 3), "first_scale": scales(40),
                 "first_zero": np.zeros(40, np.int8), "single_quantized": bytes_of(40, 1, 3, 3), "single_scale": scales(40), "single_zero": bytes_of(40) // 8,
                 "wide_quantized": random.integers(0, 256, (40, 33), dtype=np.uint8), "wide_scale": scales(33), "wide_zero": np.full(33, 128, np.uint8),
                 "last_quantized": bytes_of(33, 6), "last_scale": scales(5, 6), "last_zero": bytes_of(5, 6) // 4}
    dequantize = lambda name, **attributes: helper.make_node("DequantizeLinear", [f"{name}_quantized", f"{name}_scale", f"{name}_zero"], [name], **attributes)
    nodes = [helper.make_node("Sub", ["x", "mean"], ["centred"]), helper.make_node("Div", ["centred", "deviation"], ["normal"]),
             helper.make_node("QuantizeLinear", ["normal", "step", "middle"], ["bytes"]),
             helper.make_node("DequantizeLinear", ["bytes", "step", "middle"], ["image"]),
             dequantize("first", axis=0), dequantize("single", axis=0), dequantize("wide", axis=1), dequantize("last", axis=0, block_size=7),
             helper.make_node("Conv", ["image", "first"], ["seen"], strides=[2, 2], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["seen"], ["active"]),
             helper.make_node("Conv", ["active", "single"], ["mixed"], group=40, pads=[1, 1, 1, 1]),
             helper.make_node("GlobalAveragePool", ["mixed"], ["mean_of_all"]), helper.make_node("Flatten", ["mean_of_all"], ["features"]),
             helper.make_node("MatMul", ["features", "wide"], ["hidden"]), helper.make_node("MatMul", ["hidden", "last"], ["y"])]
    return case("dequantized_weights", nodes, random.standard_normal((2, 3, 9, 11)).astype(np.float32), constants, {"y": TensorProto.FLOAT})


def single_channels():
    """Integer convolutions of each channel by itself, whose results are bytes or numbers."""
    random = np.random.default_rng(42)
    constants = {"step": np.float32(.02), "middle": np.uint8(100), "weight": random.integers(-127, 128, (37, 1, 3, 3), dtype=np.int8),
                 "weight_scale": np.float32(.01), "weight_zero": np.int8(0), "result_scale": np.float32(.05), "result_zero": np.uint8(131)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "step", "middle"], ["bytes"]),
             helper.make_node("QLinearConv", ["bytes", "step", "middle", "weight", "weight_scale", "weight_zero", "result_scale", "result_zero"], ["y"],
                              group=37, pads=[1, 1, 1, 1]),
             helper.make_node("ConvInteger", ["bytes", "weight", "middle", "weight_zero"], ["z"], group=37, pads=[1, 1, 1, 1])]
    return case("integers_of_single_channels", nodes, random.standard_normal((2, 37, 8, 9)).astype(np.float32), constants,
                {"y": TensorProto.UINT8, "z": TensorProto.INT32})


def cases():
    return [dequantized_weights(), single_channels()]
