#!/usr/bin/env python3
"""ml2kokkos-tune on 20 cases: single operations, small networks, loop kernels. A line for each: the time of a call with the entries
that were found over that without them. `--confirm` measures what an earlier run has found once more, without building anything."""

import argparse
import json
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH.parent / "python"), str(BENCH)]

from ml2kokkos.tuning import cli, files # noqa: E402
from ml2kokkos.tuning.measuring import CALL, SEEDS, Arguments, Contestant, compare # noqa: E402

MODELS = ["gemm_512x512x512", "gemm_odd_100x7x1000", "gemm_odd_33x65x129", "gemv_1x1024x1024", "batched_gemm_1000x16x16x16",
          "conv_64x56x64x3x1x1", "conv_128x28x128x3x1x1", "conv_256x14x256x3x1x1", "conv_512x7x512x3x1x1", "conv_256x14x512x3x2x1",
          "small_mlp_64x72x64x64x10", "mala_mlp_64", "mlp_256x1024x1024x1024", "softmax_256x512", "layer_norm_1024x128", "add_relu_256x512"]
KERNELS = ["conv2d", "life", "jacobi3d", "matrix_matrix"]


def cases(folder, text):
    """Name and arguments of the command."""
    folder.mkdir(parents=True, exist_ok=True)
    import kernels
    import numpy as np
    import python_cases

    for name in MODELS:
        if text in name:
            found, = [case for case in kernels.find(folder, name) if case.name == name]
            yield name, [str(found.path)]
    known = {name: (kernel, make) for name, kernel, _, make in python_cases.CASES}
    for name in KERNELS:
        if text in name and name in known:
            kernel, make = known[name]
            path = folder / f"{name}.mlir"
            path.write_text(kernel.mlir())
            sizes = {}
            for parameter, value in zip(kernel.parameters, make(np.random.default_rng(1))):
                for extent, size in zip(parameter.shape or (), np.shape(value)):
                    if isinstance(extent, str):
                        sizes[extent] = size
            yield name, [str(path), *(word for extent, size in sizes.items() for word in ("--size", f"{extent}={size}"))]


def confirmed(parsed):
    """Seconds of a call without and with what the tune file has, in turns."""
    model = cli.Model(parsed.model, parsed.options)
    if not files.read(model.tune_file):
        return None
    modules = model.compiled(), model.compiled(f"--tune={model.tune_file}")
    contestants = [Contestant(module, Arguments(module.interface, SEEDS[0], dict(parsed.size)), set()) for module in modules]
    default, tuned = compare(contestants, parsed.seconds, 20)
    return default.least(CALL), tuned.least(CALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=BENCH.parent / "build/tuning")
    parser.add_argument("--filter", default="")
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--candidates", default="8")
    parser.add_argument("--seconds", default="0.3")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--confirm", action="store_true")
    given = parser.parse_args()
    for name, arguments in cases(given.folder, given.filter):
        parsed = cli.parse([*arguments, "--budget", given.budget, "--candidates", given.candidates, "--seconds", given.seconds, "--jobs", given.jobs,
                            "--log", str(given.folder / f"{name}.log.json")])
        try:
            if not given.confirm:
                cli.finish(parsed, *cli.tune(parsed))
            times = confirmed(parsed)
        except Exception as error: # the other cases go on
            print(json.dumps({"case": name, "error": str(error)[:300]}), flush=True)
            continue
        row = {"case": name, "default_us": times[0] * 1e6, "tuned_us": times[1] * 1e6, "ratio": times[0] / times[1]} if times else \
            {"case": name, "ratio": 1.0}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
