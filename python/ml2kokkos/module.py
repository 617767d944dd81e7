"""A built model in Python."""

import importlib.machinery
import importlib.util
import json
import threading
from pathlib import Path

import numpy as np

from .arrays import HOST, Face
from .interface import from_json, with_halves

EXTENSION = "ml2kokkos_model" # the name of every extension module; their paths tell them apart
_loaded = {}
_lock = threading.Lock()


def _native(folder):
    """The extension module of a folder, loaded once."""
    with _lock:
        if folder not in _loaded:
            path = str(folder / (EXTENSION + importlib.machinery.EXTENSION_SUFFIXES[0]))
            loader = importlib.machinery.ExtensionFileLoader(EXTENSION, path)
            spec = importlib.util.spec_from_file_location(EXTENSION, path, loader=loader)
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            _loaded[folder] = module
        return _loaded[folder]


def _without_uncounted(native, interface):
    """forward() of a model whose results have as many elements as data decide: cuts them, and drops the counts."""
    outputs = interface.outputs
    counts = {name for argument in outputs for name in argument.counts if name}

    def forward(*inputs, **more):
        results = native(*inputs, **more)
        results = results if isinstance(results, tuple) else (results,)
        number = {argument.name: int(result) for argument, result in zip(outputs, results) if argument.name in counts}
        cut = tuple(result[tuple(slice(number[name] if name else None) for name in argument.counts)] if argument.counts else result
                    for argument, result in zip(outputs, results) if argument.name not in counts)
        return cut[0] if len(cut) == 1 else cut

    return forward


class Module:
    """A model with its weights. `forward(inputs..., *, outputs...)` computes; docs/python.md says what it takes.

    name, inputs, outputs   as the model has them: each with .name, .dtype and .shape, where a name is a size of the call
    folder, source          where the printed files lie, and the printed .cpp
    threads                 that the execution space computes with
    device_type             DLPack's number of the memory that it computes in; 1: that of the host"""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.interface = from_json(json.loads((self.folder / "interface.json").read_text()))
        self.name = self.interface.name
        self.source = self.folder / f"{self.name}.cpp"
        self._native = native = _native(self.folder)
        self.execution_space, self.threads, self.device_type = native.execution_space, native.threads, native.device_type
        if self.is_on_device:
            self.interface = with_halves(self.interface)
        self._model = native.Model(str(self.folder / f"{self.name}.safetensors"), Face(self.interface, self.device_type, native.device_number))
        counted = any(name for argument in self.interface.outputs for name in argument.counts)
        self.forward = _without_uncounted(self._model.forward, self.interface) if counted else self._model.forward

    @property
    def is_on_device(self):
        return self.device_type != HOST

    @property
    def inputs(self):
        return self.interface.inputs

    @property
    def outputs(self):
        counts = {name for argument in self.interface.outputs for name in argument.counts if name}
        return tuple(argument for argument in self.interface.outputs if argument.name not in counts)

    def __call__(self, *inputs, **more):
        return self.forward(*inputs, **more)

    def to_device(self, array):
        """A copy of an array of the host in the memory that the model computes in, for calls that copy nothing; on a host the array
        itself. Other packages take it by DLPack."""
        return self._native.to_device(np.ascontiguousarray(array)) if self.is_on_device else array

    def to_host(self, array):
        """A NumPy array of what lies in that memory: of an array that to_device() gave, or another one in C order."""
        return self._native.to_host(array) if self.is_on_device else np.asarray(array)

    def report(self, *inputs, **more):
        """What the model costs, kernel by kernel: patterns, shapes, operations, bytes, weights and buffers. With the arguments of a
        call, which it leaves as they are, also the time of each kernel against the roofline of this machine. A table; notebooks
        show the picture, too, which .save("report.svg") writes."""
        from .report import report

        return report(self, self._native, inputs, more)

    def __repr__(self):
        return (f"<ml2kokkos.Module {self.name}({', '.join(map(str, self.inputs))}) -> "
                f"({', '.join(map(str, self.outputs))}), {self.execution_space} with {self.threads} threads>")

    def __reduce__(self):
        return load, (str(self.folder),)


def load(folder):
    """The module that compile() has built in a folder of its cache."""
    return Module(folder)


def finalize():
    """Ends Kokkos now instead of with the interpreter, for programs in which something must outlive it, such as MPI. Models
    cannot be used afterwards. Without effect before the first model is loaded."""
    for module in list(_loaded.values()):
        module.finalize()
