"""Models of any size, for the tests of growth: `graphs.py FAMILY COUNT FILE` writes one with COUNT operations."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


class Graph:
    def __init__(self):
        self.nodes, self.weights, self.names = [], [], set()

    def node(self, op, *inputs, output=None, **attributes):
        output = output or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"n{len(self.nodes)}", **attributes))
        return output

    def weight(self, array, name=None):
        name = name or f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def model(self, inputs, outputs):
        graph = helper.make_graph(self.nodes, "grown", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8).SerializeToString()

    def chain(self, last):
        return self.model([value("x", [4, 8])], [value(last, [4, 8])])


def small(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def matmul(count):
    """MatMul with a weight of its own, one after the other"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node("MatMul", at, graph.weight(small(i, 8, 8)))
    return graph.chain(at)


def shared_weight(count):
    """MatMul with the same weight, one after the other"""
    graph, at = Graph(), "x"
    weight = graph.weight(small(0, 8, 8))
    for _ in range(count):
        at = graph.node("MatMul", at, weight)
    return graph.chain(at)


def gemm(count):
    """Gemm with bias, then Relu"""
    graph, at = Graph(), "x"
    for i in range(count // 2):
        at = graph.node("Gemm", at, graph.weight(small(i, 8, 8)), graph.weight(small(i, 8)))
        at = graph.node("Relu", at)
    return graph.chain(at)


def unary(count):
    """cheap and dear functions of one tensor"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node(("Neg", "Tanh", "Abs", "Relu", "Exp", "Sigmoid")[i % 6], at)
    return graph.chain(at)


def binary(count):
    """Add and Mul with vectors"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node(("Add", "Mul")[i % 2], at, graph.weight(small(i, 8)))
    return graph.chain(at)


def doubling(count):
    """each value used twice by the next: an expression without names would double"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node(("Add", "Mul")[i % 2], at, at)
    return graph.chain(at)


def residual(count):
    """x + f(x): MatMul, Tanh, Add"""
    graph, at = Graph(), "x"
    for i in range(count // 3):
        inner = graph.node("Tanh", graph.node("MatMul", at, graph.weight(small(i, 8, 8))))
        at = graph.node("Add", at, inner)
    return graph.chain(at)


def branches(count):
    """many branches from one input, joined by a sum"""
    graph = Graph()
    ends = [graph.node(("Tanh", "Exp", "Neg")[i % 3], "x") for i in range(count)]
    return graph.chain(graph.node("Sum", *ends))


def branches_of_products(count):
    """many MatMuls of one input, joined by Concat"""
    graph = Graph()
    ends = [graph.node("MatMul", "x", graph.weight(small(i, 8, 8))) for i in range(count)]
    return graph.model([value("x", [4, 8])], [value(graph.node("Concat", *ends, axis=1), [4, 8 * count])])


def concat(count):
    """one Concat after the other"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node("Concat", at, graph.weight(small(i, 4, 1)), axis=1)
    return graph.model([value("x", [4, 8])], [value(at, [4, 8 + count])])


def joined(count):
    """one Concat of many inputs in the workspace: a copy for each"""
    graph = Graph()
    names = [f"x{i}" for i in range(count)]
    rows = graph.node("MatMul", graph.node("Concat", *names, axis=0), graph.weight(small(0, 8, 8)))
    return graph.model([value(name, [1, 8]) for name in names], [value(rows, [count, 8])])


def concat_inputs(count):
    """one Concat of many inputs"""
    graph = Graph()
    names = [f"x{i}" for i in range(count)]
    return_name = graph.node("Concat", *names, axis=0)
    return graph.model([value(name, [1, 8]) for name in names], [value(return_name, [count, 8])])


def arguments(count):
    """many inputs and outputs"""
    graph = Graph()
    inputs, outputs = [], []
    for i in range(count):
        inputs.append(value(f"x{i}", [4, 8]))
        outputs.append(value(graph.node("Tanh", f"x{i}"), [4, 8]))
    return graph.model(inputs, outputs)


def weights(count):
    """many initializers of one sum"""
    graph = Graph()
    return graph.chain(graph.node("Sum", "x", *[graph.weight(small(i, 4, 8)) for i in range(count)]))


def computed_weights(count):
    """weights that are computed from the two before them, each used by a product"""
    graph, at = Graph(), "x"
    a, b = graph.weight(small(0, 8, 8)), graph.weight(small(1, 8, 8))
    for _ in range(count // 3):
        a, b = graph.node("Add", a, b), graph.node("Mul", a, b)
        at = graph.node("MatMul", at, a)
    return graph.chain(at)


def one_name(count):
    """values whose names differ in characters only that C++ cannot have"""
    graph, at = Graph(), "x"
    for i in range(count):
        name = "".join("./"[int(bit)] for bit in f"{i:016b}").join("vv")
        at = graph.node("MatMul", at, graph.weight(small(i, 8, 8), name + "w"), output=name)
    return graph.chain(at)


def softmax(count):
    """kernels of rows"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node("Softmax", at, axis=1)
    return graph.chain(at)


def conv(count):
    graph, at = Graph(), "x"
    for i in range(count // 2):
        at = graph.node("Conv", at, graph.weight(small(i, 8, 8, 3, 3)), graph.weight(small(i, 8)), pads=[1, 1, 1, 1])
        at = graph.node("Relu", at)
    return graph.model([value("x", [1, 8, 8, 8])], [value(at, [1, 8, 8, 8])])


def movement(count):
    """Transpose, Slice, Reshape and Pad"""
    graph, at = Graph(), "x"
    shape, flat = graph.weight(np.array([8, 4])), graph.weight(np.array([4, 8]))
    starts, ends = graph.weight(np.array([0, 0])), graph.weight(np.array([4, 7]))
    pads = graph.weight(np.array([0, 0, 0, 1]))
    for i in range(count // 5):
        at = graph.node("Tanh", graph.node("Transpose", at, perm=[1, 0]))
        at = graph.node("Reshape", at, flat)
        at = graph.node("Pad", graph.node("Slice", at, starts, ends), pads)
    return graph.chain(at)


def scatters(count):
    """elements of one tensor replaced again and again, at positions that are an input"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node(("ScatterND", "ScatterElements")[i % 2], at, ("rows", "places")[i % 2], "y")
    return graph.model([value("x", [4, 8]), value("rows", [2, 1], INT64), value("places", [2, 8], INT64),
                        value("y", [2, 8])], [value(at, [4, 8])])


def caches(count):
    """rows written into a cache, and products with it"""
    graph, at, cache = Graph(), "x", "cache"
    for i in range(count // 3):
        cache = graph.node("ScatterND", cache, "rows", at)
        at = graph.node("Tanh", graph.node("MatMul", at, cache))
    return graph.model([value("x", [2, 8]), value("rows", [2, 1], INT64), value("cache", [8, 8])],
                       [value(at, [2, 8]), value(cache, [8, 8])])


def concat_arguments(count):
    """one Concat with an input after the other"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node("Concat", at, f"y{i}", axis=1)
    return graph.model([value("x", [4, 8])] + [value(f"y{i}", [4, 1]) for i in range(count)],
                       [value(at, [4, 8 + count])])


def windows(count):
    """the oldest row dropped, a new one appended"""
    graph, at = Graph(), "x"
    one, end, axis = (graph.weight(np.array([i])) for i in (1, 4, 0))
    for _ in range(count // 2):
        at = graph.node("Concat", graph.node("Slice", at, one, end, axis), "y", axis=0)
    return graph.model([value("x", [4, 8]), value("y", [1, 8])], [value(at, [4, 8])])


def dynamic(count):
    """sizes known at run time only"""
    graph, at = Graph(), "x"
    for i in range(count // 4):
        size = graph.node("Shape", at)
        at = graph.node("Tanh", graph.node("MatMul", at, graph.weight(small(i, 8, 8))))
        at = graph.node("Reshape", at, size)
    return graph.model([value("x", ["n", 8])], [value(at, ["n", 8])])


def rotations(count):
    """products of matrices of 3 x 3"""
    graph, at = Graph(), "x"
    for i in range(count):
        at = graph.node("MatMul", at, ("x", "y")[i % 2])
    return graph.model([value("x", ["n", 3, 3]), value("y", ["n", 3, 3])], [value(at, ["n", 3, 3])])


def branch(body, name):
    return helper.make_graph(body.nodes, name, [], [value(body.nodes[-1].output[0], [4, 8])], body.weights)


def conditions(count):
    """If's, each after the other"""
    graph, at = Graph(), "x"
    for i in range(count // 3):
        arms = []
        for arm, op in enumerate(("Tanh", "Exp")):
            body = Graph()
            body.node(op, at, output=f"arm{arm}_{i}")
            arms.append(branch(body, f"g{arm}_{i}"))
        at = graph.node("If", "c", then_branch=arms[0], else_branch=arms[1])
    return graph.model([value("x", [4, 8]), value("c", [], TensorProto.BOOL)], [value(at, [4, 8])])


def reductions(count):
    """a mean of each row, subtracted"""
    graph, at = Graph(), "x"
    for i in range(count // 2):
        at = graph.node("Sub", at, graph.node("ReduceMean", at, axes=[1], keepdims=1))
    return graph.chain(at)


def linalg(count):
    """MLIR: matmuls and sums of tensors"""
    lines = ["func.func @grown(%v0: tensor<8x8xf32>) -> tensor<8x8xf32> {", "  %zero = arith.constant 0.0 : f32"]
    for i in range(count // 2):
        a, b, c = f"%v{2 * i}", f"%v{2 * i + 1}", f"%v{2 * i + 2}"
        lines += [f"  %e{i} = tensor.empty() : tensor<8x8xf32>",
                  f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : tensor<8x8xf32>) -> tensor<8x8xf32>",
                  f"  {b} = linalg.matmul ins({a}, {a} : tensor<8x8xf32>, tensor<8x8xf32>)"
                  f" outs(%f{i} : tensor<8x8xf32>) -> tensor<8x8xf32>",
                  f"  {c} = linalg.add ins({a}, {b} : tensor<8x8xf32>, tensor<8x8xf32>)"
                  f" outs(%e{i} : tensor<8x8xf32>) -> tensor<8x8xf32>"]
    lines += [f"  return %v{count // 2 * 2} : tensor<8x8xf32>", "}", ""]
    return "\n".join(lines).encode()


def loops(count):
    """MLIR: loops over memory, one after the other"""
    lines = ["func.func @grown(%x: memref<64xf32>, %y: memref<64xf32>) {", "  %c0 = arith.constant 0 : index",
             "  %c1 = arith.constant 1 : index", "  %n = arith.constant 64 : index"]
    for i in range(count):
        a, b = ("%x", "%y") if i % 2 else ("%y", "%x")
        lines += [f"  scf.for %i{i} = %c0 to %n step %c1 {{",
                  f"    %a{i} = memref.load {a}[%i{i}] : memref<64xf32>",
                  f"    %b{i} = math.tanh %a{i} : f32",
                  f"    memref.store %b{i}, {b}[%i{i}] : memref<64xf32>", "  }"]
    return "\n".join(lines + ["  return", "}", ""]).encode()


def scalars(count):
    """MLIR: one loop with a long body"""
    lines = ["func.func @grown(%x: memref<64xf32>, %y: memref<64xf32>) {",
             "  affine.for %i = 0 to 64 {", "    %v0 = affine.load %x[%i] : memref<64xf32>"]
    for i in range(count):
        op = ("arith.addf", "arith.mulf")[i % 2]
        lines.append(f"    %v{i + 1} = {op} %v{i}, %v{i // 2} : f32")
    lines += [f"    affine.store %v{count}, %y[%i] : memref<64xf32>", "  }", "  return", "}", ""]
    return "\n".join(lines).encode()


def own_weights(count):
    """Parts of a tensor, each by a weight of its own, joined again"""
    graph, parts = Graph(), []
    axis = graph.weight(np.array([0]))
    for i in range(count):
        part = graph.node("Slice", "x", graph.weight(np.array([i])), graph.weight(np.array([i + 1])), axis)
        parts.append(graph.node("MatMul", part, graph.weight(small(i, 1, 8, 8))))
    return graph.model([value("x", [count, 4, 8])], [value(graph.node("Concat", *parts, axis=0), [count, 4, 8])])


def zeros(count):
    """Products of padded tensors, one after the other"""
    graph, at = Graph(), "x"
    amounts = graph.weight(np.array([0, 3, 0, 5]))
    for i in range(count):
        at = graph.node("MatMul", graph.node("Pad", at, amounts), graph.weight(small(i, 16, 8)))
    return graph.chain(at)


FAMILIES = [matmul, shared_weight, gemm, unary, binary, doubling, residual, branches, branches_of_products, concat,
            joined, concat_inputs, arguments, weights, computed_weights, one_name, softmax, conv, movement, scatters, caches,
            concat_arguments, windows, dynamic, rotations, conditions, reductions, own_weights, zeros, linalg, loops, scalars]
MLIR = (linalg, loops, scalars)


def main():
    name, count, file = sys.argv[1:]
    family = next(family for family in FAMILIES if family.__name__ == name)
    with open(file, "wb") as out:
        out.write(family(int(count)))


if __name__ == "__main__":
    main()
