"""Networks of bench/run.py --suite gpu, with random weights: residual networks, transformers, recurrent layers, MLPs."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from graphs import Encoder, encoder, mala_mlp, mlp, model, values


class Images:
    """A convolutional network, a layer at a time."""

    def __init__(self):
        self.nodes, self.weights, self.channels = [], {}, 3

    def op(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def conv(self, x, channels, outputs, kernel, stride=1, relu=True, groups=1):
        name = f"conv{len(self.nodes)}"
        scale = np.float32(np.sqrt(6 / (channels // groups * kernel * kernel)))
        weight = np.random.default_rng(len(self.nodes)).uniform(-scale, scale, (outputs, channels // groups, kernel, kernel))
        self.weights |= {f"{name}.weight": weight.astype(np.float32), f"{name}.bias": values(outputs)}
        y = self.op("Conv", x, f"{name}.weight", f"{name}.bias", kernel_shape=[kernel] * 2, strides=[stride] * 2,
                    pads=[kernel // 2] * 4, group=groups)
        return self.op("Relu", y) if relu else y

    def shuffle(self, x, channels, groups, size):
        """Channel i of group g becomes channel i * groups + g."""
        name = f"shuffle{len(self.nodes)}"
        self.weights |= {f"{name}.split": np.array([-1, groups, channels // groups, size, size]),
                         f"{name}.join": np.array([-1, channels, size, size])}
        x = self.op("Transpose", self.op("Reshape", x, f"{name}.split"), perm=[0, 2, 1, 3, 4])
        return self.op("Reshape", x, f"{name}.join")

    def halves(self, x, channels):
        names = [f"half{len(self.nodes)}_{i}" for i in range(2)]
        self.weights[f"{names[0]}.sizes"] = np.array([channels // 2] * 2)
        self.nodes.append(helper.make_node("Split", [x, f"{names[0]}.sizes"], names, name=names[0], axis=1))
        return names

    def classifier(self, x, channels):
        self.weights |= {"fc.weight": values(channels, 1000), "fc.bias": values(1000)}
        x = self.op("Flatten", self.op("GlobalAveragePool", x))
        self.nodes.append(helper.make_node("Gemm", [x, "fc.weight", "fc.bias"], ["y"], name="fc"))


def resnet50(batch):
    net = Images()
    x = net.op("MaxPool", net.conv("x", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for width, blocks in [(64, 3), (128, 4), (256, 6), (512, 3)]:
        for block in range(blocks):
            stride = 2 if width > 64 and block == 0 else 1
            y = net.conv(net.conv(x, channels, width, 1), width, width, 3, stride)
            y = net.conv(y, width, 4 * width, 1, relu=False)
            if channels != 4 * width or stride != 1:
                x = net.conv(x, channels, 4 * width, 1, stride, relu=False)
            net.weights["half"] = np.float32(.5) # keeps the sums of random layers small
            x, channels = net.op("Relu", net.op("Mul", net.op("Add", x, y), "half")), 4 * width
    net.classifier(x, 2048)
    return model(net.nodes, [("x", [batch, 3, 224, 224])], ("y", [batch, 1000]), net.weights)


def shufflenet_v2(batch, widths=(116, 232, 464), last=1024):
    """Half of the channels pass a unit as they are; both halves are shuffled behind it."""
    net, channels, size = Images(), 24, 56
    x = net.op("MaxPool", net.conv("x", 3, 24, 3, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for width, units in zip(widths, (4, 8, 4)):
        half = width // 2
        for unit in range(units):
            if unit == 0:
                size //= 2
                a = net.conv(net.conv(x, channels, channels, 3, 2, relu=False, groups=channels), channels, half, 1)
                b = net.conv(x, channels, half, 1)
            else:
                a, b = net.halves(x, width)
                b = net.conv(b, half, half, 1)
            b = net.conv(b, half, half, 3, 2 if unit == 0 else 1, relu=False, groups=half)
            x = net.shuffle(net.op("Concat", a, net.conv(b, half, half, 1), axis=1), width, 2, size)
            channels = width
    net.classifier(net.conv(x, channels, last, 1), last)
    return model(net.nodes, [("x", [batch, 3, 224, 224])], ("y", [batch, 1000]), net.weights)


def shufflenet_v1(batch, groups=3, widths=(240, 480, 960)):
    """Products in groups of channels, which are shuffled between them."""
    net, channels, size = Images(), 24, 56
    x = net.op("MaxPool", net.conv("x", 3, 24, 3, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for width, units in zip(widths, (4, 8, 4)):
        for unit in range(units):
            inner, outputs, stride = width // 4, width - channels if unit == 0 else width, 2 if unit == 0 else 1
            y = net.conv(x, channels, inner, 1, groups=1 if channels == 24 else groups)
            y = net.shuffle(y, inner, groups, size)
            size //= stride
            y = net.conv(y, inner, inner, 3, stride, relu=False, groups=inner)
            y = net.conv(y, inner, outputs, 1, relu=False, groups=groups)
            if unit == 0:
                x = net.op("AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
            x = net.op("Relu", net.op("Concat", x, y, axis=1) if unit == 0 else net.op("Add", x, y))
            channels = width
    net.classifier(x, channels)
    return model(net.nodes, [("x", [batch, 3, 224, 224])], ("y", [batch, 1000]), net.weights)


class Fused(Encoder):
    """With one product for queries, keys and values, then a Split; masked: no token sees those behind it."""

    def __init__(self, width, heads, tokens=None):
        super().__init__(width, heads)
        self.masked = tokens is not None
        self.weights["thirds"] = np.array([width] * 3)
        if self.masked:
            self.weights["mask"] = np.triu(np.full((tokens, tokens), -1e9, np.float32), 1)

    def attention(self, name, x):
        parts = [f"{name}.{part}" for part in "qkv"]
        self.nodes.append(helper.make_node("Split", [self.linear(f"{name}.in", x, self.width, 3 * self.width), "thirds"],
                                           parts, axis=2))
        q, k, v = (self.op("Transpose", self.op("Reshape", part, "split"), perm=perm)
                   for part, perm in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
        scores = self.op("Mul", self.op("MatMul", q, k), "scale")
        if self.masked:
            scores = self.op("Add", scores, "mask")
        mixed = self.op("Transpose", self.op("MatMul", self.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.linear(f"{name}.out", self.op("Reshape", mixed, "join"), self.width, self.width)


class BeforeNorm(Fused):
    """Norms stand in front of attention and hidden layer."""

    def layer(self, name, x, hidden):
        x = self.op("Add", x, self.attention(f"{name}.attention", self.norm(f"{name}.norm1", x)))
        g = self.linear(f"{name}.up", self.norm(f"{name}.norm2", x), self.width, hidden)
        g = self.op("Mul", self.op("Mul", g, "half"), self.op("Add", self.op("Erf", self.op("Mul", g, "root")), "one"))
        return self.op("Add", x, self.linear(f"{name}.down", g, hidden, self.width))


def encoder_fused(layers, width, heads, hidden, tokens):
    net, x = Fused(width, heads), "x"
    for i in range(layers):
        x = net.layer(f"layer{i}", x, hidden)
    net.op("Identity", x)
    net.nodes[-1].output[0] = "y"
    return model(net.nodes, [("x", [1, tokens, width])], ("y", [1, tokens, width]), net.weights)


def vit(depth, width, heads, classes=1000):
    net, x = BeforeNorm(width, heads), None
    net.weights |= {"patch.weight": values(width, 3, 16, 16) / 4, "patch.bias": values(width), "rows": np.array([1, width, 196]),
                    "class": values(1, 1, width), "position": values(1, 197, width), "zero": np.array(0)}
    x = net.op("Conv", "x", "patch.weight", "patch.bias", kernel_shape=[16, 16], strides=[16, 16])
    x = net.op("Transpose", net.op("Reshape", x, "rows"), perm=[0, 2, 1])
    x = net.op("Add", net.op("Concat", "class", x, axis=1), "position")
    for i in range(depth):
        x = net.layer(f"layer{i}", x, 4 * width)
    x = net.op("Gather", net.norm("norm", x), "zero", axis=1)
    net.weights |= {"head.weight": values(width, classes), "head.bias": values(classes)}
    net.nodes.append(helper.make_node("Gemm", [x, "head.weight", "head.bias"], ["y"], name="head"))
    return model(net.nodes, [("x", [1, 3, 224, 224])], ("y", [1, classes]), net.weights)


def gpt(depth, width, heads, tokens, vocabulary):
    net = BeforeNorm(width, heads, tokens)
    net.weights |= {"tokens": values(vocabulary, width), "position": values(1, tokens, width)}
    x = net.op("Add", net.op("Gather", "tokens", "x", axis=0), "position")
    for i in range(depth):
        x = net.layer(f"layer{i}", x, 4 * width)
    net.weights["head.weight"] = values(width, vocabulary)
    net.nodes.append(helper.make_node("MatMul", [net.norm("norm", x), "head.weight"], ["y"], name="head"))
    made = model(net.nodes, [("x", [1, tokens])], ("y", [1, tokens, vocabulary]), net.weights)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    return made


def gpt_cache(depth, width, heads, tokens, past, vocabulary, fused=False):
    """Goes on behind `past` tokens, whose keys and values come in; those of all tokens go out."""
    net = BeforeNorm(width, heads)
    net.weights |= {"tokens": values(vocabulary, width), "position": values(1, tokens, width)}
    if not fused:
        del net.weights["thirds"]
    cache, inputs, outputs = [1, heads, past, width // heads], [], []

    def attention(name, x):
        if fused:
            parts = [f"{name}.{part}" for part in "qkv"]
            whole = net.linear(f"{name}.in", x, width, 3 * width)
            net.nodes.append(helper.make_node("Split", [whole, "thirds"], parts, axis=2))
        else:
            parts = [net.linear(f"{name}.{part}", x, width, width) for part in "qkv"]
        q, k, v = (net.op("Transpose", net.op("Reshape", part, "split"), perm=[0, 2, 1, 3]) for part in parts)
        present = []
        for part, new in zip("kv", (k, v)):
            inputs.append(f"past.{name}.{part}")
            outputs.append(f"present.{name}.{part}")
            net.nodes.append(helper.make_node("Concat", [inputs[-1], new], [outputs[-1]], name=outputs[-1], axis=2))
        scores = net.op("MatMul", q, net.op("Transpose", outputs[-2], perm=[0, 1, 3, 2]))
        scores = net.op("Softmax", net.op("Mul", scores, "scale"), axis=-1)
        mixed = net.op("Transpose", net.op("MatMul", scores, outputs[-1]), perm=[0, 2, 1, 3])
        return net.linear(f"{name}.out", net.op("Reshape", mixed, "join"), width, width)

    net.attention = attention
    x = net.op("Add", net.op("Gather", "tokens", "x", axis=0), "position")
    for i in range(depth):
        x = net.layer(f"layer{i}", x, 4 * width)
    net.weights["head.weight"] = values(width, vocabulary)
    net.nodes.append(helper.make_node("MatMul", [net.norm("norm", x), "head.weight"], ["y"], name="head"))
    made = model(net.nodes, [("x", [1, tokens]), *((name, cache) for name in inputs)],
                 ("y", [1, tokens, vocabulary]), net.weights)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    cache[2] += tokens
    made.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, cache) for name in outputs)
    return made


def recurrent(kind, batch, steps=64, hidden=128):
    """An LSTM, or a GRU in both directions as cuDNN has it."""
    gates, directions = (4, 1) if kind == "LSTM" else (3, 2)
    weights = {"w": values(directions, gates * hidden, hidden), "r": values(directions, gates * hidden, hidden),
               "b": values(directions, 2 * gates * hidden)}
    attributes = {} if kind == "LSTM" else {"linear_before_reset": 1, "direction": "bidirectional"}
    node = helper.make_node(kind, ["x", "w", "r", "b"], ["y"], name=kind.lower(), hidden_size=hidden, **attributes)
    return model([node], [("x", [steps, batch, hidden])], ("y", [steps, directions, batch, hidden]), weights)


NETWORKS = {
    "resnet50_b1": lambda: resnet50(1),
    "encoder12": lambda: encoder(12, 768, 12, 3072, 128),
    "encoder12_fused": lambda: encoder_fused(12, 768, 12, 3072, 128),
    "vit_tiny": lambda: vit(6, 192, 3),
    "gpt": lambda: gpt(2, 128, 4, 128, 1000),
    "gpt_cache": lambda: gpt_cache(4, 256, 4, 1, 127, 1000),
    "gpt_cache_fused": lambda: gpt_cache(4, 256, 4, 8, 120, 1000, fused=True),
    "shufflenet_v1": lambda: shufflenet_v1(1),
    "shufflenet_v2": lambda: shufflenet_v2(1),
    "lstm_b1": lambda: recurrent("LSTM", 1),
    "lstm_b64": lambda: recurrent("LSTM", 64),
    "gru_b1": lambda: recurrent("GRU", 1),
    "gru_b64": lambda: recurrent("GRU", 64),
    "mlp3": lambda: mlp(256, 1024, 1024, 1024, 1024),
    "mala_b8000": lambda: mala_mlp(8000),
    "mala_small_b8000": lambda: mlp(8000, 91, 100, 100, 11, activation="LeakyRelu", last=False),
}

FOR_HOSTS = ["vit_tiny", "gpt_cache", "gpt_cache_fused", "gru_b1", "shufflenet_v2"] # in the suite networks


def with_batch(path, batch):
    """A network of images with another number of them."""
    made = onnx.load(path)
    for value in [*made.graph.input, *made.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_value = batch
    del made.graph.value_info[:]
    return made
