#!/usr/bin/env python3
"""Runs on a GPU what tests ran on a host, and compares the values.

  ML2K_RECORD=FOLDER ctest -R 'onnx|run'            # where ml2kokkos is: every run is kept with its printed files
  values.py FOLDER KOKKOS [--filter REGEX] [--replays]   # where the GPU is; scripts/build_kokkos.sh --backend cuda prints KOKKOS

Floats may differ by 1e-5 of the largest of their output (f64 1e-10, 16-bit floats 1e-2), all else not at all. --replays
captures each model in a graph, unless a host waits in it, and prints its time and its slowest kernel; replays have to
give the same bits."""

import argparse
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from ml_dtypes import bfloat16

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from ml2kokkos.verify.build import cuda_command, function_of, write_if_new # noqa: E402
from ml2kokkos.verify.exchange import read_results, write_arguments # noqa: E402

MAIN = """\
// Written by test/device/values.py: models in one source file.
#include "runner.hpp"

{includes}
{functions}
int main(int argc, char **argv) {{ return ml2k_run::runModels({{{table}}}, argc, argv); }}
"""
HALVES = {"Kokkos::Experimental::half_t": np.float16, "Kokkos::Experimental::bhalf_t": bfloat16}
TOLERANCES = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-10}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("records", type=Path)
    add("kokkos", type=Path)
    add("--filter", default="", metavar="REGEX")
    add("--jobs", type=int, default=os.cpu_count())
    add("--batch", type=int, default=12, help="models in a source file")
    add("--flags", default="-O1")
    add("--replays", action="store_true")
    return parser.parse_args()


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.run = pickle.loads((folder / "run.pickle").read_bytes())
        self.model = self.run.model
        self.model.weights = folder / self.model.weights.name
        self.problem = ""
        self.said = {}
        for argument in self.model.arguments: # a host computes with float in their place
            argument.dtype = np.dtype(HALVES.get(argument.element, argument.dtype))

    def command(self, results, *times):
        """The arguments of a program that has this model."""
        write_arguments(self.folder / "in", self.model, self.run.inputs, self.run.extents, self.run.initial)
        return [self.model.stem, self.model.weights, self.folder / "in", self.folder / results, *times, "--"]

    def check(self, said):
        if self.problem:
            return
        try:
            self.compare(read_results(self.folder / "out", self.model))
        except (OSError, struct.error, ValueError):
            self.problem = "stopped: " + (next((line for line in said.splitlines() if line.startswith(self.model.stem + ":")), said[-400:]))

    def compare(self, results):
        for (argument, result), (_, expected) in zip(self.model.counted(results), self.model.counted(self.run.results)):
            if result.shape != expected.shape:
                self.problem = f"{argument.name}: {result.shape} instead of {expected.shape}"
                return
            tolerance = TOLERANCES.get(result.dtype, 0 if result.dtype.kind in "iub" else 1e-2)
            if expected.dtype.kind not in "iub":
                result, expected = result.astype(np.float64), expected.astype(np.float64)
            finite = np.isfinite(expected)
            if not np.array_equal(np.where(finite, 0, expected), np.where(finite, 0, result), equal_nan=expected.dtype.kind == "f"):
                self.problem = f"{argument.name}: other infinities, NaN or integers"
            elif finite.any():
                expected, result = expected[finite].astype(np.float64), result[finite].astype(np.float64)
                error = np.max(np.abs(expected - result)) / max(np.max(np.abs(expected)), 1e-30)
                if not error <= tolerance:
                    at = int(np.argmax(np.abs(expected - result)))
                    self.problem = f"{argument.name}: {error:.1e}: {result[at]} instead of {expected[at]}"


def batches_of(cases, size):
    """No two models of a batch have one name."""
    batches = []
    for case in cases:
        room = next((batch for batch in batches[-8:] if len(batch) < size and case.model.stem not in {other.model.stem for other in batch}
                     and case.model.namespace not in {other.model.namespace for other in batch}), None)
        if room is None:
            batches.append(room := [])
        room.append(case)
    return batches


def find_slow_launches(program, batch):
    """Kernels that do not travel with their launch wait for the one before, and no graph captures them."""
    symbols = subprocess.run(["nm", "-C", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    slow = ("cuda_parallel_launch_constant_memory", "cuda_parallel_launch_global_memory")
    for line in symbols.splitlines(): # too long for an expression that tries every beginning
        for case in batch if any(kind in line for kind in slow) else []:
            if f"{case.model.namespace}::" in line:
                case.problem = "a launch by way of constant or global memory: " + line[-300:]


def compile_batch(number, batch, arguments):
    """The program; cases that nvcc names are taken out."""
    folder = arguments.records / "programs"
    source, program = folder / f"batch{number}.cpp", folder / f"batch{number}"
    while batch:
        write_if_new(source, MAIN.format(
            includes="\n".join(f'#include "{case.folder}/{case.model.stem}.cpp"' for case in batch),
            functions="\n".join(function_of(case.model) for case in batch),
            table=", ".join(f'{{"{case.model.stem}", run_{case.model.stem}}}' for case in batch)))
        done = subprocess.run(cuda_command(arguments.kokkos, [source], program, arguments.flags.split()),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode == 0:
            find_slow_launches(program, batch)
            return program
        broken = [case for case in batch if str(case.folder) in done.stdout] or batch
        for case in broken:
            found = re.search(rf"{re.escape(str(case.folder))}.*error.*|error.*", done.stdout)
            case.problem = "does not compile: " + (found[0] if found else done.stdout[-300:])[:400]
        batch[:] = [case for case in batch if case not in broken]
    return None


def run_cases(program, cases, results, *times):
    """What the program says of all of them; one that ends it is left out of the next attempt."""
    said, left = "", cases
    while left:
        for case in left:
            (case.folder / results).unlink(missing_ok=True)
        command = [word for case in left for word in case.command(results, *times)]
        done = subprocess.run([program, *command[:-1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
        said += done.stdout
        if done.returncode >= 0:
            break
        ended = next((at for at, case in enumerate(left) if not (case.folder / results).exists() or not (case.folder / results).stat().st_size),
                     len(left) - 1)
        left = left[ended + 1:]
    return said


def measure(program, cases, replays):
    said = run_cases(program, cases, "out")
    for case in cases:
        case.check(said)
    if not replays:
        return
    right = [case for case in cases if not case.problem and not case.run.initial and not any(argument.is_updated for argument in case.model.arguments)]
    for case in replay(program, right):
        replay(program, [case]) # one that cannot be captured spoils those behind it


def replay(program, cases):
    """Sets what the program says of each case; returns those that have not been replayed."""
    said = run_cases(program, cases, "again", "-2") if cases else ""
    lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    done = [case for case in cases if (case.folder / "again").exists() and (case.folder / "again").stat().st_size]
    for case, line in zip(done, lines):
        case.said = line
        if (case.folder / "out").read_bytes() != (case.folder / "again").read_bytes():
            case.problem = "replays differ"
    left = [case for case in cases if case not in done]
    for case in left:
        case.said = {"not captured": said[-200:]}
    return left


def main():
    arguments, start = parse(), time.time()
    arguments.records = arguments.records.resolve()
    (arguments.records / "programs").mkdir(exist_ok=True)
    cases = [Case(path.parent) for path in sorted(arguments.records.glob("*/run.pickle")) if re.search(arguments.filter, path.parent.name)]
    batches = batches_of(cases, arguments.batch)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        programs = list(pool.map(lambda item: compile_batch(*item, arguments), enumerate(batches)))
    print(f"{len(batches)} programs compiled in {time.time() - start:.0f} s", flush=True)
    for batch, program in zip(batches, programs):
        try:
            measure(program, batch, arguments.replays)
        except subprocess.TimeoutExpired:
            print(f"{program} does not end", flush=True)
    for case in cases:
        if case.problem:
            print(f"{case.folder.name}: {case.problem}")
        elif case.said:
            print(f"{case.folder.name}: {json.dumps(case.said)}")
    bad = sum(1 for case in cases if case.problem)
    print(f"{len(cases) - bad} right, {bad} wrong")
    return 1 if bad or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
