"""Single kernels as models of one node, with the libraries that they are timed beside."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass
class Case:
    name: str
    path: Path
    peers: list = field(default_factory=lambda: [("onnxruntime",)]) # (library, operation, sizes...), sizes as bench/peers
    kernel: str = "" # only the kernel of this label counts, not the whole of forward()
    options: list = field(default_factory=list) # of ml2kokkos


def _values(*shape):
    return np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(shape[-1]))


def _model(nodes, inputs, output, weights):
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "kernel", [value(*i) for i in inputs], [value(*output)],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model


def _gemm(m, k, n):
    return _model([helper.make_node("MatMul", ["x", "w"], ["y"], name="gemm")], [("x", [m, k])], ("y", [m, n]),
                  {"w": _values(k, n)})


def _batched(batch, m, k, n):
    return _model([helper.make_node("MatMul", ["a", "b"], ["y"], name="gemm")], [("a", [batch, m, k]), ("b", [batch, k, n])],
                  ("y", [batch, m, n]), {})


def _mlp(rows, *widths):
    nodes, weights, name = [], {}, "x"
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        weights |= {f"fc{i}.weight": _values(k, n), f"fc{i}.bias": _values(n)}
        nodes.append(helper.make_node("Gemm", [name, f"fc{i}.weight", f"fc{i}.bias"], [f"sum{i}"], name=f"fc{i}"))
        name = "y" if i + 2 == len(widths) else f"relu{i}"
        nodes.append(helper.make_node("Relu", [f"sum{i}"], [name], name=f"relu{i}"))
    return _model(nodes, [("x", [rows, widths[0]])], ("y", [rows, widths[-1]]), weights)


def _conv(channels, size, outputs, kernel, stride, pad):
    out = (size + 2 * pad - kernel) // stride + 1
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["sum"], name="conv", kernel_shape=[kernel, kernel],
                              strides=[stride, stride], pads=[pad] * 4),
             helper.make_node("Relu", ["sum"], ["y"], name="relu")]
    return _model(nodes, [("x", [1, channels, size, size])], ("y", [1, outputs, out, out]),
                  {"w": _values(outputs, channels, kernel, kernel), "b": _values(outputs)})


def _rows(operation, rows, columns):
    weights, out, nodes = {}, [rows, columns], None
    if operation == "softmax":
        nodes = [helper.make_node("Softmax", ["x"], ["y"], name=operation, axis=1)]
    elif operation == "layer_norm":
        weights = {"scale": _values(columns), "shift": _values(columns)}
        nodes = [helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["y"], name=operation, axis=1)]
    elif operation == "gelu":
        weights = {"root": np.float32(np.sqrt(2)), "one": np.float32(1), "half": np.float32(.5)}
        nodes = [helper.make_node(*node) for node in [("Div", ["x", "root"], ["q"]), ("Erf", ["q"], ["e"]),
                                                      ("Add", ["e", "one"], ["p"]), ("Mul", ["x", "p"], ["m"]),
                                                      ("Mul", ["m", "half"], ["y"])]]
    elif operation == "transpose":
        out = [columns, rows]
        nodes = [helper.make_node("Transpose", ["x"], ["y"], name=operation, perm=[1, 0])]
    elif operation == "row_sums":
        out = [rows, 1]
        weights = {"axes": np.array([1])}
        nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], name=operation, keepdims=1)]
    return _model(nodes, [("x", [rows, columns])], ("y", out), weights)


RESNET18 = [(3, 224, 64, 7, 2, 3), (64, 56, 64, 3, 1, 1), (64, 56, 128, 3, 2, 1), (64, 56, 128, 1, 2, 0),
            (128, 28, 128, 3, 1, 1), (128, 28, 256, 3, 2, 1), (128, 28, 256, 1, 2, 0), (256, 14, 256, 3, 1, 1),
            (256, 14, 512, 3, 2, 1), (256, 14, 512, 1, 2, 0), (512, 7, 512, 3, 1, 1)]


def _table():
    """Name, model and peers of every case."""
    for s in [(1024, 1024, 1024), (256, 1024, 1024), (512, 512, 512), (128, 768, 3072), (128, 3072, 768)]:
        yield "gemm", s, _gemm, [("onednn", "gemm"), ("openblas", "gemm")], {}
    for s in [(1000, 1001, 999), (17, 13, 29), (100, 7, 1000), (33, 65, 129)]:
        yield "gemm_odd", s, _gemm, [("onednn", "gemm_plain"), ("openblas", "gemm")], {}
    for s in [(100, 64, 64, 64), (1000, 16, 16, 16)]:
        yield "batched_gemm", s, _batched, [("libxsmm", "batched_gemm"), ("onednn", "batched_gemm")], {}
    for s in [(1, 1024, 1024), (1, 4096, 4096)]:
        yield "gemv", s, _gemm, [("onednn", "gemm"), ("openblas", "gemm")], {}
    yield "mlp", (256, 1024, 1024, 1024), _mlp, [("onednn", "mlp")], {}
    for s in [(1, 100, 64, 64, 4), (1, 300, 256, 128, 64), (1, 72, 64, 64, 10), (64, 72, 64, 64, 10)]:
        yield "small_mlp", s, _mlp, [], {}
    for s in RESNET18:
        yield "conv", s, _conv, [("onednn", "conv")], {"kernel": "conv", "options": ["--winograd=off"]}
    for operation in ["softmax", "layer_norm", "gelu", "transpose", "row_sums"]:
        for s in [(256, 512), (1024, 128), (4096, 4096)]:
            yield operation, s, lambda *s, operation=operation: _rows(operation, *s), [("onednn", operation)], {}


def find(folder, text):
    """The cases whose names contain the text; their models are written into the folder."""
    cases = []
    for operation, sizes, make, peers, more in _table():
        name = f"{operation}_{'x'.join(map(str, sizes))}"
        if text not in name:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.onnx"
        onnx.save(make(*sizes), path)
        cases.append(Case(name, path, [(*peer, *sizes) for peer in peers] or [("onnxruntime",)], **more))
    return cases
