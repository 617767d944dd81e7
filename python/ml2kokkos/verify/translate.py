"""Runs ml2kokkos and learns from its view model how to call what it printed."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .policies import kernels_elsewhere, waits

PROJECT = Path(__file__).resolve().parents[3]

SCALARS = {
    # float where Kokkos has no half type, which is so on every host
    "Kokkos::Experimental::half_t": np.float32, "Kokkos::Experimental::bhalf_t": np.float32, "unsigned": np.uint32,
    "float": np.float32, "double": np.float64, "bool": np.bool_, "int": np.int32,
    "std::int8_t": np.int8, "std::int16_t": np.int16, "std::int32_t": np.int32, "std::int64_t": np.int64,
    "std::uint8_t": np.uint8, "std::uint16_t": np.uint16, "std::uint32_t": np.uint32, "std::uint64_t": np.uint64,
}


class Failure(Exception):
    """Something other than a wrong result: the message says which step failed."""


@dataclass
class Argument:
    """A parameter of forward() behind the execution space, weights and workspace."""

    name: str       # as the model calls it
    type: str       # in the printed header
    dtype: np.dtype
    shape: list     # extents; the name of the dimension where it is known at run time only
    is_output: bool
    is_view: bool = True
    parameter: str = ""  # of a number: its name in the printed code
    is_updated: bool = False # an output that holds values before the call, too
    is_room: bool = False # an output that is none of the model's: an intermediate matrix, in arrays of the caller's
    element: str = ""    # as C++ names it
    counts: tuple = ()   # by axis, the output that says how many positions along it hold elements; "" where all do


@dataclass
class Translated:
    stem: str
    folder: Path
    namespace: str
    arguments: list
    sizes: list           # run-time sizes that the workspace takes: (argument, dimension), or (argument, None) for a number
    has_weights: bool
    has_workspace: bool
    is_embedded: bool     # the weights stand in the source
    weights: Path         # the sidecar; may be absent
    room: tuple = ()      # the workspace is made for these sizes, if not for those that there are

    @property
    def inputs(self):
        return [argument for argument in self.arguments if not argument.is_output or argument.is_updated]

    @property
    def outputs(self):
        return [argument for argument in self.arguments if argument.is_output]

    def counted(self, results):
        """The outputs of the model: the elements that count, without the counts."""
        number = {argument.name: int(result) for argument, result in zip(self.outputs, results) if not argument.shape}
        counts = {name for argument in self.outputs for name in argument.counts if name}
        for argument, result in zip(self.outputs, results):
            if argument.name not in counts and not argument.is_room:
                yield argument, result[tuple(slice(number[name] if name else None) for name in argument.counts)]


def tool_path():
    return os.environ.get("ML2KOKKOS", str(PROJECT / "build/release/bin/ml2kokkos"))


LONGEST = 600 # seconds: far more than any network takes; a rewrite that does not end shows here


def run_tool(*arguments):
    try:
        done = subprocess.run([tool_path(), *map(str, arguments)], capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        raise Failure(f"translation did not end within {LONGEST} s: {' '.join(map(str, arguments))}") from None
    if done.returncode != 0:
        raise Failure(f"translation failed (exit code {done.returncode}):\n{done.stderr.strip()}")
    return done.stdout


def argument_of(entry):
    if entry["scalar"] not in SCALARS:
        raise Failure(f"elements of type {entry['scalar']} cannot be passed by this program yet")
    return Argument(entry["model_name"], entry["type"], np.dtype(SCALARS[entry["scalar"]]), entry["shape"],
                    entry["output"], entry["is_view"], entry.get("name", ""), entry["updated"], False,
                    entry["scalar"], tuple(entry.get("counts", ())))


def describe(view, stem, folder):
    arguments = [argument_of(entry) for entry in view["arguments"]]
    sizes = [place_of(size["name"], arguments) for workspace in view["workspaces"] for size in workspace["sizes"]]
    return Translated(stem, folder, view["namespace"], arguments, sizes, bool(view["weights"]), bool(view["workspaces"]),
                      any(loader.get("embedded") for loader in view["loaders"]), folder / f"{stem}.safetensors")


def place_of(size, arguments):
    """Which extent of which argument a run-time size is."""
    for number, argument in enumerate(arguments):
        if size in argument.shape:
            return number, argument.shape.index(size)
        if size == argument.parameter:
            return number, None
    raise Failure(f"the workspace asks for the size '{size}', which no argument has")


def check_text(text):
    """What ML2K_GATES=1 asks of the printed source; gates.hpp asks the rest of the running program."""
    for found, what in [(kernels_elsewhere(text), "a kernel is not on the given instance"), (waits(text), "forward() waits or allocates")]:
        if found:
            raise Failure(f"{what}: {found[0]}")


def translate(model, folder, stem, options=()):
    """Writes stem.{hpp,cpp,safetensors} into folder."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    output = folder / f"{stem}.cpp"
    run_tool(model, "-o", output, *options)
    if os.environ.get("ML2K_GATES"):
        check_text(output.read_text())
    view_file = folder / f"{stem}.json"
    view_file.unlink(missing_ok=True) # whoever wrote it
    run_tool(model, "--emit=json", "-o", view_file, *options)
    return describe(json.loads(view_file.read_text()), stem, folder)
