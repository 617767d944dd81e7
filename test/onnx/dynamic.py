#!/usr/bin/env python3
"""Runs models with sizes known at run time only, each at several sizes, against onnxruntime.

  dynamic.py [--work DIR] [--filter REGEX] [--flags FLAGS]

All models are compiled into one program. Results have to agree to rtol 1e-3, atol 1e-5; shapes exactly. A model may list sizes
that it cannot serve: forward() has to refuse those by an exception. An index that points at nothing has to end the program."""

import argparse
import re
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "python"))
sys.path.insert(0, str(Path(__file__).parent))
import dynamic_cache # noqa: E402, F401
import dynamic_heads # noqa: E402, F401
import dynamic_images # noqa: E402, F401
import dynamic_recurrent # noqa: E402, F401
from dynamic_models import MODELS, inputs_of, make # noqa: E402
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402
from programs import Batch, compile_batches # noqa: E402


class Case:
    """A model with its runs: inputs and what onnxruntime makes of them."""

    def __init__(self, name, work):
        self.name = self.stem = name
        self.problem = None
        made, sizes, self.refused, index = make(name)
        path = work / f"{name}.onnx"
        onnx.save(made, str(path))
        session = onnxruntime.InferenceSession(str(path))
        self.runs = []
        for number, at in enumerate(sizes):
            inputs = list(inputs_of(made, at, number))
            feed = dict(zip((value.name for value in made.graph.input), inputs))
            self.runs.append((at, inputs, session.run(None, feed)))
        self.unfit = [(at, list(inputs_of(made, at, 0))) for at in self.refused]
        self.wrong = [np.full_like(value, index) if value.dtype == np.int64 else value for value in self.runs[0][1]] if index else None
        try:
            self.translated = translate(path, work / "models", name)
        except Failure as failure:
            self.problem = ("translation", str(failure))

    def largest(self):
        """The sizes of a workspace that serves every run."""
        inputs = [i for i, argument in enumerate(self.translated.arguments) if not argument.is_output]
        return tuple(max(run[1][inputs.index(argument)].shape[dim] if dim is not None else int(run[1][inputs.index(argument)])
                         for run in self.runs) for argument, dim in self.translated.sizes)


def check(have, outputs):
    """What is wrong with the results of one run, or None."""
    if isinstance(have, Failure):
        return str(have)
    for got, want in zip(have, outputs, strict=True):
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"{got.dtype}{list(got.shape)} for {want.dtype}{list(want.shape)}"
        if not np.allclose(got, want, rtol=1e-3, atol=1e-5, equal_nan=True):
            return f"off by {np.max(np.abs(got.astype(np.float64) - want)):.2e}"
    return None


def check_too_small(case, program):
    """A workspace for one row, and more of them."""
    case.translated.room = (1,) * len(case.translated.sizes)
    results, said = run_all(program, [(case.translated, case.runs[-1][1], 0, None)], outputs=[case.runs[-1][2]])
    is_refused = isinstance(results[0], Failure) and re.search("the workspace is too small|has to be at least", str(results[0]))
    print(f"{case.name}, small workspace: {'refused' if is_refused else f'not refused: {results[0]}'}", flush=True)
    return not is_refused


def run(cases, arguments):
    batch = Batch(arguments.work, "dynamic", cases)
    program = compile_batches(arguments.work, [batch], arguments.flags, 2) / batch.name
    failed = check_too_small(batch.cases[0], program) if batch.cases else 0
    for case in batch.cases:
        for room in [case.largest(), ()]: # a workspace for the largest sizes of all runs, one for those of the run
            case.translated.room = room
            for at, inputs, outputs in case.runs:
                results, said = run_all(program, [(case.translated, inputs, 0, None)], outputs=[outputs])
                problem = check(results[0], outputs)
                print(f"{case.name} {at}{', large workspace' * bool(room)}: {problem or 'right'}", flush=True)
                failed += problem is not None
        for at, unfit in case.unfit:
            results, said = run_all(program, [(case.translated, unfit, 0, None)])
            is_refused = isinstance(results[0], Failure) and "has to be" in str(results[0])
            print(f"{case.name} {at}: {'refused' if is_refused else f'not refused: {results[0]}'}", flush=True)
            failed += not is_refused
        if case.wrong:
            # One thread: Kokkos' stack trace is not made for two that abort at once
            results, said = run_all(program, [(case.translated, case.wrong, 0, None)], threads=1,
                                    outputs=[case.runs[0][2]])
            ended = isinstance(results[0], Failure) and "the program ended with -6" in str(results[0]) and "is out of range" in said
            print(f"{case.name} with a wrong index: {'ended' if ended else f'not ended: {results[0]}'}", flush=True)
            failed += not ended
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=PROJECT / "build/dynamic-tests")
    parser.add_argument("--filter", default="", metavar="REGEX")
    parser.add_argument("--flags", default="-O0")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    cases = [Case(name, arguments.work) for name in MODELS if re.search(arguments.filter, name)]
    failed = run([case for case in cases if not case.problem], arguments)
    broken = [case for case in cases if case.problem]
    for case in broken:
        print(f"{case.name}: {case.problem[0]}: {case.problem[1]}")
    print(f"{len(cases)} models, {failed} runs and {len(broken)} models failed")
    return bool(failed or broken)


if __name__ == "__main__":
    sys.exit(main())
