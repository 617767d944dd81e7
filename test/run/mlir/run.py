#!/usr/bin/env python3
"""Small MLIR programs for every operation, policy, reducer and stride pattern: translated, built into one program, run, and
compared with upstream's own lowering of the same text.

  run.py --work FOLDER [--part N/M] [--extent N] [--flags FLAGS] [--races] [PATTERN...]

--races runs four threads under ThreadSanitizer (clang 19; its OpenMP says through Archer who waits for whom).
--extent makes run-time dimensions longer where a program leaves them free: loops then fill vectors (with --flags "-O3 ...").
--part takes every Mth program, from the Nth on. A PATTERN takes the programs whose name it is found in."""

import argparse
import importlib
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "python")]
from ml2kokkos.verify.build import build_runner, write_runner # noqa: E402
from ml2kokkos.verify.compare import deviation # noqa: E402
from ml2kokkos.verify.exchange import run_all # noqa: E402
from ml2kokkos.verify.reference import seeded_inputs # noqa: E402
from ml2kokkos.verify.translate import Failure, translate # noqa: E402
from reference import Failed, Reference, upstream_run # noqa: E402


LLVM = "/usr/lib/llvm-19/lib"
RACES = {"OMP_NUM_THREADS": "4", "OMP_TOOL_LIBRARIES": f"{LLVM}/libarcher.so", "LD_PRELOAD": f"{LLVM}/libomp.so",
         "ARCHER_OPTIONS": "verbose=1", "TSAN_OPTIONS":
         f"ignore_noninstrumented_modules=1 exitcode=66 suppressions={HERE.parents[1] / 'thread_sanitizer.suppressions'}"}


def collect(part, patterns):
    names = sorted(path.stem for path in (HERE / "families").glob("[a-z]*.py"))
    programs = [program for name in names for program in importlib.import_module(f"families.{name}").programs()]
    assert len({program.name for program in programs}) == len(programs), "a name is used twice"
    if patterns:
        programs = [program for program in programs if any(re.search(pattern, program.name) for pattern in patterns)]
    start, step = map(int, part.split("/"))
    return programs[start::step]


def prepared(program, model, extent):
    """Seeded inputs in the domain that the program asks for."""
    names = {name for argument in model.inputs for name in argument.shape if isinstance(name, str)}
    extents = program.extents if program.extents or not extent else dict.fromkeys(names, extent)
    inputs = seeded_inputs(model, 1, extents, program.integers, program.edges)
    halves = re.findall(r"(?:tensor|memref)<[^>]*?x(b?f16)>", program.text.split("{")[0])
    for at, array in enumerate(inputs):
        if array.dtype.kind == "f":
            if program.positive:
                array = inputs[at] = np.abs(array) + array.dtype.type(0.1)
            for element in halves[:1] if array.dtype == np.float32 else []:
                inputs[at] = upstream_run.from_half(upstream_run.to_half(array, element), element)
    return inputs


class Outcome:
    def __init__(self, program):
        self.program = program
        self.model = self.inputs = None
        self.kind, self.message = "right", ""

    def set(self, kind, message):
        self.kind, self.message = kind, str(message)

    def translate(self, folder, extent):
        path = folder / f"{self.program.name}.mlir"
        path.write_text(self.program.text)
        try:
            self.model = translate(path, folder, self.program.name, [f"--entry={self.program.name}", "--style=llvm", *self.schedule(folder)])
            self.inputs = prepared(self.program, self.model, extent)
        except Failure as failure:
            self.model = None
            self.set("crash" if re.search(r"exit code (-|70|139|134)", str(failure)) else "refused", failure)

    def schedule(self, folder):
        if not self.program.schedule:
            return []
        path = folder / f"{self.program.name}.schedule.mlir"
        path.write_text("module attributes {transform.with_named_sequence} {\n"
                        "transform.named_sequence @__transform_main(%program: !transform.any_op) {\n"
                        f"{self.program.schedule}\ntransform.yield\n}}\n}}\n")
        return [f"--schedule={path}"]

    def expected(self, reference):
        if self.program.reference:
            return self.program.reference(*self.inputs)
        return reference(self.program, self.inputs, self.model)

    def compare(self, results, reference):
        if isinstance(results, Failure):
            return self.set("wrong", results)
        expected = self.expected(reference)
        for argument, result, wanted in zip(self.model.outputs, results, expected, strict=True):
            wanted = np.asarray(wanted)
            if wanted.dtype in (np.float16, np.uint16) and result.dtype == np.float32:
                wanted = upstream_run.from_half(wanted, "f16" if wanted.dtype == np.float16 else "bf16")
            if wanted.dtype == np.int64 and result.dtype == np.int32: # an index
                wanted = wanted.astype(np.int32)
            if wanted.dtype.kind in "iu" and wanted.dtype != result.dtype:
                wanted = wanted.view(result.dtype)
            line = deviation(argument.name, result, wanted, self.program.tolerance)
            if not line.is_good:
                return self.set("wrong", f"output {line.name}: {line.error:.2e} > {line.tolerance:.0e}\n{result}\ninstead of\n{wanted}")
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--races", action="store_true")
    parser.add_argument("--extent", type=int, default=0)
    parser.add_argument("--flags", default="-O1")
    options = parser.parse_args()
    outcomes = [Outcome(program) for program in collect(options.part, options.patterns)]
    folder = options.work / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    start = time.time()
    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        list(pool.map(lambda outcome: outcome.translate(folder, options.extent), outcomes))
    ready = [outcome for outcome in outcomes if outcome.model]
    print(f"{len(ready)} of {len(outcomes)} programs translated in {time.time() - start:.0f} s", flush=True)
    start = time.time()
    write_runner(folder, [outcome.model for outcome in ready])
    sanitizer = {"flags": "-O1 -g -fsanitize=thread -Wno-pass-failed", "compiler": "clang++-19"} if options.races else {"flags": options.flags}
    program = build_runner(options.work, "programs", unity=24, **sanitizer)
    print(f"compiled in {time.time() - start:.0f} s", flush=True)
    start = time.time()
    reference = Reference([outcome.program for outcome in ready if not outcome.program.reference], options.work / "upstream")
    print(f"lowered upstream in {time.time() - start:.0f} s", flush=True)
    shapes = [outcome_shapes(outcome, reference) for outcome in ready]
    if options.races:
        os.environ.update(RACES)
    results, said = run_all(program, [(outcome.model, outcome.inputs, 0, None) for outcome in ready], outputs=shapes)
    if options.races and ("WARNING: ThreadSanitizer" in said or "Archer detected OpenMP application with TSan" not in said):
        print(said[:6000])
        return 1
    for outcome, result in zip(ready, results):
        try:
            outcome.compare(result, reference)
            if outcome.program.prints not in said:
                outcome.set("wrong", f"prints something else than {outcome.program.prints!r}")
        except (Failed, ValueError) as failure:
            outcome.set("no reference", failure)
    tell_notes(folder, ready)
    return summary(outcomes, options.verbose)


def outcome_shapes(outcome, reference):
    """Arrays of the shapes that outputs have, where no input says so."""
    known = {extent for argument in outcome.model.inputs for extent in argument.shape}
    if all(isinstance(extent, int) or extent in known for argument in outcome.model.outputs for extent in argument.shape):
        return None
    try:
        return outcome.expected(reference)
    except Failed:
        return None


def tell_notes(folder, outcomes):
    """How many sequential loops were proved parallel, or were not."""
    text = "".join((folder / f"{outcome.program.name}.cpp").read_text() for outcome in outcomes if outcome.program.name.startswith("nest_"))
    print(f"nests: kernels parallel {len(re.findall('; parallel: ', text))}, sequential {len(re.findall('; sequential: ', text))}")


def summary(outcomes, verbose):
    for outcome in outcomes:
        if outcome.kind != "right":
            message = outcome.message if verbose else "\n".join(outcome.message.splitlines()[:6])
            print(f"{outcome.kind.upper()} {outcome.program.name}: {message}")
    kinds = [outcome.kind for outcome in outcomes]
    print(", ".join(f"{kinds.count(kind)} {kind}" for kind in ["right", "wrong", "crash", "refused", "no reference"]))
    return 0 if all(kind == "right" for kind in kinds) else 1


if __name__ == "__main__":
    sys.exit(main())
