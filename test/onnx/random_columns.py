"""Networks of Scans whose columns mostly do not meet: states of several shapes, sums over what a column has, elementwise work in front
of the steps and behind them."""

from onnx import helper

from graph_builder import fixed, joined
from random_control import value


def sequence(g, accept=lambda shape: True):
    return g.pick(lambda s: len(s) > 1 and (s[0] == "m" or fixed(s[0]) and s[0] > 2) and accept(s))


def unary(g, x, shape):
    return g.add(g.some("Tanh", "Sigmoid", "Neg", "Abs", "Relu"), [x], shape)


def elementwise(g, x=None, shape=None):
    """With a value that fits, or a constant."""
    if x is None:
        x, shape = g.pick(lambda s: s)
    if x is None:
        return None
    y, other = g.pick(lambda s: joined(s, shape) is not None)
    if g.random.random() < .3:
        other = tuple(e if fixed(e) and g.some(0, 1) else 1 for e in shape[g.random.randrange(len(shape)):])
        y = g.weight(*other)
    kind = g.some("Add", "Mul", "Sub", "Max", "Min")
    return g.add(kind, [x, y] if g.some(0, 1) or kind == "Sub" else [y, x], joined(shape, other))


def fold(g, x, shape):
    """A sum over the last dimension, a product with a small matrix, or another place for it."""
    last = shape[-1]
    kind = g.some("sum", "sum", "most", "product", "turn", "part", "more")
    if kind in ("sum", "most") and len(shape) > 1 and fixed(last) and last < 9:
        keep = g.some(0, 1)
        return g.add({"sum": "ReduceSum", "most": "ReduceMax"}[kind], [x, g.integers(-1)] if kind == "sum" else [x],
                     (*shape[:-1], 1) if keep else shape[:-1], keepdims=keep, **({} if kind == "sum" else {"axes": [-1]}))
    if kind == "product" and len(shape) > 1 and fixed(last) and last < 9:
        outer = g.some(1, 3, last)
        return g.add("MatMul", [x, g.weight(last, outer, depth=last)], (*shape[:-1], outer))
    if kind == "turn" and len(shape) > 1:
        order = list(range(len(shape)))
        g.random.shuffle(order)
        return g.add("Transpose", [x], tuple(shape[i] for i in order), perm=order)
    if kind == "part" and fixed(last) and last > 1:
        begin, end = g.some(0, 1), g.some(last, last - 1, max(2, last // 2))
        return g.add("Slice", [x, g.integers(begin), g.integers(end), g.integers(-1)], (*shape[:-1], end - begin))
    if kind == "more" and len(shape) < 4:
        return g.add("Unsqueeze", [x, g.integers(-1)], (*shape, 1))
    return unary(g, x, shape)


def scan(g):
    x, shape = sequence(g)
    if x is None:
        return None
    steps, inner = shape[0], shape[1:]
    body = g.branch()
    body.shapes = {}
    states, parts, sources = [], [], []
    for _ in range(g.some(1, 1, 2, 3)):
        more = g.some(inner, inner, (*inner, g.some(2, 4, 5)), (1, *inner), (*inner, 1))
        if not all(map(fixed, more)):
            continue
        states.append((f"{body.prefix}state{len(states)}", more))
    for _ in range(g.some(1, 2, 3)):
        source, whole = sequence(g, lambda s: s[0] == steps)
        parts.append((f"{body.prefix}part{len(parts)}", whole[1:]))
        sources.append(source)
    body.shapes.update(states + parts)
    body.types.update({name: g.type for name, _ in states + parts})
    meet = g.random.random() < .2 # whatever is a column's own
    for _ in range(g.some(2, 4, 7)):
        y, at = body.pick()
        folds = [fold, fold, fold] if meet or (len(at) > len(inner) and at[:len(inner)] == inner) else []
        body.random.choice([unary, elementwise, elementwise, *folds])(body, y, at) if at else unary(body, y, at)
    results = []
    for name, state in states:
        y, _ = body.pick(lambda s: joined(s, state) == state)
        shifted = body.random.random() < .15 and body.pick(lambda s: s == state)[0]
        mixed = body.add("Mul", [name, body.number(.75)], state)
        results.append((body.add("Identity", [shifted], state) if shifted else body.add("Add", [mixed, body.add("Tanh", [y], body.shapes[y])], state), state))
    kept = [body.pick(lambda s: s) for _ in range(g.some(1, 1, 2))]
    kept = [(body.add("Tanh", [y], at), at) for y, at in kept if y]
    make = lambda pairs: [value(name, at) for name, at in pairs]
    graph = helper.make_graph(body.nodes, "body", make(states + parts), make(results + kept))
    inits = [g.weight(*state) for _, state in states]
    shapes = [state for _, state in states] + [(steps, *at) for _, at in kept]
    if not shapes:
        return None
    return g.add("Scan", [*inits, *sources], *shapes, body=graph, num_scan_inputs=len(parts),
                 scan_input_directions=[g.some(0, 0, 1) for _ in parts], scan_output_directions=[g.some(0, 0, 1) for _ in kept])


def product(g):
    x, shape = g.pick(lambda s: len(s) > 1 and fixed(s[-1]))
    if x is None:
        return None
    outer = g.some(shape[-1], 4, 12)
    return g.add("MatMul", [x, g.weight(shape[-1], outer, depth=shape[-1])], (*shape[:-1], outer))


def outside(g):
    x, shape = g.pick(lambda s: s)
    if x is None:
        return None
    return unary(g, x, shape) if g.some(0, 1) else fold(g, x, shape)


MAKERS = [scan] * 4 + [elementwise, elementwise, product, outside, outside]
