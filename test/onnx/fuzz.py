#!/usr/bin/env python3
"""Translates random graphs, compiles and runs them and compares with onnxruntime, which may not rewrite them; with onnx's own evaluator
where onnxruntime does not read the opset.

  fuzz.py [SEED | FIRST:END]... [--options OPTIONS] [--through imported|canonical] [--precision double|half]
          [--sizes n=N,m=M]... [--work DIR] [--flags FLAGS] [--jobs N] [--evaluator]

A seed makes the same graph as long as random_graphs.py is as it is. A graph with a run-time size runs at three sizes, or at those that
--sizes gives (n=1031,m=517: kernels are launched and cut into pieces, which takes --flags="-O3 -march=native"). Results have to
agree to 1e-3 of the largest element; shapes, integers and conditions exactly. Refusals are listed and are no failures: the graphs
are valid, but not everything that is valid is supported; nor are graphs that onnxruntime cannot run.

--options: of ml2kokkos, such as "--schedule=naive --math=std". --through: what is translated is the MLIR text of that stage.
--precision: all numbers of the translated graph are of that type, those of the reference stay float; halves agree to 3e-2."""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
import onnx.reference
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as onnxruntime_errors

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.translate import Failure, run_tool, translate # noqa: E402
from programs import Batch, compile_batches # noqa: E402
from random_graphs import graph_of # noqa: E402
from random_precision import PRECISIONS, of_precision # noqa: E402

SIZES = ({"n": 3, "m": 5}, {"n": 1, "m": 2}, {"n": 67, "m": 41}) # the last for loops of whole vectors
OF_A_PROGRAM = 12
READS = 24 # the newest opset whose operators onnxruntime has, by and large


def sample(value, size, numbers):
    """Random elements for an input of a graph."""
    extents = [dim.dim_value or size[dim.dim_param] for dim in value.type.tensor_type.shape.dim]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
    return (numbers.standard_normal(extents) if dtype == np.float32 else numbers.integers(-4, 9, extents)).astype(dtype)


class NoReference(Exception):
    """Nobody here can compute a graph."""


def evaluated(made):
    """The function of a graph, by onnx's evaluator."""
    def run(feeds):
        try:
            results = onnx.reference.ReferenceEvaluator(made).run(None, feeds)
        except Exception as failure: # of any kind
            raise NoReference(str(failure)) from failure
        for value, result in zip(made.graph.output, results):
            shape = value.type.tensor_type.shape.dim
            if len(shape) != result.ndim or any(dim.dim_value not in (0, extent) for dim, extent in zip(shape, result.shape)):
                raise NoReference(f"onnx's evaluator gives {value.name} the shape {list(result.shape)}")
        return results
    return run


def for_onnxruntime(made):
    """The graph as one that onnxruntime reads: newest operators by their function bodies, of the last opset that it knows."""
    if made.opset_import[0].version <= READS:
        return made
    older = onnx.inliner.inline_selected_functions(made, [("", "Swish"), ("", "SwiGLU")], inline_schema_functions=True)
    older.opset_import[0].version = READS
    older.ir_version = onnx.helper.find_min_ir_version_for(older.opset_import)
    return older


def computed(made):
    """The function of a graph, by onnxruntime, or by onnx's evaluator for what of newer opsets it cannot do."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    known = (onnxruntime_errors.NotImplemented, *[onnxruntime_errors.Fail, onnxruntime_errors.InvalidGraph] * (made.opset_import[0].version > 17))
    try:
        session = onnxruntime.InferenceSession(for_onnxruntime(made).SerializeToString(), options)
    except known as failure:
        if made.opset_import[0].version == 17:
            raise NoReference(str(failure)) from failure
        return evaluated(made)

    def run(feeds):
        try:
            return session.run(None, feeds)
        except known:
            return evaluated(made)(feeds)
    return run


class Case:
    """The graph of a seed with its runs: inputs and what onnxruntime makes of them."""

    def __init__(self, seed, arguments):
        self.stem = f"random{seed}"
        self.problem = None
        self.tolerance = 3e-2 if arguments.precision == "half" else 1e-3
        made = graph_of(seed)
        if arguments.precision == "half":
            made = of_precision(made, "rounded")
        onnx.checker.check_model(made)
        path = arguments.work / f"{self.stem}.onnx"
        onnx.save(made, str(path))
        try:
            self.runs = list(self.reference(made, seed, arguments.evaluator, arguments.sizes or SIZES))
        except NoReference as failure:
            self.problem = ("no reference", str(failure))
            return
        if arguments.precision:
            onnx.save(of_precision(made, arguments.precision), str(path))
        try:
            if arguments.through:
                text = path.with_suffix(".mlir")
                run_tool(path, f"--emit={arguments.through}", "--debug-info", "-o", text)
                path = text
            self.translated = translate(path, arguments.work / "models", self.stem, arguments.options.split())
        except Failure as failure:
            self.problem = ("refused" if ": error: " in str(failure) else "translation", str(failure))

    @staticmethod
    def reference(made, seed, evaluator, sizes):
        """Inputs and results for each size."""
        run = evaluated(made) if evaluator else computed(made)
        dims = {dim.dim_param for value in made.graph.input for dim in value.type.tensor_type.shape.dim} - {""}
        for size in sizes if dims else sizes[:1]:
            numbers = np.random.default_rng(seed)
            inputs = [sample(value, size, numbers) for value in made.graph.input]
            yield inputs, run({v.name: array for v, array in zip(made.graph.input, inputs)})


def difference(have, outputs, tolerance):
    """What is wrong with the results of one run, or None."""
    if isinstance(have, Failure):
        return str(have)
    for got, want in zip(have, outputs, strict=True):
        if got.shape != want.shape:
            return f"{list(got.shape)} for {list(want.shape)}"
        if want.dtype.kind != "f":
            if not np.array_equal(got, want):
                return f"{np.count_nonzero(got != want)} of {want.size} integers differ"
        elif not np.allclose(got, want, rtol=tolerance, atol=tolerance * max(float(np.max(np.abs(want), initial=0)), 1e-3), equal_nan=True):
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
                inputs = [array.astype(argument.dtype) for array, argument in zip(inputs, case.translated.inputs)]
                results, _ = run_all(build / batch.name, [(case.translated, inputs, 0, None)], outputs=[outputs])
                if problem := difference(results[0], outputs, case.tolerance):
                    print(f"{case.stem} {[array.shape for array in inputs]}: {problem}", flush=True)
                    failed += 1
                    break
    return failed


def size_of(text):
    return {name: int(extent) for name, extent in (word.split("=") for word in text.split(","))}


def seeds_of(text):
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", default=["0:24"], metavar="SEED | FIRST:END")
    parser.add_argument("--options", default="")
    parser.add_argument("--through", choices=["imported", "canonical"])
    parser.add_argument("--precision", choices=PRECISIONS)
    parser.add_argument("--evaluator", action="store_true", help="compare with onnx's evaluator, slowly")
    parser.add_argument("--sizes", type=size_of, action="append", metavar="n=N,m=M")
    parser.add_argument("--work", type=Path, default=PROJECT / "build/random-graphs")
    parser.add_argument("--flags", default="-O0")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    onnxruntime.set_default_logger_severity(3)
    cases = [Case(seed, arguments) for text in arguments.seeds for seed in seeds_of(text)]
    wrong = run([case for case in cases if not case.problem], arguments)
    known = ("no reference", "refused")
    broken = [case for case in cases if case.problem and case.problem[0] not in known]
    for case in cases:
        if case.problem:
            print(f"{case.stem}: {case.problem[0]}: {case.problem[1]}")
    count = lambda kind: sum(case.problem is not None and case.problem[0] == kind for case in cases)
    print(f"{len(cases)} graphs, {count(known[0])} without a reference, {count(known[1])} refused, {wrong} wrong, {len(broken)} broken")
    return bool(wrong or broken)


if __name__ == "__main__":
    sys.exit(main())
