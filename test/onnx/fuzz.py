#!/usr/bin/env python3
"""Translates random graphs, compiles and runs them and compares with onnxruntime, which may not rewrite them.

  fuzz.py [SEED | FIRST:END]... [--work DIR] [--flags FLAGS] [--jobs N]

A seed makes the same graph as long as random_graphs.py is as it is. A graph with a run-time size runs at two sizes. Results have to agree to 1e-3 of the largest element; shapes exactly. Refusals are
listed and are no failures: the graphs are valid, but not everything that is valid is supported."""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402
from programs import Batch, compile_batches # noqa: E402
from random_graphs import graph_of # noqa: E402

SIZES = ({"n": 3, "m": 5}, {"n": 1, "m": 2})
OF_A_PROGRAM = 12


class Case:
    """The graph of a seed with its runs: inputs and what onnxruntime makes of them."""

    def __init__(self, seed, work):
        self.stem = f"random{seed}"
        self.problem = None
        made = graph_of(seed)
        onnx.checker.check_model(made)
        path = work / f"{self.stem}.onnx"
        onnx.save(made, str(path))
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(path), options)
        dims = {dim.dim_param for value in made.graph.input for dim in value.type.tensor_type.shape.dim} - {""}
        self.runs = []
        for size in SIZES if dims else SIZES[:1]:
            numbers = np.random.default_rng(seed)
            inputs = [numbers.standard_normal([dim.dim_value or size[dim.dim_param] for dim in value.type.tensor_type.shape.dim]).astype(np.float32)
                      for value in made.graph.input]
            self.runs.append((inputs, session.run(None, {v.name: array for v, array in zip(made.graph.input, inputs)})))
        try:
            self.translated = translate(path, work / "models", self.stem)
        except Failure as failure:
            self.problem = ("refused" if ": error: " in str(failure) else "translation", str(failure))


def difference(have, outputs):
    """What is wrong with the results of one run, or None."""
    if isinstance(have, Failure):
        return str(have)
    for got, want in zip(have, outputs, strict=True):
        if got.shape != want.shape:
            return f"{list(got.shape)} for {list(want.shape)}"
        if not np.allclose(got, want, rtol=1e-3, atol=1e-3 * max(float(np.max(np.abs(want), initial=0)), 1e-3), equal_nan=True):
            return f"off by {np.max(np.abs(got - want)):.2e} of {np.max(np.abs(want)):.2e}"
    return None


def run(cases, arguments):
    """The number of cases whose values are wrong."""
    batches = [Batch(arguments.work, f"random_{chosen[0].stem}", chosen)
               for chosen in (cases[i:i + OF_A_PROGRAM] for i in range(0, len(cases), OF_A_PROGRAM))]
    build = compile_batches(arguments.work, batches, arguments.flags, arguments.jobs)
    failed = 0
    for batch in batches:
        for case in batch.cases:
            for inputs, outputs in case.runs:
                results, _ = run_all(build / batch.name, [(case.translated, inputs, 0, None)], outputs=[outputs])
                if problem := difference(results[0], outputs):
                    print(f"{case.stem} {[array.shape for array in inputs]}: {problem}", flush=True)
                    failed += 1
                    break
    return failed


def seeds_of(text):
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", default=["0:24"], metavar="SEED | FIRST:END")
    parser.add_argument("--work", type=Path, default=PROJECT / "build/random-graphs")
    parser.add_argument("--flags", default="-O0")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    onnxruntime.set_default_logger_severity(3)
    cases = [Case(seed, arguments.work) for text in arguments.seeds for seed in seeds_of(text)]
    wrong = run([case for case in cases if not case.problem], arguments)
    refused = [case for case in cases if case.problem and case.problem[0] == "refused"]
    broken = [case for case in cases if case.problem and case.problem[0] != "refused"]
    for case in refused + broken:
        print(f"{case.stem}: {case.problem[0]}: {case.problem[1]}")
    print(f"{len(cases)} graphs, {len(refused)} refused, {wrong} wrong, {len(broken)} broken")
    return bool(wrong or broken)


if __name__ == "__main__":
    sys.exit(main())
