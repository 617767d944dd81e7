#!/usr/bin/env python3
"""Writes resnet18.onnx: the architecture and layer names of torchvision's ResNet18 with seeded random weights, so that the
example needs no download. make_model.py OUTPUT.onnx"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers = [], []

    def parameter(self, name, shape, deviation):
        """Uniform, of the given standard deviation; made of integers, so that every machine makes the same bytes."""
        integers = self.random.integers(-(2**15), 2**15, shape, dtype=np.int32)
        values = integers.astype(np.float32) * np.float32(deviation * np.sqrt(3) / 2**15)
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def node(self, op, inputs, name, **attributes):
        output = f"{name}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [output], name, **attributes))
        return output

    def conv(self, x, module, inputs, outputs, kernel, stride, gain=1.0):
        """Batch norm is folded already, as torch exports a network in eval mode. He initialisation times `gain`."""
        scale = gain * np.sqrt(2 / (inputs * kernel * kernel))
        weight = self.parameter(f"{module}.weight", (outputs, inputs, kernel, kernel), scale)
        bias = self.parameter(f"{module}.bias", (outputs,), 0.05)
        pad = kernel // 2
        return self.node("Conv", [x, weight, bias], path(module, "Conv"), kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=[pad] * 4, dilations=[1, 1], group=1)


def path(module, op):
    """torch's scope names: layer1.0.conv1 is /layer1/layer1.0/conv1/Conv."""
    parts = module.split(".")
    scopes = parts if len(parts) < 2 else [parts[0], ".".join(parts[:2]), *parts[2:]]
    return "/" + "/".join([*scopes, op])


def basic_block(graph, x, module, inputs, outputs, stride):
    y = graph.conv(x, f"{module}.conv1", inputs, outputs, 3, stride)
    y = graph.node("Relu", [y], path(f"{module}.relu", "Relu"))
    y = graph.conv(y, f"{module}.conv2", outputs, outputs, 3, 1, gain=0.4) # keeps the sum with the shortcut in range
    if stride != 1:
        x = graph.conv(x, f"{module}.downsample.0", inputs, outputs, 1, stride, gain=0.7)
    y = graph.node("Add", [y, x], path(module, "Add"))
    return graph.node("Relu", [y], path(f"{module}.relu_1", "Relu"))


def resnet18(seed=18):
    graph = Graph(seed)
    x = graph.conv("image", "conv1", 3, 64, 7, 2)
    x = graph.node("Relu", [x], "/relu/Relu")
    x = graph.node("MaxPool", [x], "/maxpool/MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inputs = 64
    for number, outputs in enumerate((64, 128, 256, 512), 1):
        for block in (0, 1):
            stride = 2 if block == 0 and number > 1 else 1
            x = basic_block(graph, x, f"layer{number}.{block}", inputs, outputs, stride)
            inputs = outputs
    x = graph.node("GlobalAveragePool", [x], "/avgpool/GlobalAveragePool")
    x = graph.node("Flatten", [x], "/Flatten", axis=1)
    weight = graph.parameter("fc.weight", (1000, 512), np.sqrt(1 / 512))
    bias = graph.parameter("fc.bias", (1000,), 0.05)
    graph.nodes.append(helper.make_node("Gemm", [x, weight, bias], ["logits"], "/fc/Gemm", transB=1))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 224, 224])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, 1000])
    return helper.make_model(helper.make_graph(graph.nodes, "resnet18", [image], [logits], graph.initializers),
                             ir_version=8, opset_imports=[helper.make_opsetid("", 13)], producer_name="resnet18/make_model.py")


def main():
    model = resnet18()
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, sys.argv[1])


if __name__ == "__main__":
    main()
