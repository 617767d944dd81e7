"""The command line: verify.py MODEL [--reference ...] [--layers] [--backend ...]."""

import argparse
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from . import sparse
from .build import build_runner, only_user, write_runner
from .compare import deviation
from .exchange import run_all
from .reference import operands_of, read_npz, run_onnxruntime, run_upstream, seeded_inputs, with_every_tensor
from .translate import PROJECT, Failure, translate

DESCRIPTION = """Translates MODEL, builds the printed code, runs it and compares every output with a reference. One line
per tensor; exit code 0: all agree, 1: one deviates by more than the tolerance, 2: a step before that failed. Options after
-- go to ml2kokkos."""


def parse(arguments):
    options = []
    if "--" in arguments:
        options = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    parser = argparse.ArgumentParser(prog="verify.py", description=DESCRIPTION)
    add = parser.add_argument
    add("model", type=Path, help=".onnx, .mlir")
    add("--reference", metavar="FILE.npz|onnxruntime|mlir",
        help="x0.. and y0.. of a file, or who computes them (default: onnxruntime or mlir, as the model is)")
    add("--inputs", type=Path, metavar="FILE.npz", help="x0.. to run on instead of seeded ones")
    add("--layers", action="store_true", help="compare every named tensor (ONNX); name the first that deviates")
    add("--backend", choices=["openmp", "serial"], default="openmp")
    add("--compiler", help="C++ compiler (default: CMake's)")
    add("--tolerance", type=float, help="relative to the largest element (default: 1e-4 for networks with convolutions or"
        " attention, else 1e-5)")
    add("--dim", action="append", default=[], metavar="NAME=N", help="extent of a symbolic dimension in seeded inputs")
    add("--integers", default="0:2", metavar="FIRST:END", help="range of seeded integers (default %(default)s)")
    add("--seed", type=int, default=1)
    add("--time", type=int, default=0, metavar="N", help="also print the median time of N calls")
    parsed = parser.parse_args(arguments)
    parsed.options = options
    return parsed


def is_onnx(path):
    return path.suffix == ".onnx"


def default_tolerance(path):
    if not is_onnx(path):
        return 1e-5
    import onnx

    light = {"Gemm", "MatMul", "Add", "Sub", "Mul", "Div", "Relu", "Tanh", "Sigmoid", "Flatten", "Reshape", "Identity",
             "Constant", "Transpose", "Elu", "LeakyRelu"}
    nodes = onnx.load(str(path), load_external_data=False).graph.node
    return 1e-5 if all(node.op_type in light for node in nodes) else 1e-4


def say(text):
    print(text, file=sys.stderr)


def given_inputs(arguments, model):
    """Inputs, and outputs if the reference is a file."""
    reference = arguments.reference or ("onnxruntime" if is_onnx(arguments.model) else "mlir")
    outputs = None
    inputs = []
    if reference not in ("onnxruntime", "mlir"):
        inputs, outputs = read_npz(reference)
    if arguments.inputs:
        inputs = read_npz(arguments.inputs)[0]
    if not inputs:
        first, end = arguments.integers.split(":")
        extents = dict((name, int(extent)) for name, extent in (text.split("=") for text in arguments.dim))
        tensors = sparse.sparse_tensors(arguments.model, arguments.options) if arguments.model.suffix == ".mlir" else []
        if tensors and outputs is None:
            def run(whole):
                path = model.folder / "dense.mlir"
                path.write_text(sparse.dense_program(arguments.model))
                return expected_outputs("mlir", path, whole, replace(model, arguments=[]), arguments.options)
            return (reference, *sparse.given(model, tensors, arguments.seed, extents, (int(first), int(end)), run))
        inputs = seeded_inputs(model, arguments.seed, extents, (int(first), int(end)))
    return reference, inputs, outputs


def expected_outputs(reference, path, inputs, model, options):
    if reference == "onnxruntime":
        return run_onnxruntime(path, inputs, operands_of(options))
    entry = [option.split("=", 1)[1] for option in options if option.startswith("--entry=")]
    return run_upstream(path, inputs, model, *entry)


def report(names, values, references, tolerance):
    """One line per tensor; returns the first that deviates."""
    first = None
    for name, value, reference in zip(names, values, references, strict=True):
        line = deviation(name, value, reference, tolerance)
        print(line)
        first = first or (None if line.is_good else line)
    return first


def verify(arguments):
    runners = PROJECT / "build/verify" / arguments.backend
    with only_user(runners):
        return verify_in(runners, arguments)


def verify_in(runners, arguments):
    stem = re.sub(r"\W", "_", arguments.model.stem)
    path = arguments.model
    if arguments.layers:
        if not is_onnx(path):
            raise Failure("--layers needs an ONNX model: only those name their tensors")
        path = runners / f"{stem}_layers.onnx"
        with_every_tensor(arguments.model, path)
        stem += "_layers"
    start = time.time()
    model = translate(path, runners / stem, stem, arguments.options)
    say(f"translated in {time.time() - start:.1f} s; compiling")
    reference, inputs, outputs = given_inputs(arguments, model)
    write_runner(model.folder, [model])
    program = build_runner(runners, stem, arguments.backend, arguments.compiler)
    if outputs is None or arguments.layers:
        outputs = expected_outputs(reference if outputs is None else "onnxruntime", path, inputs, model, arguments.options)
    (results,), said = run_all(program, [(model, inputs, arguments.time, None)], outputs=[outputs])
    if isinstance(results, Failure):
        raise results
    print(said, end="")
    tolerance = arguments.tolerance or default_tolerance(arguments.model)
    return show(model, results, outputs, tolerance, arguments.layers, path)


def show(model, results, outputs, tolerance, layers, path):
    counted = list(model.counted(results)) # the elements that count; the reference has no others
    if any(argument.is_room for argument in model.outputs):
        outputs = [output for argument, output in zip(model.outputs, outputs) if not argument.is_room]
    names = [argument.name for argument, _ in counted]
    order = range(len(names))
    if layers: # in the order of the graph, so that the first to deviate is the one to look at
        import onnx

        position = {name: i for i, node in enumerate(onnx.load(str(path)).graph.node) for name in node.output}
        order = sorted(order, key=lambda i: position.get(names[i], len(position)))
    first = report([names[i] for i in order], [counted[i][1] for i in order], [outputs[i] for i in order], tolerance)
    if first:
        print(f"first to deviate: {first.name}: {first.error:.2e} > {first.tolerance:.0e}")
    return 1 if first else 0


def main(arguments=None):
    try:
        return verify(parse(list(sys.argv[1:] if arguments is None else arguments)))
    except Failure as failure:
        say(f"verify.py: {failure}")
        return 2
