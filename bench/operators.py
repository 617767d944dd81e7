"""Single ONNX operators of about a million elements, along every axis and in the forms that networks have: what is slow
beside onnxruntime shows here, before it hides in a model."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from kernels import Case

OPSET = 20


class Operators:
    """Writes a model for each."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.random, self.cases = folder, np.random.default_rng(0), []

    def numbers(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def indices(self, below, *shape):
        return self.random.integers(0, below, shape).astype(np.int64)

    def add(self, name, nodes, inputs, constants, kind=TensorProto.FLOAT):
        """nodes: (operator, inputs, outputs, attributes); `y` is the result; inputs: name -> shape."""
        made = [helper.make_node(operator, ins, outs, **attributes) for operator, ins, outs, attributes in nodes]
        values = [helper.make_tensor_value_info(key, TensorProto.FLOAT, shape) for key, shape in inputs.items()]
        graph = helper.make_graph(made, name, values, [helper.make_tensor_value_info("y", kind, None)],
                                  [numpy_helper.from_array(np.asarray(value), key) for key, value in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)
        path = self.folder / f"{name}.onnx"
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), path)
        self.cases.append(Case(name, path))

    def one(self, name, operator, shape, *constants, kind=TensorProto.FLOAT, outputs=1, **attributes):
        """An operator of x and constants, None for those that are left out."""
        names = ["" if value is None else f"c{i}" for i, value in enumerate(constants)]
        self.add(name, [(operator, ["x", *names], ["y", "second"][:outputs], attributes)], {"x": shape},
                 {key: value for key, value in zip(names, constants) if key}, kind)

    def two(self, name, operator, a, b, **attributes):
        self.add(name, [(operator, ["a", "b"], ["y"], attributes)], {"a": a, "b": b}, {})


def reductions(make):
    cube = [32, 256, 128]
    integers = lambda *values: np.array(values, np.int64)
    for axes in ([0], [1], [2], [0, 1], [1, 2], [0, 2]):
        make.one("mean_" + "".join(map(str, axes)), "ReduceMean", cube, integers(*axes), keepdims=0)
    make.one("mean_images", "ReduceMean", [8, 64, 56, 56], integers(0, 2, 3), keepdims=0)
    for axis in range(3):
        for name, operator in [("max", "ReduceMax"), ("l2", "ReduceL2"), ("log_sum_exp", "ReduceLogSumExp")]:
            make.one(f"{name}_{axis}", operator, cube, integers(axis), keepdims=0)
        make.one(f"softmax_{axis}", "Softmax", cube, axis=axis)
        make.one(f"argmax_{axis}", "ArgMax", cube, kind=TensorProto.INT64, axis=axis, keepdims=0)
        make.one(f"cumsum_{axis}", "CumSum", cube, np.int64(axis))
        make.one(f"topk_{axis}", "TopK", cube, integers(5), axis=axis, outputs=2)
    make.one("softmax_classes", "Softmax", [2, 21, 128, 128], axis=1)
    make.one("layer_norm", "LayerNormalization", [1024, 768], make.numbers(768), make.numbers(768), axis=-1)
    make.one("instance_norm", "InstanceNormalization", [4, 64, 56, 56], make.numbers(64), make.numbers(64))
    make.one("lp_norm", "LpNormalization", [1024, 768], axis=-1, p=2)


def copies(make):
    integers = lambda *values: np.array(values, np.int64)
    for order, shape in [([0, 2, 1], [32, 256, 128]), ([1, 0, 2], [32, 256, 128]), ([2, 1, 0], [32, 256, 128]),
                         ([0, 2, 3, 1], [8, 64, 56, 56]), ([0, 3, 1, 2], [8, 56, 56, 64]), ([0, 2, 1, 3], [8, 128, 12, 64])]:
        make.one("transpose_" + "".join(map(str, order)), "Transpose", shape, perm=order)
    make.one("gather_0", "Gather", [256, 2048], make.indices(256, 500), axis=0)
    make.one("gather_1", "Gather", [1024, 256], make.indices(256, 500), axis=1)
    make.one("gather_elements_0", "GatherElements", [256, 1024], make.indices(256, 200, 1024), axis=0)
    make.one("gather_elements_1", "GatherElements", [1024, 256], make.indices(256, 1024, 200), axis=1)
    make.one("scatter_elements_0", "ScatterElements", [256, 1024], make.indices(256, 200, 1024), make.numbers(200, 1024), axis=0, reduction="add")
    make.one("scatter_elements_1", "ScatterElements", [1024, 256], make.indices(256, 1024, 200), make.numbers(1024, 200), axis=1, reduction="add")
    for axis in range(3):
        make.two(f"concat_{axis}", "Concat", [32, 128, 128], [32, 128, 128], axis=axis)
    make.one("slice_steps", "Slice", [1024, 1024], integers(0, 1), integers(1024, 1024), integers(0, 1), integers(2, 3))
    make.one("slice_back", "Slice", [1024, 1024], integers(-1), integers(-100000), integers(1), integers(-1))
    around = integers(0, 0, 2, 2, 0, 0, 2, 2)
    make.one("pad_constant", "Pad", [8, 64, 56, 56], around, np.float32(1))
    for mode in ("reflect", "edge"):
        make.one(f"pad_{mode}", "Pad", [8, 64, 56, 56], around, mode=mode)
    make.one("tile", "Tile", [64, 128, 32], integers(2, 2, 2))
    make.one("expand", "Expand", [64, 1, 128], integers(64, 64, 128))
    make.one("depth_to_space", "DepthToSpace", [4, 64, 56, 56], blocksize=2)
    make.one("space_to_depth", "SpaceToDepth", [4, 16, 112, 112], blocksize=2)
    twice = np.array([1, 1, 2, 2], np.float32)
    for mode, shape in [("nearest", [4, 32, 56, 56]), ("linear", [4, 32, 56, 56]), ("cubic", [1, 16, 56, 56])]:
        make.one(f"resize_{mode}", "Resize", shape, None, twice, mode=mode)
    make.one("cast_f16", "Cast", [512, 1024], to=TensorProto.FLOAT16, kind=TensorProto.FLOAT16)
    make.one("quantize", "QuantizeLinear", [512, 1024], np.float32(.05), np.uint8(128), kind=TensorProto.UINT8)


def elements(make):
    for operator in ["Exp", "Erf", "Sigmoid", "Tanh", "Sin", "Cos", "Log", "Sqrt", "HardSwish", "Mish", "Softplus", "Elu", "Gelu", "Floor", "Round",
                     "Atan", "Sign"]:
        make.one(operator.lower(), operator, [512, 1024])
    make.one("clip", "Clip", [512, 1024], np.float32(-1), np.float32(1))
    make.one("pow", "Pow", [512, 1024], np.float32(2.5))
    make.one("add_channels", "Add", [8, 64, 56, 56], make.numbers(64, 1, 1))
    make.two("add_outer", "Add", [1024, 1], [1, 1024])
    make.two("add_middle", "Add", [64, 1, 128], [64, 128, 128])
    make.two("mod", "Mod", [512, 1024], [512, 1024], fmod=1)


def layers(make):
    def conv(name, shape, weight, **attributes):
        make.one(name, "Conv", shape, make.numbers(*weight), **attributes)
    conv("conv_1d", [4, 64, 1024], [64, 64, 5], pads=[2, 2])
    conv("conv_depthwise_3", [4, 96, 56, 56], [96, 1, 3, 3], group=96, pads=[1] * 4)
    conv("conv_depthwise_7", [1, 96, 56, 56], [96, 1, 7, 7], group=96, pads=[3] * 4)
    conv("conv_groups", [2, 128, 28, 28], [128, 32, 3, 3], group=4, pads=[1] * 4)
    conv("conv_dilated", [1, 64, 56, 56], [64, 64, 3, 3], dilations=[2, 2], pads=[2] * 4)
    conv("conv_from_1", [1, 1, 512, 512], [8, 1, 5, 5], pads=[2] * 4)
    conv("conv_to_1", [1, 32, 128, 128], [1, 32, 3, 3], pads=[1] * 4)
    conv("conv_1x7", [1, 64, 56, 56], [64, 64, 1, 7], pads=[0, 3, 0, 3])
    conv("conv_3d", [1, 16, 16, 32, 32], [32, 16, 3, 3, 3], pads=[1] * 6)
    make.one("conv_transposed", "ConvTranspose", [1, 64, 28, 28], make.numbers(64, 32, 4, 4), strides=[2, 2], pads=[1] * 4)
    make.one("max_pool_2d", "MaxPool", [4, 64, 56, 56], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    make.one("max_pool_3d", "MaxPool", [2, 16, 32, 32, 32], kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    make.one("mean_pool_2d", "AveragePool", [4, 64, 56, 56], kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    make.one("global_mean", "GlobalAveragePool", [8, 256, 28, 28])
    make.one("response_norm", "LRN", [4, 64, 28, 28], size=5)
    make.two("matmul_matrix", "MatMul", [16, 64, 128], [128, 64])
    make.two("matmul_broadcast", "MatMul", [8, 1, 64, 96], [1, 12, 96, 48])
    make.two("matmul_heads", "MatMul", [4, 12, 33, 17], [12, 17, 21])
    make.two("matmul_vector", "MatMul", [1024], [1024, 512])
    make.two("matmul_outer", "MatMul", [1024, 1], [1, 1024])
    for operator, gates in [("LSTM", 4), ("GRU", 3), ("RNN", 1)]:
        for batch in (1, 16):
            weights = [make.numbers(1, gates * 128, 128) * np.float32(.1) for _ in range(2)]
            make.one(f"{operator.lower()}_{batch}", operator, [64, batch, 128], *weights, hidden_size=128)


def find(folder, text):
    """Cases whose names contain `text`; the models go into the folder."""
    make = Operators(folder)
    for group in (reductions, copies, elements, layers):
        group(make)
    return [case for case in make.cases if text in case.name]
