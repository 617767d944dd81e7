"""kk.extern("double flux(double, double)"): a function of C that kernels call.

Numbers go by value, an array as a pointer to its first element, its extents and its strides, counted in elements:
`double const x[:, :]` is `double const *x, int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride`."""

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..cache import cache_root, made_once
from ..errors import BuildError, Error
from ..tool import content_hash
from .text import Linear
from .types import NUMPY
from .values import Array, Const, Scalar

TYPES = {"double": "f64", "float": "f32", "bool": "i1", "int": "i32", "int8_t": "i8", "int16_t": "i16", "int32_t": "i32", "int64_t": "i64"}
CTYPES = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16,
          "i32": ctypes.c_int32, "i64": ctypes.c_int64}
_TYPE, _NAME = "|".join(TYPES), "[A-Za-z_][A-Za-z0-9_]*"
DECLARATION = re.compile(rf"\s*(void|{_TYPE})\s+({_NAME})\s*\(([^()]*)\)\s*;?\s*", re.ASCII)
PARAMETER = re.compile(rf"\s*(const\s+)?({_TYPE})\b(\s*const\b)?(?:\s*\b({_NAME}))?\s*(\[\s*:(?:\s*,\s*:)*\s*\])?\s*", re.ASCII)


@dataclass(frozen=True)
class Parameter:
    kind: str
    rank: int       # 0 of a number
    is_written: bool

    @property
    def type(self):
        """Of MLIR: memory of any layout."""
        if not self.rank:
            return self.kind
        return f"memref<{'?x' * self.rank}{self.kind}, strided<[{', '.join('?' * self.rank)}], offset: ?>>"


def _parameter(text, declaration):
    found = PARAMETER.fullmatch(text)
    if not found:
        raise Error(f"kk.extern: {text.strip()!r} in {declaration!r} is no parameter; there are {', '.join(TYPES)}, "
                    "and arrays such as double x[:, :] or double const x[:]")
    before, kind, behind, _, dimensions = found.groups()
    is_const = bool(before or behind)
    rank = dimensions.count(":") if dimensions else 0
    return Parameter(TYPES[kind], rank, bool(rank) and not is_const)


class Extern:
    """Called in a kernel, or by Python where `link` says what has it: a source, an object file, a library."""

    def __init__(self, declaration, link=(), device=False):
        found = DECLARATION.fullmatch(declaration)
        if not found:
            raise Error(f"kk.extern: {declaration!r} is no declaration such as \"double flux(double, double)\"; results are void, {', '.join(TYPES)}")
        result, self.name, parameters = found.groups()
        if parameters.count("[") != parameters.count("]"):
            raise Error(f"kk.extern: brackets do not match in {declaration!r}")
        self.declaration, self.result, self.on_device = declaration.strip(), TYPES.get(result), device
        texts = re.split(r",(?![^\[]*\])", parameters) if parameters.strip() not in ("", "void") else []
        self.parameters = tuple(_parameter(text, declaration) for text in texts)
        self.links = tuple(Path(file).absolute() for file in ([link] if isinstance(link, (str, Path)) else link))
        for file in self.links:
            if not file.is_file():
                raise FileNotFoundError(f"kk.extern: there is no {file}")
        self.__name__ = self.name
        self._function = None

    @property
    def signature(self):
        return self.result, self.parameters, self.on_device

    @property
    def writes(self):
        return any(parameter.is_written for parameter in self.parameters)

    @property
    def text(self):
        """The declaration in MLIR."""
        parameters = ", ".join(one.type + " {nest.output}" * one.is_written for one in self.parameters)
        result = f" -> {self.result}" if self.result else ""
        return f'func.func private @{self.name}({parameters}){result} attributes {{nest.extern = "{"device" if self.on_device else "host"}"}}'

    # --- Called by Python ---

    def __call__(self, *arguments):
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments")
        if not any(parameter.rank for parameter in self.parameters) and any(np.ndim(value) for value in arguments):
            return np.vectorize(self, otypes=[NUMPY[self.result]])(*arguments)
        if self._function is None:
            self._function = self._loaded()
        values, kept = [], []
        for parameter, value in zip(self.parameters, arguments):
            values += self._passed(parameter, value, kept) if parameter.rank else [CTYPES[parameter.kind](NUMPY[parameter.kind](value).item())]
        found = self._function(*values)
        return None if self.result is None else NUMPY[self.result](found)

    def _passed(self, parameter, value, kept):
        if not isinstance(value, np.ndarray) or value.dtype != NUMPY[parameter.kind] or value.ndim != parameter.rank:
            raise TypeError(f"{self.name} takes an array of {parameter.kind!s} with {parameter.rank} dimensions")
        kept.append(value)
        steps = [stride // value.itemsize for stride in value.strides]
        return [ctypes.c_void_p(value.ctypes.data), *map(ctypes.c_int64, (*value.shape, *steps))]

    def _loaded(self):
        if not self.links:
            raise Error(f"{self.name} cannot be called by Python: kk.extern was given nothing to link")
        library = ctypes.CDLL(str(self._library()))
        try:
            function = getattr(library, self.name)
        except AttributeError:
            raise Error(f"{self.name} is not in {', '.join(file.name for file in self.links)}") from None
        function.restype = CTYPES.get(self.result)
        return function

    def _library(self):
        if len(self.links) == 1 and self.links[0].suffix == ".so":
            return self.links[0]
        key = hashlib.sha256("\0".join(content_hash(file) for file in self.links).encode()).hexdigest()[:24]
        compiler = os.environ.get("CXX") or "c++"
        if any(file.suffix == ".c" for file in self.links):
            compiler = os.environ.get("CC") or "cc"

        def make(folder):
            done = subprocess.run([shutil.which(compiler) or compiler, "-O2", "-shared", "-fPIC", *self.links, "-o", folder / "functions.so"],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                raise BuildError(f"building {self.name} failed:\n{done.stderr[-6000:]}", done.stderr)

        return made_once(cache_root(), f"extern-{self.name}-{key}", make, lambda: None) / "functions.so"

    def __repr__(self):
        return f"<ml2kokkos.extern {self.declaration}>"


def extern(declaration, *, link=(), device=False):
    """flux = kk.extern("double flux(double, double)", link="flux.c")

    link    sources, object files or libraries that have it; for calls, not for the printed text
    device  it is compiled for devices, too: KOKKOS_FUNCTION"""
    return Extern(declaration, link, device)


class Externs:
    """Mixed into the compiler."""

    def called_extern(self, function, arguments, named):
        if named:
            raise self.problem(f"{function.name} takes no keywords")
        if len(arguments) != len(function.parameters):
            raise self.problem(f"{function.name} takes {len(function.parameters)} arguments, not {len(arguments)}")
        if self.externs.setdefault(function.name, function).signature != function.signature:
            raise self.problem(f"{function.name} is declared in two ways")
        if not any(parameter.rank for parameter in function.parameters) and function.result:
            return self.elementwise(lambda *values: self.written_call(function, values), arguments)
        return self.written_call(function, arguments)

    def written_call(self, function, arguments):
        names = [self.part(parameter, value, function) if parameter.rank else self.as_kind(value, parameter.kind)
                 for parameter, value in zip(function.parameters, arguments)]
        self.w.effects += 1
        types = ", ".join(parameter.type for parameter in function.parameters)
        text = f"func.call @{function.name}({', '.join(names)}) : ({types}) -> {function.result or '()'}"
        self.called_out += function.writes or not function.result
        if function.result:
            return Scalar(self.w.value(text), function.result)
        self.w.line(text)
        return Const(None)

    def part(self, parameter, value, function):
        """The memory of an argument, as the declaration has it."""
        if not isinstance(value, Array) or value.memory is None or value.kind != parameter.kind or len(value.shape) != parameter.rank:
            raise self.problem(f"{function.name} takes an array of {parameter.kind!s} with {parameter.rank} dimensions, or a part of one")
        memory = value.memory
        if self.declared and not self.guarded and memory.depth < self.depth: # its first element is touched
            self.accesses.append((memory, [start for start, _ in value.spans], parameter.is_written, self.node))
        if value.spans == [(Linear(), 1)] * len(memory.shape):
            return self.w.value(f"memref.cast {memory.name} : {memory.type} to {parameter.type}")
        starts = [self.w.index(start) for start, _ in value.spans]
        left = iter(value.shape)
        sizes = ["1" if step is None else self.w.index(next(left)) for _, step in value.spans]
        steps = [1 if step is None else step for _, step in value.spans]
        apart, strides = 1, []
        for extent in reversed(memory.shape):
            strides.insert(0, apart)
            apart = apart * extent.constant if apart and extent.is_constant else None
        own = ["?" if stride is None else str(stride * step) for stride, (_, step) in zip(strides, value.spans) if step is not None]
        type = f"memref<{'?x' * parameter.rank}{memory.kind}, strided<[{', '.join(own)}], offset: ?>>"
        name = self.w.value(f"memref.subview {memory.name}[{', '.join(starts)}] [{', '.join(sizes)}] [{', '.join(map(str, steps))}] : "
                            f"{memory.type} to {type}")
        return self.w.value(f"memref.cast {name} : {type} to {parameter.type}")
