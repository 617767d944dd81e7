"""Stencils, convolutions of so few channels that lines of the image fill the vectors, and steps whose states a product, a stencil or a
choice updates, with onnxruntime's values."""

import numpy as np
from onnx import TensorProto, helper

from scans import numbers
from steps import checked, loop

node = helper.make_node


def stencil(name, image, weight, then="Tanh", **attributes):
    """What comes behind it changes with the layout of its results, or does not."""
    nodes = [node("Conv", ["x", "weight", "bias"], ["sums"], **attributes)]
    constants = {"weight": numbers(31, *weight), "bias": numbers(32, weight[0])}
    if then == "Conv":
        nodes.append(node("Conv", ["sums", "filters"], ["y"], pads=[1] * 4))
        constants["filters"] = numbers(33, 6, weight[0], 3, 3)
    elif then == "strength":
        nodes += [node("Mul", ["sums", "sums"], ["squares"]), node("ReduceSum", ["squares", "axis"], ["y"], keepdims=1)]
        constants["axis"] = np.array([1])
    elif then == "again":
        nodes += [node("Conv", ["sums", "weight", "bias"], ["twice"], **attributes), node("Add", ["twice", "x"], ["y"])]
    else:
        nodes.append(node(then, ["sums"], ["y"]))
    return checked(name, nodes, {"x": numbers(30, *image)}, constants, ["y"])


def diffusion(name, padding, steps=9):
    """A time loop around a stencil; with `edge` the pixels at the edge are their own neighbours."""
    kernel = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], np.float32)[None, None]
    pads = [node("Pad", ["s_u", "amounts"], ["around"], mode=padding)] if padding else [node("Identity", ["s_u"], ["around"])]
    body = [*pads, node("Conv", ["around", "kernel"], ["change"], pads=[0 if padding else 1] * 4), node("Mul", ["change", "rate"], ["scaled"]),
            node("Add", ["s_u", "scaled"], ["u_next"]), node("Identity", ["on"], ["going"])]
    constants = {"kernel": kernel, "rate": np.array(.2, np.float32), "amounts": np.array([0, 0, 1, 1, 0, 0, 1, 1])}
    return loop(name, steps, body, [("u", TensorProto.FLOAT)], [], {"u": numbers(34, 1, 1, 20, 33)}, constants)


def integrator(steps=10):
    """The method of Heun around a network of two layers: the last product adds to the state."""
    layers = lambda state, made: [
        node("MatMul", [state, "w"], [made + "p"]), node("Tanh", [made + "p"], [made + "t"]), node("MatMul", [made + "t", "v"], [made])]
    body = [*layers("s_y", "k"), node("Mul", ["k", "h"], ["hk"]), node("Add", ["s_y", "hk"], ["ahead"]), *layers("ahead", "l"),
            node("Add", ["k", "l"], ["both"]), node("Mul", ["both", "half"], ["change"]), node("Add", ["s_y", "change"], ["y_next"]),
            node("Identity", ["on"], ["going"])]
    constants = {"w": numbers(35, 6, 24), "v": numbers(36, 24, 6), "h": np.array(.1, np.float32), "half": np.array(.05, np.float32)}
    return loop("loop_integrator", steps, body, [("y", TensorProto.FLOAT)], [], {"y": numbers(37, 40, 6)}, constants)


def decoder(steps=12):
    """Symbols that a recurrent layer chooses one after the other."""
    body = [node("Gather", ["table", "s_symbol"], ["row"]), node("Concat", ["row", "s_h"], ["joined"], axis=1), node("MatMul", ["joined", "w"], ["p"]),
            node("Tanh", ["p"], ["h_next"]), node("MatMul", ["h_next", "v"], ["scores"]), node("ArgMax", ["scores"], ["symbol_next"], axis=1, keepdims=0),
            node("Identity", ["on"], ["going"])]
    constants = {"table": numbers(38, 17, 8), "w": numbers(39, 16, 8), "v": numbers(40, 8, 17), "symbol": np.array([3, 11])}
    return loop("loop_decoder", steps, body, [("h", TensorProto.FLOAT), ("symbol", TensorProto.INT64)], ["scores"], {"h": numbers(41, 2, 8)}, constants)


def cases():
    return [
        stencil("stencil_laplace", (1, 1, 9, 40), (1, 1, 3, 3), pads=[1] * 4),
        stencil("stencil_broad", (2, 1, 20, 37), (1, 1, 7, 5), pads=[3, 2, 3, 2]),
        stencil("stencil_of_colours", (2, 3, 12, 18), (1, 3, 3, 3), pads=[1] * 4),
        stencil("stencil_dilated", (1, 1, 25, 30), (1, 1, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3]),
        stencil("stencil_strided", (1, 2, 25, 50), (3, 2, 4, 3), strides=[2, 3]),
        stencil("stencil_line", (3, 1, 70), (2, 1, 9), pads=[4, 4]),
        stencil("stencil_by_channel", (1, 4, 8, 24), (4, 1, 3, 3), pads=[1] * 4, group=4),
        stencil("stencil_edges", (1, 1, 16, 20), (2, 1, 3, 3), "strength", pads=[1] * 4),
        stencil("stencil_twice", (1, 1, 16, 20), (1, 1, 3, 3), "again", pads=[1] * 4),
        stencil("stencil_in_front_of_layer", (1, 2, 10, 20), (3, 2, 3, 3), "Conv", pads=[1] * 4),
        diffusion("loop_diffusion", ""), diffusion("loop_diffusion_edge", "edge"), integrator(), decoder(),
    ]
