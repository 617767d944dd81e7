"""module.report(): what a model costs, as a table and as a picture; with inputs, the time of every kernel against the roofline."""

import html
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .arrays import HOST, device_of

SECONDS = 0.5 # of measuring
SHORTEST = 1e-7 # seconds of a kernel on a device
_limits = {}


@dataclass
class Kernel:
    label: str
    pattern: str
    shapes: str
    bytes: int
    flops: int = None
    seconds: float = None
    least: float = None # seconds that the roofline allows


@dataclass
class Costs:
    """What the tool knows of a model, and what was measured."""

    kernels: list
    buffers: list
    peak_bytes: int
    forward: float = None # seconds of a whole call
    limits: dict = field(default_factory=dict)


def costs_of(path):
    data = json.loads(Path(path).read_text())
    known = [{name: kernel[name] for name in kernel if name in Kernel.__dataclass_fields__} for kernel in data["kernels"]]
    return Costs([Kernel(**kernel) for kernel in known], data["buffers"], data["peak_bytes"])


class Report(str):
    """The table; notebooks show the picture below it. `costs` has the figures."""

    def __new__(cls, text, costs, title):
        made = super().__new__(cls, text)
        made.costs, made.title = costs, title
        return made

    def svg(self):
        """The picture: the time of each kernel against the roofline, if it was measured, and the live ranges in the arena."""
        from .picture import picture

        return picture(self.costs, self.title)

    def save(self, path):
        """Writes the picture (.svg), the page with both (.html), or the table."""
        path = Path(path)
        text = {".svg": self.svg, ".html": self._repr_html_}.get(path.suffix, lambda: str(self))()
        path.write_text(text)

    def __repr__(self):
        return str(self)

    def _repr_html_(self):
        return f"<pre>{html.escape(self)}</pre>{self.svg()}"


# --- Measuring --------------------------------------------------------------------------------------------------------

def limits_of(native):
    """Bytes and operations per second of this process's threads, measured once."""
    if native.execution_space not in _limits:
        _limits[native.execution_space] = {"bandwidth": native.bandwidth(), "f32": native.peak_f32(), "f64": native.peak_f64()}
    return _limits[native.execution_space]


def own_arrays(module, inputs, named):
    """What a call would change is copied: a report changes nothing."""
    def copied(value):
        return np.array(value) if device_of(value) == HOST else module.to_device(module.to_host(value))

    given = list(module.interface.inputs)
    inputs = [copied(value) if argument.is_updated else value for argument, value in zip(given, inputs)] + list(inputs[len(given):])
    changed = {argument.parameter for argument in module.interface.outputs}
    return inputs, {name: copied(value) if name in changed and value is not None else value for name, value in named.items()}


def shortest(module, native, inputs, named):
    """Seconds of a call, and by name of a launch, each the least of many rounds."""
    forward, launches, rounds, launch = 1e9, {}, 0, native.launch()
    module.forward(*inputs, **named) # allocates the workspace
    end = time.perf_counter() + SECONDS
    while rounds < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        module.forward(*inputs, **named)
        forward = min(forward, time.perf_counter() - begin)
        native.record()
        try:
            module.forward(*inputs, **named)
        finally:
            found = native.recorded()
        sums = {}
        for name, seconds in found:
            sums[name] = sums.get(name, 0.0) + (max(seconds - launch, SHORTEST) if launch else seconds)
        launches = {name: min(seconds, launches.get(name, seconds)) for name, seconds in sums.items()}
        rounds += 1
    return forward, launches


def kernel_of(launch, labels):
    """The label that a launch belongs to: its own, or that of a kernel of several launches."""
    name = launch.split("::")[-1]
    while name and name not in labels:
        name = name.rpartition(" ")[0]
    return name or None


def measured(module, native, costs, inputs, named):
    inputs, named = own_arrays(module, inputs, named)
    costs.forward, launches = shortest(module, native, inputs, named)
    costs.limits = limits_of(native)
    double = any(argument.dtype == "float64" for argument in module.interface.arguments)
    kernels = {kernel.label: kernel for kernel in costs.kernels}
    for launch, seconds in launches.items():
        kernel = kernels.get(kernel_of(launch, kernels))
        if kernel is None:
            kernel = kernels[launch] = Kernel(launch, "", "", 0)
            costs.kernels.append(kernel)
        kernel.seconds = (kernel.seconds or 0.0) + seconds
    for kernel in costs.kernels:
        if kernel.flops or kernel.bytes: # of loops that a program writes out, neither is known
            kernel.least = max((kernel.flops or 0) / costs.limits["f64" if double else "f32"], kernel.bytes / costs.limits["bandwidth"])
    return costs


def sizes_of(module, inputs, named):
    """Run-time sizes of a call by name."""
    given = {argument.parameter: value for argument, value in zip(module.interface.inputs, inputs)}
    sizes = {}
    for argument in module.interface.arguments:
        value = {**given, **named}.get(argument.parameter)
        if argument.is_view and value is not None:
            sizes.update((name, extent) for name, extent in zip(argument.shape, np.shape(value)) if isinstance(name, str))
    return sizes


def dims_of(module, source, sizes):
    """Extents of a call as options of the tool."""
    if source.suffix == ".onnx":
        return [f"--dim={name}={size}" for name, size in sizes.items()]
    return [f"--dim={argument.name}.{axis}={sizes[extent]}" for argument in module.interface.inputs if argument.is_view
            for axis, extent in enumerate(argument.shape) if extent in sizes]


def with_sizes(module, sizes):
    """The costs with extents of a call, by running the tool again; None where the model is gone or has other names."""
    from .errors import Error
    from .tool import find_tool, run_tool

    made = json.loads((module.folder / "model.json").read_text())
    source = module.folder / made["path"] # an absolute path stays one
    if not source.is_file():
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        try:
            run_tool(find_tool(), source, "--report-json", path, *made["options"], *dims_of(module, source, sizes))
        except Error:
            return None
        return costs_of(path)


# --- Text -------------------------------------------------------------------------------------------------------------

def scaled(value, unit=""):
    """Three digits and a unit, as the tool writes them."""
    for prefix in ("", "k", "M", "G", "T"):
        if value < 1000 or prefix == "T":
            break
        value /= 1000
    digits = 0 if value >= 100 or prefix == "" and value == int(value) else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {prefix}{unit}".strip()


def short_time(seconds):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"


def row_of(kernel):
    if not kernel.seconds:
        return "-", "", "", ""
    rate = scaled(kernel.flops / kernel.seconds, "flop/s") if kernel.flops else "-"
    traffic = scaled(kernel.bytes / kernel.seconds, "B/s") if kernel.bytes else "-"
    return short_time(kernel.seconds), rate, traffic, f"{100 * kernel.least / kernel.seconds:.0f} %" if kernel.least else "-"


def table(costs):
    rows = [("kernel", "pattern", "shapes", "flops", "bytes", "time", "", "", "of roofline")]
    for kernel in costs.kernels:
        rows.append((kernel.label, kernel.pattern, kernel.shapes, scaled(kernel.flops) if kernel.flops is not None else "-",
                     scaled(kernel.bytes) if kernel.bytes else "-", *row_of(kernel)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:{'<' if column < 3 else '>'}{width}}" for column, (cell, width) in enumerate(zip(row, widths))).rstrip()
             for row in rows]
    known = sum(kernel.seconds or 0.0 for kernel in costs.kernels)
    lines += ["", f"{short_time(costs.forward)} a call, {short_time(known)} of it in kernels that were launched",
              f"roofline: {scaled(costs.limits['bandwidth'], 'B/s')}, {scaled(costs.limits['f32'], 'flop/s')} in float, "
              f"{scaled(costs.limits['f64'], 'flop/s')} in double"]
    if not known:
        lines.append("So little work that the calling thread does it alone, without launches whose time could be taken.")
    return "\n".join(lines) + "\n"


def report(module, native, inputs, named):
    if not inputs and not named:
        return Report((module.folder / "report.txt").read_text(), costs_of(module.folder / "report.json"), repr(module))
    sizes = sizes_of(module, inputs, named)
    costs = with_sizes(module, sizes) if sizes else None
    if costs is None:
        costs = costs_of(module.folder / "report.json")
        for kernel in costs.kernels if sizes else ():
            kernel.flops, kernel.bytes = None, 0
    costs = measured(module, native, costs, inputs, named)
    text = table(costs)
    return Report(text, costs, f"{module.name}({', '.join(f'{name} = {size}' for name, size in sizes.items())})"
                  if sizes else module.name)
