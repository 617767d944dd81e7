"""Calls: functions of Python, NumPy and this package, conversions, helpers that are written in line."""

import ast
import builtins
import math
import types

import numpy as np

from . import language
from .scalars import FUNCTIONS, TWO
from .source import Inner, Source
from .text import Linear
from .types import Annotation, Kind, kind_of_dtype
from .values import Array, Const, Index, Scalar, Tuple

WHOLE = ("floor", "ceil", "trunc") # of math: an int, as Python has it


def _table():
    """Function of Python -> how it is called here."""
    found = {}
    for module in (math, np):
        for name in (*FUNCTIONS, *TWO, "isnan"):
            if hasattr(module, name):
                found[getattr(module, name)] = name
    for name in WHOLE:
        found[getattr(math, name)] = f"whole_{name}"
    found.update({builtins.abs: "abs", np.abs: "abs", builtins.min: "min", builtins.max: "max", builtins.int: "int",
                  builtins.float: "float", builtins.bool: "bool", np.minimum: "minimum", np.maximum: "maximum", np.where: "where"})
    found.update({builtins.complex: "complex", np.conj: "conj", np.real: "real", np.imag: "imag", np.angle: "angle"})
    found.update({language.minimum: "minimum", language.maximum: "maximum", language.where: "where"})
    return found


SCALAR = _table()
REDUCTIONS = {getattr(language, name): name for name in ("sum", "prod", "min", "max", "any", "all", "argmin", "argmax")}
REDUCTIONS.update({getattr(np, name): name for name in ("sum", "prod", "min", "max", "any", "all", "argmin", "argmax")})
MOST_UNPACKED = 64 # values of a tuple in a call
MADE = {language.zeros: "zeros", language.empty: "empty"}
UNKNOWN_RESULT = ("range", "parallel", "atomic_add")


class Calls:
    """Mixed into the compiler."""

    def callee(self, node):
        """Which loop or statement of the language is called, if one is."""
        try:
            function = self.expression(node)
        except Exception: # reported where the call is written
            return None
        if isinstance(function, Const):
            for name in (*UNKNOWN_RESULT, "scan"):
                if function.value is getattr(language, name):
                    return name
        return None

    def value_of_Call(self, node):
        function = self.expression(node.func)
        if not isinstance(function, Const):
            raise self.problem("this cannot be called")
        function = function.value
        if self.hashable(function) and function in REDUCTIONS:
            return self.reduction(REDUCTIONS[function], node)
        if function is language.scan:
            return self.scan(node)
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.problem("** is not supported in kernels; write the arguments out")
        if self.hashable(function) and function in MADE:
            return self.made(MADE[function], node)
        arguments = self.arguments(node.args)
        named = {keyword.arg: self.expression(keyword.value) for keyword in node.keywords}
        return self.called(function, arguments, named)

    def arguments(self, nodes):
        """The values of a call's arguments: `*a.shape` is as many as it holds."""
        values = []
        for node in nodes:
            value = self.expression(node.value if isinstance(node, ast.Starred) else node)
            if not isinstance(node, ast.Starred):
                values.append(value)
            elif isinstance(value, Tuple):
                values += value.items
            elif isinstance(value, Const) and isinstance(value.value, (tuple, list, range)) and len(value.value) <= MOST_UNPACKED:
                values += [self.lifted(item, "it") for item in value.value]
            else:
                raise self.problem("* takes the shape of an array, or a tuple that is known when the kernel is read")
        return values

    @staticmethod
    def hashable(value):
        try:
            hash(value)
        except TypeError:
            return False
        return True

    def called(self, function, arguments, named):
        from .externs import Extern
        from .kernel import Kernel
        from .models import Model

        name = getattr(function, "__name__", type(function).__name__)
        if isinstance(function, Kernel):
            return self.inlined(function.source, arguments, named)
        if isinstance(function, Inner):
            return self.inlined(function, arguments, named)
        if isinstance(function, Extern):
            return self.called_extern(function, arguments, named)
        if isinstance(function, Model):
            return self.called_model(function, arguments, named)
        if isinstance(function, Kind) or isinstance(function, type) and issubclass(function, np.generic):
            return self.conversion(function, arguments, named)
        if function in (language.einsum, np.einsum) and not named:
            return self.einsum(arguments)
        if function is len and len(arguments) == 1:
            return self.length(arguments[0])
        if function in (range, enumerate, zip, round, tuple, divmod, math.isqrt, math.factorial, math.comb, math.gcd):
            return self.of_constants(function, arguments)
        if function is builtins.sum:
            raise self.problem("Python's sum is not supported; use kk.sum")
        if self.hashable(function) and function in SCALAR:
            if named:
                raise self.problem(f"{name} takes no keywords here")
            for argument in arguments:
                if isinstance(argument, Tuple):
                    raise self.problem(f"{name} takes numbers and arrays")
            return self.elementwise(lambda *values: self.function(SCALAR[function], list(values)), arguments)
        for known in UNKNOWN_RESULT:
            if function is getattr(language, known):
                raise self.problem(f"kk.{known} is a {'statement' if known == 'atomic_add' else 'loop'}, not a value")
        if isinstance(function, types.FunctionType):
            if (function.__module__ or "").partition(".")[0] in ("numpy", "math"):
                raise self.problem(f"np.{name} is not supported in kernels")
            return self.inlined(self.source_of(function), arguments, named)
        raise self.problem(f"{name} is not supported in kernels")

    def of_constants(self, function, arguments):
        values = []
        for argument in arguments:
            if isinstance(argument, Index) and argument.form.is_constant:
                argument = Const(argument.form.constant)
            if isinstance(argument, Tuple) and all(isinstance(item, Const) for item in argument.items):
                argument = Const(tuple(item.value for item in argument.items))
            if not isinstance(argument, Const):
                raise self.problem(f"Python's {function.__name__} takes what is known when the kernel is read" +
                                   ("; use kk.range" if function is range else ""))
            values.append(argument.value)
        try:
            result = function(*values)
        except Exception as error:
            raise self.problem(f"{function.__name__}: {error}") from None
        return Const(tuple(result) if function in (enumerate, zip) else result)

    def length(self, value):
        if isinstance(value, Array) and value.shape:
            return Index(value.shape[0])
        items = value.items if isinstance(value, Tuple) else value.value if isinstance(value, Const) else None
        if not hasattr(items, "__len__"):
            raise self.problem("this has no length")
        return Const(len(items))

    def conversion(self, function, arguments, named):
        kind = function.name if isinstance(function, Kind) else kind_of_dtype(function)
        if kind is None or len(arguments) != 1 or named:
            raise self.problem("a conversion takes one value" if kind else f"kernels have no type {function.__name__}")
        if kind == "index":
            return Index(self.index_of(arguments[0]))
        return self.elementwise(lambda value: Scalar(self.as_kind(value, kind), kind), arguments)

    def made(self, how, node):
        """kk.zeros(shape, type)."""
        if len(node.args) != 2 or node.keywords:
            raise self.problem(f"kk.{how} takes a shape and a type, as in kk.{how}((n, 3), kk.f64)")
        shape, kind = (self.expression(argument) for argument in node.args)
        if not isinstance(kind, Const) or not isinstance(kind.value, Kind) or kind.value.name == "index":
            raise self.problem("the type has to be one such as kk.f64")
        sizes = shape.items if isinstance(shape, Tuple) else [Const(n) for n in shape.value] \
            if isinstance(shape, Const) and isinstance(shape.value, tuple) else [shape]
        array = self.local_array(kind.value.name, [self.index_of(size) for size in sizes], self.hint)
        if how == "zeros":
            self.fill(array, Const(0))
        return array

    def fill(self, array, value):
        if not array.shape:
            return self.store(array, [], value)
        self.over(array.shape, lambda at: self.store(array, at, value), "")

    # --- Helpers ---

    def source_of(self, function):
        if function not in self.sources:
            self.sources[function] = Source(function)
        return self.sources[function]

    def bound_arguments(self, source, arguments, named):
        signature = source.signature
        if any(parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) for parameter in signature.parameters.values()):
            raise self.problem(f"{source.name} takes any number of arguments, which is not supported")
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError as error:
            raise self.problem(f"{source.name}: {error}") from None
        return {name: bound.arguments[name] if name in bound.arguments else self.lifted(parameter.default, name)
                for name, parameter in signature.parameters.items()}

    def inlined(self, source, arguments, named):
        """A function written in line: its locals are its own."""
        values = self.bound_arguments(source, arguments, named)
        if len(self.inner) > 30:
            raise self.problem("functions call each other too deeply; recursion is not supported")
        values = {name: self.copied(value, name) if isinstance(value, Array) and value.memory is None else value
                  for name, value in values.items()}
        extents = {}
        values = {name: self.as_declared(source, name, value, extents) for name, value in values.items()}
        kept = self.source, self.scope, self.alive, self.node, self.broken, self.extents
        broken = set()
        self.inner.append(kept)
        if isinstance(source, Inner): # it sees what is around its definition
            _, around, _, _, broken, outer = next(frame for frame in reversed(self.inner) if frame[0] is source.outer)
            values = {**{name: value for name, value in around.items() if name not in source.locals}, **values}
            extents = {**outer, **extents}
        self.source, self.scope, self.alive, self.broken, self.extents = source, values, source.alive, set(broken), extents
        try:
            return self.returned(source.node.body)
        finally:
            self.inner.pop()
            self.source, self.scope, self.alive, self.node, self.broken, self.extents = kept

    def as_declared(self, source, name, value, extents):
        """An argument as the annotation of its parameter says; `extents` gets the sizes that it names."""
        annotation = source.annotation(name)
        if isinstance(annotation, Annotation):
            if not isinstance(value, Array) or value.kind != annotation.kind.name or len(value.shape) != len(annotation.sizes):
                raise self.problem(f"{name} of {source.name} is an array of {annotation.kind} with {len(annotation.sizes)} dimensions")
            for size, extent in zip(annotation.sizes, value.shape):
                if isinstance(size, int):
                    self.same_extent(Linear(size), extent)
                elif not isinstance(size, slice):
                    self.same_extent(extents.setdefault(size if isinstance(size, str) else size.name, extent), extent)
        elif isinstance(annotation, Kind):
            if annotation.name == "index":
                return Index(self.index_of(value))
            return Scalar(self.as_kind(value, annotation.name), annotation.name)
        return value
