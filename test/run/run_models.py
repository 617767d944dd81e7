#!/usr/bin/env python3
"""Translates many models into one program, runs them and compares every output.

  run_models.py --work FOLDER [--suite FILE] [--gates] [CASE...]

A CASE is MODEL[@ENTRY][=FILE.npz], or a folder with model.onnx and test_data_set_*/{input,output}_*.pb as onnx's own tests have them.
Without a file the reference is onnxruntime, for .mlir upstream's lowering. --suite FILE lists cases, one a line (# comments; FOLDER/ before
names from --prefix). --allow-refused counts models that the translator refuses instead of failing."""

import argparse
import os
import re
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from ml2kokkos.verify.build import build_runner, write_runner # noqa: E402
from ml2kokkos.verify.cli import default_tolerance # noqa: E402
from ml2kokkos.verify.compare import deviation # noqa: E402
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.reference import read_npz, run_onnxruntime, run_upstream, seeded_inputs # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("cases", nargs="*")
    add("--work", type=Path, required=True)
    add("--suite", type=Path)
    add("--prefix", type=Path, default=Path())
    add("--name", default="models")
    add("--allow-refused", action="store_true")
    add("--gates", action="store_true", help="also watch what forward() promises")
    add("--compiler")
    add("--edges", action="store_true", help="NaN, infinities and the ends of the integers among seeded inputs")
    add("--tolerance", type=float)
    add("--option", action="append", default=[], help="of ml2kokkos; may be repeated")
    return parser.parse_args()


def read_protos(folder, kind):
    import onnx
    from onnx import numpy_helper

    arrays = []
    while (path := folder / f"{kind}_{len(arrays)}.pb").exists():
        arrays.append(numpy_helper.to_array(onnx.load_tensor(str(path))))
    return arrays


class Case:
    def __init__(self, text, tolerance, edges, options):
        name, _, reference = text.partition("=")
        name, _, self.entry = name.partition("@")
        path = Path(name)
        self.data = None
        if path.is_dir():
            sets = sorted(path.glob("test_data_set_*"))
            self.data = (read_protos(sets[0], "input"), read_protos(sets[0], "output")) if sets else None
            path = path / "model.onnx"
            self.stem = Path(name).name
        else:
            self.stem = self.entry or path.stem
        self.stem = re.sub(r"\W", "_", self.stem)
        if reference:
            self.data = read_npz(reference)
        self.path = path
        self.edges = edges
        self.options = options
        self.tolerance = tolerance or default_tolerance(path)
        self.model = self.inputs = self.outcome = None

    def translate(self, folder):
        self.model = translate(self.path, folder, self.stem, [*self.options, *([f"--entry={self.entry}"] if self.entry else [])])
        if self.data:
            # An onnx test may list constants among its inputs
            self.inputs = self.data[0][:len(self.model.inputs)]
        else:
            self.inputs = seeded_inputs(self.model, 1, {}, (0, 2), self.edges)

    def has_own_extents(self):
        """Whether outputs have extents at run time that no input has."""
        extents = [{extent for argument in arguments for extent in argument.shape if not isinstance(extent, int)}
                   for arguments in (self.model.outputs, self.model.inputs)]
        return bool(extents[0] - extents[1])

    def expected(self):
        if self.data:
            return self.data[1]
        if self.path.suffix == ".mlir":
            return run_upstream(self.path, self.inputs, self.model, self.entry)
        return run_onnxruntime(self.path, self.inputs)

    def compare(self, results):
        if isinstance(results, Failure):
            raise results
        lines = [deviation(argument.name, result, reference, self.tolerance)
                 for argument, result, reference in zip(self.model.outputs, results, self.expected(), strict=True)]
        worst = max(lines, key=lambda line: line.error)
        if not worst.is_good:
            raise Failure(f"output {worst.name}: {worst.error:.2e} > {worst.tolerance:.0e}")
        return f"{len(lines)} outputs, largest error {worst.error:.2e}"


def collect(arguments):
    names = list(arguments.cases)
    if arguments.suite:
        lines = (line.split("#")[0].strip() for line in arguments.suite.read_text().splitlines())
        names += [str(arguments.prefix / line) for line in lines if line]
    return [Case(name, arguments.tolerance, arguments.edges, arguments.option) for name in names]


def main():
    arguments = parse()
    if arguments.gates:
        os.environ["ML2K_GATES"] = "1"
    cases = collect(arguments)
    folder = arguments.work / arguments.name
    start = time.time()
    for case in cases:
        try:
            case.translate(folder)
        except Failure as failure:
            case.outcome = failure
    ready = [case for case in cases if case.model]
    print(f"{len(ready)} of {len(cases)} models translated in {time.time() - start:.0f} s", flush=True)
    start = time.time()
    write_runner(folder, [case.model for case in ready])
    program = build_runner(arguments.work, arguments.name, compiler=arguments.compiler)
    print(f"compiled in {time.time() - start:.0f} s", flush=True)
    results, _ = run_all(program, [(case.model, case.inputs, 0, None) for case in ready],
                         outputs=[case.expected() if case.has_own_extents() else None for case in ready])
    for case, result in zip(ready, results):
        try:
            case.outcome = case.compare(result)
        except (Failure, ValueError) as failure:
            case.outcome = Failure(failure)
            case.deviates = True
    return summary(cases, arguments.allow_refused)


def summary(cases, allow_refused):
    failures = refused = 0
    for case in cases:
        bad = isinstance(case.outcome, Failure)
        if bad and not case.model and allow_refused:
            refused += 1
            print(f"refused {case.stem}: {str(case.outcome).splitlines()[-1]}")
            continue
        failures += bad
        print(f"{'FAIL' if bad else 'ok  '} {case.stem}: {case.outcome}")
    print(f"{len(cases) - failures - refused} right, {refused} refused, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
