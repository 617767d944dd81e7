"""Gravity between all pairs, written in Python. `python nbody.py` writes nbody.mlir, nbody.cpp and nbody.hpp beside this file,
`python nbody.py --check` compares."""

import sys
from pathlib import Path

import ml2kokkos as kk
import numpy as np

N = kk.sizes("N")


@kk.kernel
def nbody(position: kk.f64[N, 3], mass: kk.f64[N], acceleration: kk.f64[N, 3], softening: float):
    for i in kk.range(N):
        ax = ay = az = 0.0
        for j in kk.range(N):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            squared = dx * dx + dy * dy + dz * dz + softening
            pull = mass[j] / (squared * np.sqrt(squared))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        acceleration[i, 0] = ax
        acceleration[i, 1] = ay
        acceleration[i, 2] = az


if __name__ == "__main__":
    here = Path(__file__).parent
    if sys.argv[1:] == ["--check"]:
        sys.exit(nbody.mlir() != (here / "nbody.mlir").read_text())
    nbody.write(here / "nbody.cpp")
