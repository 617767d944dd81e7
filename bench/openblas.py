"""Debian's OpenBLAS at its best: it takes processors that are younger than itself for old ones, and what the environment says of
kernels and caches may suit another machine. Before it is loaded."""

import os
from pathlib import Path


def at_its_best(environment=os.environ):
    """Its kernels with AVX-512 where the processor has that, its own choice elsewhere."""
    for name in [name for name in environment if name.startswith("OPENBLAS_") and not name.endswith("_NUM_THREADS")]:
        del environment[name]
    if "avx512f" in Path("/proc/cpuinfo").read_text():
        environment["OPENBLAS_CORETYPE"] = "SkylakeX"
