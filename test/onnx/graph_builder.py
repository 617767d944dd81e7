"""A graph in the making: nodes, constants, the shape of every value, and one source of chance for all of it."""

import math
import random

import numpy as np
from onnx import helper, numpy_helper


class Graph:
    """Nodes, constants and, per value, its shape."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.constants, self.shapes, self.inputs = [], [], {}, []
        self.used = set()

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape, depth=1):
        return self.constant((self.numbers.standard_normal(shape) / math.sqrt(depth)).astype(np.float32))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def add(self, operation, operands, *shapes, **attributes):
        """Values of a new node, or the one."""
        names = [f"v{len(self.nodes)}" + "abcd"[i] * (len(shapes) > 1) for i in range(len(shapes))]
        self.nodes.append(helper.make_node(operation, operands, names, name=f"n{len(self.nodes)}", **attributes))
        self.used.update(operands)
        self.shapes.update(zip(names, map(tuple, shapes)))
        return names if len(names) > 1 else names[0]

    def input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append((name, shape))
        self.shapes[name] = tuple(shape)
        return name

    def pick(self, accept=lambda shape: True):
        """A value, more often a late one."""
        fitting = [name for name, shape in self.shapes.items() if accept(shape)]
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
