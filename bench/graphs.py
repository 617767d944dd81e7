"""ONNX models to time: single kernels and small networks, with random weights."""

import numpy as np
from ml_dtypes import bfloat16
from onnx import TensorProto, helper, numpy_helper


def values(*shape):
    return np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32) / np.float32(np.sqrt(shape[-1]))


def model(nodes, inputs, output, weights, element=TensorProto.FLOAT):
    value = lambda name, shape: helper.make_tensor_value_info(name, element, shape)
    graph = helper.make_graph(nodes, "kernel", [value(*i) for i in inputs], [value(*output)],
                              [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 8
    return made


def gemm(m, k, n):
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], name="gemm")], [("x", [m, k])], ("y", [m, n]),
                 {"w": values(k, n)})


def product(m, k, n, element="f32", transposed=(False, False), dynamic=False):
    """Of two arguments; `transposed`: which of them lie so. `dynamic`: extents are known at run time only."""
    rows, depth, columns = ("m", "k", "n") if dynamic else (m, k, n)
    a, b = [depth, rows] if transposed[0] else [rows, depth], [columns, depth] if transposed[1] else [depth, columns]
    node = helper.make_node("Gemm", ["a", "b"], ["y"], name="gemm", transA=int(transposed[0]), transB=int(transposed[1]))
    return model([node], [("a", a), ("b", b)], ("y", [rows, columns]), {},
                 TensorProto.DOUBLE if element == "f64" else TensorProto.FLOAT)


def batched(batch, m, k, n):
    return model([helper.make_node("MatMul", ["a", "b"], ["y"], name="gemm")], [("a", [batch, m, k]), ("b", [batch, k, n])],
                 ("y", [batch, m, n]), {})


def einsum(equation, constants=(), **extents):
    """The operands at the places in `constants` are weights."""
    terms, result = equation.split("->")
    shapes = [[extents[letter] for letter in term] for term in terms.split(",")]
    names = [f"{'w' if i in constants else 'x'}{i}" for i in range(len(shapes))]
    return model([helper.make_node("Einsum", names, ["y"], name="einsum", equation=equation)],
                 [(name, shape) for i, (name, shape) in enumerate(zip(names, shapes)) if i not in constants],
                 ("y", [extents[letter] for letter in result]),
                 {name: values(*shape) for i, (name, shape) in enumerate(zip(names, shapes)) if i in constants})


def mlp(rows, *widths, activation="Relu", last=True):
    """Layers with bias; `last`: the last one has an activation, too."""
    nodes, weights, name = [], {}, "x"
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        weights |= {f"fc{i}.weight": values(k, n), f"fc{i}.bias": values(n)}
        ends = i + 2 == len(widths)
        sums = "y" if ends and not last else f"sum{i}"
        nodes.append(helper.make_node("Gemm", [name, f"fc{i}.weight", f"fc{i}.bias"], [sums], name=f"fc{i}"))
        name = "y" if ends else f"active{i}"
        if sums != "y":
            nodes.append(helper.make_node(activation, [sums], [name], name=f"active{i}"))
    return model(nodes, [("x", [rows, widths[0]])], ("y", [rows, widths[-1]]), weights)


def mlp_of_bf16(rows, *widths):
    """mlp() with weights that are numbers of bfloat16, still stored as float."""
    made = mlp(rows, *widths)
    for tensor in made.graph.initializer:
        rounded = numpy_helper.to_array(tensor).astype(bfloat16).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(rounded, tensor.name))
    return made


def mlp_bf16(rows, *widths):
    """The same in bfloat16 throughout."""
    made = mlp_of_bf16(rows, *widths)
    for value in [*made.graph.input, *made.graph.output]:
        value.type.tensor_type.elem_type = TensorProto.BFLOAT16
    for tensor in made.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(bfloat16)
        tensor.CopyFrom(helper.make_tensor(tensor.name, TensorProto.BFLOAT16, array.shape, array.tobytes(), raw=True))
    return made


def mala_mlp(rows):
    """Densities of states from bispectrum components of atoms."""
    return mlp(rows, 91, 400, 400, 11, activation="LeakyRelu", last=False)


def conv(channels, size, outputs, kernel, stride, pad):
    out = (size + 2 * pad - kernel) // stride + 1
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["sum"], name="conv", kernel_shape=[kernel, kernel],
                              strides=[stride, stride], pads=[pad] * 4),
             helper.make_node("Relu", ["sum"], ["y"], name="relu")]
    return model(nodes, [("x", [1, channels, size, size])], ("y", [1, outputs, out, out]),
                 {"w": values(outputs, channels, kernel, kernel), "b": values(outputs)})


def rows(operation, count, columns):
    weights, out, nodes = {}, [count, columns], None
    if operation == "softmax":
        nodes = [helper.make_node("Softmax", ["x"], ["y"], name=operation, axis=1)]
    elif operation == "layer_norm":
        weights = {"scale": values(columns), "shift": values(columns)}
        nodes = [helper.make_node("LayerNormalization", ["x", "scale", "shift"], ["y"], name=operation, axis=1)]
    elif operation == "gelu":
        weights = {"root": np.float32(np.sqrt(2)), "one": np.float32(1), "half": np.float32(.5)}
        nodes = [helper.make_node(*node) for node in [("Div", ["x", "root"], ["q"]), ("Erf", ["q"], ["e"]),
                                                      ("Add", ["e", "one"], ["p"]), ("Mul", ["x", "p"], ["m"]),
                                                      ("Mul", ["m", "half"], ["y"])]]
    elif operation == "transpose":
        out = [columns, count]
        nodes = [helper.make_node("Transpose", ["x"], ["y"], name=operation, perm=[1, 0])]
    elif operation == "row_sums":
        out = [count, 1]
        weights = {"axes": np.array([1])}
        nodes = [helper.make_node("ReduceSum", ["x", "axes"], ["y"], name=operation, keepdims=1)]
    return model(nodes, [("x", [count, columns])], ("y", out), weights)


def add_relu(count, columns):
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"], name="add"), helper.make_node("Relu", ["sum"], ["y"], name="relu")]
    return model(nodes, [("a", [count, columns]), ("b", [count, columns])], ("y", [count, columns]), {})


class Encoder:
    """Transformer encoder: attention, a hidden layer with GELU, each with a residual and a norm behind it."""

    def __init__(self, width, heads):
        self.width, self.heads = width, heads
        self.nodes, self.weights = [], {"split": np.array([1, -1, heads, width // heads]), "join": np.array([1, -1, width]),
                                        "scale": np.float32((width // heads)**-.5), "root": np.float32(np.sqrt(.5)),
                                        "one": np.float32(1), "half": np.float32(.5)}

    def op(self, kind, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, list(inputs), [f"{kind.lower()}{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def linear(self, name, x, k, n):
        self.weights |= {f"{name}.weight": values(k, n), f"{name}.bias": values(n)}
        return self.op("Add", self.op("MatMul", x, f"{name}.weight"), f"{name}.bias")

    def norm(self, name, x):
        self.weights |= {f"{name}.weight": 1 + values(self.width), f"{name}.bias": values(self.width)}
        return self.op("LayerNormalization", x, f"{name}.weight", f"{name}.bias", axis=-1)

    def attention(self, name, x):
        order = {"q": [0, 2, 1, 3], "k": [0, 2, 3, 1], "v": [0, 2, 1, 3]}
        q, k, v = (self.op("Transpose", self.op("Reshape", self.linear(f"{name}.{part}", x, self.width, self.width), "split"),
                           perm=perm) for part, perm in order.items())
        weights = self.op("Softmax", self.op("Mul", self.op("MatMul", q, k), "scale"), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.linear(f"{name}.out", self.op("Reshape", mixed, "join"), self.width, self.width)

    def layer(self, name, x, hidden):
        x = self.norm(f"{name}.norm1", self.op("Add", x, self.attention(f"{name}.attention", x)))
        g = self.linear(f"{name}.up", x, self.width, hidden)
        g = self.op("Mul", self.op("Mul", g, "half"), self.op("Add", self.op("Erf", self.op("Mul", g, "root")), "one"))
        return self.norm(f"{name}.norm2", self.op("Add", x, self.linear(f"{name}.down", g, hidden, self.width)))


def encoder(layers, width, heads, hidden, tokens):
    net = Encoder(width, heads)
    x = "x"
    for i in range(layers):
        x = net.layer(f"layer{i}", x, hidden)
    net.op("Identity", x)
    net.nodes[-1].output[0] = "y"
    return model(net.nodes, [("x", [1, tokens, width])], ("y", [1, tokens, width]), net.weights)
