#!/usr/bin/env python3
"""ml2kokkos-tune on 20 cases: single operations, small networks, loop kernels. A line for each: the time of a call with the entries
that were found over that without them. `--confirm` measures what an earlier run has found once more, without building anything.
`--device` does it on the device that the Kokkos of $Kokkos_ROOT computes on; `--ahead N` builds the candidates of all cases first, N at
once."""

import argparse
import itertools
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH.parent / "python"), str(BENCH)]

from ml2kokkos.tuning import cli, files # noqa: E402
from ml2kokkos.errors import Error # noqa: E402
from ml2kokkos.tuning.search import Search # noqa: E402
from ml2kokkos.tuning.measuring import CALL, SEEDS, Arguments, Contestant, DeviceContestant, compare # noqa: E402

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


def build_ahead(all_parsed, jobs):
    """Into the cache, where the searches find them."""
    def default_of(parsed):
        model = cli.Model(parsed.model, parsed.options)
        return model, model.compiled()

    def built(build, choices):
        try:
            build(choices)
        except Error:
            pass # the search reports it

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        waiting = []
        for parsed, (model, default) in zip(all_parsed, pool.map(default_of, all_parsed)):
            kernels = {kernel.label: kernel for kernel in cli.kernels_of(default, None)}
            for kernel in kernels.values():
                kernel.time = 1.0 # each is timed by itself
            build = cli.Builder(model, kernels, cli.family_of(default, parsed.device), folder)
            candidates = Search(kernels.values(), build, None, None, seed=parsed.seed).candidates()
            for choices in [{label: {} for label in kernels}, *itertools.islice(candidates, parsed.candidates)]:
                waiting.append(pool.submit(built, build, choices))
        for one in waiting:
            one.result()


def confirmed(parsed):
    """Seconds of a call without and with what the tune file has, in turns."""
    model = cli.Model(parsed.model, parsed.options)
    if not files.read(model.tune_file):
        return None
    modules = model.compiled(), model.compiled(f"--tune={model.tune_file}")
    kind = DeviceContestant if parsed.device else Contestant
    contestants = [kind(module, Arguments(module.interface, SEEDS[0], dict(parsed.size)), set()) for module in modules]
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
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--ahead", type=int, default=0)
    given = parser.parse_args()
    common = ["--budget", given.budget, "--candidates", given.candidates, "--seconds", given.seconds, "--jobs", given.jobs,
              *["--device"] * given.device]
    parsed_cases = {name: cli.parse([*arguments, *common, "--log", str(given.folder / f"{name}.log.json")])
                    for name, arguments in cases(given.folder, given.filter)}
    if given.ahead:
        build_ahead(list(parsed_cases.values()), given.ahead)
    for name, parsed in parsed_cases.items():
        try:
            if given.confirm:
                times = confirmed(parsed)
            else:
                tuned = cli.tune(parsed)
                cli.finish(parsed, *tuned)
                times = tuned[-1].final if tuned[-2] else None
        except Exception as error: # the other cases go on
            print(json.dumps({"case": name, "error": str(error)[:300]}), flush=True)
            continue
        row = {"case": name, "default_us": times[0] * 1e6, "tuned_us": times[1] * 1e6, "ratio": times[0] / times[1]} if times else \
            {"case": name, "ratio": 1.0}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
