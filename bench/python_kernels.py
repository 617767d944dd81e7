"""Kernels written in Python beside Numba, and expressions of arrays beside NumPy: in one process per number of threads, in turns."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent


def compiled(function):
    """By Numba: the function's global `prange` is Numba's."""
    import numba

    function.__globals__["prange"] = numba.prange
    return numba.njit(parallel=True, fastmath=False)(function)


def least(calls, seconds):
    """The shortest time of each call, taken in turns so that a slow moment of the machine meets all of them."""
    best = {name: float("inf") for name in calls}
    end, rounds = time.perf_counter() + seconds, 0
    while rounds < 5 or time.perf_counter() < end:
        for name, call in calls.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
        rounds += 1
    return best


def differences(mine, theirs):
    import numpy as np

    worst = 0.0
    for a, b in zip(mine, theirs):
        if isinstance(a, np.ndarray):
            wide = np.complex128 if np.iscomplexobj(b) else np.float64
            scale = max(1.0, float(np.abs(b).max()))
            worst = max(worst, float(np.abs(a.astype(wide) - b.astype(wide)).max()) / scale)
    return worst


def copied(arguments):
    return [value.copy() if hasattr(value, "copy") else value for value in arguments]


def measure_case(name, kernel, function, make, seconds, peer="numba"):
    import numpy as np

    arguments = make(np.random.default_rng(1))
    mine, theirs = copied(arguments), copied(arguments)
    kernel(*mine)
    function(*theirs)
    error = differences(mine, theirs)
    # On the same arrays: where their pages lie makes 15 % of a difference
    best = least({"ours": lambda: kernel(*mine), peer: lambda: function(*mine)}, seconds)
    return {"case": name, "peer": peer, "ours_ms": best["ours"] * 1e3, "peer_ms": best[peer] * 1e3,
            "ratio": best[peer] / best["ours"], "max_error": error}


# --- By hand ----------------------------------------------------------------------------------------------------------

FLAGS = ["-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math", "-mprefer-vector-width=512", "-shared", "-fPIC"]


def by_hand():
    import ctypes
    import tempfile

    folder = Path(tempfile.mkdtemp())
    subprocess.run([os.environ.get("CXX", "c++"), *FLAGS, BENCH / "peers/python_kernels.cpp", "-o", folder / "hand.so"], check=True)
    return ctypes.CDLL(str(folder / "hand.so"))


def address(array):
    import ctypes

    return ctypes.c_void_p(array.ctypes.data)


def measure_by_hand(kernels, seconds):
    """heat and nbody beside C++ with OpenMP, and conv2d beside the streaming bandwidth of this process."""
    import ctypes

    import numpy as np

    library, random = by_hand(), np.random.default_rng(1)
    number = lambda value: ctypes.c_long(value)
    u, x, mass = random.random((4096, 4096)), random.random((16384, 3)), random.random(16384)
    calls = {"heat 4096": ("heat", [u, np.zeros_like(u), 0.2], lambda out: library.heat(
                 address(u), address(out), number(4096), number(4096), ctypes.c_double(0.2)), 1),
             "nbody 16384": ("nbody", [x, mass, np.zeros_like(x)], lambda out: library.nbody(
                 address(x), address(mass), address(out), number(16384), ctypes.c_double(0)), 2)}
    for name, (kernel, arguments, other, place) in calls.items():
        theirs = np.zeros_like(arguments[place])
        kernels[kernel][0](*arguments)
        other(theirs)
        best = least({"ours": lambda: kernels[kernel][0](*arguments), "hand": lambda: other(theirs)}, seconds)
        yield {"case": name, "peer": "hand", "ours_ms": best["ours"] * 1e3, "peer_ms": best["hand"] * 1e3,
               "ratio": best["hand"] / best["ours"], "max_error": differences([arguments[place]], [theirs])}
    kernel, make = kernels["conv2d"]
    arguments = make(random)
    bandwidth = kernel.build(*arguments)._native.bandwidth()
    kernel(*arguments)
    best = least({"ours": lambda: kernel(*arguments)}, seconds)["ours"]
    stream = (arguments[0].nbytes + arguments[2].nbytes) / bandwidth
    yield {"case": "conv2d 1280", "peer": "stream", "ours_ms": best * 1e3, "peer_ms": stream * 1e3, "ratio": stream / best, "max_error": 0.0}


# --- Calls ------------------------------------------------------------------------------------------------------------

def measure_calls(seconds, build):
    """One row of small networks: what a call from Python costs beside onnxruntime's."""
    import numpy as np
    import onnxruntime

    import ml2kokkos

    for example in ("column_physics", "mpi_closure"):
        path = BENCH.parent / "examples" / example / "closure.onnx"
        module = ml2kokkos.compile(path)
        if build:
            continue
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        random = np.random.default_rng(1)
        rows = [random.random([1 if isinstance(extent, str) else extent for extent in given.shape], np.float32) for given in module.inputs]
        forward, run, named = module.forward, session.run, {given.name: row for given, row in zip(module.inputs, rows)}
        best = least({"ours": lambda: [forward(*rows) for _ in range(1000)], "onnxruntime": lambda: [run(None, named) for _ in range(1000)]},
                     seconds)
        results = forward(*rows)
        yield {"case": f"call {example}", "peer": "onnxruntime", "ours_ms": best["ours"], "peer_ms": best["onnxruntime"],
               "ratio": best["onnxruntime"] / best["ours"],
               "max_error": differences(results if isinstance(results, tuple) else [results], run(None, named))}


def is_chosen(name, arguments):
    return any(part in name for part in arguments["filter"].split(","))


def measure_arrays(arguments):
    """Expressions of whole arrays beside NumPy."""
    import array_cases
    import numpy as np

    for name, kernel, function, make in array_cases.CASES:
        if is_chosen(name, arguments):
            if arguments["build"]:
                kernel.build(*make(np.random.default_rng(1)))
            else:
                row = measure_case(name, kernel, function, make, arguments["seconds"], "numpy")
                print(json.dumps({**row, "threads": arguments["threads"]}), flush=True)


def child(arguments):
    """Runs in a process of its own: measures, and prints a line of JSON for each case."""
    if arguments["suite"] == "arrays":
        return measure_arrays(arguments)
    import python_applications
    import python_cases
    import python_classics

    for name, kernel, other, make in python_cases.CASES + python_applications.CASES + python_classics.CASES:
        if not is_chosen(name, arguments):
            continue
        if arguments["build"]:
            import numpy as np

            kernel.build(*make(np.random.default_rng(1)))
            continue
        print(json.dumps({**measure_case(name, kernel, compiled(other), make, arguments["seconds"]), "threads": arguments["threads"]}), flush=True)
    if "call".startswith(arguments["filter"]):
        for row in measure_calls(arguments["seconds"], arguments["build"]):
            print(json.dumps({**row, "threads": arguments["threads"]}), flush=True)
    if not arguments["build"] and "hand".startswith(arguments["filter"]):
        kernels = {name: (kernel, make) for name, kernel, _, make in python_cases.CASES}
        for row in measure_by_hand(kernels, arguments["seconds"]):
            print(json.dumps({**row, "threads": arguments["threads"]}), flush=True)


def run_child(python, threads, **arguments):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), NUMBA_NUM_THREADS=str(threads), OMP_PROC_BIND="false",
                       OMP_WAIT_POLICY="passive", PYTHONPATH=f"{BENCH.parent / 'python'}:{BENCH}")
    command = [python, str(BENCH / "python_kernels.py"), json.dumps({"threads": threads, **arguments})]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)


def measure(arguments):
    """Rows for report.py."""
    python = arguments.peer_python or sys.executable
    parts = {"suite": arguments.suite, "filter": arguments.filter, "seconds": min(arguments.seconds, 1.0)}
    if run_child(python, 1, build=True, **parts).returncode != 0:
        return []
    if arguments.prepare:
        return []
    done = run_child(python, arguments.threads, build=False, **parts)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []


if __name__ == "__main__":
    child(json.loads(sys.argv[1]))
