"""Decoders as PyTorch exports them for generation: rotary positions, keys and values of the tokens before in a cache."""

import numpy as np
import onnx
from dynamic_models import FLOAT, INT64, model


def rotated(net, x, width):
    """rotate_half: the halves of the last dimension change places, the first with the other sign."""
    last, half, end = net.const([-1]), net.const([width // 2]), net.const([2 ** 63 - 1])
    first, second = net.op("Slice", x, net.const([0]), half, last), net.op("Slice", x, half, end, last)
    return net.op("Concat", net.op("Neg", second), first, axis=-1)


@model(17, batch=(1, 2, 1), seq=(1, 3, 7), past=(5, 4, 1))
def torch_rotary(net):
    """LLaMA: q and k turned by given angles, k and v behind the cache, a gated MLP."""
    ids = net.input("ids", "batch", "seq", kind=INT64)
    cos, sin = net.input("cos", "seq", 8), net.input("sin", "seq", 8)
    caches = [net.input(name, "batch", 4, "past", 8) for name in ("past_k", "past_v")]
    batch, seq = net.size(ids, 0), net.size(ids, 1)
    x = net.op("Gather", net.weight("tokens", 50, 32, scale=1), ids)
    y = net.layer_norm("norm1", x, 32)
    q, k, v = (net.op("Transpose", net.view(net.dense(part, y, 32, 32), batch, seq, 4, 8), perm=[0, 2, 1, 3]) for part in "qkv")
    q, k = (net.op("Add", net.op("Mul", part, cos), net.op("Mul", rotated(net, part, 8), sin)) for part in (q, k))
    k = net.op("Concat", caches[0], k, name="present_k", axis=2)
    v = net.op("Concat", caches[1], v, name="present_v", axis=2)
    scores = net.op("Div", net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2])), net.const(8 ** 0.5, np.float32))
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    x = net.op("Add", x, net.dense("out", net.view(y, batch, seq, 32), 32, 32))
    y = net.layer_norm("norm2", x, 32)
    gate = net.dense("gate", y, 32, 64)
    y = net.op("Mul", net.op("Mul", gate, net.op("Sigmoid", gate)), net.dense("up", y, 32, 64))
    x = net.op("Add", x, net.dense("down", y, 64, 32))
    net.op("MatMul", x, net.weight("head", 32, 50, scale=0.2), name="logits")
    return {"logits": (FLOAT, 3), "present_k": (FLOAT, 4), "present_v": (FLOAT, 4)}


@model(17, seq=(1, 3, 7), past=(5, 4, 1))
def torch_heads(net):
    """A layer of GPT: keys and values of heads as wide as a panel of weights, one projection for both in a second layer."""
    x = net.input("x", 1, "seq", 32)
    caches = [[net.input(f"past{layer}_{part}", 1, 2, "past", 32) for part in "kv"] for layer in range(2)]
    seq = net.size(x, 1)
    outputs = {"y": (FLOAT, 3)}
    for layer, cache in enumerate(caches):
        y = net.layer_norm(f"norm{layer}", x, 32)
        if layer == 0:
            parts = [net.dense(part, y, 32, 64) for part in "qkv"]
        else:
            all_parts = net.dense("qkv", y, 32, 192)
            parts = [net.op("Slice", all_parts, net.const([at]), net.const([at + 64]), net.const([2]))
                     for at in (0, 64, 128)]
        q, k, v = (net.op("Transpose", net.view(part, 1, seq, 2, 32), perm=[0, 2, 1, 3]) for part in parts)
        k, v = (net.op("Concat", past, new, name=f"present{layer}_{part}", axis=2)
                for past, new, part in zip(cache, (k, v), "kv"))
        outputs |= {f"present{layer}_{part}": (FLOAT, 4) for part in "kv"}
        scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
        y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = net.op("Add", x, net.dense(f"out{layer}", net.view(y, 1, seq, 64), 64, 32))
    net.op("Identity", x, name="y")
    return outputs


@model(17, batch=(1, 2, 1), seq=(1, 3, 7), past=(5, 4, 1))
def torch_shared_heads(net):
    """scaled_dot_product_attention with shared heads behind a cache, as the new exporter of PyTorch writes it: q and k scaled by
    the root of the scale, k transposed between reshapes, the mask looked up at columns of indices, positions by the cache's
    length. The squares of the RMS norm follow batch and sequence."""
    x = net.input("x", "batch", "seq", 32)
    caches = [net.input(name, "batch", 2, "past", 8) for name in ("past_k", "past_v")]
    allowed = net.input("allowed", "batch", "seq", kind=INT64)
    batch, seq = net.size(x, 0), net.size(x, 1)
    last = net.size(caches[0], 2)
    x = net.op("Add", x, net.op("Gather", net.weight("positions", 16, 32, scale=1), last))
    x = net.op("Add", x, net.dense("in", x, 32, 32))
    norm = net.op("ReduceMean", net.op("Pow", x, net.const(2., np.float32)), axes=[-1], keepdims=1)
    norm = net.op("Reciprocal", net.op("Sqrt", net.op("Add", norm, net.const(1e-6, np.float32))))
    y = net.op("Mul", net.weight("norm", 32, scale=1), net.op("Mul", x, norm))
    q = net.op("Transpose", net.view(net.dense("q", y, 32, 48), batch, seq, 6, 8), perm=[0, 2, 1, 3])
    k, v = (net.op("Transpose", net.view(net.dense(part, y, 32, 16), batch, seq, 2, 8), perm=[0, 2, 1, 3]) for part in "kv")
    k, v = (net.op("Concat", past, new, name=f"present_{part}", axis=2) for past, new, part in zip(caches, (k, v), "kv"))
    every = net.size(k, 2)
    spread = net.shape(batch, 2, 3, every, 8)
    k, v = (net.view(net.op("Expand", net.op("Unsqueeze", part, net.const([2])), spread), batch, 6, every, 8) for part in (k, v))
    k = net.view(net.op("Transpose", net.view(k, -1, every, 8), perm=[0, 2, 1]), batch, 6, 8, every)
    root = net.const(8 ** -0.25, np.float32)
    scores = net.op("MatMul", net.op("Mul", q, root), net.op("Mul", k, root))
    rows = net.op("Range", net.const(0), batch, net.const(1))
    columns = net.op("Range", net.const(0), seq, net.const(1))
    shape = net.shape(batch, seq)
    places = [net.op("Unsqueeze", net.op("Expand", net.op("Unsqueeze", part, net.const([axis])), shape), net.const([2]))
              for part, axis in ((rows, 1), (columns, 0))]
    mask = net.op("GatherND", net.op("Cast", allowed, to=9), net.op("Concat", *places, axis=2))
    mask = net.op("Where", mask, net.const(0., np.float32), net.const(-3.4e38, np.float32))
    scores = net.op("Add", scores, net.op("Unsqueeze", mask, net.const([1, 3])))
    y = net.op("Transpose", net.op("MatMul", net.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    net.op("Add", x, net.dense("out", net.view(y, batch, seq, 48), 48, 32), name="y")
    return {"y": (FLOAT, 3), "present_k": (FLOAT, 4), "present_v": (FLOAT, 4)}


@model(23, batch=(1, 2, 1), seq=(1, 3, 7), past=(5, 4, 1))
def torch_attention(net):
    """scaled_dot_product_attention as one node behind a cache: shared heads, a causal mask; then without a cache, by a mask of numbers."""
    x = net.input("x", "batch", "seq", 32)
    caches = [net.input(name, "batch", 2, "past", 8) for name in ("past_k", "past_v")]
    mask = net.input("mask", "batch", 1, "seq", "seq")
    batch, seq = net.size(x, 0), net.size(x, 1)
    y = net.layer_norm("norm", x, 32)
    q, k, v = (net.op("Transpose", net.view(net.dense(part, y, 32, 8 * heads), batch, seq, heads, 8), perm=[0, 2, 1, 3])
               for part, heads in (("q", 6), ("k", 2), ("v", 2)))
    net.nodes.append(onnx.helper.make_node("Attention", [q, k, v, "", *caches], ["heads", "present_k", "present_v"], name="attention", is_causal=1))
    y = net.dense("out", net.view(net.op("Transpose", "heads", perm=[0, 2, 1, 3]), batch, seq, 48), 48, 32)
    x = net.op("Add", x, y)
    parts = [net.dense(f"{part}2", x, 32, 32) for part in "qkv"]
    y = net.op("Attention", *parts, mask, name="attention2", q_num_heads=4, kv_num_heads=4, softcap=5.)
    net.op("Add", x, y, name="y")
    return {"y": (FLOAT, 3), "present_k": (FLOAT, 4), "present_v": (FLOAT, 4)}
