"""Values of a kernel."""

from dataclasses import dataclass, field, replace

from .text import Linear


@dataclass
class Const:
    """A value that is known while the kernel is read."""
    value: object


@dataclass
class Scalar:
    name: str
    kind: str
    weak: bool = False # of literals only, so that it takes the type of what it meets


@dataclass
class Index:
    form: Linear
    again: object = None # writes the same number with another type, where it is a choice between literals


@dataclass
class Tuple:
    items: list


@dataclass
class Array:
    """Something with elements: at(coordinates) writes what computes one. `memory` if it is a parameter or a local array, and
    `spans` how it lies there: (start, step) by dimension, None as step where the dimension is gone."""
    shape: list
    kind: str
    at: object
    reads: list = field(default_factory=list)
    memory: object = None
    spans: list = None
    gathers: bool = False # an element needs others than those at its own coordinates
    cheap: bool = False   # an element is a load, though it is no view
    sums: bool = False    # an element is a loop
    is_number: bool = False # a complex argument: its value is its only element


def gathered(reads):
    """The same views where an element may need others than those at its own coordinates."""
    return [replace(view, gathers=True) for view in reads]


@dataclass
class Memory:
    name: str
    kind: str
    shape: list
    type: str
    depth: int = 0
