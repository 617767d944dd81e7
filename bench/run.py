#!/usr/bin/env python3
"""Times generated code beside its peers; see --help and docs/performance.md."""

import argparse
import json
import os
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
PROJECT = BENCH.parent
python = PROJECT / "build/venv/bin/python"
if python.exists() and Path(sys.prefix) != PROJECT / "build/venv" and "ML2K_PYTHON" not in os.environ:
    os.execv(python, [str(python), *sys.argv])
sys.path[:0] = [str(PROJECT / "python"), str(BENCH)]

import devices # noqa: E402
import forms # noqa: E402
import growth # noqa: E402
import kernels # noqa: E402
import models # noqa: E402
import openblas # noqa: E402
import operators # noqa: E402
import python_kernels # noqa: E402
import sparse # noqa: E402
from report import plot, print_table # noqa: E402

DESCRIPTION = """Builds the printed code of models and single kernels, checks its values against onnxruntime, then times
models beside onnxruntime and kernels beside oneDNN, OpenBLAS and libxsmm, in turns on the same core: processor time of the
thread with one thread, the clock with several. A ratio above 1 means that ours is faster. `share` is that of the
multiplications and additions that the machine did in the same run. Options after -- go to ml2kokkos."""


def parse(arguments):
    options = []
    if "--" in arguments:
        options = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    parser = argparse.ArgumentParser(prog="bench/run.py", description=DESCRIPTION)
    add = parser.add_argument
    add("--suite", choices=["cpu", "models", "networks", "kernels", "operators", "python", "arrays", "sparse", "forms", "growth", "gpu"], default="cpu",
        help="cpu: models and kernels (default); networks: those of bench/networks.py and bench/science.py; operators: single ones of ONNX, along every axis, beside onnxruntime; python: kernels written in Python beside Numba; arrays: expressions of whole arrays beside NumPy; sparse: kernels over "
        "sparse matrices beside KokkosKernels (Debian's libtrilinos-kokkos-kernels-dev, libtrilinos-kokkos-dev); "
        "forms: networks inside kernels and runners beside onnxruntime; growth: operators at n and 2 n elements beside "
        "onnxruntime; gpu: the blocks on an NVIDIA GPU beside PyTorch")
    add("--printed", type=Path, metavar="FOLDER", help="of networks: --prepare fills it, --suite gpu times what lies there")
    add("--prepare", action="store_true",
        help="with --suite gpu: only print the networks and --models into --printed, with --suite growth its operators; with --suite python, arrays or forms: only build")
    add("--networks-only", action="store_true", help="with --suite gpu: no blocks")
    add("--peer-python", help="interpreter that has PyTorch or Numba (default: this one)")
    add("--models", type=Path, action="append", default=[], metavar="FOLDER", help="with more .onnx files to time")
    add("--filter", default="", metavar="TEXT", help="only cases whose names contain it; with --suite python or arrays one of several, separated by commas")
    add("--smallest", action="store_true", help="only the smallest case, briefly: whether all of this works")
    add("--naive", action="store_true", help="also beside --schedule=naive, where the case is worth it: 40 to 200 times slower")
    add("--threads", type=int, default=1)
    add("--counts", default="1000,10000,100000,200000,1000000", metavar="N,N,...", help="with --suite growth: how many elements (default %(default)s)")
    add("--scale", type=float, default=1, help="of sparse matrices: 1 is about 5 million entries (default)")
    add("--compiler", help="C++ compiler (default: CMake's)")
    add("--flags", help="of the compiler, with --suite forms (default: -O3 -march=native)")
    add("--seconds", type=float, default=2, help="of timing for every case (default %(default)s)")
    add("--json", type=Path, help="file for the results")
    add("--plot", type=Path, help="PNG of the ratios")
    parsed = parser.parse_args(arguments)
    parsed.options = options
    return parsed


def measure_devices(arguments):
    try:
        if arguments.prepare:
            devices.prepare(arguments)
            return 0
        results = devices.measure(arguments)
    except models.Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    for row in results:
        peer = f"{row['peer_ms'] * 1e3:10.1f} us of {row['peer']}, ratio {row['ratio']:.2f}" if "ratio" in row else ""
        print(f"{row['case']:34} {row['ours_ms'] * 1e3:10.1f} us, error {row['max_error']:.0e} {peer}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0 if results and all(row["same_bits"] and row["max_error"] <= 1e-5 for row in results) else 1


def measure_python(arguments):
    results = python_kernels.measure(arguments)
    print_table(results)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0 if arguments.prepare or results and all(row["max_error"] <= 1e-5 for row in results) else 1


def measure_suite(suite, arguments):
    """Of a suite with tables of its own."""
    try:
        results = suite.measure(arguments)
    except models.Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    suite.report(results)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def main():
    arguments = parse(sys.argv[1:])
    openblas.at_its_best()
    if arguments.suite in ("python", "arrays"):
        return measure_python(arguments)
    if arguments.suite == "gpu":
        return measure_devices(arguments)
    if arguments.suite in ("sparse", "forms", "growth"):
        return measure_suite({"sparse": sparse, "forms": forms, "growth": growth}[arguments.suite], arguments)
    cases = []
    if arguments.suite == "operators":
        cases += operators.find(PROJECT / "build/bench/operators", arguments.filter)
    elif arguments.suite == "networks":
        cases += models.made(PROJECT / "build/bench/networks", arguments.filter)
    elif arguments.suite != "kernels":
        found = models.find(arguments.models or [PROJECT / "examples"])
        cases += [case for case in found if arguments.filter in case.name]
    if arguments.suite not in ("models", "networks", "operators") and not arguments.smallest:
        cases += kernels.find(PROJECT / "build/bench/models", arguments.filter)
    if arguments.smallest:
        cases = [case for case in cases if case.naive or not arguments.naive]
        cases = sorted(cases, key=lambda case: case.path.stat().st_size)[:1]
        arguments.seconds = .1
    results, done = [], 0
    for case in cases:
        try:
            rows = models.measure(case, arguments)
            print_table(rows, heading=not results)
            results += rows
            done += all(row["max_error"] <= case.tolerance for row in rows)
        except models.Failure as failure:
            print(f"{case.name}: {failure}", file=sys.stderr)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n")
    if arguments.plot:
        plot(results, arguments.plot)
    return 0 if cases and done == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
