"""The values that a model has in f64: an ONNX model by onnx's own evaluator, an MLIR program as a plain translation with f64 in
the place of smaller types."""

import re

import numpy as np

from ..compiler import Mlir, compile
from .measuring import TuneError

PLAIN = ("--schedule=naive", "--math=std", "--winograd=off")
NARROW = re.compile(r"(?:(?<=[\d?]x)|\b)(f32|f16|bf16)\b") # also the element type of 16x?xf32
CASTS = re.compile(r"^ *(?P<to>%\w+) = arith\.(extf|truncf) (?P<of>%\w+)( fastmath<\w+>)? : f64 to f64[^\n]*\n", re.MULTILINE)


def doubled_onnx(path, inputs):
    """Values by name of the model's outputs."""
    import onnx
    from onnx import TensorProto, numpy_helper
    from onnx.reference import ReferenceEvaluator

    model = onnx.load(str(path))
    small = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16}

    def widened(tensor):
        return numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name) if tensor.data_type in small else tensor

    def widen(graph):
        for place, tensor in enumerate(graph.initializer):
            graph.initializer[place].CopyFrom(widened(tensor))
        for value in (*graph.input, *graph.output, *graph.value_info):
            if value.type.tensor_type.elem_type in small:
                value.type.tensor_type.elem_type = TensorProto.DOUBLE
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.type == onnx.AttributeProto.TENSOR:
                    attribute.t.CopyFrom(widened(attribute.t))
                elif attribute.type == onnx.AttributeProto.GRAPH:
                    widen(attribute.g)
                elif node.op_type == "Cast" and attribute.name == "to" and attribute.i in small:
                    attribute.i = TensorProto.DOUBLE

    widen(model.graph)
    evaluator = ReferenceEvaluator(model)
    known = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in known]
    feed = {name: array.astype(np.float64) if np.issubdtype(np.asarray(array).dtype, np.floating) else array for name, array in zip(names, inputs)}
    with np.errstate(all="ignore"):
        return dict(zip((value.name for value in model.graph.output), evaluator.run(None, feed)))


def doubled_text(text):
    """The program with f64 in the place of smaller types, and without what converted between these and f64."""
    if "dense_resource" in text or 'dense<"0x' in text:
        raise TuneError("this program has constants in bytes: no reference in f64 can be made of its text")
    text = NARROW.sub("f64", text)
    while found := CASTS.search(text):
        text = text[:found.start()] + text[found.end():]
        text = re.sub(re.escape(found["to"]) + r"\b", lambda _: found["of"], text)
    return text


def doubled_mlir(text, name, options):
    """The module that computes the program in f64."""
    return compile(Mlir(doubled_text(text).encode()), name=f"{name}_f64", options=[*PLAIN, *options])
