"""ONNX's own backend tests: which of them are inference on tensors, their data, their operands.

A folder of the form of Debian's libonnx-testdata (data/{node,simple,pytorch-*}/NAME/model.onnx with test_data_set_*) or of
the tests inside an onnx wheel. The goal is derived by a rule from the models, not listed."""

import re
from pathlib import Path

import numpy as np
import onnx
from ml_dtypes import bfloat16
from onnx import TensorProto, numpy_helper

DATA = Path("/usr/share/libonnx-testdata/data")
GROUPS = ("node", "pytorch-converted", "pytorch-operator", "simple")

RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}


def walk(nodes):
    """All nodes, and those of their subgraphs."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            yield from walk(attribute.g.node)
            for graph in attribute.graphs:
                yield from walk(graph.node)


def is_training(node, opset):
    if node.op_type == "BatchNormalization":
        return opset < 14 and len(node.output) > 1 # later ones normalize weights in networks for inference, too
    if node.op_type == "Dropout":
        return len(node.input) > 2 and node.input[2] != ""
    return "preview.training" in node.domain


def is_sequence(node):
    return re.match("Sequence|SplitToSequence|ConcatFromSequence|Optional", node.op_type)


def element_types(model):
    """The element types that occur, as far as the file names them."""
    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info]:
        kind = value.type.WhichOneof("value") or ""
        inner = getattr(value.type, kind) if kind in ("sequence_type", "optional_type") else None
        while inner is not None and inner.elem_type.WhichOneof("value") in ("sequence_type", "optional_type"):
            inner = getattr(inner.elem_type, inner.elem_type.WhichOneof("value"))
        yield (value.type if inner is None else inner.elem_type).tensor_type.elem_type
    for tensor in graph.initializer:
        yield tensor.data_type
    for node in walk(graph.node):
        for attribute in node.attribute:
            yield attribute.t.data_type
            if node.op_type == "Cast" and attribute.name == "to":
                yield attribute.i


def not_wanted(model):
    """Why a model is no inference on tensors of numbers; None if it is."""
    nodes = list(walk(model.graph.node)) + [node for function in model.functions for node in walk(function.node)]
    kinds = {value.type.WhichOneof("value") for value in [*model.graph.input, *model.graph.output]}
    opset = next((entry.version for entry in model.opset_import if not entry.domain), 0)
    if any(is_training(node, opset) for node in nodes):
        return "training"
    if kinds & {"sequence_type", "optional_type"} or any(map(is_sequence, nodes)):
        return "sequence or optional"
    types = set(element_types(model))
    if TensorProto.STRING in types:
        return "string"
    if types & {TensorProto.COMPLEX64, TensorProto.COMPLEX128} or kinds - {"tensor_type"}:
        return "other types"
    return "random" if any(node.op_type in RANDOM for node in nodes) else None


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        self.stem = re.sub(r"\W", "_", f"{folder.parent.name}_{folder.name}" if folder.parent.name != "node" else folder.name)
        self.model = onnx.load(str(folder / "model.onnx"))
        self.excluded = not_wanted(self.model)
        self.fixed = []     # operands that became constants
        self.options = []   # of the translator, for that
        self.problem = None # (kind, text) of the first thing that went wrong
        self.translated = None

    def read(self):
        graph = self.model.graph
        given = {tensor.name for tensor in graph.initializer}
        names = [value.name for value in graph.input]
        arrays = read_tensors(self.folder, "input")
        self.inputs = dict(zip(names, map(typed, arrays, graph.input)))
        self.inputs = {name: value for name, value in self.inputs.items() if name not in given}
        self.outputs = list(map(typed, read_tensors(self.folder, "output"), graph.output))

    def fix(self, name):
        """Makes an input a constant of the model."""
        values = ",".join(repr(value).lower() for value in self.inputs.pop(name).reshape(-1).tolist())
        self.options.append(f"--operand={name}={values}")
        self.fixed.append(name)


def typed(array, value):
    """Some files hold bfloat16 as its bits, some one element for an input of which only the type matters."""
    kind = value.type.tensor_type
    if kind.elem_type == TensorProto.BFLOAT16:
        array = array.view(bfloat16) if array.dtype == np.uint16 else array.astype(bfloat16)
    shape = [dimension.dim_value for dimension in kind.shape.dim]
    return np.broadcast_to(array, shape) if array.shape == (1,) and len(shape) > 1 and all(shape) else array


def read_tensors(folder, kind):
    arrays = []
    while (path := folder / f"test_data_set_0/{kind}_{len(arrays)}.pb").exists():
        arrays.append(numpy_helper.to_array(onnx.load_tensor(str(path))))
    return arrays


def load(data, pattern=""):
    """The cases below a folder in a fixed order."""
    for group in GROUPS:
        for path in sorted((data / group).glob("*/model.onnx")):
            if re.search(pattern, path.parent.name):
                yield Case(path.parent)


def differs(want, have, roundings=1):
    """What is wrong with a result, or None. Halves come back as float, but rounded; `roundings`: how often the expected values were, where
    ours are sums in f32."""
    if want.dtype in (np.float16, bfloat16) and have.dtype == np.float32:
        with np.errstate(over="ignore"):
            rounded = have.astype(want.dtype)
        if not np.array_equal(rounded.astype(np.float32), have, equal_nan=True):
            return f"not rounded to {want.dtype}"
        have = rounded
    if have.dtype != want.dtype:
        return f"type {have.dtype} for {want.dtype}"
    if have.shape != want.shape:
        return f"shape {have.shape} for {want.shape}"
    close = have == want
    if want.dtype.kind not in "iub":
        # onnx 1.12 cuts bfloat16 off where it should round
        rtol = 2.0 ** -7 * roundings if want.dtype == bfloat16 else 1e-3 * roundings if want.dtype == np.float16 else 1e-3
        want, have = want.astype(np.float64), have.astype(np.float64)
        close = np.isclose(have, want, rtol=rtol, atol=1e-7, equal_nan=True)
    if close.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~close)[0])
    return f"{np.count_nonzero(~close)} of {close.size} elements differ, first at {list(at)}: {have[at]} for {want[at]}"
