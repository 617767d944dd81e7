"""Whole networks on a GPU: printed code as a captured graph, beside PyTorch. `prepare` runs where ml2kokkos is, `measure`
where the GPU is; a folder goes from one to the other."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ml2kokkos.verify.build import cuda_command, write_runner
from ml2kokkos.verify.exchange import bind_extents, write_arguments
from ml2kokkos.verify.reference import onnxruntime_session, seeded_inputs
from ml2kokkos.verify.translate import PROJECT, Failure, translate


def prepare(paths, folder, options=()):
    """For every model: its printed code, arguments, and the results of onnxruntime as expected-N.npy."""
    for path in paths:
        model = translate(path, folder / path.stem, path.stem, options)
        write_runner(model.folder, [model])
        inputs = [np.ascontiguousarray(array) for array in seeded_inputs(model, 1, {}, (0, 2))]
        write_arguments(model.folder / f"{path.stem}.in", model, inputs, bind_extents(model, inputs))
        session = onnxruntime_session(path, os.cpu_count())
        names = [value.name for value in session.get_inputs()]
        for number, result in enumerate(session.run(None, dict(zip(names, inputs)))):
            np.save(model.folder / f"expected-{number}.npy", result)
        (model.folder / "outputs.json").write_text(json.dumps([
            {"name": output.name, "dtype": np.dtype(output.dtype).str, "counts": list(output.counts)} for output in model.outputs]))


def compile_all(folders, kokkos):
    """The seconds that nvcc takes for each of them."""
    def compile_one(folder):
        start = time.perf_counter()
        done = subprocess.run(cuda_command(kokkos, folder.glob("*.cpp"), folder / "run"), capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"{folder.name} does not compile:\n{(done.stdout + done.stderr)[-3000:]}")
        return time.perf_counter() - start
    with ThreadPoolExecutor(max(1, os.cpu_count() - 1)) as pool:
        return dict(zip(folders, pool.map(compile_one, folders)))


def results_of(path, outputs):
    """As runner.hpp writes them; of those with as many elements as data decide, the ones that count, without the counts."""
    content, results = np.fromfile(path, np.uint8), {}
    for output in outputs:
        rank, kind = int(content[:8].view(np.int64)[0]), np.dtype(output["dtype"])
        shape = content[8:8 + 8 * rank].view(np.int64)
        begin, size = 8 + 8 * rank, kind.itemsize * int(np.prod(shape))
        results[output["name"]] = content[begin:begin + size].view(kind).reshape(shape)
        content = content[begin + size:].copy()
    counts = {name for output in outputs for name in output["counts"] if name}
    number = {name: int(results[name]) for name in counts}
    return [results[output["name"]][tuple(slice(number[name] if name else None) for name in output["counts"])]
            for output in outputs if output["name"] not in counts]


def run(folder, times):
    name = folder.name
    done = subprocess.run([folder / "run", name, folder / f"{name}.safetensors", folder / f"{name}.in", folder / "out", times],
                          capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{name}: {(done.stdout + done.stderr)[-2000:]}")
    return done.stdout, results_of(folder / "out", json.loads((folder / "outputs.json").read_text()))


def deviation(result, expected):
    """Relative to the largest element; infinite where there are more or fewer."""
    if result.shape != expected.shape:
        return float("inf")
    result, expected = result.astype(np.float64), expected.astype(np.float64)
    return float(np.max(np.abs(result - expected), initial=0) / max(np.max(np.abs(expected), initial=0), 1e-30))


def measure_one(folder, compiled):
    _, first = run(folder, "0")
    said, last = run(folder, "-2") # of the last of some hundred replays
    row = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    expected = [np.load(folder / f"expected-{number}.npy") for number in range(len(last))]
    error = max(deviation(a, b) for a, b in zip(last, expected))
    return {"case": folder.name, "threads": "gpu", "compiler": "nvcc", "ours_ms": row["replayed_us"] / 1e3,
            "stream_ms": row["stream_us"] / 1e3, "kernels": row["kernels"], "slowest": row["slowest"], "compile_s": compiled,
            "max_error": error, "same_bits": all(np.array_equal(a, b) for a, b in zip(first, last))}


def peers_of(arguments, names):
    """By network: what PyTorch takes in its ways, in microseconds; nothing without PyTorch."""
    done = subprocess.run([arguments.peer_python or sys.executable, PROJECT / "bench/network_peers.py", *names],
                          capture_output=True, text=True)
    if done.returncode:
        print(f"no peer: {done.stderr[-1000:]}", file=sys.stderr)
    return {row["case"]: row for row in map(json.loads, done.stdout.splitlines())}


def measure(arguments, folder, kokkos):
    folders = sorted(path.parent for path in folder.glob("*/main.cpp") if arguments.filter in path.parent.name)
    compiled = compile_all(folders, kokkos)
    rows = [measure_one(one, compiled[one]) for one in folders]
    peers = peers_of(arguments, [row["case"] for row in rows])
    for row in rows:
        ways = {way: time for way, time in peers.get(row["case"], {}).items() if isinstance(time, float) and "tf32" not in way}
        if ways:
            way = min(ways, key=ways.get)
            row |= {"peer": f"torch {way}", "peer_ms": ways[way] / 1e3, "ratio": ways[way] / 1e3 / row["ours_ms"]}
        row["peers_us"] = {way: time for way, time in peers.get(row["case"], {}).items() if way != "case"}
    return rows
