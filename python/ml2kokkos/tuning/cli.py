"""ml2kokkos-tune MODEL: the command."""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from ..compiler import Mlir, compile
from ..errors import Error, TranslationError
from . import files
from .measuring import Arguments, Contestant, DeviceContestant, Judge, SEEDS, TuneError
from .reference import doubled_mlir, doubled_onnx
from .search import Kernel, Search

DESCRIPTION = """Measures the numbers that the building blocks of a model's kernels may have (--report-json lists them) and writes
the better ones to MODEL.tune.json, which ml2kokkos --tune=FILE reads. FILE.py:NAME is a kernel of ml2kokkos.kernel: the file is
run. Options after -- go to ml2kokkos, as they will when the code is printed."""


def seconds_of(text):
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    return float(text[:-1]) * factor if factor else float(text)


def pair(text):
    name, _, value = text.rpartition("=")
    if not name:
        raise argparse.ArgumentTypeError(f"{text}: write NAME=N")
    return name, float(value) if "." in value else int(value)


def parse(arguments):
    more = []
    if "--" in arguments:
        at = arguments.index("--")
        arguments, more = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(prog="ml2kokkos-tune", description=DESCRIPTION)
    add = parser.add_argument
    add("model", metavar="MODEL", help=".onnx, .mlir, or FILE.py:NAME")
    add("-o", "--output", type=Path, help="default: MODEL.tune.json beside the model; entries of other processors stay")
    add("--device", action="store_true", help="tune for the device that the Kokkos of $Kokkos_ROOT computes on")
    add("--budget", type=seconds_of, default=120.0, metavar="TIME",
        help="90s, 2m: no candidate is begun so long after the default was measured (default 2m)")
    add("--candidates", type=int, default=1000, metavar="N", help="the most that are tried")
    add("--size", type=pair, action="append", default=[], metavar="NAME=N", help="of a run-time size, for measuring")
    add("--value", type=pair, action="append", default=[], metavar="NAME=V", help="of a number that the caller gives (default 1)")
    add("--integers", type=int, nargs=2, default=(0, 8), metavar=("LOW", "HIGH"), help="range of integer inputs (default 0 8)")
    add("--kernel", action="append", metavar="LABEL", help="only these")
    add("--seed", type=int, default=0, help="of the choice among many combinations")
    add("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="candidates that are built at once")
    add("--seconds", type=float, default=0.5, help="of timing for a candidate (default 0.5)")
    add("--log", type=Path, metavar="FILE.json", help="all candidates with their times")
    add("--plot", type=Path, metavar="FILE.png", help="needs matplotlib")
    parsed = parser.parse_args(arguments)
    parsed.options = more
    return parsed


# --- The model --------------------------------------------------------------------------------------------------------

def kernel_of(text):
    """The kernel of FILE.py:NAME."""
    import importlib.util

    path, _, name = text.rpartition(":")
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


class Model:
    """What is tuned: a file, or the text that a kernel in Python gives."""

    def __init__(self, given, options):
        self.options = options
        is_kernel = ".py:" in given
        self.path = Path(given.rpartition(":")[0] if is_kernel else given)
        if not self.path.is_file():
            raise TuneError(f"there is no file {self.path}")
        self.name = given.rpartition(":")[2] if is_kernel else self.path.stem
        self.text = kernel_of(given).mlir() if is_kernel else self.path.read_text() if self.path.suffix == ".mlir" else None
        self.source = self.path if self.text is None else Mlir(self.text.encode())

    @property
    def tune_file(self):
        return self.path.with_name(f"{self.name}.tune.json")

    def compiled(self, *options):
        return compile(self.source, name=self.name, options=[*self.options, *options], progress=False)

    def references(self, arguments):
        if self.text is None:
            return [doubled_onnx(self.path, each.inputs) for each in arguments]
        module = doubled_mlir(self.text, self.name, self.options)
        return [Arguments.doubled(each, module.interface).run(module.forward) for each in arguments]


class Builder:
    """A candidate as a tune file, which lies as long as the search goes on."""

    def __init__(self, model, kernels, family, folder):
        self.model, self.kernels, self.family, self.folder = model, kernels, family, Path(folder)

    def __call__(self, choices):
        if not choices:
            return self.model.compiled()
        entries = [files.entry_of(self.kernels[label], (change, 0, 0), self.family, 0) for label, change in choices.items()]
        text = files.text_of(entries)
        path = self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.tune.json"
        path.write_text(text)
        return self.model.compiled(f"--tune={path}")


def kernels_of(module, wanted):
    listed = json.loads((module.folder / "report.json").read_text())["kernels"]
    choices = "device_choices" if module.is_on_device else "choices"
    found = [Kernel(entry["label"], entry["class"], {name: values for name, values in entry[choices].items() if values}) for entry in listed]
    unknown = set(wanted or ()) - {kernel.label for kernel in found}
    if unknown:
        raise TuneError(f"there is no kernel {sorted(unknown)[0]}; there are: {', '.join(kernel.label for kernel in found)}")
    return [kernel for kernel in found if kernel.choices and (not wanted or kernel.label in wanted)]


# --- The command ------------------------------------------------------------------------------------------------------

def bar(text, share):
    if sys.stderr.isatty():
        print(f"\r[{'#' * round(20 * share):20}] {text:40}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)


def family_of(module, on_device):
    """Of what the module computes on."""
    if on_device and not module.is_on_device:
        raise TuneError(f"--device: Kokkos computes by {module.execution_space} here; $Kokkos_ROOT has to name one of a device")
    if module.is_on_device and not on_device:
        raise TuneError(f"Kokkos computes by {module.execution_space}: say --device to tune for it")
    family = module._native.device_family if on_device else files.family_of_machine()
    if not family:
        raise TuneError("this processor is of no family that printed code is tuned for")
    return family


def tune(parsed, clock=time.perf_counter, wrap=lambda build: build):
    """(entries, search). `wrap` may replace what builds candidates."""
    model = Model(parsed.model, parsed.options)
    default = model.compiled()
    family = family_of(default, parsed.device)
    kind = DeviceContestant if parsed.device else Contestant
    kernels = kernels_of(default, parsed.kernel)
    sizes, values = dict(parsed.size), dict(parsed.value)
    arguments = [Arguments(default.interface, seed, sizes, tuple(parsed.integers), values) for seed in SEEDS]
    judge = Judge(arguments, model.references(arguments), default.forward)
    labels = {kernel.label for kernel in kernels}
    with tempfile.TemporaryDirectory() as folder:
        build = wrap(Builder(model, {kernel.label: kernel for kernel in kernels}, family, folder))
        search = Search(kernels, build, lambda module: kind(module, arguments[0], labels, clock), judge, budget=parsed.budget,
                        most=parsed.candidates, jobs=parsed.jobs, seed=parsed.seed, seconds=parsed.seconds, tell=bar)
        held = search.run()
    threads = 0 if parsed.device else default.threads
    entries = [files.entry_of(search.kernels[label], found, family, threads) for label, found in held.items()]
    return model, family, entries, search


def finish(parsed, model, family, entries, search):
    path = parsed.output or model.tune_file
    path.write_text(files.text_of(files.merged(files.read(path), entries, family, set(search.kernels))))
    if parsed.log:
        parsed.log.write_text(files.log_text(search, family))
    if parsed.plot and not files.draw(search, parsed.plot):
        print("ml2kokkos-tune: no matplotlib, no picture", file=sys.stderr)
    own, whole = search.final
    refused = sum(record.problem is not None for record in search.log)
    for entry in entries:
        print(f"{entry['kernel']}: {entry['nanoseconds'] / 1e3:.3g} us instead of {entry['default_nanoseconds'] / 1e3:.3g} by {entry['choices']}")
    print(f"{len(entries)} of {len(search.kernels)} kernels in {path}; a call takes {whole * 1e6:.3g} us instead of {own * 1e6:.3g} "
          f"({len(search.log)} candidates, {refused} refused)")


def main(arguments=None):
    parsed = parse(list(sys.argv[1:] if arguments is None else arguments))
    try:
        finish(parsed, *tune(parsed))
    except TranslationError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except (Error, ValueError, OSError, ImportError) as error:
        print(f"ml2kokkos-tune: error: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
