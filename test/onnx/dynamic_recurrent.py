"""Recurrent networks whose batch and number of steps are known at run time only: each kind in each direction, stacked, with states
given and not, steps from either end."""

import numpy as np
from dynamic_models import BOOL, FLOAT, INT64, model
from onnx import helper

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def layer(net, kind, x, name, inputs, hidden, direction="forward", states=(), outputs=("y",), **more):
    """Names of those outputs: y [steps, ways, batch, hidden], h and c [ways, batch, hidden]."""
    ways = 2 if direction == "bidirectional" else 1
    width = GATES[kind] * hidden
    weights = net.weight(f"{name}.w", ways, width, inputs), net.weight(f"{name}.r", ways, width, hidden), net.weight(f"{name}.b", ways, 2 * width)
    net.op(kind, x, *weights, *([""] if states else []), *states, name=f"{name}_y", hidden_size=hidden, direction=direction, **more)
    made = [f"{name}_{part}" if part in outputs else "" for part in ("yhc" if kind == "LSTM" else "yh")]
    del net.nodes[-1].output[:]
    net.nodes[-1].output.extend(made)
    return [output for output in made if output]


def stacked(net, kind, x, inputs, hidden):
    """Two layers that go both ways: the second one reads both directions of the first."""
    y, *_ = layer(net, kind, x, "first", inputs, hidden, "bidirectional")
    y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.const([0, 0, -1]))
    return layer(net, kind, y, "second", 2 * hidden, hidden, "bidirectional", outputs="yhc")


def add(kind, direction, steps, hidden, given, outputs):
    """A network of one layer; `given`: with first states; steps: a number or a name."""
    def make(net):
        more = {"linear_before_reset": 1} if kind == "GRU" else {}
        ways = 2 if direction == "bidirectional" else 1
        x = net.input("x", steps, "batch", 12)
        states = [net.input(name, ways, "batch", hidden) for name in ("h0", "c0")[:2 if kind == "LSTM" else 1]] if given else ()
        made = layer(net, kind, x, "layer", 12, hidden, direction, states, outputs, **more)
        return {name: (FLOAT, 4 if name.endswith("_y") else 3) for name in made}
    make.__name__ = f"{kind.lower()}_{direction}_{hidden}{'_steps' if steps == 'steps' else ''}{'_given' if given else ''}"
    sizes = {"batch": (5, 1, 33)} | ({"steps": (7, 1, 4)} if steps == "steps" else {})
    model(17, **sizes)(make)


for some in ("LSTM", "GRU", "RNN"):
    add(some, "forward", 6, 20, False, "y")
    add(some, "reverse", "steps", 16, True, "yhc")
    add(some, "bidirectional", "steps", 20, True, "yhc")
    add(some, "bidirectional", "steps", 16, False, "hc")
add("GRU", "forward", "steps", 130, False, "h")


@model(17, batch=(1, 4, 2), steps=(3, 1, 9))
def lstm_stacked(net):
    return {name: (FLOAT, 4 if name.endswith("_y") else 3) for name in stacked(net, "LSTM", net.input("x", "steps", "batch", 8), 8, 16)}


@model(17, batch=(2, 1, 7), steps=(5, 6, 1))
def gru_layout(net):
    """Batch first, by the attribute, and a linear layer on every step."""
    x = net.input("x", "batch", "steps", 8)
    y, _ = layer(net, "GRU", net.op("Transpose", x, perm=[1, 0, 2]), "layer", 8, 24, outputs="yh", linear_before_reset=1)
    y = net.op("Transpose", net.op("Squeeze", y, net.const([1])), perm=[1, 0, 2])
    net.dense("logits", y, 24, 5)
    return {"logits": (FLOAT, 3), "layer_h": (FLOAT, 3)}


@model(17, batch=(2, 1, 6), steps=(4, 1, 3), targets=(3, 5, 1))
def encoder_decoder(net):
    """The last state of one network is the first of the other, which has steps of its own."""
    _, h = layer(net, "GRU", net.input("x", "steps", "batch", 8), "encoder", 8, 16, outputs="yh", linear_before_reset=1)
    y, _ = layer(net, "GRU", net.input("targets", "targets", "batch", 6), "decoder", 6, 16, states=[h], outputs="yh", linear_before_reset=1)
    return {"decoder_y": (FLOAT, 4), "decoder_h": (FLOAT, 3)}


#===--- Taken to pieces by a converter ---===#

def body_of(name, nodes, inputs, outputs):
    value = lambda label, kind=FLOAT: helper.make_tensor_value_info(label, kind, None if kind == FLOAT else [])
    values = lambda labels: [value(*label) if isinstance(label, tuple) else value(label) for label in labels]
    return helper.make_graph(nodes, name, values(inputs), values(outputs))


def zeros(net, *sizes):
    return net.op("ConstantOfShape", net.shape(*sizes), value=helper.make_tensor("value", FLOAT, [1], [0]))


@model(17, batch=(2, 1, 5))
def keras_loop(net):
    """An LSTM as tf2onnx leaves it: its states are zeros of the batch's size, a counter is the index of its row."""
    node = helper.make_node
    x = net.op("Transpose", net.input("x", "batch", 6, 3), perm=[1, 0, 2], name="rows")
    for label, shape in (("w", (3, 32)), ("r", (8, 32)), ("b", (32,))):
        net.weight(label, *shape)
    net.constant("one", np.array(1, np.int64))
    body = body_of("body", [
        node("MatMul", ["s_h", "r"], ["hr"]), node("Add", ["s_count", "one"], ["count_next"]), node("Gather", ["rows", "s_count"], ["row"]),
        node("MatMul", ["row", "w"], ["xw"]), node("Add", ["xw", "hr"], ["z0"]), node("Add", ["z0", "b"], ["z"]),
        node("Split", ["z"], ["i", "f", "c", "o"], axis=1), node("Sigmoid", ["i"], ["is"]), node("Sigmoid", ["f"], ["fs"]),
        node("Sigmoid", ["o"], ["os"]), node("Tanh", ["c"], ["ct"]), node("Mul", ["fs", "s_cell"], ["kept"]),
        node("Mul", ["is", "ct"], ["fresh"]), node("Add", ["kept", "fresh"], ["cell_next"]), node("Tanh", ["cell_next"], ["cell_t"]),
        node("Mul", ["os", "cell_t"], ["h_next"]), node("Identity", ["on"], ["going"]), node("Identity", ["h_next"], ["out"])],
        [("step", INT64), ("on", BOOL), ("s_count", INT64), "s_h", "s_cell"], [("going", BOOL), ("count_next", INT64), "h_next", "cell_next", "out"])
    batch = net.size("x", 0)
    net.op("Loop", net.constant("steps", np.array(6)), net.constant("yes", np.array(True)), net.constant("count", np.array(0)),
           zeros(net, batch, 8), zeros(net, batch, 8), name="counted", body=body)
    net.nodes[-1].output.extend(["h_last", "cell_last", "sequence"])
    net.op("Transpose", "sequence", name="features", perm=[1, 0, 2])
    return {"h_last": (FLOAT, 2), "features": (FLOAT, 3)}


def scanned(net, reverse):
    node = helper.make_node
    x = net.input("x", 5, "batch", 3)
    for label, shape in (("w", (3, 16)), ("r", (16, 16))):
        net.weight(label, *shape)
    body = body_of("body", [
        node("MatMul", ["row", "w"], ["xw"]), node("MatMul", ["h", "r"], ["hr"]), node("Add", ["xw", "hr"], ["sum"]), node("Tanh", ["sum"], ["h_next"]),
        node("Mul", ["h_next", "h_next"], ["square"])], ["h", "row"], ["h_next", "square"])
    net.op("Scan", zeros(net, net.size(x, 1), 16), x, name="last", body=body, num_scan_inputs=1, scan_input_directions=[reverse],
           scan_output_directions=[reverse])
    net.nodes[-1].output.append("squares")
    return {"last": (FLOAT, 2), "squares": (FLOAT, 3)}


@model(17, batch=(3, 1, 9))
def scan_forward(net):
    return scanned(net, 0)


@model(17, batch=(3, 1, 9))
def scan_reverse(net):
    return scanned(net, 1)


@model(17, batch=(2, 1, 7))
def torch_batch_first(net):
    """A GRU and an LSTM that go both ways, with the batch in front and first states of zeros as PyTorch writes them; one starts at ones."""
    x = net.input("x", "batch", 9, 8)
    steps, batch = net.op("Transpose", x, perm=[1, 0, 2]), net.size(x, 0)
    outputs = {}
    for kind, name, start in (("GRU", "gru", 0.), ("LSTM", "lstm", 0.), ("GRU", "ones", 1.)):
        state = net.op("Expand", net.const(start, np.float32), net.shape(2, batch, 16))
        states, more = ((state, state), {}) if kind == "LSTM" else ((state,), {"linear_before_reset": 1})
        y, *_ = layer(net, kind, steps, name, 8, 16, "bidirectional", states, **more)
        y = net.op("Reshape", net.op("Transpose", y, perm=[0, 2, 1, 3]), net.const([0, 0, -1]))
        net.op("Transpose", y, name=f"{name}_out", perm=[1, 0, 2])
        outputs[f"{name}_out"] = (FLOAT, 3)
    return outputs


@model(17, batch=(2, 1, 5), steps=(4, 1, 20))
def selective_scan(net):
    """Any number of steps, any number of rows, whose elements go on by themselves."""
    node = helper.make_node
    x = net.op("Transpose", net.input("x", "batch", "steps", 6), perm=[1, 0, 2], name="rows")
    net.weight("w", 6, 6)
    decay = net.op("Sigmoid", net.op("MatMul", x, "w"), name="decay")
    body = body_of("body", [node("Mul", ["h", "d"], ["kept"]), node("Sub", ["row", "kept"], ["fresh"]), node("Tanh", ["fresh"], ["h_next"]),
                            node("ReduceSum", ["h_next", "last"], ["out"], keepdims=0)], ["h", "d", "row"], ["h_next", "out"])
    net.constant("last", np.array([-1]))
    net.op("Scan", zeros(net, net.size("rows", 1), 6), decay, x, name="scan", body=body, num_scan_inputs=2)
    net.nodes[-1].output.extend(["sums"])
    net.op("Transpose", "sums", name="features", perm=[1, 0])
    return {"scan": (FLOAT, 2), "features": (FLOAT, 2)}
