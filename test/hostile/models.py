"""Models with a name wherever one can stand; `n` gives the names (bait.Names)."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def tensor(name, *shape):
    values = np.random.default_rng(len(name)).standard_normal(shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def finish(n, nodes, inputs, outputs, initializers, functions=()):
    graph = helper.make_graph(nodes, n("graph"), inputs, outputs, initializers, doc_string=n("graph_doc"))
    opsets = [helper.make_opsetid("", 17)] + ([helper.make_opsetid(n("domain"), 1)] if functions else [])
    model = helper.make_model(graph, opset_imports=opsets, producer_name=n("producer"), doc_string=n("doc"), functions=list(functions))
    model.producer_version = n("version")
    model.domain = n("model_domain")
    model.ir_version = 8
    helper.set_model_props(model, {n("key"): n("value")})
    for node in model.graph.node:
        node.doc_string = n("node_doc")
    return model.SerializeToString()


def network(n):
    """Weights in a file of their own, images, a joined bias."""
    nodes = [helper.make_node("Conv", [n("image"), n("kernel"), n("bias")], [n("c")], name=n("conv"), pads=[1, 1, 1, 1]),
             helper.make_node("Relu", [n("c")], [n("r")], name=n("relu")),
             helper.make_node("Conv", [n("r"), n("kernel2")], [n("c2")], name=n("conv2"), pads=[1, 1, 1, 1]),
             helper.make_node("Add", [n("c2"), n("r")], [n("s")], name=n("residual")),
             helper.make_node("GlobalAveragePool", [n("s")], [n("g")], name=n("pool")),
             helper.make_node("Flatten", [n("g")], [n("f")], name=n("flatten")),
             helper.make_node("Gemm", [n("f"), n("matrix"), n("bias2")], [n("scores")], name=n("gemm"))]
    weights = [tensor(n("kernel"), 8, 3, 3, 3), tensor(n("bias"), 8), tensor(n("kernel2"), 8, 8, 3, 3), tensor(n("matrix"), 8, 10),
               tensor(n("bias2"), 10)]
    return finish(n, nodes, [value(n("image"), 1, 3, 8, 8)], [value(n("scores"), 1, 10)], weights)


def attention(n):
    """Sizes known at run time only, weights in the source, rows, a function of the model."""
    scale = helper.make_function(n("domain"), n("function"), [n("fx")], [n("fy")],
                                 [helper.make_node("Mul", [n("fx"), n("fx")], [n("fm")], name=n("fmul")),
                                  helper.make_node("Tanh", [n("fm")], [n("fy")], name=n("ftanh"))], [helper.make_opsetid("", 17)])
    nodes = [helper.make_node("MatMul", [n("x"), n("w")], [n("m")], name=n("matmul")),
             helper.make_node("Add", [n("m"), n("b")], [n("a")], name=n("add")),
             helper.make_node("Softmax", [n("a")], [n("p")], name=n("softmax")),
             helper.make_node(n("function"), [n("p")], [n("q")], name=n("call"), domain=n("domain")),
             helper.make_node("ReduceSum", [n("q")], [n("t")], name=n("sum"), keepdims=0),
             helper.make_node("Sigmoid", [n("q")], [n("y")], name=n("sigmoid"))]
    return finish(n, nodes, [value(n("x"), n("N"), n("M"), 4)], [value(n("y"), n("N"), n("M"), 3), value(n("t"))],
                  [tensor(n("w"), 4, 3), tensor(n("b"), 3)], [scale])


def recurrence(n):
    """Bodies of loops and branches, which have names of their own."""
    count = numpy_helper.from_array(np.array(3, np.int64), n("count"))
    going = numpy_helper.from_array(np.array(True), n("going"))
    one = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Identity", [n("cond")], [n("cond_out")], name=n("keep")),
                              helper.make_node("MatMul", [n("h"), n("w")], [n("hw")], name=n("step")),
                              helper.make_node("Tanh", [n("hw")], [n("h_out")], name=n("tanh"))], n("body"),
                             [one(n("i"), TensorProto.INT64, []), one(n("cond"), TensorProto.BOOL, []), value(n("h"), 2, 4)],
                             [one(n("cond_out"), TensorProto.BOOL, []), value(n("h_out"), 2, 4)])
    nodes = [helper.make_node("Loop", [n("count"), n("going"), n("x")], [n("last")], name=n("loop"), body=body),
             helper.make_node("LSTM", [n("seq"), n("W"), n("R")], [n("Y")], name=n("lstm"), hidden_size=4),
             helper.make_node("Exp", [n("last")], [n("y")], name=n("exp"))]
    return finish(n, nodes, [value(n("x"), 2, 4), value(n("seq"), 5, 2, 4)], [value(n("y"), 2, 4), value(n("Y"), 5, 1, 2, 4)],
                  [tensor(n("w"), 4, 4), tensor(n("W"), 1, 16, 4), tensor(n("R"), 1, 16, 4), count, going])


def steps(n):
    """A scan whose state, its array and the parts that it reads have the names of the body. What it reads has short ones: long
    expressions get a line of their own."""
    nodes = [helper.make_node("Exp", [n("part")], [n("e")], name=n("exp")), helper.make_node("Mul", [n("h"), n("e")], [n("next")], name=n("next_h")),
             helper.make_node("ReduceSum", [n("next"), n("last")], [n("row")], name=n("sum"), keepdims=0),
             helper.make_node("MatMul", [n("next"), "turn"], [n("turned")], name=n("matmul")),
             helper.make_node("Tanh", [n("turned")], [n("twice")], name=n("tanh")), helper.make_node("Add", [n("twice"), n("next")], [n("out")], name=n("add"))]
    body = helper.make_graph(nodes, n("body"), [value(n("h"), 6, 2), value(n("part"), 6, 2)], [value(n("out"), 6, 2), value(n("row"), 6)],
                             [numpy_helper.from_array(np.array([-1]), n("last")), tensor("turn", 2, 2)])
    scan = helper.make_node("Scan", ["start", "x"], [n("final"), n("rows")], name=n("scan"), body=body, num_scan_inputs=1)
    return finish(n, [scan], [value("start", 6, 2), value("x", 12, 6, 2)], [value(n("final"), 6, 2), value(n("rows"), 12, 6)], [])


def column(n):
    """Called inside kernels of the user's."""
    nodes = [helper.make_node("Gemm", [n("x"), n("w"), n("b")], [n("h")], name=n("first")),
             helper.make_node("Tanh", [n("h")], [n("t")], name=n("tanh")),
             helper.make_node("Concat", [n("t"), n("x")], [n("joined")], name=n("concat"), axis=1),
             helper.make_node("MatMul", [n("joined"), n("w2")], [n("y")], name=n("second"))]
    return finish(n, nodes, [value(n("x"), n("N"), 4)], [value(n("y"), n("N"), 2)],
                  [tensor(n("w"), 4, 3), tensor(n("b"), 3), tensor(n("w2"), 7, 2)])


def program(n):
    """MLIR: symbols, constants, locations, messages."""
    return f"""
ml_program.global private @unused(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
memref.global "private" constant @"{n('global')}" : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @"{n('callee')}"(%v: f32 loc("{n('argument')}")) -> f32 {{
  %s = math.tanh %v : f32 loc("{n('tanh')}")
  return %s : f32
}}
func.func @"{n('entry')}"(%x: memref<4x?xf32> loc("{n('x')}"), %y: memref<4x?xf32> loc("{n('y')}"("{n('file')}":3:4)), %k: index loc("{n('k')}")) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c1 : memref<4x?xf32> loc("{n('size')}")
  %ok = arith.cmpi sgt, %n, %c1 : index
  cf.assert %ok, "{n('message')}" loc("{n('check')}")
  %g = memref.get_global @"{n('global')}" : memref<4xf32> loc(fused["{n('fused')}", "{n('fused2')}"("{n('file2')}":1:1)])
  scf.for %i = %c0 to %c4 step %c1 {{
    scf.for %j = %c0 to %n step %c1 {{
      %a = memref.load %x[%i, %j] : memref<4x?xf32> loc("{n('load')}")
      %b = memref.load %g[%i] : memref<4xf32> loc(callsite("{n('called')}" at "{n('caller')}"))
      %m = arith.mulf %a, %b : f32 loc("{n('product')}")
      %t = func.call @"{n('callee')}"(%m) : (f32) -> f32 loc("{n('call')}")
      memref.store %t, %y[%i, %j] : memref<4x?xf32>
    }} loc("{n('inner')}")
  }} loc("{n('outer')}")
  return loc("{n('return')}")
}} loc("{n('function')}")
"""


ONNX = {"network": network, "attention": attention, "recurrence": recurrence, "steps": steps, "column": column}
MLIR = {"program": program}
OPTIONS = {"column": ["--form=launch,team,thread"]}
