"""The same graph with numbers of another type."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

PRECISIONS = {"double": TensorProto.DOUBLE, "half": TensorProto.FLOAT16}


def of_precision(model, name):
    """A copy of the model whose floats are all doubles or halves; or, by "rounded", floats that are halves."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    if name == "rounded":
        for tensor in model.graph.initializer:
            tensor.CopyFrom(converted(converted(tensor, TensorProto.FLOAT16), TensorProto.FLOAT, np.float16))
    else:
        convert(model.graph, PRECISIONS[name])
    return model


def converted(tensor, kind, source=np.float32):
    array = numpy_helper.to_array(tensor)
    return numpy_helper.from_array(array.astype(onnx.helper.tensor_dtype_to_np_dtype(kind)) if array.dtype == source else array, tensor.name)


def convert(graph, kind):
    for tensor in graph.initializer:
        tensor.CopyFrom(converted(tensor, kind))
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = kind
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = kind
            if attribute.HasField("t"):
                attribute.t.CopyFrom(converted(attribute.t, kind))
            convert(attribute.g, kind)
