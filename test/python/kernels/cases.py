"""What kernels of the tests are registered with, and what makes their arguments."""

import ml2kokkos as kk
import numpy as np

N, M, K = kk.sizes("N M K")
GAIN, TAPS = 0.25, (1.0, -2.0, 1.0)
TABLE = np.array([0.5, 1.5, 2.5, -1.0])
ALL = []


def case(*makers):
    """A kernel with what makes its arguments from a random generator."""
    def register(function):
        ALL.append((kk.kernel(function), makers))
        return function

    return register


def f64(*shape):
    return lambda random: np.array(random.standard_normal(shape)) if shape != ((),) else np.array(0.5)


def f32(*shape):
    return lambda random: random.standard_normal(shape).astype(np.float32)


def c64(*shape):
    return lambda random: c128(*shape)(random).astype(np.complex64)


def c128(*shape):
    return lambda random: random.standard_normal(shape) + 1j * random.standard_normal(shape)


def ints(low, high, *shape, dtype=np.int64):
    return lambda random: random.integers(low, high, shape).astype(dtype)


def number(value):
    return lambda random: value
