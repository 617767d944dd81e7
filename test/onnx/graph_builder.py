"""A graph in the making: nodes, constants, the shape of every value, and one source of chance for all of it."""

import contextlib
import math
import random

import numpy as np
from onnx import TensorProto, helper, numpy_helper

DTYPES = {TensorProto.FLOAT: np.float32, TensorProto.INT64: np.int64, TensorProto.INT32: np.int32, TensorProto.BOOL: np.bool_,
          TensorProto.UINT8: np.uint8, TensorProto.INT8: np.int8}


class Graph:
    """Nodes, constants and, per value, its shape and type. Makers see the values of one type at a time."""

    def __init__(self, seed):
        self.opset = 17
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.constants, self.shapes, self.inputs = [], [], {}, []
        self.type, self.types, self.prefix = TensorProto.FLOAT, {}, ""

    @contextlib.contextmanager
    def of(self, kind):
        """Values that are picked and made inside are of this type."""
        before, self.type = self.type, kind
        try:
            yield
        finally:
            self.type = before

    def branch(self):
        """A graph that may be the body of a node to come: it sees what this one has."""
        made = Graph.__new__(Graph)
        made.__dict__.update(self.__dict__, nodes=[], shapes=dict(self.shapes), prefix=f"{self.prefix}b{len(self.types)}_")
        return made

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value):
        return self.constant(DTYPES[self.type](value))

    def weight(self, *shape, depth=1):
        if self.type == TensorProto.BOOL:
            return self.constant(self.numbers.random(shape) < .5)
        if self.type != TensorProto.FLOAT:
            return self.constant(self.numbers.integers(0, 9, shape).astype(DTYPES[self.type]))
        return self.constant((self.numbers.standard_normal(shape) / math.sqrt(depth)).astype(np.float32))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def add(self, operation, operands, *shapes, **attributes):
        """Values of a new node, or the one. Axes of a reduction are an input from opset 18 on."""
        if self.opset >= 18 and operation.startswith("Reduce") and "axes" in attributes:
            operands = [*operands, self.integers(*attributes.pop("axes"))]
        names = [f"{self.prefix}v{len(self.nodes)}" + "abcde"[i] * (len(shapes) > 1) for i in range(len(shapes))]
        self.nodes.append(helper.make_node(operation, operands, names, name=f"{self.prefix}n{len(self.nodes)}", **attributes))
        self.shapes.update(zip(names, map(tuple, shapes)))
        self.types.update((name, self.type) for name in names)
        return names if len(names) > 1 else names[0]

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, shape))
        self.shapes[name] = tuple(shape)
        self.types[name] = self.type
        return name

    def pick(self, accept=lambda shape: True):
        """A value, more often a late one."""
        fitting = [name for name, shape in self.shapes.items() if self.types[name] == self.type and accept(shape)]
        if not fitting:
            return None, None
        name = fitting[max(self.random.randrange(len(fitting)) for _ in range(2))]
        return name, self.shapes[name]

    def some(self, *choices):
        return self.random.choice(choices)

    def axis(self, shape, accept=lambda extent: True):
        fitting = [i for i, extent in enumerate(shape) if accept(extent)]
        return self.random.choice(fitting) if fitting else None

    def negative(self, axis, rank):
        """The same axis, perhaps counted from the last."""
        return axis - rank * self.some(0, 1)


def fixed(extent):
    return isinstance(extent, int)


def elements(shape):
    return math.prod(shape)


def joined(a, b):
    """The shape that two make by broadcasting, or None."""
    rank, result = max(len(a), len(b)), []
    for x, y in zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)):
        if x != y and 1 not in (x, y):
            return None
        result.append(y if x == 1 else x)
    return tuple(result)
