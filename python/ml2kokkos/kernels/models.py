"""kk.model("net.onnx"): a small dense network that a kernel calls, for one point or for all rows of an array.

Its layers are written in line as loops over local arrays; weights are further arguments of the kernel, as of every array that
it closes over."""

from pathlib import Path

import numpy as np

from ..errors import Error
from .text import Linear
from .values import Array, Const, Index, Scalar, Tuple

# One operand, element by element: the text of the operation in the compiler, and in NumPy
UNARY = {
    "Relu": lambda c, x, a: c.function("maximum", [x, c.like(0.0, x)]),
    "LeakyRelu": lambda c, x, a: c.chosen(c.compare("Gt", x, c.like(0.0, x)), x, c.binary("Mult", x, c.like(a.get("alpha", 0.01), x))),
    "Tanh": lambda c, x, a: c.function("tanh", [x]),
    "Exp": lambda c, x, a: c.function("exp", [x]),
    "Sqrt": lambda c, x, a: c.function("sqrt", [x]),
    "Abs": lambda c, x, a: c.function("abs", [x]),
    "Neg": lambda c, x, a: c.negated(x),
    "Erf": lambda c, x, a: c.function("erf", [x]),
    "Sigmoid": lambda c, x, a: c.binary("Div", c.like(1.0, x), c.binary("Add", c.like(1.0, x), c.function("exp", [c.negated(x)]))),
    "Softplus": lambda c, x, a: c.binary("Add", c.function("maximum", [x, c.like(0.0, x)]),
                                         c.function("log1p", [c.function("exp", [c.negated(c.function("abs", [x]))])])),
    "Elu": lambda c, x, a: c.chosen(c.compare("Gt", x, c.like(0.0, x)), x,
                                    c.binary("Mult", c.like(a.get("alpha", 1.0), x), c.function("expm1", [x]))),
    "Identity": lambda c, x, a: x,
}
NUMPY = {
    "Relu": lambda x, a: np.maximum(x, 0), "LeakyRelu": lambda x, a: np.where(x > 0, x, x * x.dtype.type(a.get("alpha", 0.01))),
    "Tanh": lambda x, a: np.tanh(x), "Exp": lambda x, a: np.exp(x), "Sqrt": lambda x, a: np.sqrt(x), "Abs": lambda x, a: np.abs(x),
    "Neg": lambda x, a: -x, "Erf": lambda x, a: _erf(x), "Sigmoid": lambda x, a: 1 / (1 + np.exp(-x)),
    "Softplus": lambda x, a: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "Elu": lambda x, a: np.where(x > 0, x, x.dtype.type(a.get("alpha", 1.0)) * np.expm1(x)), "Identity": lambda x, a: x,
}
BINARY = {"Add": "Add", "Sub": "Sub", "Mul": "Mult", "Div": "Div"}
OPERATORS = {"Add": np.add, "Sub": np.subtract, "Mult": np.multiply, "Div": np.divide}


def _erf(x):
    import math

    return np.vectorize(math.erf, otypes=[x.dtype])(x)


class Model:
    """Called with a point or with rows of points, by Python or in a kernel. `inputs` and `outputs`: how many numbers per point."""

    def __init__(self, path):
        try:
            import onnx
        except ImportError:
            raise Error("kk.model reads ONNX by the package onnx: pip install onnx") from None
        self.path = Path(path)
        self.name = self.path.stem
        graph = onnx.load(str(path)).graph
        self.weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
        given = [value for value in graph.input if value.name not in self.weights]
        if len(given) != 1 or len(graph.output) != 1:
            raise Error(f"{self.path.name}: a kernel calls networks with one input and one output")
        extents = given[0].type.tensor_type.shape.dim
        if len(extents) not in (1, 2) or not extents[-1].dim_value:
            raise Error(f"{self.path.name}: the input has to be a point or rows of points, with a known number of values")
        self.inputs, self.entry, self.result = extents[-1].dim_value, given[0].name, graph.output[0].name
        self.kind = {1: "f32", 11: "f64"}.get(given[0].type.tensor_type.elem_type)
        if self.kind is None:
            raise Error(f"{self.path.name}: kernels call networks of float and double")
        self.sizes = {self.entry: self.inputs}
        self.steps = [self._step(onnx, node) for node in graph.node]
        self.outputs = self.sizes[self.result]

    def _step(self, onnx, node):
        """(operator, operands, result, attributes); a weight is its array, with inputs as rows."""
        attributes = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Constant" and "value" in attributes:
            self.weights[node.output[0]] = onnx.numpy_helper.to_array(attributes["value"])
            return None
        operands = [self.weights.get(name, name) for name in node.input if name]
        if node.op_type in UNARY and len(operands) == 1:
            size = self.sizes[operands[0]]
        elif node.op_type in ("Gemm", "MatMul"):
            operands, size = self._product(node, operands, attributes)
        elif node.op_type in BINARY:
            operands = [np.ascontiguousarray(np.squeeze(one)) if isinstance(one, np.ndarray) else one for one in operands]
            size = max(self.sizes[one] if isinstance(one, str) else one.size for one in operands)
            if any((self.sizes[one] if isinstance(one, str) else one.size) not in (1, size) for one in operands):
                raise Error(f"{self.path.name}: node {node.name or node.output[0]!r} ({node.op_type}) works on other shapes than a point's")
        else:
            raise Error(f"{self.path.name}: node {node.name or node.output[0]!r}: kernels do not call {node.op_type}; they have Gemm, MatMul, "
                        + ", ".join(sorted([*UNARY, *BINARY])))
        self.sizes[node.output[0]] = size
        return node.op_type, operands, node.output[0], attributes

    def _product(self, node, operands, attributes):
        scaled = attributes.get("alpha", 1.0) != 1.0 or attributes.get("beta", 1.0) != 1.0 or attributes.get("transA", 0)
        if not isinstance(operands[0], str) or not isinstance(operands[1], np.ndarray) or operands[1].ndim != 2 or scaled:
            raise Error(f"{self.path.name}: node {node.name or node.output[0]!r}: kernels call products of a point and a constant matrix")
        weight = np.ascontiguousarray(operands[1].T if attributes.get("transB", 0) else operands[1])
        if weight.shape[0] != self.sizes[operands[0]]:
            raise Error(f"{self.path.name}: node {node.name or node.output[0]!r}: the shapes do not fit")
        bias = [np.ascontiguousarray(np.broadcast_to(np.squeeze(one), weight.shape[1:])) for one in operands[2:]]
        return [operands[0], weight, *bias], weight.shape[1]

    def __call__(self, x):
        """By NumPy."""
        values = {self.entry: np.asarray(x, {"f32": np.float32, "f64": np.float64}[self.kind])}
        for op, operands, result, attributes in filter(None, self.steps):
            given = [values[one] if isinstance(one, str) else one for one in operands]
            if op in UNARY:
                values[result] = np.asarray(NUMPY[op](given[0], attributes), given[0].dtype)
            elif op in BINARY:
                values[result] = OPERATORS[BINARY[op]](*given)
            else:
                values[result] = given[0] @ given[1] + (given[2] if len(given) > 2 else 0)
        return values[self.result]

    def __repr__(self):
        return f"<ml2kokkos.model {self.name}: {self.inputs} -> {self.outputs}>"


def model(path):
    """A network of dense layers from an ONNX file, to be called in kernels: model(x[i]) or model(x)."""
    return Model(path)


class Models:
    """Mixed into the compiler."""

    def like(self, value, other):
        """A constant of another value's type."""
        return Scalar(self.w.constant(value, other.kind), other.kind)

    def called_model(self, network, arguments, named):
        takes = f"{network.name} takes a point of {network.inputs} values, or an array of them"
        if len(arguments) != 1 or named:
            raise self.problem(takes)
        x = arguments[0]
        if isinstance(x, Tuple):
            x = self.point_of(x, network, takes)
        if not isinstance(x, Array) or len(x.shape) not in (1, 2):
            raise self.problem(takes)
        self.same_extent(x.shape[-1], Linear(network.inputs))
        if x.memory is None and not x.cheap:
            x = self.copied(x, "point")
        if len(x.shape) == 1:
            return self.layers(network, x, self.local_array(network.kind, [Linear(network.outputs)], self.hint))
        rows = self.local_array(network.kind, [x.shape[0], Linear(network.outputs)], self.hint)

        def each(at):
            self.depth += 1
            own = Array(x.shape[1:], x.kind, lambda k: x.at([*at, *k]), x.reads)
            target = self.view(rows.memory, [(at[0], None), (Linear(), 1)], rows.shape[1:])
            self.layers(network, own, target)
            self.depth -= 1

        self.over(x.shape[:1], each, self.comment(self.statement))
        return rows

    def point_of(self, values, network, takes):
        """model([a, b, c]): numbers in a local array."""
        if len(values.items) != network.inputs or any(isinstance(item, (Array, Tuple)) for item in values.items):
            raise self.problem(takes)
        made = self.local_array(network.kind, [Linear(network.inputs)], "point")
        for place, item in enumerate(values.items):
            self.store(made, [Linear(place)], item)
        return made

    def layers(self, network, x, target):
        """Writes the layers of one point; the last one into `target`."""
        self.hint = None
        values = {network.entry: x}
        steps = [step for step in network.steps if step]
        uses = [one for _, operands, _, _ in steps for one in operands if isinstance(one, str)]
        self.capture([(one, f"{network.name}_{place}_{'wb'[at - 1 > 0]}") for place, (_, operands, _, _) in enumerate(steps)
                      for at, one in enumerate(operands) if not isinstance(one, str)])
        for place, (op, operands, result, attributes) in enumerate(steps):
            given = [values[one] if isinstance(one, str) else self.captured(one, "") for one in operands]
            own = [values[one] for one in operands if isinstance(one, str) and one != network.entry and uses.count(one) == 1]
            in_place = next((one for one in own if op not in ("Gemm", "MatMul") and one.shape == [Linear(network.sizes[result])]), None)
            made = target if result == network.result else in_place or \
                self.local_array(network.kind, [Linear(network.sizes[result])], f"layer{place}")
            values[result] = made
            if op in UNARY:
                self.each_of(made, lambda at: UNARY[op](self, self.of_kind(given[0], at, network), attributes))
            elif op in BINARY:
                self.each_of(made, lambda at: self.binary(BINARY[op], *(self.of_kind(one, at, network) for one in given)))
            else:
                self.dense(network, made, *given)
        return target

    def of_kind(self, array, at, network):
        at = [Linear(0)] * len(array.shape) if array.shape in ([Linear(1)], []) else at
        return Scalar(self.as_kind(array.at(at), network.kind), network.kind)

    def each_of(self, made, value):
        self.nested(["j"], [self.w.index(made.shape[0])], lambda at: self.store(made, at, value(at)))

    def dense(self, network, made, x, weight, bias=None):
        """Sums over rows of the weight: adjacent outputs are adjacent in memory."""
        self.each_of(made, lambda at: bias.at(at) if bias else Const(0.0))
        ends = [self.w.index(extent) for extent in weight.shape]

        def term(at):
            product = self.binary("Mult", self.of_kind(x, at[:1], network), weight.at(at))
            self.store(made, at[1:], self.binary("Add", made.at(at[1:]), product))

        self.nested(["k", "j"], ends, term)
