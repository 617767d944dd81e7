"""The decorator."""

import functools
import re
import tempfile
import types
from pathlib import Path

import numpy as np

from ..errors import TranslationError
from .compiler import Parameter, text_of
from .problems import KernelError
from .source import Source
from .types import NUMPY, REAL, Annotation, Kind, Size, bits_of, is_unsigned, kind_of_dtype

NUMBERS = {float: ("f64", True), int: ("i64", True), bool: ("i1", False), complex: ("c128", True)}
HALVES = ("f16", "bf16") # computed in float32 on the host, as of every model


def _extents(name, annotation):
    for place, size in enumerate(annotation.sizes):
        if isinstance(size, slice) and size == slice(None):
            yield f"{name}_size_{place}"
        elif isinstance(size, (str, Size)):
            yield size if isinstance(size, str) else size.name
        elif isinstance(size, int) and not isinstance(size, bool) and size >= 0:
            yield size
        else:
            raise ValueError(f"{size!r} is no size: write a number, a name or :")


class Kernel:
    """A function of loops and arrays. Called, it changes its arrays; docs/python-kernels.md."""

    def __init__(self, function, options):
        functools.update_wrapper(self, function)
        self.function, self.options = function, options
        self.source = Source(function)
        self.name = options.pop("name", None) or re.sub(r"\W", "_", function.__name__, flags=re.ASCII)
        self.parameters = self._parameters()
        self._built = {}
        self._key = self._key_of(self.parameters) if all(isinstance(parameter, Parameter) for parameter in self.parameters) else None

    # --- Types ---

    def _parameters(self):
        """Those with annotations; None for the others, whose types a call gives."""
        arguments = self.source.node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            raise self._wrong(self.source.node, "kernels take arguments without defaults, not * or **")
        found, problems = [], []
        for argument in arguments.posonlyargs + arguments.args:
            try:
                found.append(self._parameter(argument.arg, self.source.annotation(argument.arg)))
            except Exception as error:
                problems.append((*self.source.place(argument), f"the annotation of {argument.arg} is wrong: {error}"))
        if problems:
            raise KernelError(problems, self.source.lines)
        return found

    def _wrong(self, node, text):
        return KernelError([(*self.source.place(node), text)], self.source.lines)

    @staticmethod
    def _parameter(name, annotation):
        if annotation is None:
            return name
        if isinstance(annotation, Annotation):
            if annotation.kind.name == "index":
                raise ValueError("arrays have elements of f64, i32 and the like")
            return Parameter(name, annotation.kind.name, tuple(_extents(name, annotation)))
        if isinstance(annotation, Kind):
            return Parameter(name, annotation.name)
        if annotation in NUMBERS:
            return Parameter(name, *NUMBERS[annotation][:1], weak=NUMBERS[annotation][1])
        raise ValueError(f"{annotation!r} is no type of a kernel; write kk.f64, kk.f64[n, m], float or int")

    def _given(self, name, value):
        """The type of an argument without annotation."""
        for kind, (found, weak) in NUMBERS.items():
            if type(value) is kind:
                return Parameter(name, found, weak=weak)
        kind = kind_of_dtype(dtype := dtype_of(value))
        if kind is None:
            raise TypeError(f"{self.name}: {name} has elements of the type {dtype}, which kernels do not have")
        if isinstance(value, np.generic):
            return Parameter(name, kind)
        rank = len(value.shape) if hasattr(value, "shape") else np.ndim(value)
        return Parameter(name, kind, tuple(f"{name}_size_{place}" for place in range(rank)))

    def _types(self, arguments):
        if all(isinstance(parameter, Parameter) for parameter in self.parameters) and not arguments:
            return self.parameters
        if len(arguments) != len(self.parameters):
            raise TypeError(f"{self.name} takes {len(self.parameters)} arguments" +
                            ("" if arguments else ", by which those without annotation get their types"))
        return [parameter if isinstance(parameter, Parameter) else self._given(parameter, value)
                for parameter, value in zip(self.parameters, arguments)]

    # --- Text ---

    def mlir(self, *arguments):
        """The MLIR text; arguments as of a call where parameters have no annotation."""
        return text_of(self.source, self._types(arguments), self.name)[0]

    def _translated(self, folder, path, text, *more):
        from ..tool import check_options, find_tool, run_tool

        path.with_suffix(".mlir").write_text(text)
        try:
            return run_tool(find_tool(self.options.get("tool")), path.with_suffix(".mlir"), "-o", path,
                            *check_options(self.options.get("options", ())), *more)
        except TranslationError as error:
            raise self._located(error, folder, text) from None

    def _located(self, error, folder, text):
        """What the translator refuses, at the line of Python."""
        problems, lines = [], {}
        for line, what in re.findall(r"\.mlir:(\d+):\d+: error: ([^\n]*)", str(error)):
            found = text.source_of(int(line))
            if found:
                problems.append((*found[:3], what))
                lines[found[:2]] = found[3]
        if problems:
            return KernelError(problems, lines)
        return TranslationError(str(error).replace(f"{folder}/", "") if folder else str(error), error.exit_code)

    def cpp(self, *arguments):
        """The printed source."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.name}.cpp"
            self._translated(folder, path, self.mlir(*arguments))
            return path.read_text()

    def write(self, path, *arguments):
        """Writes path (.cpp), its header, and the .mlir text that they come from, by which --check compares."""
        path = Path(path)
        if path.suffix != ".cpp":
            raise ValueError("the name of the source ends in .cpp")
        text = self.mlir(*arguments)
        with tempfile.TemporaryDirectory() as folder: # what is refused changes no file
            self._translated(folder, Path(folder) / path.name, text)
        self._translated(path.parent, path, text)

    def explain(self, *arguments):
        """Which loops are parallel, which are not and why, by lines of Python."""
        text = text_of(self.source, self._types(arguments), self.name, numbered=True)[0]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{self.name}.cpp"
            self._translated(folder, path, text)
            return explained(path.read_text())

    def captured(self, *arguments):
        """Name and array of what the kernel closes over: further arguments of the printed forward()."""
        return [(parameter.name, array) for parameter, array in text_of(self.source, self._types(arguments), self.name)[1]]

    # --- Calls ---

    def _module(self, types, key):
        from ..compiler import Mlir, compile

        text, captured = text_of(self.source, types, self.name)
        try:
            links = [*self.options.get("link", ()), *text.links]
            module = compile(Mlir(text.encode()), name=self.name, **{**self.options, "link": links})
        except TranslationError as error:
            raise self._located(error, "", text) from None
        self._built[key] = Call(module, [*types, *(parameter for parameter, _ in captured)], [array for _, array in captured])
        return self._built[key]

    def build(self, *arguments):
        """Translates, compiles and loads, unless that is done; the ml2kokkos.Module."""
        return self._call(arguments).module

    def _call(self, arguments):
        if self._key is None or len(arguments) not in (0, len(self.parameters)):
            types = self._types(arguments)
            key = self._key_of(types), self._changing()
        else:
            types, key = self.parameters, (self._key, self._changing())
        return self._built.get(key) or self._module(types, key)

    @staticmethod
    def _key_of(types):
        return tuple(parameter.key for parameter in types)

    def _changing(self):
        """Constants of the closure, which may be others in the next call."""
        constants = []
        for name, value in self.source.closure().items():
            constants.append((name, value if isinstance(value, (bool, int, float, str, tuple, type(None))) else id(value)))
        return tuple(constants)

    def __call__(self, *arguments):
        self._call(arguments)(arguments)

    def python(self, *arguments):
        """The function itself, run by Python: slow, to compare."""
        sizes = {}
        for parameter, value in zip(self.parameters, arguments):
            if isinstance(parameter, Parameter) and parameter.shape is not None:
                sizes.update((size, extent) for size, extent in zip(parameter.shape, np.shape(value)) if isinstance(size, str))
        meant = {**{name: value for name, value in self.function.__globals__.items()}, **self._sized(self.function.__globals__, sizes)}
        for name, extent in sizes.items():
            meant.setdefault(name, extent)
        closure = tuple(types.CellType(sizes[cell.cell_contents.name]) if isinstance(cell.cell_contents, Size) else cell
                        for cell in self.function.__closure__ or ())
        function = types.FunctionType(self.function.__code__, meant, self.function.__name__, None, closure)
        numbers = [NUMPY[parameter.kind](value) if isinstance(parameter, Parameter) and parameter.shape is None and not parameter.weak and
                   parameter.kind in NUMPY else value for parameter, value in zip(self.parameters, arguments)]
        with np.errstate(all="ignore"):
            function(*numbers)

    @staticmethod
    def _sized(names, sizes):
        return {name: sizes[value.name] for name, value in names.items() if isinstance(value, Size) and value.name in sizes}

    def __repr__(self):
        return f"<ml2kokkos.kernel {self.name}>"


def dtype_of(value):
    """That of an array, also where it is PyTorch's own (`torch.float32`), or of what NumPy makes of the value."""
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype
    try:
        return np.dtype(str(dtype).rpartition(".")[2]) if dtype is not None else np.asarray(value).dtype
    except TypeError: # a type that NumPy does not have
        return np.asarray(value).dtype


class Call:
    """A built kernel: the arguments of Python in the order that its module takes."""

    def __init__(self, module, parameters, captured):
        self.module, self.captured = module, tuple(captured)
        self.forward = module.forward
        self.count = len(parameters) - len(captured)
        number = {parameter.name: place for place, parameter in enumerate(parameters)}
        self.given = tuple(number[argument.name] for argument in module.interface.arguments if argument.is_given)
        self.made = tuple((argument.parameter, number[argument.name]) for argument in module.interface.arguments if not argument.is_given)
        order = enumerate(parameters)
        self.complexes = tuple((place, NUMPY[parameter.kind], NUMPY[REAL[parameter.kind]]) for place, parameter in order if parameter.kind in REAL)
        self.unsigned = tuple((place, NUMPY[parameter.kind], f"i{bits_of(parameter.kind) // 8}") for place, parameter in enumerate(parameters)
                              if is_unsigned(parameter.kind) and parameter.shape is None)
        self.halves = tuple((number[argument.name], argument.is_output) for argument in module.interface.arguments
                            if parameters[number[argument.name]].kind in HALVES and not module.is_on_device)

    def __call__(self, arguments):
        if self.captured:
            arguments = (*arguments, *self.captured)
        if self.complexes:
            arguments = self._in_parts(list(arguments))
        if self.unsigned:
            arguments = self._with_sign(list(arguments))
        if self.halves:
            return self._widened(list(arguments))
        self.forward(*[arguments[place] for place in self.given], **{name: arguments[place] for name, place in self.made})

    def _in_parts(self, arguments):
        """Complex arrays with real and imaginary part as a last dimension, where they lie."""
        for place, kind, real in self.complexes:
            value = arguments[place]
            if not hasattr(value, "dtype") and isinstance(value, (bool, int, float, complex)) or isinstance(value, np.generic):
                value = np.array(value, kind)
            is_complex = isinstance(getattr(value, "dtype", None), np.dtype) and value.dtype == kind # of NumPy or CuPy
            arguments[place] = value[..., None].view(real) if is_complex else value
        return arguments

    def _with_sign(self, arguments):
        """Unsigned numbers with the bits that they have: forward() takes signed ones."""
        for place, kind, signed in self.unsigned:
            if isinstance(arguments[place], (int, np.integer)):
                arguments[place] = kind(arguments[place]).view(signed)
        return arguments

    def _widened(self, arguments):
        """Half precision is float32 on the host: results are rounded once, at the end."""
        given = list(arguments)
        for place, _ in self.halves:
            value = given[place]
            arguments[place] = np.asarray(value, np.float32, order="C") if isinstance(value, np.ndarray) else float(value)
        self.forward(*[arguments[place] for place in self.given], **{name: arguments[place] for name, place in self.made})
        for place, is_output in self.halves:
            if is_output:
                given[place][...] = arguments[place]


def explained(source):
    """Lines of Python with what the printed code says of them."""
    found = []
    for match in re.finditer(r"^ *// --- [^:\n]*: (\d+: [^\n]*)\n((?: *//[^\n]*\n)*)", source, re.MULTILINE):
        text, comment = match.groups()
        note = re.sub(r"\s*\n\s*//", "", comment.strip()).lstrip("/ ")
        code = source[match.end():source.find("\n}\n", match.end())]
        is_single = re.search(r"(space, 1|RangePolicy\(space, 0, 1\)), KOKKOS_LAMBDA\(int\)", code)
        if "; " in note or not is_single: # a single thread without a note has no loop
            found.append((text, note.split("; ", 1)[1] if "; " in note else "parallel"))
    for note, loop in re.findall(r"^ *// (sequential: [^\n]*)\n *(for [^\n]*)", source, re.MULTILINE):
        found.append((loop.strip(" {"), note))
    found = list(dict.fromkeys(found)) # of one statement that is several kernels
    width = max((len(text) for text, _ in found), default=0)
    return "\n".join(f"{text:{width}}  {note}" for text, note in found)


def kernel(function=None, **options):
    """@ml2kokkos.kernel, or with options of compile(): @ml2kokkos.kernel(flags=["-ffast-math"])"""
    if function is None:
        return lambda own: Kernel(own, options)
    return Kernel(function, options)

