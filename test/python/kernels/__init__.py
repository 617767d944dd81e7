"""Kernels of the tests; test_kernels.py runs each by Python, too, and compares."""

from . import arrays, elements, loops, numbers, reductions # noqa: F401, which register them
from .cases import ALL, M, N # noqa: F401
