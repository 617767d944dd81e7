"""Random ONNX graphs of well-behaved values: what a network of that shape may hold, in orders that nobody thought of.

graph_of(seed) makes one; seeds from LARGER on make larger ones, of more operators, those from TYPED on such with integers, conditions
and bodies of If, Loop and Scan, those from QUANTIZED on quantized networks, those from SPECTRAL on parts of neural operators, those from NEWER on graphs of opsets 18 and later,
those from IMAGES on networks of images, those from COLUMNS on networks of Scans. Elements stay near one (weights shrink with their depth), so that results may be compared to
those of another runtime. A dimension that is a string has its size at run time only."""

from onnx import TensorProto, helper

import random_columns
import random_control
import random_images
import random_integers
import random_newer
import random_quantized
import random_spectra
from graph_builder import Graph, elements, fixed
from random_blocks import BLOCKS, STARTS
from random_layers import MAKERS

LARGER, TYPED, QUANTIZED, SPECTRAL, NEWER, IMAGES, COLUMNS = 100000, 200000, 400000, 500000, 600000, 700000, 800000


def graph_of(seed):
    """A model; its dimensions "n" and "m", where it has them, are any size from 1 on."""
    g = Graph(seed)
    if seed >= COLUMNS:
        steps = g.some(5, 17, 40, "m")
        g.input(g.some((steps, 12), (steps, 2, 6), (steps, 5, 4), (steps, "n", 4), (steps, 1, 16), (steps, 24)))
        if g.some(0, 1):
            g.input(g.some((steps, 12), (steps, 4), (steps, 12, 3), (steps, 6, 5)))
        return grown(g, seed, random_columns.MAKERS, g.random.randint(3, 16), 20000)
    if seed >= IMAGES:
        g.opset = g.some(18, 21)
        g.input((g.some(1, 1, 2, "n"), g.some(3, 8, 16), *g.some((8, 8), (12, 8), (7, 9), (6, 4))))
        return grown(g, seed, random_images.MAKERS, g.random.randint(6, 30), 40000)
    if seed >= NEWER:
        g.opset = g.some(*random_newer.OPSETS)
        g.input(g.some(*STARTS))
        if g.some(0, 1):
            g.input(g.some(*STARTS))
        return grown(g, seed, random_newer.MAKERS * 3 + random_control.MAKERS + BLOCKS, g.random.randint(5, 24), 30000)
    if seed >= SPECTRAL:
        g.input(g.some(("n", 6, 8), (2, 9, 8), (1, 4, 6, 2), ("n", 5, 4, 2), (3, 7, 10, 2), (2, 3, 8, 6), ("n", 12)))
        return grown(g, seed, random_spectra.MAKERS, g.random.randint(5, 24), 20000)
    if seed >= QUANTIZED:
        g.input(g.some((g.some(1, 2, "n"), 4, 9, 8), (g.some(1, 2, "n"), 24, 7, 6), (g.some(1, 3, "n"), 40), (2, 5, 33), (1, 6, 20), (1, 8, 5, 4, 6)))
        return grown(g, seed, random_quantized.MAKERS, g.random.randint(4, 30), 30000)
    if seed >= TYPED:
        batch = g.some(1, 2, "n")
        first = g.some((batch, 4, 6, 7), (batch, 12), (batch, 3, 8), (5, batch, 8), (6, 7))
        g.input(first)
        with g.of(g.some(TensorProto.INT64, TensorProto.INT32)):
            g.input(g.some((batch, 3), (4,), first, (batch, 1), first[-2:]))
        return grown(g, seed, random_integers.MAKERS * 2 + random_control.MAKERS * 3 + MAKERS, g.random.randint(6, 18), 8000)
    if seed >= LARGER:
        g.input(g.some(*STARTS))
        return grown(g, seed, BLOCKS, g.random.randint(10, 40), 60000)
    batch = g.some(1, 2, "n", "n")
    first = g.some((batch, 4, 9, 8), (batch, 6, 10), (batch, 12), (batch, 3, 8), (batch, 4, 5, 4, 6), (5, batch, 8), (batch, 8, 6, 6))
    g.input(first)
    if g.random.random() < .3:
        g.input(g.some(first, (batch, 8), (8,), (4, 1, 1), first[-2:]))
    return grown(g, seed, MAKERS, g.random.randint(4, 14), 20000)


def grown(g, seed, makers, wanted, most):
    """The graph once it has so many nodes; no value has more than `most` elements."""
    for _ in range(200):
        if len(g.nodes) >= wanted:
            break
        count, shapes, constants = len(g.nodes), dict(g.shapes), len(g.constants)
        g.random.choice(makers)(g)
        if any(all(map(fixed, s)) and elements(s) > most or 0 in s for s in g.shapes.values()):
            g.shapes = shapes
            del g.nodes[count:], g.constants[constants:]
    used = set(reads(g.nodes))
    made = {name for node in g.nodes for name in node.output}
    results = [name for name in g.shapes if name in made and name not in used]
    if g.random.random() < .2: # one that others read, too
        results += [name for name in g.shapes if name in made and name in used][:1]
    value = lambda name, shape: helper.make_tensor_value_info(name, g.types[name], shape)
    inputs = [value(name, shape) for name, shape in g.inputs if name in used] or [value(*g.inputs[0])]
    graph = helper.make_graph(g.nodes, f"random{seed}", inputs, [value(name, g.shapes[name]) for name in results], g.constants)
    opsets = [helper.make_opsetid("", g.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8 if g.opset == 17 else helper.find_min_ir_version_for(opsets))


def reads(nodes):
    """Names that nodes read, and those in their bodies."""
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            yield from reads(attribute.g.node)
