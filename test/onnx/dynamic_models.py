"""Models with sizes known at run time only, node by node as the exporters of PyTorch and Keras write them."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
from make_models import Net # noqa: E402

INT64, FLOAT, BOOL = TensorProto.INT64, TensorProto.FLOAT, TensorProto.BOOL
MODELS = {} # name -> function that fills a Graph and returns {output: (type, rank)}


def model(opset, refused=(), index=None, **sizes):
    """`sizes`: three values per symbolic size; `refused`: lists of sizes that the model cannot serve, as its buffers end before;
    `index`: a value of its integers that points at nothing, so that the program has to end."""
    def register(function):
        MODELS[function.__name__] = (function, opset, [dict(zip(sizes, at)) for at in zip(*sizes.values())], refused, index)
        return function
    return register


class Graph(Net):
    """Nodes as exporters write them: constants are nodes, shapes are computed."""

    def const(self, values, kind=np.int64):
        name = f"constant{len(self.nodes)}"
        self.nodes.append(helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.array(values, kind))))
        return name

    def size(self, x, axis):
        """x.size(axis)"""
        return self.op("Gather", self.op("Shape", x), self.const(axis), axis=0)

    def shape(self, *sizes):
        """A list of sizes, some of them numbers, as a tensor."""
        parts = [self.const([size]) if isinstance(size, int) else self.op("Unsqueeze", size, self.const([0])) for size in sizes]
        return self.op("Concat", *parts, axis=0)

    def view(self, x, *sizes):
        return self.op("Reshape", x, self.shape(*sizes))

    def dense(self, name, x, inputs, outputs):
        """Linear on a tensor of rank 3: MatMul and Add, bias first."""
        product = self.op("MatMul", x, self.weight(f"{name}.weight", inputs, outputs, scale=inputs ** -0.5))
        return self.op("Add", self.weight(f"{name}.bias", outputs, scale=0.1), product, name=name)

    def gelu(self, x):
        erf = self.op("Erf", self.op("Div", x, self.const(2 ** 0.5, np.float32)))
        y = self.op("Mul", x, self.op("Add", erf, self.const(1, np.float32)))
        return self.op("Mul", y, self.const(0.5, np.float32))

    def layer_norm(self, name, x, width):
        weight, bias = self.weight(f"{name}.weight", width, scale=1), self.weight(f"{name}.bias", width, scale=1)
        return self.op("LayerNormalization", x, weight, bias, name=name, axis=-1, epsilon=1e-5)

    def expand(self, x, *sizes):
        """x.expand(sizes): -1 keeps an extent."""
        shape = self.shape(*sizes)
        ones = self.op("ConstantOfShape", self.const([len(sizes)]), value=helper.make_tensor("value", INT64, [1], [1]))
        minus = self.op("Mul", ones, self.const(-1))
        return self.op("Expand", x, self.op("Where", self.op("Equal", shape, minus), ones, shape))

    def finish(self, name, outputs, opset):
        # Exporters give outputs the symbols that they could infer; an output without any is the hardest case
        values = [helper.make_tensor_value_info(output, kind, [None] * rank) for output, (kind, rank) in outputs.items()]
        graph = helper.make_graph(self.nodes, name, self.inputs, values, self.initializers)
        made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)])
        onnx.checker.check_model(made, full_check=True)
        return made


def make(name):
    function, opset, sizes, refused, index = MODELS[name]
    net = Graph()
    return net.finish(name, function(net), opset), sizes, refused, index


def inputs_of(made, sizes, number):
    """Seeded inputs: normal floats; integers are token numbers, or ones and zeros of a mask."""
    random = np.random.default_rng(number)
    for value in made.graph.input:
        shape = [dim.dim_value if dim.HasField("dim_value") else sizes[dim.dim_param] for dim in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == FLOAT:
            yield random.standard_normal(shape).astype(np.float32)
        elif "mask" in value.name:
            yield (np.arange(shape[-1]) < random.integers(1, shape[-1] + 1, (*shape[:-1], 1))).astype(np.int64)
        else:
            yield random.integers(0, 50, shape)


#===--- Convolutional networks ---===#

def residual_block(net, name, x, channels):
    y = net.op("Relu", net.conv(f"{name}.conv1", x, channels, channels))
    return net.op("Relu", net.op("Add", net.conv(f"{name}.conv2", y, channels, channels), x))


@model(17, batch=(1, 2, 5))
def torch_cnn(net):
    x = net.op("Relu", net.conv("conv1", net.input("image", "batch", 3, 24, 20), 3, 16, stride=2))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = residual_block(net, "layer1", x, 16)
    net.linear("logits", net.op("Flatten", net.op("GlobalAveragePool", x), axis=1), 16, 10)
    return {"logits": (FLOAT, 2)}


@model(18, batch=(1, 3, 4))
def torch_cnn_view(net):
    """x.view(x.size(0), -1), BatchNorm kept, a squeeze-and-excitation gate, HardSwish, ReduceMean with axes as an input."""
    x = net.op("HardSwish", net.norm("bn", net.conv("conv1", net.input("image", "batch", 3, 16, 12), 3, 16, stride=2, bias=False), 16))
    gate = net.op("ReduceMean", x, net.const([2, 3]), keepdims=1)
    gate = net.op("Sigmoid", net.conv("se.fc2", net.op("Relu", net.conv("se.fc1", gate, 16, 8, kernel=1)), 8, 16, kernel=1))
    x = net.conv("dw", net.op("Mul", x, gate), 16, 16, group=16)
    x = net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    parts = net.op("Split", x, axis=1, num_outputs=2), None
    net.nodes[-1].output.append("half2")
    x = net.op("Concat", net.op("Relu", "half2"), parts[0], axis=1)
    net.linear("logits", net.view(x, net.size(x, 0), -1), 16 * 12, 10)
    return {"logits": (FLOAT, 2)}


@model(17, batch=(1, 2, 3))
def torch_fully_convolutional(net):
    """A small U-net: the skip is resized to what it joins."""
    image = net.input("image", "batch", 3, 16, 24)
    a = net.op("Relu", net.conv("down1", image, 3, 8))
    b = net.op("Relu", net.conv("down2", net.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 8, 16))
    up = net.op("Resize", b, "", net.const([1, 1, 2, 2], np.float32), coordinate_transformation_mode="asymmetric", mode="nearest",
                nearest_mode="floor")
    x = net.op("Relu", net.conv("up1", net.op("Concat", up, a, axis=1), 24, 8))
    net.conv("mask", x, 8, 2, kernel=1)
    net.op("Softmax", "mask", name="classes", axis=1)
    return {"classes": (FLOAT, 4)}


@model(17, steps=(1, 3, 5), batch=(2, 1, 4))
def torch_flatten(net):
    """x.flatten(0, 1): nothing but a copy by two unknown extents."""
    net.op("Flatten", net.input("x", "steps", "batch", 4, 5), name="rows", axis=2)
    return {"rows": (FLOAT, 2)}


@model(17, batch=(1, 2, 4))
def torch_pyramid(net):
    """F.interpolate(top, size=lateral.shape[-2:]): the sizes are put together from those of two tensors."""
    image = net.input("image", "batch", 3, 9, 13)
    a = net.op("Relu", net.conv("c1", image, 3, 8, stride=2))
    b = net.op("Relu", net.conv("c2", a, 8, 8, stride=2))
    target = net.op("Cast", net.op("Slice", net.op("Shape", a), net.const([2]), net.const([4]), net.const([0])), to=INT64)
    sizes = net.op("Concat", net.op("Slice", net.op("Shape", b), net.const([0]), net.const([2]), net.const([0])), target, axis=0)
    up = net.op("Resize", b, "", "", sizes, coordinate_transformation_mode="half_pixel", mode="linear", cubic_coeff_a=-0.75)
    x = net.op("Add", up, a)
    net.op("Softplus", net.op("GlobalMaxPool", x), name="pooled")
    net.conv("map", x, 8, 4)
    return {"map": (FLOAT, 4), "pooled": (FLOAT, 4)}


@model(17, batch=(1, 2, 3))
def torch_style(net):
    """Reflection padding, InstanceNorm, transposed convolution, pixel shuffle, crops."""
    image = net.input("image", "batch", 3, 11, 9)
    x = net.op("Pad", image, net.const([0, 0, 1, 1, 0, 0, 1, 1]), mode="reflect")
    x = net.conv("conv1", x, 3, 8, pads=[0] * 4)
    x = net.op("Relu", net.op("InstanceNormalization", x, net.weight("in.weight", 8, scale=1), net.weight("in.bias", 8, scale=1)))
    up = net.op("ConvTranspose", x, net.weight("up.weight", 8, 8, 2, 2), kernel_shape=[2, 2], strides=[2, 2])
    shuffled = net.op("DepthToSpace", net.conv("conv2", x, 8, 12), blocksize=2, mode="CRD")
    net.conv("styled", up, 8, 3)
    net.op("Sub", "styled", shuffled, name="difference")
    net.op("Slice", "difference", net.const([1, 0]), net.const([2 ** 63 - 1, -1]), net.const([2, 3]), name="cropped")
    return {"cropped": (FLOAT, 4)}


@model(15, unk__12=(1, 2, 6))
def keras_cnn(net):
    """As tf2onnx writes a Keras model: images are NHWC, transposes around every convolution that it could not move."""
    x = net.op("Transpose", net.input("input_1", "unk__12", 16, 20, 3), perm=[0, 3, 1, 2])
    x = net.conv("conv2d", x, 3, 8, stride=2, pads=[0, 0, 1, 1])
    x = net.op("Transpose", net.op("Relu", x), perm=[0, 2, 3, 1])
    x = net.op("Mul", x, net.weight("scale", 1, 1, 1, 8, scale=1))
    x = net.op("Transpose", net.op("Add", x, net.weight("shift", 8, scale=1)), perm=[0, 3, 1, 2])
    x = net.op("MaxPool", net.op("Relu", net.conv("conv2d_1", x, 8, 16)), kernel_shape=[2, 2], strides=[2, 2])
    x = net.op("Transpose", x, perm=[0, 2, 3, 1])
    x = net.op("Reshape", x, net.constant("flat", np.array([-1, 4 * 5 * 16])))
    x = net.op("Relu", net.op("Add", net.op("MatMul", x, net.weight("dense", 320, 24, scale=0.05)), net.weight("bias", 24, scale=1)))
    x = net.op("Add", net.op("MatMul", x, net.weight("dense_1", 24, 5, scale=0.3)), net.weight("bias_1", 5, scale=1))
    net.op("Softmax", x, name="dense_2", axis=-1)
    return {"dense_2": (FLOAT, 2)}


#===--- Recurrent networks ---===#

@model(17, batch=(1, 3, 2), seq=(7, 1, 12))
def torch_bilstm(net):
    """nn.LSTM(bidirectional, batch_first, two layers): zero states of the batch's size, a Gemm on the last step."""
    x = net.op("Transpose", net.input("x", "batch", "seq", 12), perm=[1, 0, 2])
    batch = net.size("x", 0)
    zeros = net.op("ConstantOfShape", net.shape(4, batch, 16), value=helper.make_tensor("value", FLOAT, [1], [0]))
    for layer, width in enumerate((12, 32)):
        state = net.op("Slice", zeros, net.const([2 * layer]), net.const([2 * layer + 2]), net.const([0]))
        y = net.op("LSTM", x, net.weight(f"w{layer}", 2, 64, width), net.weight(f"r{layer}", 2, 64, 16), net.weight(f"b{layer}", 2, 128),
                   "", state, state, hidden_size=16, direction="bidirectional")
        net.nodes[-1].output.extend([f"h{layer}", f"c{layer}"])
        x = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.const([0, 0, -1]))
    net.op("Transpose", x, name="features", perm=[1, 0, 2])
    last = net.op("Gather", "features", net.const(-1), axis=1)
    net.linear("logits", last, 32, 4)
    net.op("Concat", "h0", "h1", name="hidden", axis=0)
    return {"features": (FLOAT, 3), "logits": (FLOAT, 2), "hidden": (FLOAT, 3)}


@model(18, batch=(2, 1, 3), seq=(5, 8, 1))
def torch_gru(net):
    """nn.GRU whose first state is expanded to the batch, as newer exporters write it."""
    x = net.op("Transpose", net.input("x", "batch", "seq", 8), perm=[1, 0, 2])
    first = net.op("Expand", net.constant("zero", np.zeros((1, 1, 16), np.float32)), net.shape(1, net.size("x", 0), 16))
    y = net.op("GRU", x, net.weight("w", 1, 48, 8), net.weight("r", 1, 48, 16), net.weight("b", 1, 96), "", first, hidden_size=16,
               linear_before_reset=1)
    net.nodes[-1].output.append("hn")
    y = net.op("Transpose", net.op("Squeeze", y, net.const([1])), perm=[1, 0, 2])
    net.dense("logits", y, 16, 6)
    return {"logits": (FLOAT, 3), "hn": (FLOAT, 3)}


#===--- Transformers ---===#

def attention(net, name, x, width, heads, mask=None):
    """Scaled dot products with heads split by views; every size but the width is read from the tensor."""
    batch, seq = net.size(x, 0), net.size(x, 1)

    def split(part, perm):
        y = net.view(net.dense(f"{name}.{part}", x, width, width), batch, seq, heads, width // heads)
        return net.op("Transpose", y, perm=perm)
    q, k, v = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
    scores = net.op("Div", net.op("MatMul", q, k), net.const((width // heads) ** 0.5, np.float32))
    if mask:
        scores = net.op("Add", scores, mask)
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return net.dense(f"{name}.out", net.view(y, net.size(y, 0), net.size(y, 1), width), width, width)


def encoder_layer(net, name, x, width, heads, mask=None):
    x = net.layer_norm(f"{name}.norm1", net.op("Add", x, attention(net, f"{name}.attention", x, width, heads, mask)), width)
    y = net.dense(f"{name}.fc2", net.gelu(net.dense(f"{name}.fc1", x, width, 2 * width)), 2 * width, width)
    return net.layer_norm(f"{name}.norm2", net.op("Add", x, y), width)


@model(17, batch=(1, 2, 3), seq=(5, 16, 9), refused=[{"batch": 1, "seq": 33}])
def torch_encoder(net):
    """BERT: positions are a slice of a buffer, an additive mask of the tokens that count, a pooled first token."""
    ids, given = net.input("input_ids", "batch", "seq", kind=INT64), net.input("attention_mask", "batch", "seq", kind=INT64)
    mask = net.op("Cast", net.op("Unsqueeze", net.op("Unsqueeze", given, net.const([1])), net.const([2])), to=FLOAT)
    mask = net.op("Mul", net.op("Sub", net.const(1, np.float32), mask), net.const(-1e9, np.float32))
    end = net.op("Unsqueeze", net.size(ids, 1), net.const([0]))
    positions = net.op("Slice", net.constant("position_ids", np.arange(32)[None]), net.const([0]), end, net.const([1]), net.const([1]))
    words = net.op("Gather", net.weight("words", 50, 32, scale=1), ids)
    x = net.op("Add", words, net.op("Gather", net.weight("positions", 32, 32, scale=1), positions))
    x = net.layer_norm("embeddings.norm", x, 32)
    x = encoder_layer(net, "layer0", x, 32, 4, mask)
    net.op("Identity", x, name="hidden")
    net.op("Tanh", net.linear("pooler", net.op("Gather", x, net.const(0), axis=1), 32, 32), name="pooled")
    return {"hidden": (FLOAT, 3), "pooled": (FLOAT, 2)}


@model(18, atoms=(60, 50, 75), edges=(200, 1, 90), index=90)
def torch_message_passing(net):
    """Messages along the edges of a graph, added up where they arrive, as by scatter_add of PyTorch Geometric; sums per molecule."""
    x, edges = net.input("atoms_in", "atoms", 16), net.input("edge_index", 2, "edges", kind=INT64)
    lengths, molecule = net.input("edge_attr", "edges", 4), net.input("molecule", "atoms", kind=INT64)
    source, target = (net.op("Gather", edges, net.const(row), axis=0) for row in (0, 1))

    def scatter(start, places, values):
        spread = net.op("Expand", net.op("Unsqueeze", places, net.const([1])), net.op("Shape", values))
        return net.op("ScatterElements", start, spread, values, axis=0, reduction="add")

    for i, width in enumerate((16, 24)):
        ends = [net.op("Gather", x, at, axis=0) for at in (target, source)]
        message = net.linear(f"conv{i}.message", net.op("Concat", *ends, lengths, axis=1), 2 * width + 4, 24)
        message = net.op("Mul", message, net.op("Sigmoid", message))
        zeros = net.op("ConstantOfShape", net.shape(net.size(x, 0), 24))
        arrived = scatter(zeros, target, message)
        x = net.op("Relu", net.linear(f"conv{i}.update", net.op("Concat", x, arrived, axis=1), width + 24, 24))
    pooled = scatter(net.const(np.zeros((50, 24)), np.float32), molecule, x)
    net.linear("energy", pooled, 24, 1)
    return {"energy": (FLOAT, 2)}


@model(17, batch=(1, 2, 3))
def quantized_bytes(net):
    """Pools, extrema and their places of bytes that are computed, with and without a sign."""
    outputs = {}
    for name, zero in (("unsigned", np.uint8(120)), ("signed", np.int8(-9))):
        scale = net.constant(f"{name}_scale", np.float32(0.02)), net.constant(f"{name}_zero", zero)
        kind = helper.np_dtype_to_tensor_dtype(zero.dtype)
        bytes = net.op("QuantizeLinear", net.input(f"{name}_image", "batch", 4, 6, 7), *scale)
        for result, (value, type, rank) in {
                "pooled": (net.op("MaxPool", bytes, kernel_shape=[2, 2]), kind, 4),
                "numbers": (net.op("DequantizeLinear", net.op("MaxPool", bytes, kernel_shape=[3, 2], strides=[2, 1]), *scale), FLOAT, 4),
                "largest": (net.op("ReduceMax", bytes, axes=[2, 3]), kind, 4),
                "least": (net.op("ReduceMin", bytes, axes=[1], keepdims=0), kind, 3),
                "all": (net.op("ReduceMin", bytes, axes=[1, 2, 3], keepdims=0), kind, 1),
                "place": (net.op("ArgMax", bytes, axis=1, keepdims=0), INT64, 3),
                "larger": (net.op("Max", bytes, net.op("Transpose", bytes, perm=[0, 1, 2, 3])), kind, 4),
                "above": (net.op("Greater", bytes, scale[1]), BOOL, 4)}.items():
            net.op("Identity", value)
            net.nodes[-1].output[0] = f"{name}_{result}"
            outputs[f"{name}_{result}"] = (type, rank)
    return outputs


@model(18, batch=(1, 2, 2), seq=(4, 11, 1), refused=[{"batch": 2, "seq": 25}], index=50)
def torch_decoder(net):
    """GPT: arange(seq) for the positions, a causal mask cut out of a buffer, q k v from one product, logits of the last token."""
    ids = net.input("ids", "batch", "seq", kind=INT64)
    batch, seq = net.size(ids, 0), net.size(ids, 1)
    positions = net.op("Unsqueeze", net.op("Range", net.const(0), seq, net.const(1)), net.const([0]))
    x = net.op("Add", net.op("Gather", net.weight("wte", 50, 32, scale=1), ids), net.op("Gather", net.weight("wpe", 24, 32, scale=1), positions))
    qkv = net.dense("attn", net.layer_norm("ln1", x, 32), 32, 96)
    q = net.op("Split", qkv, net.const([32, 32, 32]), axis=2)
    net.nodes[-1].output.extend(["k", "v"])
    q, k, v = (net.op("Transpose", net.view(part, batch, seq, 4, 8), perm=[0, 2, 1, 3]) for part in (q, "k", "v"))
    scores = net.op("Mul", net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2])), net.const(8 ** -0.5, np.float32))
    causal = net.constant("causal", np.tril(np.ones((1, 1, 24, 24), bool)))
    length = net.op("Unsqueeze", net.size(k, 2), net.const([0]))
    causal = net.op("Slice", causal, net.const([0]), length, net.const([2]), net.const([1]))
    causal = net.op("Slice", causal, net.const([0]), length, net.const([3]), net.const([1]))
    scores = net.op("Where", causal, scores, net.const(-3e38, np.float32))
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    x = net.op("Add", x, net.dense("proj", net.view(y, batch, seq, 32), 32, 32))
    x = net.layer_norm("lnf", net.op("Add", x, net.dense("mlp", net.gelu(net.dense("fc", x, 32, 64)), 64, 32)), 32)
    last = net.op("Slice", x, net.const([-1]), net.const([2 ** 63 - 1]), net.const([1]))
    net.op("MatMul", last, net.weight("head", 32, 50, scale=0.2), name="logits")
    return {"logits": (FLOAT, 3)}


@model(17, batch=(1, 3, 2), seq=(6, 4, 10))
def torch_multihead(net):
    """nn.MultiheadAttention: steps first, heads joined to the batch by products of sizes; a square causal mask from the length."""
    x = net.op("Transpose", net.input("x", "batch", "seq", 32), perm=[1, 0, 2])
    seq, batch = net.size(x, 0), net.size(x, 1)
    full = net.op("ConstantOfShape", net.shape(seq, seq), value=helper.make_tensor("value", FLOAT, [1], [-1e9]))
    mask = net.op("Trilu", full, net.const(1), upper=1)
    rows = net.op("Mul", batch, net.const(4))

    def heads(part):
        return net.op("Transpose", net.view(net.dense(part, x, 32, 32), seq, rows, 8), perm=[1, 0, 2])
    q, k, v = map(heads, "qkv")
    scores = net.op("MatMul", net.op("Mul", q, net.const(8 ** -0.5, np.float32)), net.op("Transpose", k, perm=[0, 2, 1]))
    weights = net.op("Softmax", net.op("Add", scores, net.op("Unsqueeze", mask, net.const([0]))), axis=-1)
    y = net.op("Transpose", net.op("MatMul", weights, v), perm=[1, 0, 2])
    y = net.linear("out", net.view(y, net.op("Mul", seq, batch), 32), 32, 32)
    net.op("Transpose", net.view(y, seq, batch, 32), name="attended", perm=[1, 0, 2])
    averaged = net.op("ReduceMean", net.view(weights, batch, 4, seq, seq), axes=[1], keepdims=0)
    net.op("Identity", averaged, name="weights")
    return {"attended": (FLOAT, 3), "weights": (FLOAT, 3)}


@model(17, batch=(1, 2, 3))
def torch_vision(net):
    """A vision transformer: patches, a class token expanded to the batch, normalization written out."""
    x = net.conv("patch", net.input("image", "batch", 3, 16, 24), 3, 32, kernel=4, stride=4, pads=[0] * 4)
    flat = net.op("Transpose", net.view(x, net.size(x, 0), net.size(x, 1), -1), perm=[0, 2, 1])
    token = net.expand(net.weight("token", 1, 1, 32, scale=1), net.size(x, 0), -1, -1)
    x = net.op("Concat", token, flat, axis=1)
    mean = net.op("Sub", x, net.op("ReduceMean", x, axes=[-1]))
    variance = net.op("ReduceMean", net.op("Pow", mean, net.const(2, np.float32)), axes=[-1])
    x = net.op("Div", mean, net.op("Sqrt", net.op("Add", variance, net.const(1e-6, np.float32))))
    x = net.op("Add", x, attention(net, "attention", x, 32, 4))
    # scaled by the number of tokens, which is a number of the graph
    count = net.op("Cast", net.size(x, 1), to=FLOAT)
    pooled = net.op("Div", net.op("ReduceSum", x, net.const([1]), keepdims=0), net.op("Sqrt", count))
    net.linear("classes", pooled, 32, 7)
    return {"classes": (FLOAT, 2)}


@model(17, batch=(1, 3, 2))
def torch_mixer(net):
    """An MLP-Mixer of exporters: products over tokens between transposes, residuals, norms over channels behind both."""
    x = net.input("x", "batch", 6, 20)
    for block in range(2):
        norm = lambda part, value: net.op("LayerNormalization", value, net.weight(f"{part}{block}.scale", 20),
                                          net.weight(f"{part}{block}.shift", 20), axis=-1)
        turned = net.op("Transpose", norm("tokens_norm", x), perm=[0, 2, 1])
        mixed = net.dense(f"tokens{block}", turned, 6, 6)
        x = net.op("Add", x, net.op("Transpose", mixed, perm=[0, 2, 1]))
        x = net.op("Add", net.dense(f"channels{block}", norm("channels_norm", x), 20, 20), x)
    net.op("Identity", x, name="y")
    return {"y": (FLOAT, 3)}


@model(17, batch=(2, 1, 5))
def spectral(net):
    """A layer on modes: real samples there and back by DFT; the batch is a size of run time."""
    x = net.op("Unsqueeze", net.input("x", "batch", 16), net.const([2]))
    modes = net.op("DFT", x, axis=1, onesided=1)
    kept = net.op("Mul", modes, net.weight("filter", 9, 2))
    net.op("Identity", kept, name="modes")
    both = net.op("DFT", kept, net.const(16), axis=1, inverse=1)
    net.op("Relu", both, name="y")
    return {"modes": (FLOAT, 3), "y": (FLOAT, 3)}


@model(17, batch=(2, 1, 5))
def energies_and_forces(net):
    """Variables are normalised as they are joined; the gradient of the sum of all energies begins with ones."""
    t = net.input("t", "batch", 2)
    logs = net.op("Log", net.op("Add", net.op("Abs", t), net.const(.1, np.float32)))
    joined = net.op("Concat", net.input("x", "batch", 6), logs, axis=1)
    features = net.op("Mul", net.op("Sub", joined, net.weight("mean", 8)), net.weight("scale", 8))
    hidden = net.op("Tanh", net.op("MatMul", features, net.weight("first", 8, 5)))
    energy = net.op("MatMul", hidden, net.weight("last", 5, 1), name="energy")
    ones = net.op("Expand", net.const([[1]], np.float32), net.op("Shape", energy))
    back = net.op("MatMul", ones, net.op("Transpose", "last", perm=[1, 0]))
    slope = net.op("Sub", net.const(1, np.float32), net.op("Mul", hidden, hidden))
    net.op("MatMul", net.op("Mul", back, slope), net.op("Transpose", "first", perm=[1, 0]), name="forces")
    net.op("Exp", logs, name="amounts")
    return {"energy": (FLOAT, 2), "forces": (FLOAT, 2), "amounts": (FLOAT, 2)}


#===--- Names ---===#

LONG = "x" * 300
HOSTILE = ("a.b", "a_b", "int", "space", "größe", LONG, "1234", "batch", "q")


@model(17, **{name: (2, 1, 3) for name in HOSTILE[1:]}, **{"a.b": (1, 3, 2)})
def hostile_names(net):
    """Names that C++ does not take, that are equal once it does, and that the printed code has for itself."""
    outputs = ("class", "a b", "forward", "checked_index", "größe2", "y" * 300, "weights", "std", "2")
    inputs = ("1234", "a_b", "int", "space", "größe", LONG, "work", "batch", "q")
    for output, name, dim in zip(outputs, inputs, HOSTILE):
        net.op("Neg", net.input(name, dim, 3), name=output)
    net.op("Gather", net.weight("Kokkos", 50, 3), net.input("idx", "batch", kind=INT64), name="position")
    return {output: (FLOAT, 2) for output in (*outputs, "position")}
