"""Attention of a batch and of sequences of run-time lengths in the spellings of PyTorch's exporters: dynamic.py runs them."""

import numpy as np

from dynamic_models import FLOAT, model


def packed_heads(net, name, x, width, heads):
    """nn.MultiheadAttention(batch_first=True): steps first, one product for q, k and v, heads joined to the batch by a view."""
    x = net.op("Transpose", x, perm=[1, 0, 2])
    seq, batch = net.size(x, 0), net.size(x, 1)
    rows = net.op("Mul", batch, net.const(heads))
    qkv = net.view(net.dense(f"{name}.in_proj", x, width, 3 * width), seq, batch, 3, width)
    qkv = net.op("Transpose", net.op("Unsqueeze", qkv, net.const([0])), perm=[3, 1, 2, 0, 4])
    qkv = net.op("Squeeze", qkv, net.const([3]))

    def part(number):
        y = net.view(net.op("Gather", qkv, net.const(number), axis=0), seq, rows, width // heads)
        return net.view(net.op("Transpose", y, perm=[1, 0, 2]), batch, heads, seq, width // heads)
    q, k, v = map(part, range(3))
    root = net.const((width // heads) ** -0.25, np.float32)
    scores = net.op("MatMul", net.op("Mul", q, root), net.op("Mul", net.op("Transpose", k, perm=[0, 1, 3, 2]), root))
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[2, 0, 1, 3])
    y = net.linear(f"{name}.out_proj", net.view(y, net.op("Mul", seq, batch), width), width, width)
    return net.op("Transpose", net.view(y, seq, batch, width), perm=[1, 0, 2])


@model(17, batch=(1, 3, 2), seq=(6, 1, 19))
def torch_batch_first(net):
    """nn.TransformerEncoderLayer(batch_first=True), norms in front, behind one with norms behind."""
    x = net.input("x", "batch", "seq", 32)
    x = net.layer_norm("norm1", net.op("Add", x, packed_heads(net, "layer0", x, 32, 4)), 32)
    x = net.op("Add", x, packed_heads(net, "layer1", net.layer_norm("norm2", x, 32), 32, 2))
    x = net.op("Add", x, net.dense("fc2", net.gelu(net.dense("fc1", net.layer_norm("norm3", x, 32), 32, 64)), 64, 32))
    net.op("Identity", x, name="y")
    return {"y": (FLOAT, 3)}


@model(17, batch=(1, 3, 2))
def torch_batch_of_steps(net):
    """The same with a number of steps that the model knows: one extent is left, and joined with heads."""
    x = net.input("x", "batch", 12, 32)
    net.op("Add", x, packed_heads(net, "layer0", x, 32, 4), name="y")
    return {"y": (FLOAT, 3)}


@model(17, seq=(5, 1, 22))
def torch_steps_of_batch(net):
    """The same with a batch that the model knows."""
    x = net.input("x", 3, "seq", 32)
    net.op("Add", x, packed_heads(net, "layer0", x, 32, 4), name="y")
    return {"y": (FLOAT, 3)}


@model(17, batch=(1, 3, 2), seq=(6, 1, 19))
def torch_unbind(net):
    """Attention of timm: q, k and v are cut out of one product behind a transpose."""
    x = net.input("x", "batch", "seq", 32)
    batch, seq = net.size(x, 0), net.size(x, 1)
    qkv = net.op("Transpose", net.view(net.dense("qkv", x, 32, 96), batch, seq, 3, 4, 8), perm=[2, 0, 3, 1, 4])
    q, k, v = (net.op("Gather", qkv, net.const(number), axis=0) for number in range(3))
    scores = net.op("MatMul", net.op("Mul", q, net.const(8 ** -0.5, np.float32)), net.op("Transpose", k, perm=[0, 1, 3, 2]))
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    net.dense("proj", net.view(y, batch, seq, 32), 32, 32)
    net.op("Identity", net.nodes[-1].output[0], name="y")
    return {"y": (FLOAT, 3)}
