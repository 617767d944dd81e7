"""What neural operators hold: products of whose results slices are read, products of parts by weights of their own, zeros in front of
products, sums of a product for each component, transforms."""

import numpy as np

from graph_builder import fixed
from random_layers import MAKERS as LAYERS


def wide(g, accept=lambda shape: True):
    return g.pick(lambda s: 2 <= len(s) <= 4 and fixed(s[-1]) and s[-1] > 1 and accept(s))


def times(g, x, shape, columns=None):
    """x by a weight along its last dimension, or along another one."""
    columns = columns or g.some(3, 4, 6, 8)
    return g.add("MatMul", [x, g.weight(shape[-1], columns, depth=shape[-1])], (*shape[:-1], columns))


def part(g, x, shape, axis, first, end):
    return g.add("Slice", [x, g.integers(first), g.integers(end), g.integers(axis)], (*shape[:axis], end - first, *shape[axis + 1:]))


def parts_of_a_product(g):
    """Some columns or rows, in places that overlap, touch, or leave a gap."""
    x, shape = wide(g)
    if x is None:
        return
    columns = g.some(6, 8, 12)
    y, made = times(g, x, shape, columns), (*shape[:-1], columns)
    if g.some(0, 1):
        y, made = times(g, y, made, columns), made
    axis = g.axis(made, lambda e: fixed(e) and e > 2)
    del g.shapes[y]
    kept = []
    for _ in range(g.some(1, 2, 2, 3)):
        first = g.random.randrange(made[axis] - 1)
        end = g.random.randint(first + 1, made[axis])
        value = part(g, y, made, axis, first, end)
        if g.some(0, 1):
            value = g.add(g.some("Neg", "Tanh", "Relu"), [value], g.shapes[value])
        kept.append(value)


def filled(g, x, shape):
    """x with zeros before, behind or between, along one dimension; its shape."""
    axis = g.axis(shape, fixed)
    if axis is None:
        return x, shape
    kind = g.some("pad", "concat", "between")
    low, high = g.random.randrange(3), g.random.randrange(4)
    if kind == "pad":
        amounts = [0] * len(shape) * 2
        amounts[axis], amounts[axis + len(shape)] = low, high
        made = (*shape[:axis], shape[axis] + low + high, *shape[axis + 1:])
        return g.add("Pad", [x, g.integers(*amounts)], made), made
    if not all(map(fixed, shape)):
        return x, shape
    zeros = lambda n: g.constant(np.zeros((*shape[:axis], n, *shape[axis + 1:]), np.float32))
    if kind == "between" and shape[axis] > 1:
        at = g.random.randrange(1, shape[axis])
        pieces = [part(g, x, shape, axis, 0, at), zeros(high + 1), part(g, x, shape, axis, at, shape[axis])]
    else:
        pieces = [zeros(low + 1), x, zeros(high + 1)] if g.some(0, 1) else [x, zeros(high + 1)]
    extent = shape[axis] + (high + 1 if kind == "between" and shape[axis] > 1 else (low + high + 2 if len(pieces) == 3 else high + 1))
    made = (*shape[:axis], extent, *shape[axis + 1:])
    return g.add("Concat", pieces, made, axis=axis), made


def product_of_zeros(g):
    x, shape = wide(g)
    if x is None:
        return
    for _ in range(g.some(1, 2)):
        x, shape = filled(g, x, shape)
    y = times(g, x, shape)
    if g.some(0, 1):
        times(g, y, g.shapes[y])


def own_weights(g):
    """Parts along a dimension, each by a weight of its own, joined again."""
    x, shape = wide(g, lambda s: len(s) == 3 and fixed(s[1]) and s[1] > 2)
    if x is None:
        return
    n, rows, depth = shape
    columns, cut = g.some(3, 5, 8), g.random.randrange(1, rows)
    bounds = [(0, cut), (cut, rows)] if g.some(0, 0, 1) else [(0, cut), (min(cut + 1, rows - 1), rows)]
    pieces, equation = [], g.some("nhk,hko->nho", "nhk,hok->nho", "nhk,hko->noh")
    function, shared, twice = g.some(None, None, "Tanh", "Neg"), {}, g.some(0, 0, 1)
    for first, end in bounds:
        weight = (end - first, columns, depth) if "hok" in equation else (end - first, depth, columns)
        made = (n, columns, end - first) if equation.endswith("noh") else (n, end - first, columns)
        slice_, own = part(g, x, shape, 1, first, end), g.weight(*weight, depth=depth)
        own = shared.setdefault(weight, own) if g.some(0, 0, 1) else own
        piece = g.add("Einsum", [slice_, own], made, equation=equation)
        if twice: # the sum of two, which may share a weight
            other = own if g.some(0, 1) else g.weight(*weight, depth=depth)
            piece = g.add("Add", [piece, g.add("Einsum", [slice_, other], made, equation=equation)], made)
        pieces.append(g.add(function, [piece], made) if function else piece)
    axis, extent = (2 if equation.endswith("noh") else 1), sum(end - first for first, end in bounds)
    if all(map(fixed, shape)) and g.some(0, 1):
        zeros = [n, columns, g.some(1, 3)] if axis == 2 else [n, g.some(1, 3), columns]
        pieces.insert(g.some(0, 1, 2), g.constant(np.zeros(zeros, np.float32)))
        extent += zeros[axis]
    made = (n, columns, extent) if axis == 2 else (n, extent, columns)
    y = g.add("Concat", pieces, made, axis=axis)
    if g.some(0, 1):
        times(g, y, made)


def of_components(g):
    """a(..., 0) * C + a(..., 1) * S, or less."""
    x, shape = g.pick(lambda s: 3 <= len(s) <= 5 and s[-1] in (2, 3) and fixed(s[-2]) and s[-2] > 1)
    if x is None:
        return
    rest = shape[:-1]
    piece = [g.add("Gather", [x, g.constant(np.array(i, np.int64))], rest, axis=len(rest)) for i in (0, 1)]
    columns = g.some(3, 6)
    products = [times(g, value, rest, columns) for value in (piece if g.some(0, 1) else piece[::-1])]
    y = g.add(g.some("Add", "Sub"), products, (*rest[:-1], columns))
    for value in products:
        del g.shapes[value]
    if g.some(0, 1):
        parted = g.add("Unsqueeze", [y, g.integers(len(rest))], (*rest[:-1], columns, 1))
        g.add("Concat", [parted, parted], (*rest[:-1], columns, 2), axis=len(rest))


def components(g):
    """A last dimension of two."""
    x, shape = g.pick(lambda s: 2 <= len(s) <= 4 and fixed(s[-1]) and s[-1] % 2 == 0 and s[-1] > 2 and sum(not fixed(e) for e in s) < 2)
    if x is None:
        return
    made = (*shape[:-1], shape[-1] // 2, 2)
    g.add("Reshape", [x, g.integers(*(e if fixed(e) else 0 for e in made))], made)


def transform(g):
    x, shape = g.pick(lambda s: 3 <= len(s) <= 5 and s[-1] == 2 and fixed(s[-2]) and s[-2] > 2)
    if x is None:
        return
    y = g.add("DFT", [x], shape, axis=len(shape) - 2, inverse=g.some(0, 1))
    if g.some(0, 1):
        del g.shapes[y]
        part(g, y, shape, len(shape) - 2, 0, g.random.randrange(1, shape[-2]))


MAKERS = [parts_of_a_product, parts_of_a_product, product_of_zeros, product_of_zeros, own_weights, own_weights, of_components, of_components,
          components, transform, transform] * 2 + LAYERS[:6]
