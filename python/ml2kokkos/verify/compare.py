"""Compares tensors: deviation relative to the largest element of the reference."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Deviation:
    name: str
    shape: tuple
    error: float  # relative to the largest element of the reference; inf where shape, NaN or infinity differ
    tolerance: float

    @property
    def is_good(self):
        return self.error <= self.tolerance

    def __str__(self):
        shape = "x".join(map(str, self.shape)) or "scalar"
        return f"{'ok  ' if self.is_good else 'FAIL'} {self.name:40s} {shape:18s} {self.error:.2e}"


def deviation(name, value, reference, tolerance):
    reference = np.asarray(reference)
    if value.shape != reference.shape:
        return Deviation(f"{name} (reference: {'x'.join(map(str, reference.shape))})", value.shape, np.inf, tolerance)
    if reference.size == 0:
        return Deviation(name, value.shape, 0.0, tolerance)
    if not np.issubdtype(reference.dtype, np.floating):
        return Deviation(name, value.shape, float(np.count_nonzero(value != reference)), 0.0)
    value, reference = value.astype(np.float64), reference.astype(np.float64)
    finite = np.isfinite(reference)
    if not np.array_equal(value[~finite], reference[~finite], equal_nan=True) or not np.isfinite(value[finite]).all():
        return Deviation(name, value.shape, np.inf, tolerance)
    largest = np.abs(reference[finite]).max(initial=0.0)
    error = np.abs(value[finite] - reference[finite]).max(initial=0.0)
    return Deviation(name, value.shape, float(error / largest if largest > 0 else error), tolerance)
