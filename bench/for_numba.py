"""The same kernel for Numba: what is written once is compiled by both."""

import ast
import inspect
import textwrap

import ml2kokkos as kk
import numpy as np


class ForNumba(ast.NodeTransformer):
    """kk.range is prange in the outermost loops, or in lines that end with `# prange` if these are given; range elsewhere.
    Annotations go."""

    def __init__(self, lines):
        self.lines = lines
        self.depth = 0

    def visit_For(self, node):
        is_parallel = self.lines[node.lineno - 1].endswith("# prange") if self.lines else self.depth == 0
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        if isinstance(node.iter.func, ast.Attribute):
            node.iter.func = ast.copy_location(ast.Name("prange" if is_parallel else "range", ast.Load()), node.iter.func)
        return node

    def visit_arg(self, node):
        node.annotation = None
        return node


def for_numba(function, marked):
    """The Python function that Numba compiles; `prange` is its global of that name. `marked`: lines say where it stands."""
    text = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(text)
    tree.body[0].decorator_list = []
    meant = {"np": np, "prange": range}
    exec(compile(ast.fix_missing_locations(ForNumba(text.splitlines() if marked else []).visit(tree)), function.__name__, "exec"), meant)
    return meant[function.__name__]


def registrar(cases, marked=False):
    """A decorator of kernels, which takes what makes the arguments: adds name, kernel, Numba's function and that to `cases`."""
    def case(make):
        def register(function):
            cases.append((function.__name__, kk.kernel(function), for_numba(function, marked), make))
            return function

        return register

    return case


def zeros(*shape):
    return np.zeros(shape)
