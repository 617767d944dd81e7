#!/usr/bin/env python3
"""Tries extreme integers wherever a model of ONNX's test set gives one, attributes, constants and operands, and unknown
extents wherever one is known.

  boundaries.py [--filter REGEX] [--keep DIR]

What mutate.py changes at random is gone through here, one number at a time: every operator's integer attributes (in two
models of the set), each model's constants of integers and, for those that the tests fix by --operand, its operands. The
translator may print code or refuse with a located message; anything else is reported with the file that shows it."""

import argparse
import collections
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from mutate import NUMBERS, PROJECT, is_fine
from cases import DATA, load, walk # mutate.py makes its folder importable

MODELS_PER_ATTRIBUTE = 2
ELEMENTS = 6 # of one list: the first ones


def attributes(model, seen):
    """Sets each integer attribute in turn, to each number, and back."""
    for node in walk(model.graph.node):
        for attribute in node.attribute:
            key = node.domain, node.op_type, attribute.name
            if attribute.type not in (onnx.AttributeProto.INT, onnx.AttributeProto.INTS) or seen[key] == MODELS_PER_ATTRIBUTE:
                continue
            seen[key] += 1
            kept = onnx.AttributeProto()
            kept.CopyFrom(attribute)
            for number in NUMBERS:
                for at in range(min(len(kept.ints), ELEMENTS) if kept.ints else 1):
                    attribute.CopyFrom(kept)
                    if kept.ints:
                        attribute.ints[at] = number
                    else:
                        attribute.i = number
                    yield []
            attribute.CopyFrom(kept)


def constants(model):
    """Sets each element of the constants of integers in turn."""
    tensors = [*model.graph.initializer, *(attribute.t for node in walk(model.graph.node) for attribute in node.attribute
                                           if attribute.type == onnx.AttributeProto.TENSOR)]
    for tensor in tensors:
        if tensor.data_type not in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
            continue
        kept = numpy_helper.to_array(tensor)
        limits = np.iinfo(kept.dtype)
        for number in NUMBERS:
            for at in range(min(kept.size, ELEMENTS)):
                changed = kept.copy()
                changed.reshape(-1)[at] = min(max(number, limits.min), limits.max)
                tensor.CopyFrom(numpy_helper.from_array(changed, tensor.name))
                yield []
        tensor.CopyFrom(numpy_helper.from_array(kept, tensor.name))


def operands(case):
    """Sets each element of the inputs that are given as operands, where they are integers."""
    case.read()
    for name, array in case.inputs.items():
        if array.dtype not in (np.int32, np.int64) or array.ndim > 1 or array.size == 0:
            continue
        limits = np.iinfo(array.dtype)
        others = [f"--operand={other}={','.join(map(str, values.reshape(-1).tolist()))}" for other, values in case.inputs.items()
                  if other != name and values.dtype in (np.int32, np.int64) and values.ndim <= 1 and values.size > 0]
        for number in NUMBERS:
            for at in range(min(array.size, ELEMENTS)):
                changed = array.reshape(-1).tolist()
                changed[at] = min(max(number, int(limits.min)), int(limits.max))
                yield [*others, f"--operand={name}={','.join(map(str, changed))}"]


def extents(model):
    """Makes each extent of the inputs unknown, alone, and all of them, with names and without."""
    dims = [dim for value in model.graph.input for dim in value.type.tensor_type.shape.dim]
    kept = [dim.dim_value for dim in dims]
    for chosen in [*([at] for at in range(len(dims))), range(len(dims))]:
        for prefix in ("n", ""):
            for at in chosen:
                dims[at].dim_param = prefix and f"{prefix}{at}"
            yield []
            for at in chosen:
                dims[at].dim_value = kept[at]


def changes(case, seen):
    """Changes the model step by step; each step yields the options of the translator."""
    yield from extents(case.model)
    yield from attributes(case.model, seen)
    yield from constants(case.model)
    yield from operands(case)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--keep", type=Path, default=PROJECT / "build/onnx-mutated", metavar="DIR")
    return parser.parse_args()


def main():
    arguments = parse()
    runs, found, seen = 0, 0, collections.Counter()
    for case in load(arguments.data, arguments.filter):
        for options in changes(case, seen) if not case.excluded else ():
            runs += 1
            found += not is_fine(case.model, options, arguments.keep, f"boundary-{runs}-{case.name}.onnx")
    print(f"{runs} models, {found} problems")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
