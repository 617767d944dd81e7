"""Arguments and results of forward() as files, in the format of runner.hpp."""

import hashlib
import os
import pickle
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .translate import Failure, Translated


def shape_of(argument, extents):
    """The extents of an argument; `extents` gives those that are known at run time only."""
    unknown = [extent for extent in argument.shape if not isinstance(extent, int) and extent not in extents]
    if unknown:
        raise Failure(f"'{argument.name}' has the extent {unknown[0]}, which no input has")
    return [extent if isinstance(extent, int) else extents[extent] for extent in argument.shape]


def bind_extents(model, inputs, outputs=None):
    """What the run-time extents are, from the shapes of the inputs; checks the fixed ones. Extents that only outputs have are
    those of `outputs`, arrays or shapes that somebody expects."""
    extents = {}
    for argument, array in zip(model.inputs, inputs):
        if len(array.shape) != len(argument.shape):
            raise Failure(f"input '{argument.name}' has {len(array.shape)} dimensions, the model wants {argument.shape}")
        for wanted, given in zip(argument.shape, array.shape):
            if not isinstance(wanted, int):
                wanted = extents.setdefault(wanted, given)
            if wanted != given:
                raise Failure(f"input '{argument.name}' is {list(array.shape)}, the model wants {argument.shape}")
    for argument, array in zip(model.outputs, outputs or ()):
        for wanted, given in zip(argument.shape, array.shape):
            if not isinstance(wanted, int):
                extents.setdefault(wanted, given)
    return extents


def write_arguments(path, model, inputs, extents, initial=None):
    """`initial` maps outputs by name to the values that they hold before the call."""
    inputs = iter(inputs)
    with open(path, "wb") as file:
        file.write(struct.pack(f"={1 + len(model.room)}q", len(model.room), *model.room))
        for argument in model.arguments:
            shape = shape_of(argument, extents)
            file.write(struct.pack(f"={1 + len(shape)}q", len(shape), *shape))
            if not argument.is_output:
                file.write(np.ascontiguousarray(next(inputs), argument.dtype).tobytes())
                continue
            values = next(inputs) if argument.is_updated else (initial or {}).get(argument.name)
            file.write(b"\0" if values is None else b"\1" + np.ascontiguousarray(values, argument.dtype).tobytes())


def read_results(path, model):
    results = []
    content = Path(path).read_bytes()
    position = 0
    for argument in model.outputs:
        (rank,) = struct.unpack_from("=q", content, position)
        shape = struct.unpack_from(f"={rank}q", content, position + 8)
        position += 8 * (1 + rank)
        count = int(np.prod(shape, dtype=np.int64))
        results.append(np.frombuffer(content, argument.dtype, count, position).reshape(shape))
        position += count * argument.dtype.itemsize
    return results


@dataclass
class Recorded:
    """A run of a model on this host, to be repeated where there is no ml2kokkos: test/device/values.py."""
    model: Translated
    inputs: list
    extents: dict
    initial: dict
    results: list


def keep(records, recorded):
    """A folder with the printed files and the run; the name says what they hold."""
    model = recorded.model
    sources = [path for path in (model.folder / f"{model.stem}.{kind}" for kind in ("cpp", "hpp")) if path.exists()]
    content = pickle.dumps((recorded.inputs, recorded.initial)) + b"".join(path.read_bytes() for path in sources)
    folder = records / f"{model.stem}-{hashlib.sha256(content).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*sources, *([model.weights] if model.weights.exists() else [])]:
        shutil.copy(path, folder)
    (folder / "run.pickle").write_bytes(pickle.dumps(recorded))


def run_all(program, jobs, threads=None, outputs=None):
    """Runs several models of one program; a job is (model, inputs, times, initial). `outputs`: per job, arrays of the shapes
    that are expected. Returns per job its results or what went wrong, and all that the program printed."""
    command, bound = [str(program)], []
    for number, (model, inputs, times, initial) in enumerate(jobs):
        stem = model.folder / model.stem
        extents = bind_extents(model, inputs, outputs[number] if outputs else None)
        write_arguments(f"{stem}.in", model, inputs, extents, initial)
        bound.append(extents)
        Path(f"{stem}.out").unlink(missing_ok=True)
        command += [model.stem, str(model.weights), f"{stem}.in", f"{stem}.out", *([str(times)] if times else []), "--"]
    environment = {"OMP_PROC_BIND": "false", **os.environ} # Kokkos warns if nothing is said about it
    if threads:
        environment["OMP_NUM_THREADS"] = str(threads)
    done = subprocess.run(command[:-1], capture_output=True, text=True, env=environment)
    said = done.stdout + done.stderr
    results = []
    for model, inputs, _, initial in jobs:
        try:
            results.append(read_results(model.folder / f"{model.stem}.out", model))
            if os.environ.get("ML2K_RECORD"):
                keep(Path(os.environ["ML2K_RECORD"]), Recorded(model, inputs, bound[len(results) - 1], initial, results[-1]))
        except (OSError, struct.error, ValueError):
            lines = [line for line in said.splitlines() if line.startswith(model.stem + ":")]
            results.append(Failure("\n".join(lines) or f"the program ended with {done.returncode}: {said[-2000:]}"))
    return results, said
