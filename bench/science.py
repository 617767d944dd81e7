"""Networks of bench/run.py --suite networks beside those of bench/networks.py: volumes, particles, meshes, operators, images made."""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT32 = np.float32


class Net:
    """A graph, a node at a time: net.Add(a, b) is the name of its result, net.constant(array) that of a weight."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(1)

    def __getattr__(self, operator):
        if not operator[0].isupper():
            raise AttributeError(operator)

        def add(*inputs, results=1, **attributes):
            name = f"{operator.lower()}{len(self.nodes)}"
            names = [name] if results == 1 else [f"{name}_{i}" for i in range(results)]
            self.nodes.append(helper.make_node(operator, list(inputs), names, name=name, **attributes))
            return names[0] if results == 1 else names
        return add

    def constant(self, array):
        name = f"weight{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def number(self, value):
        return self.constant(FLOAT32(value))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def values(self, *shape):
        """Random; a product over all but the first extent keeps the size of its operand."""
        return self.constant((self.random.standard_normal(shape) / math.sqrt(math.prod(shape[1:]) or 1)).astype(FLOAT32))

    def linear(self, x, inner, outer):
        """x * W^T + b, as PyTorch's default exporter writes it."""
        return self.Add(self.MatMul(x, self.Transpose(self.values(outer, inner), perm=[1, 0])), self.values(outer))

    def conv(self, x, inner, outer, kernel, dimensions=2, **attributes):
        pads = [kernel // 2] * (2 * dimensions)
        return self.Conv(x, self.values(outer, inner, *[kernel] * dimensions), self.values(outer),
                         kernel_shape=[kernel] * dimensions, pads=pads, **attributes)

    def gelu(self, x):
        return self.Mul(self.Mul(x, self.number(.5)), self.Add(self.Erf(self.Mul(x, self.number(math.sqrt(.5)))), self.number(1)))

    def finish(self, inputs, output, shape):
        """inputs: (name, shape) of floats, (name, shape, type) of others."""
        self.Identity(output)
        self.nodes[-1].output[0] = "y"
        values = [helper.make_tensor_value_info(name, *(kind or [TensorProto.FLOAT]), shape) for name, shape, *kind in inputs]
        graph = helper.make_graph(self.nodes, "network", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
                                  self.weights)
        made = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 20)])
        onnx.checker.check_model(made)
        return made


def unet_3d(size=32, width=16):
    """Segments a volume: three resolutions, what is found on the way down is read on the way up."""
    net, skips = Net(), []

    def block(x, inner, outer):
        for channels in (inner, outer):
            x = net.Relu(net.conv(x, channels, outer, 3, dimensions=3))
        return x

    x = block("x", 1, width)
    for level in (2, 4):
        skips.append(x)
        x = block(net.MaxPool(x, kernel_shape=[2] * 3, strides=[2] * 3), level * width // 2, level * width)
    for level in (2, 1):
        x = net.ConvTranspose(x, net.values(2 * level * width, level * width, 2, 2, 2), net.values(level * width),
                              kernel_shape=[2] * 3, strides=[2] * 3)
        x = block(net.Concat(x, skips.pop(), axis=1), 2 * level * width, level * width)
    return net.finish([("x", [1, 1, size, size, size])], net.conv(x, width, 4, 1, dimensions=3), [1, 4, size, size, size])


def conv_3d(size=16):
    """Classifies a clip; the second convolution in groups."""
    net = Net()
    x = net.Relu(net.conv("x", 3, 32, 3, dimensions=3))
    x = net.Relu(net.conv(x, 8, 64, 3, dimensions=3, group=4, strides=[2] * 3))
    x = net.Relu(net.conv(x, 64, 64, 3, dimensions=3))
    x = net.Flatten(net.GlobalAveragePool(x))
    return net.finish([("x", [1, 3, size, size, size])], net.linear(x, 64, 10), [1, 10])


def mixture(tokens=128, width=256, hidden=512, experts=8):
    """Mixture of experts: the two largest gates of a token, softmax of them, all experts as einsums."""
    net = Net()
    largest, places = net.TopK(net.linear("x", width, experts), net.integers(2), axis=-1, results=2)
    zeros = net.constant(np.zeros((tokens, experts), FLOAT32))
    gates = net.ScatterElements(zeros, places, net.Softmax(largest, axis=-1), axis=1)
    inner = net.Einsum("x", net.values(experts, width, hidden), equation="td,edf->tef")
    outer = net.Einsum(net.gelu(inner), net.values(experts, hidden, width), gates, equation="tef,efd,te->td")
    return net.finish([("x", [tokens, width])], outer, [tokens, width])


def _rows(net, x, edges, row):
    """The rows of x at one end of the edges."""
    return net.Gather(x, net.Gather(edges, net.constant(np.int64(row)), axis=0), axis=0)


def _sums(net, messages, edges, nodes, width, count):
    """Of the messages of all edges into a node, as PyTorch Geometric's scatter is exported."""
    into = net.Gather(edges, net.constant(np.int64(1)), axis=0)
    into = net.Expand(net.Unsqueeze(into, net.integers(-1)), net.integers(count, width))
    zeros = net.constant(np.zeros((nodes, width), FLOAT32))
    return net.ScatterElements(zeros, into, messages, axis=0, reduction="add")


def schnet(nodes=128, edges=2048, width=64, basis=50, layers=3):
    """Energy of a molecule: convolutions over continuous distances (Schuett et al., 2017)."""
    net = Net()
    softplus = lambda x: net.Sub(net.Softplus(x), net.number(math.log(2)))
    between = net.Sub(_rows(net, "position", "edges", 0), _rows(net, "position", "edges", 1))
    distance = net.Sqrt(net.ReduceSum(net.Mul(between, between), net.integers(1), keepdims=1))
    off = net.Sub(distance, net.constant(np.linspace(0, 5, basis, dtype=FLOAT32)[None]))
    spread = net.Exp(net.Mul(net.Mul(off, off), net.number(-10)))
    cutoff = net.Mul(net.Add(net.Cos(net.Mul(distance, net.number(math.pi / 5))), net.number(1)), net.number(.5))
    x = net.Gather(net.values(100, width), "kind", axis=0)
    for _ in range(layers):
        filters = net.linear(softplus(net.linear(spread, basis, width)), width, width)
        messages = net.Mul(_rows(net, net.MatMul(x, net.values(width, width)), "edges", 0), net.Mul(filters, cutoff))
        y = softplus(net.linear(_sums(net, messages, "edges", nodes, width, edges), width, width))
        x = net.Add(x, net.linear(y, width, width))
    energy = net.ReduceSum(net.linear(softplus(net.linear(x, width, width // 2)), width // 2, 1), net.integers(0), keepdims=0)
    return net.finish([("kind", [nodes], TensorProto.INT64), ("position", [nodes, 3]), ("edges", [2, edges], TensorProto.INT64)],
                      energy, [1])


def messages(nodes=512, edges=4096, width=64, layers=3):
    """On a mesh: each edge from both of its ends, each node from its edges."""
    net, x = Net(), "x"
    for _ in range(layers):
        pair = net.Concat(_rows(net, x, "edges", 1), _rows(net, x, "edges", 0), "lengths", axis=1)
        sent = net.linear(net.Relu(net.linear(pair, 2 * width + 4, width)), width, width)
        both = net.Concat(x, _sums(net, sent, "edges", nodes, width, edges), axis=1)
        x = net.Add(x, net.linear(net.Relu(net.linear(both, 2 * width, width)), width, width))
    return net.finish([("x", [nodes, width]), ("edges", [2, edges], TensorProto.INT64), ("lengths", [edges, 4])],
                      x, [nodes, width])


def fno(size=64, width=32, modes=12, layers=4):
    """Fourier neural operator (Li et al., 2021): the lowest frequencies times weights, both ways by DFT."""
    net = Net()
    of = lambda x, part: net.Gather(x, net.constant(np.int64(part)), axis=4)
    frequency, time = np.arange(size // 2 + 1), np.arange(size)
    scale = np.where((frequency == 0) | (frequency == size // 2), 1, 2)[:, None] / size
    angle = 2 * np.pi * np.outer(frequency, time) / size
    back = [net.constant((part * scale).astype(FLOAT32)) for part in (np.cos(angle), -np.sin(angle))]
    x = net.Transpose(net.linear("x", 3, width), perm=[0, 3, 1, 2])
    for layer in range(layers):
        waves = net.DFT(net.Unsqueeze(x, net.integers(-1)), "", net.constant(np.int64(3)), onesided=1)
        waves, products = net.DFT(waves, "", net.constant(np.int64(2))), []
        for begin, end in ((0, modes), (size - modes, size)):
            low = net.Slice(waves, net.integers(begin, 0), net.integers(end, modes), net.integers(2, 3))
            weight = [net.constant((net.random.standard_normal((width, width, modes, modes)) / width).astype(FLOAT32)) for _ in "ri"]
            times = lambda part, w: net.Einsum(of(low, part), weight[w], equation="bixy,ioxy->boxy")
            parts = net.Sub(times(0, 0), times(1, 1)), net.Add(times(0, 1), times(1, 0))
            products.append(net.Concat(*(net.Unsqueeze(part, net.integers(-1)) for part in parts), axis=4))
        zeros = net.constant(np.zeros((1, width, size - 2 * modes, modes, 2), FLOAT32))
        waves = net.Concat(products[0], zeros, products[1], axis=2)
        waves = net.Pad(waves, net.integers(0, 0, 0, 0, 0, 0, 0, 0, size // 2 + 1 - modes, 0))
        waves = net.DFT(waves, "", net.constant(np.int64(2)), inverse=1)
        y = net.Add(net.MatMul(of(waves, 0), back[0]), net.MatMul(of(waves, 1), back[1]))
        x = net.Add(y, net.conv(x, width, width, 1))
        x = net.gelu(x) if layer < layers - 1 else x
    x = net.linear(net.Relu(net.linear(net.Transpose(x, perm=[0, 2, 3, 1]), width, 128)), 128, 1)
    return net.finish([("x", [1, size, size, 3])], x, [1, size, size, 1])


def generator(width=64):
    """Of images of 64 x 64 from 100 numbers (Radford et al., 2016), norms within the weights."""
    net, x, inner = Net(), "x", 100
    for level, outer in enumerate([8 * width, 4 * width, 2 * width, width, 3]):
        move = {"strides": [2, 2], "pads": [1] * 4} if level else {}
        weight = (net.random.standard_normal((inner, outer, 4, 4)) / math.sqrt(4 * inner)).astype(FLOAT32)
        x = net.ConvTranspose(x, net.constant(weight), net.values(outer), kernel_shape=[4, 4], **move)
        x, inner = net.Relu(x) if level < 4 else net.Tanh(x), outer
    return net.finish([("x", [1, 100, 1, 1])], x, [1, 3, 64, 64])


def _scan_of_channels(channels, states):
    """h = h * decay + input for each channel and state, then a sum over the states."""
    shapes = {"h": [1, channels, states], "decay": [1, channels, states], "input": [1, channels, states], "read": [1, states]}
    body = [("Mul", ["h", "decay"], "kept"), ("Add", ["kept", "input"], "next"), ("Unsqueeze", ["read", "last"], "column"),
            ("MatMul", ["next", "column"], "sums"), ("Squeeze", ["sums", "last"], "out")]
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    return helper.make_graph([helper.make_node(kind, reads, [made], name=made) for kind, reads, made in body], "step",
                             [value(*pair) for pair in shapes.items()], [value("next", shapes["h"]), value("out", [1, channels])],
                             [numpy_helper.from_array(np.array([2]), "last")])


def selective(length=64, width=64, states=16, rank=4, layers=2):
    """Selective state spaces (Gu and Dao, 2023)."""
    net, x, channels = Net(), "x", 2 * width
    silu = lambda x: net.Mul(x, net.Sigmoid(x))
    rows = lambda x: net.Transpose(x, perm=[0, 2, 1])
    for _ in range(layers):
        y = net.LayerNormalization(x, net.constant(np.ones(width, FLOAT32)), net.values(width), axis=-1)
        y, gate = net.Split(net.MatMul(y, net.values(width, 2 * channels)), results=2, axis=-1, num_outputs=2)
        y = net.Conv(rows(y), net.values(channels, 1, 4), net.values(channels), group=channels, kernel_shape=[4], pads=[3, 0])
        y = rows(silu(y))
        step, into, out = net.Split(net.MatMul(y, net.values(channels, rank + 2 * states)), net.integers(rank, states, states), results=3, axis=-1)
        step = net.Unsqueeze(net.Softplus(net.linear(step, rank, channels)), net.integers(-1))
        decay = net.Exp(net.Mul(step, net.Neg(net.Exp(net.values(channels, states)))))
        entry = net.Mul(net.Mul(step, net.Unsqueeze(into, net.integers(2))), net.Unsqueeze(y, net.integers(-1)))
        zeros = net.constant(np.zeros((1, channels, states), FLOAT32))
        scanned = net.Scan(zeros, decay, entry, out, results=2, body=_scan_of_channels(channels, states), num_scan_inputs=3,
                           scan_input_axes=[1, 1, 1], scan_output_axes=[1])[1]
        y = net.Mul(net.Add(scanned, net.Mul(y, net.values(channels))), silu(gate))
        x = net.Add(x, net.MatMul(y, net.values(channels, width)))
    return net.finish([("x", [1, length, width])], x, [1, length, width])


NETWORKS = {"unet_3d": unet_3d, "conv_3d": conv_3d, "mixture": mixture, "schnet": schnet, "messages": messages, "fno": fno,
            "generator": generator, "selective": selective}

INTEGERS = {"schnet": 100, "messages": 512} # below it, kinds of atoms and numbers of nodes
