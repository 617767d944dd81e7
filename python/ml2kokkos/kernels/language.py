"""What a kernel may call, as plain Python: kernel.python(...) runs a kernel so, slowly, to compare or to debug."""

import builtins
import itertools

import numpy as np


def range(*bounds):
    """Iterations in order. The translator makes those parallel that it proves to be independent."""
    return builtins.range(*map(int, bounds))


def parallel(*bounds):
    """Iterations in any order, as declared: an extent or (start, stop) for each index."""
    spans = [builtins.range(*(bound if isinstance(bound, tuple) else (bound,))) for bound in bounds]
    return spans[0] if len(spans) == 1 else itertools.product(*spans)


def _values(terms):
    return terms if isinstance(terms, np.ndarray) else np.array(list(terms))


def sum(terms, axis=None):
    return np.sum(_values(terms), axis=axis)


def prod(terms, axis=None):
    return np.prod(_values(terms), axis=axis)


def min(terms, axis=None):
    return np.min(_values(terms), axis=axis)


def max(terms, axis=None):
    return np.max(_values(terms), axis=axis)


def any(terms):
    return np.any(_values(terms))


def all(terms):
    return np.all(_values(terms))


def argmin(terms):
    """The first position of the smallest term."""
    return int(np.argmin(_values(terms)))


def argmax(terms):
    return int(np.argmax(_values(terms)))


def scan(terms, how="sum", axis=-1):
    """Running sums, products, minima or maxima along an axis: element k joins those from 0 to k."""
    return {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}[how].accumulate(_values(terms), axis=axis)


def einsum(subscripts, *operands):
    return np.einsum(subscripts, *operands)


def where(condition, a, b):
    return np.where(condition, a, b) if isinstance(condition, np.ndarray) else (a if condition else b)


def atomic_add(array, position, value):
    """array[position] += value, also where iterations meet in one element."""
    array[position] += value


def zeros(shape, kind):
    return np.zeros(shape, kind(0).dtype)


def empty(shape, kind):
    """An array whose elements are written before they are read."""
    return np.full(shape, np.nan if np.issubdtype(kind(0).dtype, np.floating) else 0, kind(0).dtype)


minimum, maximum = np.minimum, np.maximum

NAMES = ("range", "parallel", "sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "scan", "einsum", "where", "atomic_add", "zeros", "empty",
         "minimum", "maximum")
