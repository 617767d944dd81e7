#!/usr/bin/env python3
"""The kernels in Python of bench/python_cases.py on a device: a line of JSON for each, with the time of its launches, the bytes of its
arrays (those that it updates count twice) over that time, and the share of the bandwidth that a sum of two arrays reaches.

  Kokkos_ROOT=build/kokkos-cuda CXX=build/kokkos-cuda/bin/nvcc_for_kokkos bench/python_device.py [--filter TEXT] [--jobs N]"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH.parent / "python"), str(BENCH)]

import numpy as np # noqa: E402
import python_cases # noqa: E402
from ml2kokkos.errors import Error # noqa: E402
from ml2kokkos.report import limits_of, shortest # noqa: E402


def bytes_of(interface, values):
    """Of the arrays of a call, in the order of the interface."""
    return sum(np.asarray(value).nbytes * (2 if argument.is_updated else 1)
               for argument, value in zip(interface.arguments, values) if argument.is_view)


def row_of(name, kernel, arguments):
    call = kernel._call(arguments)
    module = call.module
    inputs = [module.to_device(arguments[place]) if isinstance(arguments[place], np.ndarray) else arguments[place] for place in call.given]
    outputs = {parameter: module.to_device(arguments[place]) for parameter, place in call.made}
    _, launches = shortest(module, module._native, inputs, outputs)
    seconds = sum(launches.values())
    by_name = {argument.parameter: value for argument, value in zip(module.inputs, (arguments[place] for place in call.given))}
    by_name.update({parameter: arguments[place] for parameter, place in call.made})
    moved = bytes_of(module.interface, [by_name[argument.parameter] for argument in module.interface.arguments])
    return {"case": name, "us": seconds * 1e6, "launches": len(launches), "GB/s": moved / seconds / 1e9,
            "of_bandwidth": moved / seconds / limits_of(module._native)["bandwidth"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    given = parser.parse_args()
    cases = [(name, kernel, make(np.random.default_rng(1))) for name, kernel, _, make in python_cases.CASES if given.filter in name]

    def built(case):
        try:
            return case[1].build(*case[2])
        except Error as error:
            return error

    with ThreadPoolExecutor(given.jobs) as pool:
        modules = list(pool.map(built, cases))
    for case, module in zip(cases, modules):
        try:
            if isinstance(module, Error):
                raise module
            row = row_of(*case)
        except (Error, TypeError, ValueError) as error: # the other cases go on
            row = {"case": case[0], "error": str(error)[:300]}
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
