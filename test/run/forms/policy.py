#!/usr/bin/env python3
"""ml2kokkos.Policy against values of onnxruntime, and what it says of mistakes.   policy.py SERVER FOLDER"""

import sys
from pathlib import Path

import numpy as np

import ml2kokkos

COLUMNS = 37


def refused(what, call):
    try:
        call()
    except ml2kokkos.Error as error:
        if what in str(error):
            return 0
        print(f"not '{what}' but: {error}")
        return 1
    print(f"not refused: {what}")
    return 1


def main():
    server, folder = sys.argv[1], Path(sys.argv[2])
    spec = folder / "generated/gated_served.spec.json"
    values = np.fromfile(folder / "gated.values")
    a, b = values[:16 * COLUMNS].reshape(COLUMNS, 16).astype(np.float32), values[16 * COLUMNS:24 * COLUMNS].reshape(COLUMNS, 8).astype(np.float32)
    p, place = values[24 * COLUMNS:29 * COLUMNS].reshape(COLUMNS, 5), values[29 * COLUMNS:30 * COLUMNS]
    failures = 0
    with ml2kokkos.Policy(server, spec, "place") as decide, ml2kokkos.Policy(server, spec, result="p") as weigh:  # two at once
        for n in range(COLUMNS):
            failures += decide(a=a[n], b=b[n]) != place[n]
            failures += not np.allclose(weigh(b=b[n], a=a[n]), p[n], atol=1e-5)
        failures += refused("no feature 'c'", lambda: decide(a=a[0], b=b[0], c=1))
        failures += refused("'b' is missing", lambda: decide(a=a[0]))
        failures += refused("'b' is float x 8, not float32 x 16", lambda: decide(a=a[0], b=a[0]))
        failures += decide(a=a[0], b=b[0]) != place[0]
    failures += refused("the model has p, place, sum", lambda: ml2kokkos.Policy(server, spec))
    other = {"features": [{"name": "a", "type": "float", "shape": [1, 9]}], "results": [{"name": "place", "type": "int64_t", "shape": [1]}]}
    failures += refused("'a' is float x 16 here, float x 9 there", lambda: [policy(a=np.zeros(9)) for policy in [ml2kokkos.Policy(server, other)]])
    print(f"{failures} failures")
    sys.exit(int(failures) != 0)


if __name__ == "__main__":
    main()
