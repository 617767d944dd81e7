"""Nodes with bodies for random graphs: If, Loop and Scan over a few operators that keep shapes."""

import numpy as np
from onnx import TensorProto, helper

from graph_builder import fixed, joined

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def step(g, x, shape):
    """One operator whose result has the shape of x."""
    kind = g.some("unary", "constant", "other", "product", "softmax")
    if kind == "product" and shape and fixed(shape[-1]):
        return g.add("MatMul", [x, g.weight(shape[-1], shape[-1], depth=shape[-1])], shape) if len(shape) > 1 else \
            g.add("MatMul", [x, g.weight(*shape * 2, depth=shape[0])], shape)
    if kind == "softmax" and shape:
        return g.add("Softmax", [x], shape, axis=-1)
    if kind == "other":
        y, _ = g.pick(lambda s: joined(s, shape) == tuple(shape))
        return g.add(g.some("Add", "Mul", "Sub"), [x, y], shape)
    if kind == "constant":
        return g.add(g.some("Add", "Mul"), [x, g.weight(*[e if fixed(e) else 1 for e in shape])], shape)
    return g.add(g.some("Relu", "Tanh", "Neg", "Sigmoid", "Abs"), [x], shape)


def steps(g, x, shape):
    for _ in range(g.some(1, 2, 3)):
        x = step(g, x, shape)
    return g.add("Tanh", [x], shape)


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def either(g):
    x, shape = g.pick()
    mean = g.add("ReduceMean", [x], (), keepdims=0)
    with g.of(BOOL):
        condition = g.add("Greater", [mean, g.constant(np.float32(.0137))], ())
    g.shapes.pop(mean), g.shapes.pop(condition)
    bodies = []
    for name in ("then", "else"):
        body = g.branch()
        result = steps(body, body.pick(lambda s: s == shape)[0], shape)
        bodies.append(helper.make_graph(body.nodes, name, [], [value(result, shape)]))
    return g.add("If", [condition], shape, then_branch=bodies[0], else_branch=bodies[1])


def loop(g):
    x, shape = g.pick()
    trips = g.some(1, 2, 3)
    body = g.branch()
    number, going, carried = (f"{body.prefix}{name}" for name in ("i", "going", "carried"))
    body.shapes[carried] = shape
    body.types.update({number: INT64, going: BOOL, carried: FLOAT})
    if g.some(0, 1):
        with body.of(FLOAT):
            turn = body.add("Mul", [body.add("Cast", [number], (), to=FLOAT), body.constant(np.float32(.3))], ())
            carried = body.add("Add", [carried, turn], shape)
    result = steps(body, carried, shape)
    on = body.add("Identity", [going], ())
    body.types[on] = BOOL
    kept = body.add("ReduceMax", [result], shape[1:], axes=[0], keepdims=0) if shape else body.add("Neg", [result], shape)
    graph = helper.make_graph(body.nodes, "body", [value(number, (), INT64), value(going, (), BOOL), value(f"{body.prefix}carried", shape)],
                              [value(on, (), BOOL), value(result, shape), value(kept, shape[1:])])
    last, all_kept = g.add("Loop", [g.constant(np.int64(trips)), g.constant(np.bool_(True)), x], shape, (trips, *shape[1:]), body=graph)
    return last, all_kept


def scan(g):
    x, shape = g.pick(lambda s: len(s) > 1 and fixed(s[0]) and s[0] < 9)
    if x is None or not all(map(fixed, shape)):
        return None
    inner = shape[1:]
    body = g.branch()
    state, part = f"{body.prefix}state", f"{body.prefix}part"
    body.shapes.update({state: inner, part: inner})
    body.types.update({state: FLOAT, part: FLOAT})
    result = steps(body, body.add("Add", [state, part], inner), inner)
    kept = step(body, result, inner)
    graph = helper.make_graph(body.nodes, "body", [value(state, inner), value(part, inner)], [value(result, inner), value(kept, inner)])
    return g.add("Scan", [g.weight(*inner), x], inner, shape, body=graph, num_scan_inputs=1, scan_input_directions=[g.some(0, 1)],
                 scan_output_directions=[g.some(0, 1)])


MAKERS = [either, loop, scan]
