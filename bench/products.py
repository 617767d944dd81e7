#!/usr/bin/env python3
"""Products of two arguments beside OpenBLAS on the same arrays: a line for each case with OpenBLAS' time over ours, of the least times
and as the median of rounds. Programs with arrays of their own (bench/run.py) differ by up to 15 %: physical pages meet in the same sets
of a cache. In a round each has a stretch of calls: an OpenMP thread that waits for the next one takes its core from the other library.

  bench/products.py [--threads N] [--compiler CXX] [--flags FLAGS] [--filter TEXT]     # libopenblas-dev"""

import argparse
import ctypes
import ctypes.util
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH.parent / "python"), str(BENCH)]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--compiler")
parser.add_argument("--flags", default="", help="behind those that compile() gives")
parser.add_argument("--filter", default="", metavar="TEXT")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--seconds", type=float, default=0.3, help="of a round and contestant")
OPTIONS = parser.parse_args()
# Before a library reads them
os.environ.update({name: str(OPTIONS.threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")} | {"OMP_PROC_BIND": "false"})

import graphs # noqa: E402
import kernels # noqa: E402
import openblas # noqa: E402
import ml2kokkos # noqa: E402
import numpy as np # noqa: E402
import onnx # noqa: E402

ROWS, PLAIN, TRANSPOSED = ctypes.c_int(101), ctypes.c_int(111), ctypes.c_int(112) # of cblas.h


def cases():
    """Name, graph, element type, m, k, n, which operands are transposed."""
    for sizes, element, form in kernels.ARGUMENTS:
        if min(sizes[:2]) > 64: # a call from Python takes longer than smaller ones
            turned = [letter == "t" for letter in form]
            yield f"{element} {form} " + "x".join(map(str, sizes)), graphs.product(*sizes, element, turned), element, *sizes, turned
    for element in ("f32", "f64"):
        yield f"{element} run-time 1024", graphs.product(0, 0, 0, element, dynamic=True), element, 1024, 1024, 1024, [False, False]


def library_call(blas, element, m, k, n, turned, a, b, out):
    """A function that has OpenBLAS make the product."""
    real, letter = (ctypes.c_float, "s") if element == "f32" else (ctypes.c_double, "d")
    of_a, of_b = m if turned[0] else k, k if turned[1] else n
    integers = lambda *values: map(ctypes.c_int, values)
    a, b, out = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, out))
    forms = [TRANSPOSED if is_turned else PLAIN for is_turned in turned]
    if n == 1:
        rows, columns, line, one, x, zero, y, next_one = *integers(*((k, m) if turned[0] else (m, k)), of_a), real(1), b, real(0), out, ctypes.c_int(1)
        gemv = blas[f"cblas_{letter}gemv"]
        return lambda: gemv(ROWS, forms[0], rows, columns, one, a, line, x, next_one, zero, y, next_one)
    extents, lines = list(integers(m, n, k)), list(integers(of_a, of_b, n))
    gemm = blas[f"cblas_{letter}gemm"]
    return lambda: gemm(ROWS, *forms, *extents, real(1), a, lines[0], b, lines[1], real(0), out, lines[2])


def seconds_of(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main():
    openblas.at_its_best()
    blas = ctypes.CDLL(ctypes.util.find_library("openblas") or sys.exit("OpenBLAS is not installed: libopenblas-dev"))
    blas.openblas_get_corename.restype = ctypes.c_char_p
    print(f"OpenBLAS computes with its kernels for {blas.openblas_get_corename().decode()}")
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for name, graph, element, m, k, n, turned in cases():
            if OPTIONS.filter not in name:
                continue
            path = Path(folder) / "product.onnx"
            onnx.save(graph, path)
            module = ml2kokkos.compile(str(path), compiler=OPTIONS.compiler, flags=OPTIONS.flags.split(), progress=False)
            shapes = [(k, m) if turned[0] else (m, k), (n, k) if turned[1] else (k, n)]
            a, b = (random.uniform(-1, 1, shape).astype(np.float32 if element == "f32" else np.float64) for shape in shapes)
            ours, theirs = np.full((m, n), np.nan, a.dtype), np.full((m, n), np.nan, a.dtype)
            calls = [lambda: module.forward(a, b, y=ours), library_call(blas, element, m, k, n, turned, a, b, theirs)]
            least = [min(seconds_of(call) for _ in range(3)) for call in calls]
            if not abs(ours - theirs).max() < (1e-4 if element == "f32" else 1e-12) * abs(theirs).max():
                sys.exit(f"{name}: the values differ")
            ratios = []
            for _ in range(OPTIONS.rounds):
                repeats = max(1, int(OPTIONS.seconds / max(least)))
                best = [min(seconds_of(call) for _ in range(repeats)) for call in calls]
                ratios.append(best[1] / best[0])
                least = [min(pair) for pair in zip(least, best)]
            print(f"{name:28} {least[0] * 1e6:10.1f} us  OpenBLAS / ours {least[1] / least[0]:.2f}, median {median(ratios):.2f}", flush=True)


if __name__ == "__main__":
    main()
