#!/usr/bin/env python3
"""Trains a perceptron and a small convolutional network on scikit-learn's digits, in plain NumPy, and writes mlp.onnx,
cnn.onnx and the held-out images beside this file. Run it to train again; the results are in the repository."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).parent
EPOCHS, BATCH = 40, 32


def windows(images):
    """[n, c, h, w] -> [n, h, w, c * 9]: what a 3x3 kernel sees at each pixel, zeros outside the image."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return seen.transpose(0, 2, 3, 1, 4, 5).reshape(*images.shape[:1], *images.shape[2:], -1)


class Linear:
    def __init__(self, random, inputs, outputs):
        self.weight = (random.standard_normal((outputs, inputs)) * np.sqrt(2 / inputs)).astype(np.float32)
        self.bias = np.zeros(outputs, np.float32)

    def forward(self, x):
        self.x = x
        return x @ self.weight.T + self.bias

    def backward(self, gradient):
        self.gradients = [gradient.T @ self.x, gradient.sum(0)]
        return gradient @ self.weight


class Conv(Linear):
    """3x3, padding 1: a linear layer over windows."""

    def forward(self, x):
        self.shape = x.shape
        seen = windows(x)
        y = super().forward(seen.reshape(-1, seen.shape[-1]))
        return y.reshape(*seen.shape[:3], -1).transpose(0, 3, 1, 2)

    def backward(self, gradient):
        n, _, h, w = gradient.shape
        seen = super().backward(gradient.transpose(0, 2, 3, 1).reshape(n * h * w, -1))
        seen = seen.reshape(n, h, w, self.shape[1], 3, 3)
        x = np.zeros((n, self.shape[1], h + 2, w + 2), np.float32)
        for r in range(3):
            for s in range(3):
                x[:, :, r:r + h, s:s + w] += seen[..., r, s].transpose(0, 3, 1, 2)
        return x[:, :, 1:-1, 1:-1]


class Relu:
    def forward(self, x):
        self.positive = x > 0
        return x * self.positive

    def backward(self, gradient):
        return gradient * self.positive


class MaxPool:
    """2x2, stride 2."""

    def forward(self, x):
        n, c, h, w = x.shape
        tiles = x.reshape(n, c, h // 2, 2, w // 2, 2)
        y = tiles.max((3, 5), keepdims=True)
        self.largest = tiles == y
        return y.reshape(n, c, h // 2, w // 2)

    def backward(self, gradient):
        n, c, h, w = gradient.shape
        return (self.largest * gradient.reshape(n, c, h, 1, w, 1)).reshape(n, c, h * 2, w * 2)


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient):
        return gradient.reshape(self.shape)


class Adam:
    def __init__(self, layers):
        self.layers = [layer for layer in layers if isinstance(layer, Linear)]
        self.moments = [[[np.zeros_like(p), np.zeros_like(p)] for p in (l.weight, l.bias)] for l in self.layers]
        self.steps = 0

    def step(self, rate):
        self.steps += 1
        for layer, moments in zip(self.layers, self.moments):
            for parameter, gradient, (first, second) in zip((layer.weight, layer.bias), layer.gradients, moments):
                first += 0.1 * (gradient - first)
                second += 0.001 * (gradient * gradient - second)
                corrected = first / (1 - 0.9**self.steps)
                parameter -= rate * corrected / (np.sqrt(second / (1 - 0.999**self.steps)) + 1e-8)


def predict(layers, x):
    for layer in layers:
        x = layer.forward(x)
    return x


def train(layers, images, labels, random):
    adam = Adam(layers)
    for epoch in range(EPOCHS):
        order = random.permutation(len(images))
        for batch in np.array_split(order, len(images) // BATCH):
            logits = predict(layers, images[batch])
            p = np.exp(logits - logits.max(1, keepdims=True))
            gradient = p / p.sum(1, keepdims=True)
            gradient[np.arange(len(batch)), labels[batch]] -= 1
            gradient = (gradient / len(batch)).astype(np.float32)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            adam.step(1e-3 * (1 - epoch / EPOCHS))


def model_of(name, input_shape, nodes, parameters):
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", *input_shape])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])
    initializers = [numpy_helper.from_array(value, key) for key, value in parameters.items()]
    graph = helper.make_graph(nodes, name, [image], [logits], initializers)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)], producer_name="digits/train.py")
    onnx.checker.check_model(model, full_check=True)
    return model


def parameters_of(layers, shapes):
    parameters = {}
    for (name, shape), layer in zip(shapes.items(), [l for l in layers if isinstance(l, Linear)]):
        parameters[f"{name}.weight"] = layer.weight.reshape(shape)
        parameters[f"{name}.bias"] = layer.bias
    return parameters


def gemm(name, x, y):
    return helper.make_node("Gemm", [x, f"{name}.weight", f"{name}.bias"], [y], f"/{name}/Gemm", transB=1)


def conv(name, x, y):
    return helper.make_node("Conv", [x, f"{name}.weight", f"{name}.bias"], [y], f"/{name}/Conv", kernel_shape=[3, 3],
                            pads=[1, 1, 1, 1])


def relu(number, x, y):
    return helper.make_node("Relu", [x], [y], f"/relu{number}/Relu")


def pool(number, x, y):
    return helper.make_node("MaxPool", [x], [y], f"/pool{number}/MaxPool", kernel_shape=[2, 2], strides=[2, 2])


def main():
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)
    split = train_test_split(images, digits.target, test_size=0.2, random_state=0, stratify=digits.target)
    train_images, test_images, train_labels, test_labels = split
    random = np.random.default_rng(0)

    mlp = [Flatten(), Linear(random, 64, 64), Relu(), Linear(random, 64, 10)]
    train(mlp, train_images, train_labels, random)
    nodes = [gemm("fc1", "image", "fc1"), relu(1, "fc1", "relu1"), gemm("fc2", "relu1", "logits")]
    onnx.save(model_of("mlp", [64], nodes, parameters_of(mlp, {"fc1": (64, 64), "fc2": (10, 64)})), HERE / "mlp.onnx")

    cnn = [Conv(random, 9, 16), Relu(), MaxPool(), Conv(random, 144, 32), Relu(), MaxPool(), Flatten(),
           Linear(random, 128, 10)]
    train(cnn, train_images[:, None], train_labels, random)
    nodes = [conv("conv1", "image", "conv1"), relu(1, "conv1", "relu1"), pool(1, "relu1", "pool1"),
             conv("conv2", "pool1", "conv2"), relu(2, "conv2", "relu2"), pool(2, "relu2", "pool2"),
             helper.make_node("Flatten", ["pool2"], ["flat"], "/Flatten"), gemm("fc", "flat", "logits")]
    shapes = {"conv1": (16, 1, 3, 3), "conv2": (32, 16, 3, 3), "fc": (10, 128)}
    onnx.save(model_of("cnn", [1, 8, 8], nodes, parameters_of(cnn, shapes)), HERE / "cnn.onnx")

    # One record per held-out image: 64 pixels from 0 to 16, then the digit
    pixels = (test_images.reshape(-1, 64) * 16).astype(np.uint8)
    np.hstack([pixels, test_labels[:, None].astype(np.uint8)]).tofile(HERE / "held_out.bin")
    for name, layers, x in (("mlp", mlp, test_images), ("cnn", cnn, test_images[:, None])):
        print(f"{name}: accuracy {np.mean(predict(layers, x).argmax(1) == test_labels):.4f} on {len(x)} held-out digits")


if __name__ == "__main__":
    main()
