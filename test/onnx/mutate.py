#!/usr/bin/env python3
"""Fuzzes the whole translator with models of ONNX's test set in which something was changed.

  mutate.py [--seconds N] [--seed N] [--filter REGEX] [--keep DIR]

Each run changes attributes, shapes, types, inputs or constants of a model. The translator may print code or refuse the model
with a located message (exit code 3); anything else is reported with the file that shows it, and kept."""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onnx

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
from cases import DATA, GROUPS, walk # noqa: E402
from ml2kokkos.verify.translate import tool_path # noqa: E402

NUMBERS = (-(1 << 63), -(1 << 31), -7, -2, -1, 0, 1, 2, 3, 5, 100, 65536, (1 << 31) - 1, 1 << 31, (1 << 63) - 1)
TIMEOUT = 60


def change_attribute(model, chance):
    nodes = [node for node in walk(model.graph.node) if node.attribute]
    attribute = chance.choice(chance.choice(nodes).attribute)
    if attribute.type == onnx.AttributeProto.INT:
        attribute.i = chance.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.INTS and attribute.ints:
        attribute.ints[chance.randrange(len(attribute.ints))] = chance.choice(NUMBERS)
    elif attribute.type == onnx.AttributeProto.FLOAT:
        attribute.f = chance.choice((0.0, -1.0, 1e30, float("nan"), float("inf")))
    elif attribute.type == onnx.AttributeProto.STRING:
        attribute.s = chance.choice((b"", b"VALID", b"linear", b"x" * 300))
    else:
        attribute.name += "x"


def drop_attribute(model, chance):
    node = chance.choice([node for node in walk(model.graph.node) if node.attribute])
    del node.attribute[chance.randrange(len(node.attribute))]


def change_extent(model, chance):
    value = chance.choice([*model.graph.input, *model.graph.output])
    dims = value.type.tensor_type.shape.dim
    dims[chance.randrange(len(dims))].dim_value = chance.choice((0, 1, 2, 3, 7, 1024, 1 << 31))


def change_rank(model, chance):
    dims = chance.choice(model.graph.input).type.tensor_type.shape.dim
    if chance.random() < 0.5 and dims:
        del dims[chance.randrange(len(dims))]
    else:
        dims.add().dim_value = chance.choice((1, 2, 3))


def make_symbolic(model, chance):
    dims = chance.choice(model.graph.input).type.tensor_type.shape.dim
    dims[chance.randrange(len(dims))].dim_param = chance.choice(("n", "batch", ""))


def change_type(model, chance):
    chance.choice([*model.graph.input, *model.graph.output]).type.tensor_type.elem_type = chance.randrange(0, 24)


def change_inputs(model, chance):
    node = chance.choice([node for node in walk(model.graph.node) if node.input])
    at = chance.randrange(len(node.input))
    if chance.random() < 0.3:
        del node.input[at]
    else:
        names = [value.name for value in model.graph.input] + [name for other in model.graph.node for name in other.output]
        node.input[at] = chance.choice(["", *names])


def change_opset(model, chance):
    chance.choice(model.opset_import).version = chance.randrange(1, 26)


def change_operator(model, chance):
    node, other = (chance.choice(list(walk(model.graph.node))) for _ in range(2))
    node.op_type = chance.choice((other.op_type, "Add", "Concat", "Gather", "Softmax", "Reshape", "Transpose", "ReduceSum"))


def change_constant(model, chance):
    tensors = [*model.graph.initializer, *(attribute.t for node in walk(model.graph.node) for attribute in node.attribute
                                           if attribute.type == onnx.AttributeProto.TENSOR)]
    tensor = chance.choice(tensors)
    if tensor.raw_data:
        data = bytearray(tensor.raw_data)
        data[chance.randrange(len(data))] = chance.randrange(256)
        tensor.raw_data = bytes(data)
    elif tensor.int64_data:
        tensor.int64_data[chance.randrange(len(tensor.int64_data))] = chance.choice(NUMBERS)
    else:
        tensor.dims.append(chance.choice((0, 1, 3)))


CHANGES = [change_attribute, change_attribute, drop_attribute, change_extent, change_extent, change_rank, make_symbolic, change_type,
           change_inputs, change_inputs, change_opset, change_operator, change_constant]


def mutated(path, chance):
    model = onnx.load(str(path))
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        try:
            chance.choice(CHANGES)(model, chance)
        except (IndexError, ValueError): # there is nothing of this kind to change
            pass
    return model


def problem(path, output, options):
    """What is wrong with a run of the translator, or None."""
    try:
        done = subprocess.run([tool_path(), path, "-o", output, *options], capture_output=True, text=True, timeout=TIMEOUT, errors="replace")
    except subprocess.TimeoutExpired:
        return f"more than {TIMEOUT} s"
    if done.returncode in (0, 3) and (done.returncode == 0 or "error: " in done.stderr):
        return None
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    return f"exit code {done.returncode}: {lines[0][:200] if lines else ''}"


def is_fine(model, options, keep, name):
    """Translates a model; one that shows a problem is kept under the name, with a line of what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.SerializeToString())
        if not (what := problem(path, Path(folder) / "out.cpp", options)):
            return True
    keep.mkdir(parents=True, exist_ok=True)
    (keep / name).write_bytes(model.SerializeToString())
    print(" ".join([name, *options]) + f": {what}", flush=True)
    return False


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--keep", type=Path, default=PROJECT / "build/onnx-mutated", metavar="DIR")
    return parser.parse_args()


def main():
    arguments = parse()
    models = [path for group in GROUPS for path in sorted((arguments.data / group).glob("*/model.onnx"))
              if re.search(arguments.filter, path.parent.name)]
    chance, start, runs, found = random.Random(arguments.seed), time.time(), 0, 0
    while time.time() < start + arguments.seconds:
        source = chance.choice(models)
        runs += 1
        found += not is_fine(mutated(source, chance), (), arguments.keep, f"{arguments.seed}-{runs}-{source.parent.name}.onnx")
    print(f"{runs} models, {found} problems")
    return found != 0


if __name__ == "__main__":
    sys.exit(main())
