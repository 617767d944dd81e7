#!/usr/bin/env python3
"""Runs ONNX's own operator tests (Debian's libonnx-testdata) through the front end and upstream's lowering.

    node_tests.py ML2KOKKOS [--only REGEX] [--at-least N] [--import-only] [--verbose]

Prints one line per test that is refused or differs, and the totals. Models that import are merged, many to a program: that
takes minutes where single programs would take an hour. Integer inputs on which a shape depends are made constants, as a
model file would have them.
"""

import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import compose, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "scripts"))
import upstream_run  # noqa: E402

DATA = "/usr/share/libonnx-testdata/data/node"
GROUP = 40


class Case:
    def __init__(self, directory):
        self.name = os.path.basename(directory)
        self.model = onnx.load(os.path.join(directory, "model.onnx"))
        graph = self.model.graph
        self.inputs = dict(zip([item.name for item in graph.input], self.tensors(directory, "input")))
        self.outputs = self.tensors(directory, "output")

    @staticmethod
    def tensors(directory, kind):
        values = []
        for at in range(len(glob.glob(os.path.join(directory, f"test_data_set_0/{kind}_*.pb")))):
            tensor = onnx.TensorProto()
            with open(os.path.join(directory, f"test_data_set_0/{kind}_{at}.pb"), "rb") as file:
                tensor.ParseFromString(file.read())
            values.append(numpy_helper.to_array(tensor))
        return values

    def bind(self, name):
        """Makes an input a constant."""
        graph = self.model.graph
        graph.initializer.append(numpy_helper.from_array(self.inputs.pop(name), name))
        kept = [item for item in graph.input if item.name != name]
        del graph.input[:]
        graph.input.extend(kept)

    def opset(self):
        return {item.domain: item.version for item in self.model.opset_import}.get("", 0)


def import_model(tool, model, directory):
    path = os.path.join(directory, "model.onnx")
    onnx.save(model, path)
    return subprocess.run([tool, "--emit=imported", path, "-o", "-"], capture_output=True, text=True)


def prepare(tool, case, directory):
    """None, or why the case cannot be imported. Binds the inputs that the message names."""
    while True:
        done = import_model(tool, case.model, directory)
        if done.returncode == 0:
            return None
        if done.returncode < 0:
            return f"crash: signal {-done.returncode}"
        named = re.search(r'"([^"]*)"\) (?:depends on run-time data|is not a constant scalar)', done.stderr)
        integers = [name for name, value in case.inputs.items() if value.dtype.kind in "iub"] if named else []
        wanted = [named.group(1)] if named and named.group(1) in case.inputs else integers
        if not wanted:
            return done.stderr.strip().replace(os.path.join(directory, "model.onnx"), "").strip(": ")
        for name in wanted:
            case.bind(name)


def merged(cases):
    graph = onnx.GraphProto(name="merged")
    for at, case in enumerate(cases):
        part = compose.add_prefix(case.model, f"t{at}_").graph
        for field in ("node", "input", "output", "initializer"):
            getattr(graph, field).extend(getattr(part, field))
    model = helper.make_model(graph, opset_imports=cases[0].model.opset_import)
    model.ir_version = max(case.model.ir_version for case in cases)
    return model


def differs(want, have):
    if want.dtype.name == "bfloat16" or have.shape != want.shape:
        return have.shape != want.shape and f"shape {have.shape} for {want.shape}"
    if have.dtype != want.dtype:
        have = have.view(want.dtype)
    if want.dtype.kind == "f":
        tolerance = 1e-2 if want.dtype.itemsize == 2 else 1e-3  # as onnx itself
        close = numpy.isclose(have, want, rtol=tolerance, atol=tolerance * 1e-2, equal_nan=True)
    else:
        close = have == want
    return not close.all() and f"{numpy.count_nonzero(~close)} of {close.size} elements differ"


def run_group(tool, cases, directory):
    """Yields (case, problem or None); splits a group that cannot be lowered."""
    done = import_model(tool, merged(cases), directory)
    inputs = {f"t{at}_{name}": value for at, case in enumerate(cases) for name, value in case.inputs.items()}
    try:
        if done.returncode:
            raise upstream_run.Failed(done.stderr.strip())
        outputs = upstream_run.Program(done.stdout)(inputs)
    except (upstream_run.Failed, OSError) as error:
        if len(cases) == 1:
            yield cases[0], f"cannot be run: {str(error)[:300]}"
            return
        half = len(cases) // 2
        yield from run_group(tool, cases[:half], directory)
        yield from run_group(tool, cases[half:], directory)
        return
    for case in cases:
        have = [outputs.pop(0) for _ in case.model.graph.output]
        problems = [differs(want, got) for want, got in zip(case.outputs, have)]
        yield case, next((problem for problem in problems if problem), None)


def load(pattern):
    for directory in sorted(glob.glob(os.path.join(DATA, "*"))):
        if not re.search(pattern, os.path.basename(directory)):
            continue
        try:
            yield Case(directory)
        except (TypeError, ValueError, onnx.onnx_cpp2py_export.checker.ValidationError):
            print(f"skip {os.path.basename(directory)}: its data are no tensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--at-least", type=int, default=0, metavar="N", help="fail below this number of passed tests")
    parser.add_argument("--import-only", action="store_true")
    options = parser.parse_args()
    count = collections.Counter()
    groups = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as directory:
        for case in load(options.only):
            problem = prepare(options.tool, case, directory)
            count["refused" if problem else "imported"] += 1
            if problem:
                print(f"refused {case.name}: {problem}", flush=True)
            else:
                groups[case.opset()].append(case)
        for cases in [] if options.import_only else groups.values():
            for start in range(0, len(cases), GROUP):
                for case, problem in run_group(options.tool, cases[start : start + GROUP], directory):
                    count["failed" if problem else "passed"] += 1
                    if problem:
                        print(f"failed {case.name}: {problem}", flush=True)
    print(", ".join(f"{number} {what}" for what, number in sorted(count.items())))
    sys.exit(count["failed"] > 0 or count["passed"] < options.at_least)


if __name__ == "__main__":
    main()
