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


def products_of_dequantized():
    """Convolutions, one in groups and one around which its input is added, MatMul of three dimensions, Gemm: sums of integers. Scales are powers of two, so
    that the evaluator's sums of floats are exact and nothing is rounded to another byte."""
    random = np.random.default_rng(43)
    bytes_of = lambda *shape: random.integers(-127, 128, shape, dtype=np.int8)
    scales = lambda *shape: np.exp2(random.integers(-11, -8, shape)).astype(np.float32)
    numbers = lambda *shape: (random.integers(-512, 512, shape) / 512).astype(np.float32)
    constants = {"x_step": np.float32(2**-6), "a_step": np.float32(2**-4), "b_step": np.float32(2**-5), "m_step": np.float32(2**-7), "none": np.uint8(0),
                 "middle": np.uint8(117), "signed": np.int8(0), "first_bytes": bytes_of(48, 16, 3, 3), "first_scale": scales(48),
                 "second_bytes": random.integers(0, 256, (48, 24, 3, 3), dtype=np.uint8), "second_scale": np.float32(2**-10), "second_zero": np.uint8(130),
                 "third_bytes": bytes_of(48, 96), "third_scale": scales(96), "fourth_bytes": bytes_of(96, 48), "fourth_scale": scales(96),
                 "zeros": np.zeros(48, np.int8), "more_zeros": np.zeros(96, np.int8), "bias": numbers(48),
                 "c": numbers(96), "shape": np.array([2, 72, 48])}
    def requantized(source, name, step, zero):
        return [helper.make_node("QuantizeLinear", [source, step, zero], [f"{name}_bytes"]),
                helper.make_node("DequantizeLinear", [f"{name}_bytes", step, zero], [name])]
    dequantize = lambda name, zero, **attributes: helper.make_node("DequantizeLinear", [f"{name}_bytes", f"{name}_scale", zero], [name], **attributes)
    nodes = [*requantized("x", "image", "x_step", "middle"), dequantize("first", "zeros", axis=0), dequantize("second", "second_zero"),
             dequantize("third", "more_zeros", axis=1), dequantize("fourth", "more_zeros", axis=0),
             helper.make_node("Conv", ["image", "first", "bias"], ["seen"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["seen"], ["active"]),
             *requantized("active", "a", "a_step", "none"), helper.make_node("Conv", ["a", "second"], ["changed"], pads=[1, 1, 1, 1], group=2),
             helper.make_node("Add", ["changed", "a"], ["both"]), helper.make_node("Transpose", ["both"], ["last"], perm=[0, 2, 3, 1]),
             helper.make_node("Reshape", ["last", "shape"], ["tokens"]), *requantized("tokens", "b", "b_step", "middle"),
             helper.make_node("MatMul", ["b", "third"], ["y"]), helper.make_node("GlobalAveragePool", ["both"], ["mean"]),
             helper.make_node("Flatten", ["mean"], ["features"]), *requantized("features", "m", "m_step", "signed"),
             helper.make_node("Gemm", ["m", "fourth", "c"], ["z"], transB=1, alpha=.5, beta=2.)]
    return case("products_of_dequantized", nodes, random.standard_normal((2, 16, 8, 9)).astype(np.float32), constants,
                {"y": TensorProto.FLOAT, "z": TensorProto.FLOAT})


def cases():
    return [dequantized_weights(), single_channels(), products_of_dequantized()]
