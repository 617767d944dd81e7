"""The models of the tests: few, because each costs a compilation."""

import sys
from pathlib import Path

import onnx
from onnx import compose, helper, parser

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "run"))
import make_models # noqa: E402

# All in one program, their names behind the name of the network
NETWORKS = ("mlp_tanh", "residual", "odd_windows", "depthwise", "inception", "two_outputs", "layer_norm_row", "attention",
            "gather_embedding", "upsample", "arithmetic", "recurrent_row", "recurrent_last", "transposes")

KINDS = """<ir_version: 8, opset_import: ["" : 18]>
kinds (float[n, m] values, int64[n] places, double[n, 3] points, bool[n] mask, bool[6] marks, int32 offset, uint8[4] bytes)
=> (float[n, m] scaled, int64[k] twice, double[3, n] across, bool[n] flipped, int32[4] moved, int64[1, found] positions)
{
  two = Constant <value = float {2.0}> ()
  scaled = Mul(values, two)
  twice = Concat <axis = 0> (places, places)
  across = Transpose <perm = [1, 0]> (points)
  flipped = Not(mask)
  wide = Cast <to = 6> (bytes)
  moved = Add(wide, offset)
  positions = NonZero(marks)
}
"""

AXPY = """func.func @axpy(%factor: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %factor, %a : f32
    %s = arith.addf %p, %b : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}
"""


def network(name):
    net = make_models.Net()
    outputs = make_models.MODELS[name](net)
    return net.finish(name, outputs)


def together(names):
    """One model of several that have nothing in common."""
    nodes, inputs, outputs, initializers = [], [], [], []
    for name in names:
        graph = compose.add_prefix(network(name), f"{name}_").graph
        nodes += graph.node
        inputs += graph.input
        outputs += graph.output
        initializers += graph.initializer
    graph = helper.make_graph(nodes, "networks", inputs, outputs, initializers)
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)])


def write(folder):
    """name -> path of each model."""
    folder.mkdir(parents=True, exist_ok=True)
    protos = {"mlp_batch": network("mlp_batch"), "kinds": parser.parse_model(KINDS), "networks": together(NETWORKS)}
    paths = {name: folder / f"{name}.onnx" for name in protos}
    for name, proto in protos.items():
        onnx.save(proto, str(paths[name]))
    paths["axpy"] = folder / "axpy.mlir"
    paths["axpy"].write_text(AXPY)
    return paths
