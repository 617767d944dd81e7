"""From the syntax tree of a kernel to MLIR text."""

from .arrays import Arrays
from .complexes import Complexes
from .contractions import Contractions
from .expressions import Expressions
from .externs import Externs
from .models import Models
from .problems import KernelError, Problem, Restart
from .reductions import Reductions
from .scalars import Scalars
from .sizes import size_names
from .statements import Statements
from .text import Linear, Writer, quoted, rendered
from .types import REAL, is_unsigned, kind_of_dtype, memory_type
from .values import Index, Memory, Scalar


class Parameter:
    """An argument of the function: kind, and for arrays the extent by dimension, a number or the name of a size."""

    def __init__(self, name, kind, shape=None, weak=False):
        self.name, self.kind, self.shape, self.weak = name, kind, shape, weak
        self.is_number = shape is None and kind in REAL # read from memory, where its two parts lie
        if self.is_number:
            self.shape = ()

    @property
    def type(self):
        if self.shape is None:
            return self.kind
        return memory_type("".join(f"{extent}x" if isinstance(extent, int) else "?x" for extent in self.shape), self.kind)

    def known(self, same):
        """The same with what its extents have turned out to be."""
        return self if not self.shape else Parameter(self.name, self.kind, tuple(map(same, self.shape)))

    @property
    def key(self):
        return self.name, self.kind, self.shape, self.weak


class Text(str):
    """MLIR; source_of(line) is where in Python a line of it comes from: file, line, column, text."""

    def __new__(cls, lines):
        made = super().__new__(cls, "\n".join(lines))
        made.links = () # what functions of C are in
        made.places = [getattr(line, "place", None) for line in lines]
        return made

    def source_of(self, line):
        place = self.places[line - 1] if 0 < line <= len(self.places) else None
        if place is None:
            return None
        source, node = place
        found = source.place(node)
        return (*found, source.lines.get(found[:2], ""))


class Compiler(Statements, Expressions, Reductions, Contractions, Models, Externs, Arrays, Complexes, Scalars):
    def __init__(self, source, parameters, captured, equal, numbered=False):
        self.source, self.alive, self.parameters, self.captures = source, source.alive, list(parameters), captured
        self.merged, self.numbered = equal, numbered
        self.w = Writer()
        self.w.place = lambda: (self.source, self.node)
        self.problems, self.lines = [], dict(source.lines)
        self.scope, self.sizes, self.extents, self.broken, self.sources, self.inner = {}, {}, {}, set(), {}, []
        self.accesses, self.memo = [], {}
        self.externs, self.called_out = {}, 0 # functions of C by name, and how many calls of them have an effect
        self.depth = self.declared = self.guarded = 0
        self.node = self.statement = source.node
        self.hint = None

    # --- Parameters ---

    def same_size(self, name):
        while name in self.merged:
            name = self.merged[name]
        return name

    def shown_size(self, name):
        size = self.same_size(name)
        return self.shown.get(size, size)

    def enter(self, parameter):
        """Declares a parameter; its value in the body."""
        name = self.w.fresh(parameter.name)
        parameter.ssa = name
        if parameter.shape is None:
            if parameter.kind == "index":
                return Index(Linear(0, {name: 1}))
            return Scalar(name, parameter.kind, parameter.weak)
        shape = []
        for place, extent in enumerate(parameter.shape):
            if isinstance(extent, int):
                shape.append(Linear(extent))
                continue
            size = self.same_size(extent)
            if size not in self.sizes:
                self.sizes[size] = self.w.fresh(self.shown.get(size, size))
                self.w.lower[self.sizes[size]] = 0
                self.w.prologue.append(f"{self.sizes[size]} = memref.dim {name}, {self.w.constant(place, 'index')} : {parameter.type}")
            self.sizes[extent] = self.sizes[size]
            self.extents[extent] = Linear(0, {self.sizes[size]: 1})
            shape.append(self.extents[extent])
        made = self.view_of(Memory(name, parameter.kind, shape, parameter.type))
        made.is_number = parameter.is_number
        return made

    def captured(self, array, name):
        """An array of the closure."""
        self.capture([(array, name)])
        return self.given[next(parameter.name for parameter, value in self.captures if value is array)]

    def capture(self, arrays):
        """Arrays with their names become further parameters: with those that are new the text begins again."""
        new = [(array, name) for array, name in arrays if not any(value is array for _, value in self.captures)]
        for array, name in new:
            kind = kind_of_dtype(array.dtype)
            if kind is None:
                raise self.problem(f"{name} has elements of the type {array.dtype}, which kernels do not have")
            taken = {parameter.name for parameter in [*self.parameters, *(parameter for parameter, _ in self.captures)]}
            while name in taken:
                name += "_"
            if not any(value is array for _, value in self.captures):
                self.captures.append((Parameter(name, kind, array.shape), array))
        if new:
            raise Restart

    # --- Text ---

    def report(self, problem):
        if problem.text is None:
            return
        self.lines.update(problem.source.lines)
        place = problem.source.place(problem.node)
        entry = (*place, problem.text)
        if entry not in self.problems:
            self.problems.append(entry)

    def text(self, name):
        self.parameters = [parameter.known(self.same_size) for parameter in self.parameters]
        self.parameters += [parameter for parameter, _ in self.captures]
        self.given, self.shown = {}, size_names(self.source.node, self.parameters)
        for parameter in self.parameters:
            self.given[parameter.name] = self.enter(parameter)
        captured = {parameter.name for parameter, _ in self.captures}
        self.scope = {name: value for name, value in self.given.items() if name not in captured}
        try:
            value = self.returned(self.source.node.body)
            if getattr(value, "value", 0) is not None:
                raise self.problem("a kernel returns nothing; write results into arrays")
        except Problem as problem:
            self.report(problem)
        if self.problems:
            raise KernelError(sorted(self.problems, key=lambda entry: entry[1:3]), self.lines)
        self.w.flush()
        lines = [f"func.func @{quoted(name)}({', '.join(map(self.parameter_text, self.parameters))}) {{"]
        lines += ["  " + line for line in self.w.prologue]
        if name in self.externs:
            raise KernelError([(*self.source.place(self.source.node), f"the kernel and a function of C are both called {name}; "
                                "give it another name: @kk.kernel(name=...)")], self.lines)
        declared = [self.externs[name].text for name in sorted(self.externs)]
        text = Text([*lines, *rendered(self.w.block), "  return", "}", *declared, ""])
        text.links = tuple(dict.fromkeys(file for function in self.externs.values() for file in function.links))
        return text

    def parameter_text(self, parameter):
        attributes = [f"nest.name = {quoted(parameter.name)}"]
        if parameter.shape is not None and not all(isinstance(extent, int) for extent in parameter.shape):
            names = ["" if isinstance(extent, int) else self.shown_size(extent) for extent in parameter.shape] + [""] * (parameter.kind in REAL)
            attributes.append(f"nest.dims = [{', '.join(map(quoted, names))}]")
        if is_unsigned(parameter.kind) and parameter.shape is not None:
            attributes.append("nest.unsigned")
        return f"{parameter.ssa}: {parameter.type} {{{', '.join(attributes)}}}"


def text_of(source, parameters, name, numbered=False):
    """MLIR of a kernel, and the arrays of its closure that are further arguments."""
    captured, equal = [], {}
    while True:
        compiler = Compiler(source, parameters, captured, equal, numbered)
        try:
            return compiler.text(name), [(parameter, array) for parameter, array in captured]
        except Restart:
            continue
        except RecursionError:
            raise KernelError([(*source.place(source.node), "expressions are nested too deeply")], source.lines) from None
